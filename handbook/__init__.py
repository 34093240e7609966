"""The site of ``docs/``: pages that are made from the code when it is built, and mkdocs' hooks."""
