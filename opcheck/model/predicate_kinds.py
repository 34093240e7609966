"""The kinds of predicates, by the names that the files of the database have for them."""

from collections.abc import Mapping

from opcheck.model import amounts, predicates, spreads

MODULES = (predicates, amounts, spreads)
"""Where they are defined; to import them is what makes them known."""


def kinds() -> Mapping[str, type[predicates.Predicate]]:
    """Every kind by the name that the files have for it."""
    return {cls.kind: cls for cls in predicates.Predicate.__subclasses__()}
