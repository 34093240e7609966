"""Which calls of a model are looked at, where one with its usual inputs is not enough."""

from msgspec import Struct

from opcheck.errors import UsageError


class CallSpec(Struct, frozen=True):
    """What the user asked for beyond one call."""

    input_sets: str = ""
    """``FILE.py:NAME`` of a function that gives sets of inputs, one call each; "": none."""
    decode: bool = False
    """Whether one more token follows, with the cache that the first call leaves."""

    @staticmethod
    def parse(input_sets: str = "", *, decode: bool = False) -> "CallSpec":
        """Read ``--inputs`` and ``--decode``.

        Raises:
            UsageError: ``input_sets`` does not name a function in a Python file.
        """
        path, _, name = input_sets.rpartition(":")
        if input_sets and not (path.endswith(".py") and name.isidentifier()):
            raise UsageError(
                f"--inputs {input_sets!r} is not the name of a function",
                "write FILE.py:NAME; a single input is given with --input NAME=SHAPE:DTYPE",
            )
        return CallSpec(input_sets, decode)
