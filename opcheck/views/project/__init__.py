"""What several commands show of a project: its document, its sentences, and what has no answer."""
