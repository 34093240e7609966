"""Check a model, or a report of one, against the project's policy.

The policy says what fails: verdicts, reasons, figures beyond a limit. Waivers let findings
through until a day, a baseline accepts those of today, and --against those of the branch that
is merged into; how many are hidden is always told. The exit code is 0 where the gate passes and
10 where it fails. Where the model's process ends too early, the answer is of what was seen
until then, nothing passes, and it is 3.
"""

PURPOSE = "gate"
