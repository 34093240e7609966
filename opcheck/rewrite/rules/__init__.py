"""Rewrite rules by family of operators: what they replace, with which code, and when not."""
