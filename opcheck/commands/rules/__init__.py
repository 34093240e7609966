"""List the rewrite rules, or show one, and why it is equal.

--check tries the one that is named, or all of the user's own, on the same random calls every
time: shapes, dtypes and layouts, values and gradients.
"""

PURPOSE = "data"
