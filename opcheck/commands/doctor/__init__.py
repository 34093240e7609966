"""Check what is installed, and whether it goes together.

Versions of torch, plugin, toolkit and driver are checked against the vendors' own tables; each
finding has its reason and the command that mends it. Where nothing of the target's is here,
a matching set is planned. The network is never used. The exit code is 10 where something is
known not to go together.
"""

PURPOSE = "data"
