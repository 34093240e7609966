"""Suggestions: other code that gives the same values through what a target has, and its proof."""
