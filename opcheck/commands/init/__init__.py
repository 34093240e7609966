"""Write an opcheck.yaml with comments, for opcheck gate.

It holds the defaults, an example of everything else, and the models and training scripts that are
found in the folder, with a comment on why each is one: opcheck scan and gate check them where the
folder is named. Files are read for that, and nothing is run. A policy that is there already is
left as it is, and the exit code is 2.
"""

PURPOSE = "gate"
