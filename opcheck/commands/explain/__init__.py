"""Show how an operator fares on a target, or what a rule does.

With every condition, what it decomposes to, the releases that have it, and the evidence.
"""

PURPOSE = "check"
