"""Which release of a library a target is taken to have."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from opcheck.db.versions import covers
from opcheck.model.target import Target


class LibraryReleases(Struct, frozen=True):
    """A library whose releases do not all the same on a target."""

    package: str
    """As pip names it, with ``_`` for ``-``."""
    namespace: str
    """Of the operators that stand for what it calls."""
    assumed: tuple[tuple[str, str], ...]
    """Span of torch -> the newest release when that came out; the last holds for any other."""

    def of(self, target: Target) -> str:
        """The release that the user names with the target, or the one of its torch."""
        named = dict(target.libraries).get(self.package)
        if named is not None:
            return named
        found = (version for span, version in self.assumed if covers(span, target.torch))
        return next(found, self.assumed[-1][1])


def releases_of(data: Mapping[str, Any]) -> LibraryReleases | None:
    """What a library's file says of its releases; None where it tells none apart."""
    said = data.get("releases")
    if said is None:
        return None
    return LibraryReleases(said["package"], data["library"], tuple(said["assumed"].items()))
