"""One rewrite a file: what it replaces, the code that stands in for it, and when it may not."""
