"""An overlay of what a device did, each item citing the journal, and the host as a vendor."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opcheck.db.files.yaml_writer import end, flow, listing, scalar, section
from opcheck.model.matrix import Entry
from opcheck.model.probe import Noted, Observed, Outcome, ProbeHead
from opcheck.model.target import Target
from opcheck.model.text import printable
from opcheck.model.trace import TensorMeta, Value
from opcheck.model.verdict import Confidence, Method, Verdict

HOST = "cpu"
"""The vendor that stands for the host, which is none of the database."""
_LIST = "aten/src/ATen/native/native_functions.yaml"


def host_files(torch_version: str, day: str) -> Mapping[str, str]:
    """A vendor's two files for the host, so that what was run on it can be read as a target's."""
    release = ".".join(torch_version.partition("+")[0].split(".")[:3])
    torch = ".".join(release.split(".")[:2])
    source = flow({"repo": "pytorch/pytorch", "ref": f"v{release}", "commit": "", "path": _LIST})
    reason = scalar("The host, that a probe of it can be read.")
    vendor = [
        "schema: opcheck.vendor/1",
        f"vendor: {HOST}",
        "name: The host",
        f"reason: {reason}",
        f"device_type: {HOST}",
        "dispatch_key: CPU",
        "sources:",
        f"  torch: {source}",
        "chips:",
        '  "": {name: The host, at: [torch]}',
        "fallback:",
        "  to_cpu: false",
        "  text: \"Could not run '{op}'\"",
        "  at: [torch]",
        "pairing: []",
        *end(),
    ]
    matrix = [
        "schema: opcheck.matrix/1",
        f"vendor: {HOST}",
        f"release: {scalar(release)}",
        f"reason: {reason}",
        f"date: {scalar(day)}",
        f'torch: ["{torch}"]',
        "sources:",
        f"  torch: {source}",
        "operators: {}",
        *end(),
    ]
    return {
        f"{HOST}/vendor.yaml": "".join(f"{line}\n" for line in vendor),
        f"{HOST}/{release}.yaml": "".join(f"{line}\n" for line in matrix),
    }


SOURCE = "probe"
_NO_KERNEL = "Could not run"
"""How the dispatcher's error begins where it finds no kernel."""
_CODES: Mapping[Outcome, str] = {
    Outcome.FALLS_BACK: "falls-back",
    Outcome.WRONG: "wrong-values",
    Outcome.RAISES: "raises",
    Outcome.CRASHES: "crashes",
    Outcome.HANGS: "hangs",
}
Said = dict[str, Any]


def overlay_text(
    head: ProbeHead,
    target: Target | None,
    noted: Sequence[Noted],
    new: Sequence[Noted],
    entries: Mapping[str, Entry],
    journal: str,
    day: str,
) -> str:
    """The whole file.

    ``new`` are those of the calls that the target's list does not say the same of: only their
    failures become conditions. ``entries`` are those of the target's list, whose words for a
    kernel are kept; ``journal`` is the name of the file that citations are of.
    """
    vendor = target.vendor if target else HOST
    what = f"{head.device} emulated as {head.target}" if head.emulated else head.device
    lines = [
        f"# What PyTorch's own samples did on {printable(what, kept='')}, by opcheck probe.",
        "# Failures that its list has already are not repeated: the journal has every call.",
        "schema: opcheck.overlay/1",
        f"vendor: {scalar(vendor)}",
        f"reason: {scalar(f'Samples of each operator were run on {what}, and on the host.')}",
        f"method: {Method.TESTED.value}",
        f"date: {scalar(day)}",
        *_where(target),
        "sources:",
        f"  {SOURCE}: {flow(_source(head, journal, day))}",
        *section("operators", dict(_operators(noted, entries))),
        *listing("conditions", _conditions(new, noted)),
        *end(),
    ]
    return "".join(f"{line}\n" for line in lines)


def _where(target: Target | None) -> Iterator[str]:
    if target is not None:
        if target.chip:
            yield f"chips: {flow([target.chip])}"
        yield f"releases: {scalar(target.sdk)}"
        yield f'torch: "{target.torch}"'


def _source(head: ProbeHead, journal: str, day: str) -> Said:
    how = f"{head.device}, emulated" if head.emulated else head.device
    name = f"a probe of {how}, torch {head.torch_version}"
    return {"repo": name, "commit": "", "path": journal, "date": day}


def _operators(noted: Iterable[Noted], entries: Mapping[str, Entry]) -> Iterator[tuple[str, Said]]:
    """Which overloads have a kernel and which have none, where a call has shown it."""
    with_kernel: dict[str, int] = {}
    without: dict[str, int] = {}
    for each in noted:
        call = each.observed
        if call.registered and call.outcome is Outcome.WORKS:
            with_kernel.setdefault(call.op, each.line)
        lacking = (call.op,) if _lacks_kernel(call) else call.fell_back
        for op in lacking:
            if not (call.registered and op == call.op):
                without.setdefault(op, each.line)
    for op, line in with_kernel.items():
        yield op, {"at": f"{SOURCE}:{line}", **_kept(entries.get(op))}
    for op in without.keys() - with_kernel.keys():
        yield op, {"at": f"{SOURCE}:{without[op]}", "registered": False}


def _lacks_kernel(call: Observed) -> bool:
    return (
        call.outcome is Outcome.RAISES
        and not (call.registered or call.composite)
        and _NO_KERNEL in call.text
        and call.op in call.text
    )


def _kept(entry: Entry | None) -> Said:
    """The list's own words for a kernel, which an overlay's entry would take the place of."""
    if entry is None:
        return {}
    said: Said = {"impl": list(entry.implementation)} if entry.implementation else {}
    return said if entry.keys == ("PrivateUse1",) else {**said, "keys": list(entry.keys)}


def _conditions(new: Iterable[Noted], noted: Iterable[Noted]) -> Iterator[Said]:
    """Calls that failed, by what they have in common; each such thing once."""
    every: dict[str, list[Observed]] = defaultdict(list)
    for each in noted:
        every[each.observed.op].append(each.observed)
    failed = [each for each in new if _is_condition(each.observed)]
    done: set[str] = set()
    for each in sorted(failed, key=lambda n: (n.observed.op, n.line)):
        said = _condition(each, every[each.observed.op])
        key = f"{said['ops']} {said['code']} {said['tests']}"
        if key not in done:
            done.add(key)
            yield said


def _is_condition(call: Observed) -> bool:
    """Whether it fared otherwise than a kernel lets expect, or than the lack of one does."""
    if call.outcome is Outcome.FALLS_BACK:
        return call.registered
    return call.outcome.fails and not _lacks_kernel(call)


def _condition(each: Noted, every: Sequence[Observed]) -> Said:
    """One failure, as far as no call that fared better is like it."""
    call = each.observed
    went = [o for o in every if not o.outcome.fails and o.outcome is not call.outcome]
    falls_back = call.outcome is Outcome.FALLS_BACK
    return {
        "ops": [call.op],
        "code": _CODES[call.outcome],
        "verdict": (Verdict.FALLBACK if falls_back else Verdict.UNSUPPORTED).value,
        "confidence": Confidence.HIGH.value,
        "text": f"it was run, and {_happened(call)}",
        "at": [f"{SOURCE}:{each.line}"],
        "tests": _by_dtype(call, went) or _exactly(call),
    }


def _happened(call: Observed) -> str:
    text = printable(call.text, kept="").replace("{", "(").replace("}", ")")
    match call.outcome:
        case Outcome.FALLS_BACK:
            return "the vendor's runtime said that it ran on the host"
        case Outcome.WRONG:
            return f"its values are not those of the host: {text}"
        case Outcome.CRASHES | Outcome.HANGS:
            return f"the process {text}"
        case _:
            return f"the device raised {text}"


def _by_dtype(call: Observed, went: Sequence[Observed]) -> list[Said]:
    """A dtype of the failed call that no call which went through has for that argument."""
    good = {(name, tensor.dtype) for other in went for name, tensor in _tensors(other)}
    for name, tensor in _tensors(call):
        if (name, tensor.dtype) not in good:
            return [{"subject": "dtype", "argument": name, "one_of": [tensor.dtype]}]
    return []


def _exactly(call: Observed) -> list[Said]:
    """Calls of just these dtypes, sizes and constants."""
    tests: list[Said] = []
    for name, value in call.arguments:
        if isinstance(value, TensorMeta):
            tests.append({"subject": "dtype", "argument": name, "one_of": [value.dtype]})
            tests.append({"subject": "rank", "argument": name, "one_of": [str(len(value.shape))]})
            tests += [
                {"subject": "size", "argument": name, "dim": dim, "one_of": [str(extent)]}
                for dim, extent in enumerate(value.shape)
            ]
        elif _is_constant(value):
            tests.append({"subject": "value", "argument": name, "one_of": [_text(value)]})
    return tests


def _is_constant(value: Value) -> bool:
    """Whether no tensor is in it."""
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return not isinstance(value, TensorMeta)


def _text(value: Value) -> str:
    """As conditions spell a constant."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)


def _tensors(call: Observed) -> Iterator[tuple[str, TensorMeta]]:
    for name, value in call.arguments:
        if isinstance(value, TensorMeta):
            yield name, value
        elif isinstance(value, tuple):
            yield from ((name, item) for item in value if isinstance(item, TensorMeta))
