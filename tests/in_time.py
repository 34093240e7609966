"""What takes all of its time: given little, and more where a slow machine needs it."""

from collections.abc import Callable

from opcheck.errors import OpcheckError

LITTLE, MORE, MOST = 3.0, 9.0, 30.0
"""Seconds. A copy of what has loaded PyTorch comes to the user's code in a tenth of the first."""


def in_time(check: Callable[[float], None], little: float = LITTLE) -> None:
    """Have a check hold within a few seconds, or else within more.

    It is given the seconds that it may allow. What never ends takes all of them, so that they are
    few; a machine at work may not have come that far by then, and all is checked anew.
    """
    for seconds in (little, MORE):
        try:
            return check(seconds)
        except (AssertionError, OpcheckError):
            continue
    return check(MOST)
