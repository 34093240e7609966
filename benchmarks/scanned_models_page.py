"""The page of models that were scanned: what each took, and what was said of it."""

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measure import Done

_HEAD = """\
# Scanned models

Models of four libraries at the sizes that they are published in, each scanned as it comes, without
weights, by `opcheck scan MODEL -t all --format json` in a process of its own: every vendor's chips
at their newest release, {targets} targets. Written by `python -m benchmarks.scanned_models` (`make
models`).

* *operators* are distinct ones that the model calls, *calls* are all of them;
* *gaps* are places that the trace could not see, listed below the table;
* *runs on* counts targets where nothing is unsupported and nothing unknown, *not on* those where
  something is unsupported; of the rest something is unknown;
* *s* is the time of the whole command, with import of the libraries, *CPU s* what it and its
  processes computed, on whatever else the machine did at the time; *GiB* the most memory that one
  of its processes held.
"""
_TABLE = """
| library | model | calls | operators | gaps | runs on | not on | s | CPU s | GiB |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
_TITLES = {
    "inference": "Inference",
    "decode": "A token more, with the cache of those before (`--decode`)",
    "train": "A training step: forward, backward and AdamW (`--train`)",
}
_LOSS = "trained on its own loss, of "
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Scanned:
    """What came of one scan."""

    library: str
    model: str
    how: str
    code: int
    error: str
    """What opcheck said where there is no answer."""
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    calls: int = 0
    operators: int = 0
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()
    phases: Sequence[str] = ()
    """Parts of the step that operators were found in."""
    targets: int = 0
    runs_on: int = 0
    not_on: int = 0

    @classmethod
    def of(cls, library: str, model: str, how: str, done: Done) -> "Scanned":
        """Read what opcheck wrote."""
        cost = done.cost
        assert cost.cpu_seconds is not None
        took = (cost.seconds, cost.cpu_seconds, cost.peak_bytes or 0)
        if done.code:
            return cls(library, model, how, done.code, done.errors.strip()[-2000:], *took)
        report = json.loads(done.output)
        trace, targets = report["trace"], report["targets"]
        runs = [target["summary"]["runs"] for target in targets]
        phases = {found["phase"] for target in targets for found in target["findings"]}
        return cls(
            library, model, how, done.code, "", *took,
            calls=trace["calls"],
            operators=trace["operators"],
            gaps=[f"{gap['where']}: {gap['reason']}" for gap in trace["gaps"]],
            notes=trace["notes"],
            phases=sorted(phases),
            targets=len(targets),
            runs_on=runs.count(True),
            not_on=runs.count(False),
        )  # fmt: skip

    def line(self) -> str:
        """A row of the table."""
        if self.code:
            said: tuple[str, ...] = (f"exit code {self.code}, see below", "", "", "", "")
        else:
            figures = (self.calls, self.operators, len(self.gaps), self.runs_on, self.not_on)
            said = tuple(f"{figure:,}" for figure in figures)
        took = (f"{self.seconds:.0f}", f"{self.cpu_seconds:.0f}", f"{self.peak_bytes / _GIB:.1f}")
        return f"| {' | '.join((self.library, self.model, *said, *took))} |"


def page(found: Sequence[Scanned]) -> str:
    """The whole page as Markdown."""
    targets = max(scan.targets for scan in found)
    return "\n".join([_HEAD.format(targets=targets), *_sections(found)])


def _sections(found: Sequence[Scanned]) -> Iterator[str]:
    for how, title in _TITLES.items():
        of = [scan for scan in found if scan.how == how]
        yield f"## {title}\n\n{_summed(of)}"
        yield _TABLE + "\n".join(scan.line() for scan in of) + "\n"
        yield from _beneath(of)


def _summed(found: Sequence[Scanned]) -> str:
    failed = sum(scan.code != 0 for scan in found)
    seconds = statistics.median(scan.seconds for scan in found)
    computed = statistics.median(scan.cpu_seconds for scan in found)
    peaks = sorted(scan.peak_bytes / _GIB for scan in found)
    return (
        f"{len(found)} models, {failed} without an answer. The median took {seconds:.0f} s "
        f"({computed:.0f} s of CPU) and {statistics.median(peaks):.1f} GiB, the largest "
        f"{peaks[-1]:.1f} GiB."
    )


def _beneath(found: Sequence[Scanned]) -> Iterator[str]:
    errors = [f"* {scan.library} {scan.model}: {_line(scan.error)}" for scan in found if scan.code]
    gaps = [f"* {scan.library} {scan.model}: {_line(gap)}" for scan in found for gap in scan.gaps]
    losses = [
        f"* {scan.library} {scan.model}: {note.removeprefix(_LOSS)}"
        for scan in found
        for note in scan.notes
        if note.startswith(_LOSS)
    ]
    for title, lines in (
        ("Without an answer", errors),
        ("Trained on the model's own loss (the others on the mean of the output)", losses),
        ("Gaps", gaps),
    ):
        if lines:
            yield "\n".join((f"{title}:\n", *lines, ""))


def _line(text: str) -> str:
    return " ".join(text.split())
