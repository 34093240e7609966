"""Blocked pairs really fixed: a shim is written, and the model is run with it on the device.

``python -m benchmarks.demand.proofs FOLDER COUNT`` adds a file for each of so many models that are
blocked on one of ``TARGETS`` and has none. The device is emulated: it refuses what the target does
not run, and computes on the host, so results and gradients are compared with the unchanged model's.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path

from benchmarks.demand.models import Entry, entries
from benchmarks.demand.plans import Pair
from benchmarks.demand.smaller import smaller
from benchmarks.demand.traces import LIBRARIES, Traces, slug
from benchmarks.zoo_fixes import outcome
from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import OpcheckError
from opcheck.lang.speech import tell
from opcheck.model.plan import Compared, Label
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import MODULE_FAILED
from opcheck.model.verdict import Verdict
from opcheck.sandbox.parent.preloaded import Template, copied_from

TARGETS = (
    "ascend-310b@26.1.0", "ascend-310b@5.0.0", "ascend-910b@26.1.0", "ascend-950@26.1.0",
    "cambricon-mlu370@r2.4_develop", "moorethreads-s4000@1.0.0",
)  # fmt: skip
"""Devices that can be emulated: those whose kernels stand at PrivateUse1."""
TRACED = "npu"
"""Whose traces tell how large a model is."""
LARGEST = 100_000_000
"""Elements of all calls beyond which a smaller config of the same architecture is run."""


_BLOCKS = frozenset((Verdict.UNSUPPORTED, Verdict.UNKNOWN))


@dataclass(frozen=True, slots=True)
class Proved:
    """What became of one pair that was blocked."""

    target: str
    whole: bool
    """Whether nothing leaves the device any more, and the results are what the labels allow."""
    allowed: str
    """The least close label that was followed."""
    forward: tuple[float | None, float | None] | None = None
    """How far results are off at the most, and how far they may be; None for any distance."""
    backward: tuple[float | None, float | None] | None = None
    """The same of gradients."""
    why: str = ""
    """What is in the way, in one sentence."""


def proved(entry: Entry, target: str) -> Proved:
    """Follow every suggestion that there is in a shim, and run the model with it."""
    with tempfile.TemporaryDirectory() as folder:
        scan = ScanRequest(entry.spec, (TargetSpec.parse(target),))
        request = FixRequest(
            scan, FixKind.SHIM, str(Path(folder) / "shim.py"), allow=Label.APPROXIMATE
        )
        try:
            found = outcome(entry.name, fix_answer.fix(request))
        except OpcheckError as error:
            return Proved(target, whole=False, allowed="", why=tell(error.message).splitlines()[0])
    return Proved(
        target, found.whole, found.allowed, _figure(found.forward), _figure(found.backward),
        "; ".join(tell(why).splitlines()[0] for why in found.why[:1]),
    )  # fmt: skip


def _figure(found: Compared | None) -> tuple[float | None, float | None] | None:
    return None if found is None else (found.difference, found.allowed)


def path(folder: Path, entry: Entry, target: str) -> Path:
    """The file of a pair."""
    return folder / "proofs" / target / f"{slug(entry)}.json"


def made(folder: Path, count: int, found: Mapping[str, Sequence[Pair]]) -> Iterator[str]:
    """Prove what is missing, of so many models, the smallest first; a line for each."""
    template = Template(LIBRARIES)
    try:
        with copied_from(template):
            for entry, target in _missing(folder, count, found):
                begun = time.monotonic()
                result = proved(entry, target)
                place = path(folder, entry, target)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(json.dumps(asdict(result)), "utf-8")
                took = time.monotonic() - begun
                yield f"{target} {entry.name} {took:.1f} s {result.whole} {result.why}"
    finally:
        template.close()


def _missing(
    folder: Path, count: int, found: Mapping[str, Sequence[Pair]]
) -> Iterator[tuple[Entry, str]]:
    """Pairs that are blocked and were not tried, target after target."""
    named = {entry.name: entry for entry in entries(folder)}
    traces = Traces(folder / "traces")
    left: list[tuple[int, Entry, list[str]]] = []
    for name, pairs in found.items():
        if named[name].mode:  # what is run with a shim is a source as it is
            continue
        entry, blocked = named[name], {p.target.partition("+")[0] for p in pairs if is_blocked(p)}
        missing = [t for t in TARGETS if t in blocked and not path(folder, entry, t).exists()]
        elements = _elements(traces, entry) if missing else None
        if elements is not None:
            left.append((elements, entry, missing))
    for elements, entry, missing in sorted(left, key=lambda one: one[0])[:count]:
        run = entry if elements <= LARGEST else smaller(entry, folder)
        yield from ((run, target) for target in missing)


def _elements(traces: Traces, entry: Entry) -> int | None:
    """How much a run takes; None of a model that does not run on the inputs that were made up."""
    found = 0
    for result in traces.read(entry, TRACED):
        trace = result.trace
        if any(gap.code == MODULE_FAILED for gap in trace.gaps):
            return None
        taken = (trace.nodes[use.node].tensors() for use in trace.uses)
        found = max(found, sum(prod(tensor.shape) for call in taken for _, tensor in call))
    return found


def is_blocked(pair: Pair) -> bool:
    """Whether something on it is unsupported or unknown."""
    return any(Verdict(met.verdict) in _BLOCKS for met in pair.met)


def stored(folder: Path) -> Mapping[str, tuple[Proved, ...]]:
    """Model and mode -> what was proved of it."""
    named = {slug(entry): entry.name for entry in entries(folder)}
    proofs: dict[str, list[Proved]] = {}
    for file in sorted((folder / "proofs").glob("*/*.json")):
        if file.stem in named:
            proofs.setdefault(named[file.stem], []).append(
                Proved(**json.loads(file.read_text("utf-8")))
            )
    return {name: tuple(each) for name, each in proofs.items()}


if __name__ == "__main__":
    from benchmarks.demand.__main__ import stored as planned

    place, number = sys.argv[1:]
    for line in made(Path(place), int(number), planned(Path(place))):
        print(line, file=sys.stderr, flush=True)
