"""Reasons as people read them: in English, and in every other language."""

from opcheck.lang.speech import Language, speaking, tell


def reads(found: str, wanted: str) -> None:
    """Compare a reason with the whole text that is wanted, and see that it is translated."""
    assert found == wanted
    with speaking(Language.CHINESE):
        assert tell(found) != wanted
