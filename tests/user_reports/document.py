"""``python -m tests.user_reports.document`` writes ``docs/user-reports.md``; with ``--first``, it
keeps what a scan says of new reports as their first answer before.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.user_reports import answers as kept
from tests.user_reports.causes import Cause, causes
from tests.user_reports.judge import (
    Answer,
    Judged,
    answers_of,
    judged,
    left_out,
    of_exports,
    reports,
)
from tests.user_reports.report import Met, Report

PATH = Path(__file__).parents[2] / "docs" / "user-reports.md"
COMMAND = "python -m tests.user_reports.document"
Answers = Mapping[str, tuple[Answer, ...]]


def page() -> str:
    """The whole page."""
    now = {name: verdict_now(name) for name in reports()}
    return _PAGE.format(
        command=COMMAND,
        number=len(reports()),
        threads=len(reports()) + len(list(left_out())),
        first=first_counts(),
        now=_lines(_COUNTS, _counts(now)),
        causes=_lines(_CAUSES, _caused(now)),
        exports=_lines(_EXPORTED, _exported(now)),
        why=_lines(["why", "threads"], _reasons()),
        every="\n".join([_lines(_HEAD, ()), *(row(name, how) for name, how in now.items())]),
    )


def first_counts() -> str:
    """The table of what was said first, by vendor."""
    then = {name: _judged(reports()[name], said) for name, said in kept.first().items()}
    return _lines(_COUNTS, _counts(then))


def verdict_now(name: str) -> Judged:
    """How much a scan says now of what the users of a report met."""
    return _judged(reports()[name], answers_of(name))


def row(name: str, now: Judged) -> str:
    """The line of a report."""
    report = reports()[name]
    first = kept.first().get(name, {})
    told = first.get(report.target, ())
    said = "; ".join(f"**{one.verdict}** `{one.code}` ({one.op})" for one in told[:2]) or "nothing"
    met = f"{report.met}, by {report.because}"
    then = _judged(report, first) if first else "not yet"
    return _line([f"{report.told} ({_link(report)})", f"`{report.target}`", met, said, then, now])


def _link(report: Report) -> str:
    project, _, number = report.thread.partition("#")
    return f"[{report.thread}](https://github.com/{project}/issues/{number})"


_COUNTS = ["vendor", "reports", *Judged, "share right"]
_CAUSES = ["why", "reports", *(how for how in Judged if how is not Judged.RIGHT)]
_EXPORTED = ["with the target's release", "reports", "right at first", *Judged, "share right"]
_HEAD = ["report", "target", "users met", "first answer", "judged", "now"]


def _judged(report: Report, said: Answers) -> Judged:
    """The worst of what holds for its targets."""
    wanted = {report.target: report.met, **report.mended}
    found = [judged(report, said.get(target, ()), met) for target, met in wanted.items()]
    return max(found, key=list(Judged).index)


def _counts(every: Mapping[str, Judged]) -> Iterable[list[str]]:
    vendors: dict[str, list[Judged]] = {}
    for name, how in every.items():
        vendors.setdefault(_vendor(reports()[name]), []).append(how)
    for vendor, found in [*sorted(vendors.items()), ("all", list(every.values()))]:
        counts = Counter(found)
        yield [vendor, str(len(found)), *(str(counts[how]) for how in Judged), _share(found)]


def _caused(every: Mapping[str, Judged]) -> Iterable[list[str]]:
    known = causes()
    found = Counter((known[name], how) for name, how in every.items() if how is not Judged.RIGHT)
    numbers = {why: [found[why, how] for how in Judged if how is not Judged.RIGHT] for why in Cause}
    for why, counts in sorted(numbers.items(), key=lambda one: -sum(one[1])):
        yield [why, str(sum(counts)), *map(str, counts)]


def _exported(every: Mapping[str, Judged]) -> Iterable[list[str]]:
    """What was said of exports that run, of those that do not, and of both."""
    names = sorted(of_exports() & every.keys())
    runs = [name for name in names if reports()[name].met is Met.WORKS]
    fails = [name for name in names if name not in runs]
    first = {name: _judged(reports()[name], kept.first()[name]) for name in names}
    for label, some in (("does not run", fails), ("runs: a control", runs), ("all", names)):
        counts = Counter(every[name] for name in some)
        then = sum(first[name] is Judged.RIGHT for name in some)
        numbers = [str(counts[how]) for how in Judged]
        share = _share(every[name] for name in some)
        yield [label, str(len(some)), str(then), *numbers, share]


def _vendor(report: Report) -> str:
    words = report.target.partition("@")[0].split("-")
    return "-".join(words[:2]) if words[:2] == ["nvidia", "tensorrt"] else words[0]


def _share(found: Iterable[Judged]) -> str:
    every = list(found)
    return f"{every.count(Judged.RIGHT) / len(every):.0%}" if every else "—"


def _reasons() -> Iterable[list[str]]:
    for why, number in sorted(Counter(thread.why for thread in left_out()).items()):
        yield [str(why), str(number)]


def _lines(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    return "\n".join(map(_line, [head, ["---"] * len(head), *rows]))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


_PAGE = """\
# User reports, as a blind measure

Written by `{command}`; do not edit. Threads in which users tell what became of
an operator on a device, taken in the order in which searches gave them. What users met was written
down as a small program before anything scanned it, and so were the rules that judge an answer
(`tests/user_reports/judge.py`). Of {threads} threads, {number} are reports.

*right*: the scan has the verdict that users met, by a reason of the same kind, on the overload
that it is about. *partly*: another verdict or reason, or *unknown*. *missed*: it says that the call
runs. *false alarm*: it says that it does not, where users saw it run (a release that mends it).

Of vendors that became targets last there are few public threads: the 36 searches of
`tests/user_reports/newer_devices.py`, with those of an earlier round, gave 10 reports of
Rebellions, 9 of Gaudi, 5 of MetaX and 1 each of Biren and Enflame.

## When first tried

{first}

## Now

{now}

## Why a scan does not say the rest

By what keeps it from it (`tests/user_reports/causes.py` names the reports of each).

{causes}

## Exports

Reports of `tests/user_reports/exports_*.py`: models that are exported to ONNX or for OpenVINO,
Core ML or ExecuTorch, or compiled by TensorRT or `torch.compile`. Threads about the first four
tell of many releases, and their targets have few: each program was exported and run by that
release's libraries before the first scan, and what became of it is what an answer is judged by.
For Core ML that is whether it is converted: what only a Mac shows is as the thread tells. Most of
what older releases refused runs there: those are controls, of which *unknown* counts as right. Of
the compilers it is what the thread tells. Searches about TorchAir gave no thread that tells of a
call.

{exports}

## Threads that are no reports

{why}

## Every report

{every}
"""


def main() -> None:
    """Write the page."""
    if "--first" in sys.argv[1:]:
        known = kept.first()
        new = [name for name in reports() if name not in known]
        kept.add({name: answers_of(name) for name in new})
    PATH.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
