"""Find the release, torch or chip that would unblock a model.

For each operator that a target does not run itself: the nearest target of the same vendor that
does. And the smallest move that helps most: first another torch version of the same release,
then a newer release, then another chip. The exit code is 0 whenever there is an answer.
"""

PURPOSE = "check"
