"""List the rewrite rules, or show one: its code, and why that is equal.

--check tries the one that is named, or all of the user's own, on the same random calls every
time: shapes, dtypes and layouts, values and gradients.
"""
