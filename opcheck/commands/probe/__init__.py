"""Run samples of every operator on a device, and write what it did.

The samples are PyTorch's own. Each call that reaches the device, forward and backward, is run
on the host as well, and the values are compared. What works, falls back, gives wrong values,
raises, crashes or hangs is written as an overlay with tested evidence, for --db. A probe that
was ended goes on where it was. The exit code is 0 whenever there is an answer.
"""

PURPOSE = "data"
