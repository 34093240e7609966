"""Estimate what a model costs on a target, and what lowers it.

Operations, bytes and memory are counted from the trace and compared with the chip's published
figures: the least time of each operator, what the run waits for, how large a batch fits. Each
advice has its place, its reason and the most that it can bring; what is not known is said to
be. Nothing is measured, and no accelerator is needed.
"""

PURPOSE = "compare"
