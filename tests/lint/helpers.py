"""Sources compared with targets, in few words."""

import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opcheck.db.store import Database
from opcheck.lint.base import Ground
from opcheck.lint.reading import ReadSource, edited, judge, look
from opcheck.lint.sources import TextFile
from opcheck.model.porting import LintFinding
from opcheck.model.target import TargetSpec

DATABASE = Database.open()


@dataclass(frozen=True)
class Answer:
    """What was said of a source."""

    findings: tuple[LintFinding, ...]
    ignored: int
    fixed: str

    @property
    def shown(self) -> list[str]:
        """``code@line verdict replacement``, the quiet ones left out."""
        return [_shown(finding) for finding in self.findings if not finding.quiet]


def _shown(found: LintFinding) -> str:
    how = "caution" if found.caution else found.verdict
    return f"{found.code}@{found.span.line} {how} {found.replacement}".strip()


@cache
def ground(target: str) -> Ground:
    """What sources are compared with for a target."""
    resolved = DATABASE.resolve(TargetSpec.parse(target))
    return Ground(
        DATABASE.porting(resolved),
        DATABASE.cuda_names(),
        DATABASE.compilers(resolved),
        DATABASE.triton(resolved),
        resolved.chip,
    )


def lint(text: str, target: str = "ascend-910b", name: str = "file.py") -> Answer:
    """What is said of a source."""
    words = ground(target)
    text = textwrap.dedent(text)
    watched = frozenset({*words.names.deprecated, *words.porting.deprecated})
    file = TextFile(name, Path(name), text)
    looked = look(file, watched, frozenset(words.names.packages))
    assert isinstance(looked, ReadSource), looked
    judged = judge(looked, words)
    fixed = edited(text, judged, words.porting.package) if file.suffix == ".py" else text
    return Answer(tuple(each.finding for each in judged), looked.ignored, fixed)
