"""Rank targets for a model, with the reason for each place.

First come those that run it as it is or after repair and have room for it, by the least time
that a run can take there; what is not known of a target never counts for it. Nothing is
measured. The exit code is 0 whenever there is an answer.
"""

PURPOSE = "compare"
