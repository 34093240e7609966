"""Where the site of ``docs/`` is published, the only place that says it.

Schemas have it in their ``$id``: after a change, ``python -m handbook.schema`` writes them anew.
"""

SITE = "https://opcheck.readthedocs.io/en/latest/"
SCHEMAS = f"{SITE}schema/"
"""The folder of the schemas of all documents."""
REASONS = f"{SITE}reference/reasons/"
"""The page of reason codes."""
GATE, RUN = f"{SITE}gate/", f"{SITE}run/"
"""The pages of these commands."""
