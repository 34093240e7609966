"""Run a script as it stands on an emulated accelerator.

Everything after the script is the script's own. It runs unchanged, with CUDA taken for the device,
and the answer says what the device ran, what went to the host, what it refuses and where. What the
script writes is seen by itself alone, and listed, unless --write lets it through.
"""

PURPOSE = "check"
