"""Check whether a model runs on an accelerator.

The report says on what share it runs natively, what breaks, where in the model's code, and
how that is known. The exit code is 0 whenever there is an answer, whatever the answer is. Where
the model's process ends too early, the report is of what was seen until then, and it is 3.
"""

PURPOSE = "check"
