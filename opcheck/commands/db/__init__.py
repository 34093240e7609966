"""Look after the database: its age, contents, changes and faults."""

PURPOSE = "data"
