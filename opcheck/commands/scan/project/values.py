"""The sources of a project that are to be checked."""

from msgspec import Struct

from opcheck.commands.fleet.values import Entry
from opcheck.lang.sentence import Sentence
from opcheck.model.project import Candidate


class Project(Struct, frozen=True):
    """What of a folder is to be checked."""

    folder: str
    policy: str
    """The file that lists the sources; "" where they were found."""
    entries: tuple[Entry, ...]
    lacking: tuple[Candidate, ...] = ()
    """What was found and cannot be checked as it is."""
    notes: tuple[Sentence, ...] = ()
