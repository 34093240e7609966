"""The page of support rates, made from reports: figures first, then why, operator by operator."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.rates_basis import Basis
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence
from opcheck.views.terminal.notation import plural

COMMAND = "python -m benchmarks.rates"


@dataclass(frozen=True, slots=True)
class Device:
    """A target that somebody published a rate for."""

    name: str
    title: str
    """What its vendor calls it."""
    published: float
    then: Target
    """At the release nearest to what the rate speaks of."""
    newest: Target
    kernels: Mapping[Target, tuple[int, int]]
    """By release: how many overloads have a kernel under CUDA in its torch, and how many of those
    have one on it."""

    @property
    def releases(self) -> tuple[Target, ...]:
        """Those that are looked at, each once."""
        return tuple(dict.fromkeys((self.then, self.newest)))


@dataclass(frozen=True, slots=True)
class Scan:
    """One model checked against the targets."""

    model: str
    report: Report

    def on(self, target: Target) -> TargetReport:
        """What was said of one target."""
        return next(found for found in self.report.targets if found.target == str(target))


def page(
    devices: Sequence[Device], held: Sequence[Scan], more: Sequence[Scan], basis: Basis
) -> str:
    """The whole page as Markdown."""
    return "\n".join(
        [
            *_intro(held),
            *_beside_published(devices, held),
            *(operators(scan, devices) for scan in held),
            *_more_models(devices, more),
            *_made_from(basis),
        ]
    )


def made_from(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The operators that a page rests on, and its digest for each target."""
    _, _, told = text.partition(f"{_MADE_FROM}\n")
    rows = (line.strip("| ").split(" | ") for line in told.splitlines() if line.startswith("| `"))
    _, _, names = told.partition(_OPERATORS)
    digests = {target.strip("`"): digest.strip("`") for target, digest in rows}
    return tuple(name.strip("`.\n") for name in names.split(", ")), digests


_MADE_FROM = "## Made from"
_OPERATORS = "The operators: "


def _made_from(basis: Basis) -> Iterator[str]:
    yield f"{_MADE_FROM}\n"
    yield (
        "A digest of what the database said, of each release, of the operators that these models "
        "ask for; a test tells when that has changed.\n"
    )
    rows = [[f"`{target}`", f"`{digest}`"] for target, digest in basis.digests.items()]
    yield from _table(["release", "digest"], rows)
    yield f"{_OPERATORS}{', '.join(f'`{op}`' for op in basis.operators)}.\n"


def _intro(held: Sequence[Scan]) -> Iterator[str]:
    report = held[0].report
    dates = sorted({target.database_date for target in report.targets})
    yield "# Support rates\n"
    yield f"Written by `{COMMAND}`; do not edit.\n"
    yield (
        "A rate is the share of the distinct operators of one forward that stay on the device: run "
        "by a kernel of the vendor's, or by operators into which PyTorch takes them apart and all "
        "of which have one. ✔ runs, ✘ will not run, ? cannot tell.\n"
    )
    yield (
        f"Traced with torch {report.torch_version}, database of {dates[-1]}. On a release for "
        "another torch the same code may take composites apart differently; an operator that its "
        "torch does not have yet counts as unknown.\n"
    )


def _beside_published(devices: Sequence[Device], held: Sequence[Scan]) -> Iterator[str]:
    yield "## Beside the published rates\n"
    yield (
        "What is published is one figure a device; which operators, which release and which "
        "conditions it counts is not said. The last column is the widest count there is: of all "
        "overloads that have a kernel under CUDA in the same torch, how many have one here; a "
        "build of PyTorch's own CUDA code, as those for ROCm and DTK are, has every one.\n"
    )
    header = ["device", "published", "release", *(scan.model for scan in held), "CUDA's kernels"]
    rows = [
        [device.title, f"{device.published:.0%}", f"`{target}`",
         *(_rate(scan.on(target)) for scan in held), _share(*device.kernels[target])]
        for device in devices
        for target in device.releases
    ]  # fmt: skip
    yield from _table(header, rows)


def _share(under_cuda: int, here: int) -> str:
    return f"{here / under_cuda:.1%} of {under_cuda:,}"


def _rate(target: TargetReport) -> str:
    rate = target.summary.support_rate
    share = "—" if rate is None else f"{rate:.1%}"
    return f"{_SIGNS[target.summary.runs]} {share}"


_SIGNS: Mapping[bool | None, str] = {True: "✔", False: "✘", None: "?"}


def operators(scan: Scan, devices: Sequence[Device]) -> str:
    """Why a model's rates are what they are: each operator on each target."""
    return "\n".join(_operators(scan, devices))


def _operators(scan: Scan, devices: Sequence[Device]) -> Iterator[str]:
    targets = [target for device in devices for target in device.releases]
    worst = {target: _worst(scan.on(target)) for target in targets}
    called = sorted({op for found in worst.values() for op in found})
    yield f"### {scan.model}, operator by operator\n"
    for device in devices:
        yield f"* {device.title}: {_difference(device, scan, len(called))}"
    yield ""
    if any(not all(_missing(scan.on(t)) for t in device.releases) for device in devices):
        yield f"{_NONE_MISSING}\n"
    named = [f"`{target}`" for target in targets]
    rows = [[f"`{op}`", *(_cell(worst[target].get(op)) for target in targets)] for op in called]
    yield from _table(["operator", *named], rows)
    yield from _reasons([scan], targets)


def _difference(device: Device, scan: Scan, called: int) -> str:
    """What the published rate would mean for this model, and what was found instead."""
    said = [_meaning(device.published, called)]
    for target in device.releases:
        names = _missing(scan.on(target))
        said.append(f"{target.sdk} with torch {target.torch} misses {names or 'none'}")
    return f"{'; '.join(said)}."


_NONE_MISSING = (
    "Where none is missing, each operator has a kernel on the device or runs as operators that "
    "have one, as the table says; a published rate below 100% then counts other operators than "
    "these, or another release."
)


def _missing(target: TargetReport) -> str:
    off = (op for op, found in _worst(target).items() if not found.verdict.on_device)
    return ", ".join(f"`{op}`" for op in sorted(off))


def _meaning(published: float, called: int) -> str:
    """How many operators a published share is; often no whole number, so it counts others."""
    count = published * called
    share = f"{published:.0%} of {plural(called, 'operator')} is {count:.4g}"
    whole = abs(count - round(count)) < _ROUNDING * called
    return share if whole else f"{share}, which is no count of them"


_ROUNDING = 0.005
"""Of a share given in whole percent."""


def _worst(target: TargetReport) -> Mapping[str, Finding]:
    found: dict[str, Finding] = {}
    for finding in target.findings:
        known = found.get(finding.op)
        if known is None or finding.verdict.rank > known.verdict.rank:
            found[finding.op] = finding
    return found


def _cell(finding: Finding | None) -> str:
    """A verdict; in brackets how sure it is, where that is less than high."""
    if finding is None:
        return "not called"
    sure = finding.confidence
    return f"{finding.verdict.value}{'' if sure is Confidence.HIGH else f' ({sure.value})'}"


def _more_models(devices: Sequence[Device], more: Sequence[Scan]) -> Iterator[str]:
    yield f"## {plural(len(more), 'more model')}\n"
    yield "On the newest release of each.\n"
    targets = [device.newest for device in devices]
    yield from _table(
        ["model", *(device.title for device in devices)],
        [[scan.model, *(_rate(scan.on(target)) for target in targets)] for scan in more],
    )
    yield "### What does not stay on the device\n"
    yield from _reasons(more, targets)
    gaps = [scan for scan in more if scan.report.trace.gaps]
    if gaps:
        yield "### What could not be seen\n"
        for scan in gaps:
            first = scan.report.trace.gaps[0]
            yield f"* {scan.model}: {first.where or 'the model itself'}: {_line(first.reason)}"
        yield ""


def _reasons(scans: Iterable[Scan], targets: Sequence[Target]) -> Iterator[str]:
    """Each operator that leaves the device somewhere, why, and where."""
    told: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for scan in scans:
        for target in targets:
            for finding in _off_device(scan.on(target).findings):
                key = (scan.model, finding.op, finding.verdict.value, finding.reason.text)
                told[key].append(f"`{target}`")
    rows = [
        [model, f"`{op}`", verdict, _line(text), ", ".join(dict.fromkeys(whom))]
        for (model, op, verdict, text), whom in sorted(told.items())
    ]
    if rows:
        yield from _table(["model", "operator", "verdict", "why", "on"], rows)
    else:
        yield "Every operator stays on every device.\n"


def _off_device(findings: Iterable[Finding]) -> Iterator[Finding]:
    return (finding for finding in findings if not finding.verdict.on_device)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
