"""Write an opcheck.yaml with comments, for opcheck gate.

It holds the defaults, and an example of everything else. A policy that is there already is
left as it is, and the exit code is 2.
"""

PURPOSE = "gate"
