"""Find code for CUDA alone, and what a target has instead.

The sources are read, never run: device strings, torch.cuda, NCCL, packages and extensions for
CUDA, kernels in CUDA C++ and Triton, and names that vendors have given up. A comment
"# opcheck: ignore[CODE]" silences its line. The exit code is 0 whenever there is an answer;
with --check, as a hook wants it, it is 10 unless that is nothing.
"""

PURPOSE = "port"
