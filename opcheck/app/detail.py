"""How much a report for people says: ``--quiet``, ``--verbose``, ``--explain`` and ``--top``."""

from msgspec import Struct

from opcheck.errors import UsageError


class Detail(Struct, frozen=True):
    """What is asked for; as given here, what is usual."""

    verbose: bool = False
    quiet: bool = False
    explain: bool = False
    top: int | None = None
    waived: bool = False

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            UsageError: ``--quiet`` comes with an option that asks for more.
        """
        more = {
            "--verbose": self.verbose,
            "--explain": self.explain,
            "--top": self.top is not None,
        }
        if self.quiet and any(more.values()):
            asked = " and ".join(option for option, given in more.items() if given)
            raise UsageError(
                f"--quiet gives the verdict alone, and {asked} asks for more",
                "leave one of them out",
            )
