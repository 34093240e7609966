"""List which whole models vendors and their communities say run.

From their own lists, each row with its file and line: in which precision, on which chip, with
which engine. Without a name, nor a target, the lists themselves.
"""

PURPOSE = "compare"
