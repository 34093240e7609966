"""Every reason code that a report can have."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import opcheck.lint.checks
from handbook.base import Page, code, plain, table
from opcheck.commands.gate.values import GAP
from opcheck.db.store import Database
from opcheck.kernel_code import compare, compare_sources
from opcheck.lint.base import Check
from opcheck.model.matrix import DOUBTED, OVERRULED
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import open_database
from opcheck.registry import discover
from opcheck.resolve import compiled, resolution

OWN: Mapping[str, str] = {
    resolution.REGISTERED: "the target registers a kernel for the overload",
    resolution.THROUGH_OUT: "the functional overload runs through its `.out`, which has a kernel",
    resolution.DECOMPOSES: "PyTorch takes the call apart, and every part runs on the device",
    resolution.BEFORE_CONVERSION: "a compiler takes the call apart before it looks for converters",
    resolution.CHOSEN: "PyTorch's C++ chooses another overload on this kind of device",
    resolution.NO_DEVICE_WORK: "it gives no work to the device: a view, or numbers alone",
    resolution.HOST_FALLBACK: "no kernel: the vendor's fallback runs it on the host",
    resolution.RUNS_ELSEWHERE: "a graph compiler leaves it to PyTorch, between two engines",
    resolution.NO_KERNEL: "no kernel, and no fallback",
    resolution.NO_CONVERTER: "what models are exported for converts no such overload",
    resolution.NO_KERNEL_ANYWHERE: "no kernel, and the host has none either: the fallback raises",
    resolution.NO_SPARSE_KERNEL: "a kernel, and none for tensors of that sparse layout",
    resolution.SPARSE_NOT_KNOWN: "nobody has said whether there is a kernel for sparse tensors",
    resolution.NOT_IN_TORCH: "the target's torch does not have the overload",
    resolution.NOT_TAKEN_APART: "what the composite becomes could not be seen",
    resolution.HOST_TENSOR: "a tensor is on the host, where the device wants its own",
    resolution.COLLECTIVE: "the vendor's backend of `torch.distributed` has the method",
    resolution.NO_COLLECTIVE: "the backend has not the method, or the device has no backend",
    resolution.COLLECTIVE_NOT_KNOWN: "nobody has said whether the backend has it",
    compiled.NO_BACKEND: "the target has no such back end of `torch.compile`, which raises",
    compiled.THERE: "the target has the back end; what it makes of the code was not seen",
    compiled.SKIPPED: "the back end leaves out what was asked for, and warns",
    compiled.NOT_KNOWN: "nobody has said whether the target has the back end",
    compare.COMPILES: "the target's Triton has all that a kernel of the model's own calls",
    compare.NO_COMPILER: "no Triton compiles for the target",
    compare.NO_OPERATION: "its Triton has not what the kernel calls, in the way that it does",
    compare.NO_DTYPE: "its Triton, or the chip, has not the dtype in which the kernel computes",
    compare.TOO_MANY: "the kernel's grid is larger than the target launches",
    compare.NOT_KNOWN: "nobody has said whether its Triton has it, or its source was not read",
    compare_sources.BUILDS: "CUDA C++ that is built for the target, as it is or as HIP",
    compare_sources.NOT_BUILT: "CUDA C++ that nothing builds for the target",
    DOUBTED: "a document leaves the use out, a kernel is registered, and nothing else speaks",
    OVERRULED: "a document leaves the use out, and a second source lists it",
    resolution.NO_DTYPE: "the backend's table has no such dtype, and it raises for it",
    resolution.DTYPE_NOT_KNOWN: "nobody has said whether the backend sends that dtype",
    resolution.NO_REDUCTION: "the backend has not that reduction, or not for that dtype",
    resolution.REDUCTION_NOT_KNOWN: "nobody has said whether the backend has that reduction",
    "cublas-not-deterministic": "deterministic mode is on, and cuBLAS wants a variable set then",
    GAP: "the trace could not see what happens there",
    "torch-differs": "the trace's torch is not the target's",
    "library-release-assumed": "a release of a library of the model's is assumed for the target",
    "traced-as-older-torch": "the trace is of the model as the target's torch takes it",
    "stand-in": "the trace ran on a stand-in for this kind of device",
    "database-edited": "a file of the database is not what its importer wrote",
}
"""Codes that are opcheck's own -> what each says."""
_PAGE = """\
# Reason codes

Every finding has one, in the JSON report as `reason.code`, beside the sentence that holds for it.
A policy's `fail-on: reason` takes globs on them. A [waiver](../how-to/waive.md) names operators or
ids, not reasons.

## Of every target

{own}
## Conditions of the database

What makes one use of an overload fare otherwise than the others. The vendors are those whose data
has the code, in any release; the sentence is one of several.

{conditions}
## Of sources

What `opcheck lint` calls what it sees; `# opcheck: ignore[CODE]` silences one.

{lint}"""


class _Said(NamedTuple):
    """A condition of the database, and whose it is."""

    vendor: str
    code: str
    verdict: Verdict
    text: str


class Reasons(Page):
    """``reference/reasons.md``."""

    name = "reasons"

    def text(self) -> str:
        """Codes by what says them."""
        return _PAGE.format(
            own=table(["code", "says"], ([code(name), text] for name, text in OWN.items())),
            conditions=table(["code", "verdict", "vendors", "such as"], _conditions()),
            lint=table(["code", "sees"], _checks()),
        )


def _conditions() -> Iterator[list[str]]:
    found: dict[str, list[_Said]] = {}
    for said in _said(open_database()):
        found.setdefault(said.code, []).append(said)
    for name in sorted(found.keys() - OWN.keys()):
        verdicts = sorted({said.verdict for said in found[name]}, key=lambda verdict: verdict.rank)
        vendors = sorted({said.vendor for said in found[name]})
        example = min((said.text for said in found[name]), key=lambda text: (len(text), text))
        yield [code(name), ", ".join(verdicts), ", ".join(vendors), plain(example)]


def _said(database: Database) -> Iterator[_Said]:
    """What every release says, and what holds beside it; of whole targets, too."""
    seen = set()
    for target in (one for name in database.names() for one in database.releases(name)):
        if (target.vendor, target.sdk) not in seen:
            seen.add((target.vendor, target.sdk))
            data = database.release(target).data
            yield from _read(
                target.vendor, [*data.get("conditions", ()), *data.get("advisories", ())]
            )
    for addition in database.additions:
        yield from _read(addition.vendor, addition.conditions)


def _read(vendor: str, conditions: Iterable[Mapping[str, Any]]) -> Iterator[_Said]:
    for one in conditions:
        yield _Said(vendor, one["code"], Verdict(one.get("verdict", Verdict.NATIVE)), one["text"])


def _checks() -> Iterator[list[str]]:
    for check in discover(opcheck.lint.checks, Check):  # type: ignore[type-abstract]  # subclasses come
        yield [code(check.name), (inspect.getdoc(check) or "").partition("\n")[0]]
