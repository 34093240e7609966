"""The rewrite rules: what they replace, and whether they hold on random calls."""

from collections.abc import Sequence

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import RuleCheck, RuleInfo


class Checked(Struct, frozen=True):
    """Rules tried on many calls."""

    checks: tuple[RuleCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether no call was off."""
        return all(check.holds for check in self.checks)


def rules(name: str = "", folders: Sequence[str] = ()) -> tuple[RuleInfo, ...]:
    """Every rewrite rule, or those of one name or for one overload; loads torch.

    ``folders`` hold rules of the user's own.

    Raises:
        UsageError: no rule has that name, nor replaces such an overload; or a folder has none.
    """
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.listing import described

    return described(name, extra_rules(folders))


def check_rules(name: str = "", folders: Sequence[str] = ()) -> Checked:
    """Try rules on many random calls; without a name, those that are not opcheck's own.

    Raises:
        UsageError: as :func:`rules`, or there is none to try.
    """
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.listing import named
    from opcheck.rewrite.trial import checked

    extra = extra_rules(folders)
    if not (name or extra):
        raise UsageError(
            Sentence("no rule to check was named"), Sentence("name one, or give --rules DIR")
        )
    return Checked(tuple(checked(named(name, extra) if name else extra)))
