"""Which kernels are written: ``python -m tests.custom_kernels_document`` writes the page."""

from collections.abc import Mapping
from pathlib import Path

from opcheck.rewrite.custom.base import Toolchain, toolchains
from opcheck.rewrite.custom.expressions import TABLE
from opcheck.rewrite.custom.families import (
    attention,
    bags,
    convolutions,
    folds,
    gathers,
    orders,
    pools,
    products,
    resampling,
    sampling,
)
from tests.rewrite.custom.samples import FAMILIES
from tests.rewrite.custom.test_expressions import signature_of

PATH = Path(__file__).parent.parent / "docs" / "custom-kernels.md"
COMMAND = "python -m tests.custom_kernels_document"
_PAGE = """\
# Kernels that are written

What `opcheck fix --custom-op` writes whole, for {count} overloads and in each toolchain: of a
kind, all of its overloads or how many of them. For every other overload one function is left to
write, and the project does not build until it is ([Plan and fix](plan.md#a-kernel-of-your-own)).
Written by `{command}` from the tables that the projects are written from.

The first row says how what a kernel computes is compared with the CPU's kernel, for every overload
that is counted: *interpreted* is by Triton's interpreter, where Triton is installed; *compiled for
the host* is by a host compiler, with stand-ins for the vendor's headers, and threads or cores in
turns (of HIP and MUSA C, whose text is CUDA's, for one overload of each kind). The syntax of CUDA
is checked by clang as well, for host and device, where it is installed. No device has run them.

| kind | {titles} |
| --- | {line} |
| compared with the CPU's | {compared} |
{rows}

The overloads of each kind:

{lists}
"""


_HOW = {True: "interpreted", False: "compiled for the host"}


def _kinds() -> Mapping[str, tuple[str, ...]]:
    """Kind -> its overloads, sorted."""
    found: dict[str, list[str]] = {"number by number": [*TABLE]}
    for op, fold in folds.TABLE.items():
        found.setdefault(f"{fold.kind}s", []).append(op)
    for op, index in gathers.TABLE.items():
        found.setdefault(f"{index.kind}s", []).append(op)
    found["products"] = [*products.TABLE]
    found["pools"] = [*pools.TABLE]
    found["convolutions"] = [*convolutions.TABLE]
    found["resampling"] = [*resampling.TABLE]
    found["sorts"] = [*orders.TABLE]
    found["windows, samples and regions"] = [*sampling.TABLE]
    found["attention and bags of embeddings"] = [*attention.TABLE, *bags.TABLE]
    return {kind: tuple(sorted(ops)) for kind, ops in found.items()}


def _cell(chain: Toolchain, ops: tuple[str, ...]) -> str:
    written = [op for op in ops if chain.body(signature_of(op)).written]
    if len(written) == len(ops):
        return "all"
    return f"{len(written)} of {len(ops)}" if written else "none"


def page() -> str:
    """The whole page."""
    kinds, chains = _kinds(), toolchains()
    assert set(FAMILIES) < {op for ops in kinds.values() for op in ops}
    rows = [
        f"| {kind} | {' | '.join(_cell(chain, ops) for chain in chains)} |"
        for kind, ops in kinds.items()
    ]
    lists = [f"* {kind}: {', '.join(f'`{op}`' for op in ops)}" for kind, ops in kinds.items()]
    return _PAGE.format(
        command=COMMAND,
        count=sum(map(len, kinds.values())),
        titles=" | ".join(chain.title for chain in chains),
        line=" | ".join("---" for _ in chains),
        compared=" | ".join(_HOW[chain.interpreted] for chain in chains),
        rows="\n".join(rows),
        lists="\n".join(lists),
    )


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
