"""Long answers given in parts, each of whole lines, with a note on how to ask for the next."""

from collections import OrderedDict
from collections.abc import Hashable

from opcheck.commands.mcp.values import Answer
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence

_KEPT = 16
"""Answers whose rest may still be asked for."""


class Pages:
    """The last answers, so that their rest needs no second run."""

    def __init__(self, characters: int) -> None:
        """``characters``: the most of one part."""
        self._characters = characters
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()

    def keep(self, call: Hashable, answer: Answer) -> None:
        """Keep the answer of a call, and forget the oldest."""
        self._kept[call] = answer
        self._kept.move_to_end(call)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def kept(self, call: Hashable) -> Answer | None:
        """The answer of a call, where it is still known."""
        return self._kept.get(call)

    def part(self, text: str, offset: int = 0) -> tuple[str, Sentence | None]:
        """A part of an answer, and where it is not the end, a note on how to go on.

        Raises:
            UsageError: the answer is not so long.
        """
        if not 0 <= offset <= max(len(text) - 1, 0):
            raise UsageError(
                Sentence(
                    "offset {offset} is not within the {count} characters of the answer",
                    offset=offset,
                    count=f"{len(text):,}",
                ),
                Sentence("offset=0 gives its beginning"),
            )
        end = offset + self._characters
        if end >= len(text):
            return text[offset:], None
        end = text.rfind("\n", offset, end) + 1 or end
        return text[offset:end], Sentence(
            "Characters {first} to {last} of {count}; the same call with offset={offset} goes on.",
            first=f"{offset + 1:,}",
            last=f"{end:,}",
            count=f"{len(text):,}",
            offset=end,
        )
