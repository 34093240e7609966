"""Kernels that PyTorch's deterministic mode refuses, as a table of all vendors tells them."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.db.by_hand.overlays import Addition, holds
from opcheck.db.files.document import Document
from opcheck.db.reading import Citations
from opcheck.lang.sentence import from_data
from opcheck.model.matrix import Caution, Condition
from opcheck.model.predicates import Mode, OneOf
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method, Verdict

RAISES = "not-deterministic"
"""Code of a call that raises, since its kernel gives other values from run to run."""
WARNS = "not-deterministic-warns"
"""Code of one that warns of that, and runs."""
_RAISES = (
    "torch.use_deterministic_algorithms(True) is on, and PyTorch raises "
    '"{text} does not have a deterministic implementation"'
)
_WARNS = (
    "torch.use_deterministic_algorithms(True, warn_only=True) is on, and PyTorch warns "
    '"{text} does not have a deterministic implementation": its values may differ from run to run'
)
_MODES = (
    ("error", RAISES, Verdict.UNSUPPORTED, _RAISES),
    ("warn", WARNS, Verdict.NATIVE, _WARNS),
)
"""What the mode is set to, and the code, verdict and text of such a call."""


def additions(found: Document | None) -> Iterator[Addition]:
    """What the table, if there is one, adds to the conditions of each vendor."""
    if found is None:
        return
    for vendor in sorted({name for said in found.data["raises"] for name in said["vendors"]}):
        yield _of_vendor(vendor, found)


def _of_vendor(vendor: str, found: Document) -> Addition:
    listed = [said for said in found.data["raises"] if vendor in said["vendors"]]
    cited = {at.partition(":")[0] for said in listed for at in said["at"]}
    return Addition(
        vendor=vendor,
        origin="",
        reason=found.data["reason"],
        digest=found.digest,
        method=Method.REGISTERED.value,
        sources={name: found.data["sources"][name] for name in sorted(cited)},
        conditions=[one for said in listed for one in _conditions(said)],
    )


def _conditions(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    where = {key: said[key] for key in ("torch", "releases") if key in said}
    for value, code, verdict, text in _MODES:
        mode = {"subject": "mode", "argument": "deterministic", "one_of": [value]}
        for tests in said.get("cases", [[]]):
            yield {
                "ops": said["ops"],
                "code": code,
                "verdict": verdict.value,
                "confidence": said.get("confidence", Confidence.HIGH.value),
                "method": said.get("method", Method.REGISTERED.value),
                "text": text.replace("{text}", said["kernel"]),
                "at": said["at"],
                "tests": [mode, *tests],
                **where,
            }


_ON = Mode("deterministic", OneOf(frozenset({"error", "warn"})))


def cautions_of(target: Target, said: Mapping[str, Any]) -> tuple[Caution, ...]:
    """What the table says once of a target, however many calls of a model it is about."""
    cited = Citations(said["sources"])
    return tuple(
        Caution(
            frozenset(one["ops"]),
            Condition(
                one["code"],
                Verdict.NATIVE,
                from_data(one["text"]),
                Confidence.HIGH,
                (_ON,),
                cited.all(one["at"], Method.REGISTERED),
            ),
        )
        for one in said["once"]
        if target.vendor in one["vendors"] and holds(one, target)
    )
