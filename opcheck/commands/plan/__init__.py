"""Suggest changes so that a model runs on an accelerator.

For each operator that a target does not run itself: the cheapest code that gives the same
values through operators that it does run, what that was recorded to run as, how far its values
and gradients are off, and why cheaper ways were declined. --verbose shows the code. The exit
code is 0 whenever there is an answer. Where the model's process ends too early, the report is
of what was seen until then, and it is 3.
"""

PURPOSE = "port"
