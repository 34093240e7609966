"""List the targets in the database.

With the newest release, the torch versions that it serves, and the other releases.
"""

PURPOSE = "data"
