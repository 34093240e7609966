"""Where sizes matter that are not always the same, and how each target takes that."""

from collections.abc import Mapping, Sequence

from opcheck.lang.speech import tell
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.report import TargetReport
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, split
from opcheck.views.terminal.compare import of_targets
from opcheck.views.terminal.rest import write_heading
from opcheck.views.terminal.units import plural

SHOWN: Mapping[SiteKind, int] = {SiteKind.DYNAMIC_SIZE: 3}
"""How many places of a kind are named unless all are asked for; 10 of the others."""
STYLES = {
    Taking.FINE: "green",
    Taking.RECOMPILES: "yellow",
    Taking.NOT_ALLOWED: "red",
    Taking.UNKNOWN: "magenta",
}
_MOST = 10

Answers = tuple[tuple[str, Taking, str], ...]
"""(target, how it takes a place, why), for each target that has the place."""


def write_sizes(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """Each kind of place with the lines of the model, and what becomes of them where."""
    blocks: dict[tuple[SiteKind, Answers], list[Site]] = {}
    for site, answers in _places(targets).items():
        blocks.setdefault((site.kind, answers), []).append(site)
    if not blocks:
        return
    count = sum(map(len, blocks.values()))
    write_heading(canvas, words.SIZES, plural(count, "place"), "yellow")
    order = list(SiteKind)
    for (kind, answers), sites in sorted(blocks.items(), key=lambda b: order.index(b[0][0])):
        _write_block(canvas, kind, sites)
        _write_answers(canvas, answers, targets)


def _places(targets: Sequence[TargetReport]) -> Mapping[Site, Answers]:
    found: dict[Site, list[tuple[str, SiteTaken]]] = {}
    for target in targets:
        for taken in target.dynamic:
            found.setdefault(taken.site, []).append((target.target, taken))
    return {
        site: tuple((name, taken.how, taken.text) for name, taken in taken_by)
        for site, taken_by in found.items()
    }


def _write_block(canvas: Canvas, kind: SiteKind, sites: Sequence[Site]) -> None:
    """The places of a kind; what is so of all of them stands in the heading."""
    few = len(sites) if canvas.page.verbose else SHOWN.get(kind, _MOST)
    alike = len(sites) > 1 and len({site.text for site in sites}) == 1
    heading = split(f"{words.SITES[kind]}:", "bold")
    canvas.flow([*heading, *(split(sites[0].text) if alike else ())], 2)
    for site in sites[:few]:
        own = () if alike else ((canvas.marks.dot, "dim"), *split(site.text))
        canvas.flow([*_where(site), *own], 4)
    if len(sites) > few:
        canvas.flow(split(words.more(len(sites) - few, "place"), "dim"), 4)


def _where(site: Site) -> list[Atom]:
    atoms: list[Atom] = [(f"{site.file}:{site.line}", f"bold {PLACE}")] if site.file else []
    if site.op:
        atoms.append((site.op, ""))
    if site.module:
        atoms.append((tell(f"{words.IN} {site.module}"), "dim"))
    return atoms or split(words.ROOT)


def _write_answers(canvas: Canvas, answers: Answers, targets: Sequence[TargetReport]) -> None:
    said: dict[tuple[Taking, str], list[str]] = {}
    for name, how, why in answers:
        said.setdefault((how, why), []).append(name)
    order = list(Taking)
    for (how, why), names in sorted(said.items(), key=lambda s: -order.index(s[0][0])):
        whom = [target for target in targets if target.target in names]
        about = of_targets(whom, targets) if len(targets) > 1 else []
        label = (tell(words.TAKING[how]), STYLES[how])
        canvas.flow([(canvas.marks.arrow, "dim"), label, *about, *split(why, "dim")], 4)
