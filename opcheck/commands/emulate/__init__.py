"""Run a model on an emulated accelerator.

PyTorch's own dispatcher runs it, with only the target's kernels. The answer says what the
device refuses, what runs on the host or in another way, and where in the model's code. Where
the model's process ends too early, it is of what was seen until then, and the exit code is 3.
"""

PURPOSE = "check"
