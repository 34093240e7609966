"""What messages read as in Chinese."""

from collections.abc import Iterable

from opcheck.lang.speech import Language, speaking, tell


def in_chinese(texts: Iterable[str]) -> list[str]:
    """Each text as a reader of Chinese has it."""
    with speaking(Language.CHINESE):
        return [tell(text) for text in texts]
