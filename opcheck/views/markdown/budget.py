"""Lines that fit into a comment, and how many did not."""

from collections.abc import Sequence

LIMIT = 65_536
"""Characters that GitHub takes in a comment; GitLab takes more."""


def size(text: str) -> int:
    """Characters as JavaScript and the like count them: two for each outside the first plane."""
    return len(text) + sum(character > "\uffff" for character in text)


def fitting(blocks: Sequence[str], room: int) -> int:
    """How many of the blocks, from the first on, fit into ``room`` characters."""
    for number, block in enumerate(blocks):
        room -= size(block)
        if room < 0:
            return number
    return len(blocks)
