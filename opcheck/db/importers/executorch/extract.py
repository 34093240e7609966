"""Which of PyTorch's overloads ExecuTorch lowers and has kernels for: a file of facts of a release.

``python -m opcheck.db.importers.executorch.extract CALLS.jsonl SOURCES RELEASE >
executorch_lowerings.yaml`` judges what ``lowering`` noted by what ``kernels`` reads in a checkout
of that release: nothing is exported or run.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import yaml_writer
from opcheck.db.importers.executorch.kernels import Kernel, constraints, kernels
from opcheck.db.importers.executorch.lowering import functional, read, table

_COMMENT = """\
# What each overload becomes in ExecuTorch's edge dialect, and whether kernels take that. Written by
# `python -m opcheck.db.importers.executorch.extract`; do not edit.
# kernel: the out overload, its code, and dtypes of the first tensor that it reads (none: any);
# edge: dtypes that the verifier passes; else `tried`: dtypes of the first tensor in which calls of
# PyTorch's samples were decomposed, and not: dtype -> why no call of it comes through, some: why
# some do not.
# always: why no call does. verifier, variant, edge, kernel, dtype: what refuses which part.
# delegated: whether XNNPACK's partitioner has a config for all parts, some or none, in float32.
"""
_EXCEPTED = frozenset({
    "aten::_upsample_bilinear2d_aa", "aten::max", "aten::min", "aten::full_like",
    "aten::_assert_scalar", "aten::_assert_async.msg", "aten::scalar_tensor",
})  # fmt: skip
"""Overloads that the verifier passes though they are not of Core ATen: ``verifier.py`` 103-114."""
_PRIMITIVE = frozenset({
    "aten::_local_scalar_dense", "aten::sym_size.int", "aten::sym_numel", "aten::_assert_scalar",
    "aten::_assert_async.msg", "aten::detach",
})  # fmt: skip
"""Kernels of ``register_prim_ops.cpp``, and what passes remove."""
_DIM_ORDER = {
    "aten::_to_copy": "dim_order_ops::_to_dim_order_copy.out",
    "aten::clone": "dim_order_ops::_clone_dim_order.out",
    "aten::empty.memory_format": "dim_order_ops::_empty_dim_order.out",
}
"""What ``MemoryFormatOpsPass`` puts in the place of operators: ``dim_order_ops_registry.py``."""
_RENAMED = {"aten::t_copy": "aten::transpose_copy.int", "aten::unsafe_split.Tensor":
            "aten::split_copy.Tensor"}  # fmt: skip
XNNPACK = frozenset({
    "aten::abs", "aten::add.Tensor", "aten::addmm", "aten::avg_pool2d", "aten::bmm", "aten::cat",
    "aten::_native_batch_norm_legit_no_training", "aten::ceil", "aten::clone", "aten::cos",
    "aten::constant_pad_nd", "aten::convolution", "aten::clamp", "aten::div.Tensor", "aten::exp",
    "aten::floor", "aten::gelu", "aten::hardtanh", "aten::hardswish", "aten::leaky_relu",
    "aten::linear", "aten::log", "aten::max.dim", "aten::maximum", "aten::max_pool2d",
    "aten::mean.dim", "aten::minimum", "aten::mm", "aten::mul.Tensor", "aten::neg",
    "aten::permute_copy", "aten::pow.Tensor_Scalar", "aten::prelu", "aten::relu", "aten::rsqrt",
    "aten::sigmoid", "aten::sin", "aten::slice_copy.Tensor", "aten::_softmax", "aten::sqrt",
    "aten::sub.Tensor", "aten::tanh", "aten::_to_copy", "aten::unsqueeze_copy",
    "aten::upsample_bilinear2d.vec", "aten::view_copy",
})  # fmt: skip
"""Overloads that ``ALL_PARTITIONER_CONFIGS`` has a config for, quantised ones apart."""

_NOTHING = frozenset({"aten::alias_copy"})
"""What views become that have nothing to move: ``transpose`` of one dimension with itself."""
Leaf = Sequence[str]


class Release(Struct, frozen=True):
    """What the sources of one release have."""

    kernels: Mapping[str, Kernel]
    constraints: Mapping[str, Sequence[tuple[frozenset[str], frozenset[str]]]]

    def why(self, leaf: Leaf) -> str:
        """What refuses a part of a graph, and which; "" where it comes through."""
        name, given, result = leaf
        edge = in_edge(name)
        if edge in _PRIMITIVE:
            return ""
        if not is_core(edge):
            return f"verifier {edge}"
        dtype = result if given == "none" else given
        allowed = self.edge_dtypes(edge)
        if given != "none" and allowed and dtype not in allowed:
            return f"edge {edge}"
        out = out_variant(edge)
        if not out:
            return f"variant {edge}"
        kernel = self.kernels.get(out)
        if kernel is None:
            return f"kernel {edge}"
        return f"dtype {edge}" if kernel.takes and dtype not in kernel.takes else ""

    def edge_dtypes(self, edge: str) -> frozenset[str]:
        """Dtypes of the first tensor that the verifier passes; empty: any."""
        return frozenset().union(*(first for first, _ in self.constraints.get(edge, ())))


def overload(name: str) -> Any:
    """The overload of PyTorch; None of one that it does not have."""
    import torch

    namespace, _, rest = name.partition("::")
    base, _, own = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, own or "default", None) if packet is not None else None


def in_edge(name: str) -> str:
    """The overload that stands for one in the edge dialect: functional, and a copy for a view."""
    call = overload(name)
    if call is None or not name.startswith("aten::"):
        return name
    base, dot, own = name.partition(".")
    if call.is_view and overload(f"{base}_copy{dot}{own}") is not None:
        name = f"{base}_copy{dot}{own}"
    elif call._schema.is_mutable:
        form = functional(call)
        name = str(form.name()) if form is not None else name
    return _RENAMED.get(name, name)


def is_core(name: str) -> bool:
    """Whether the verifier passes an overload."""
    from torch import Tag

    call = overload(name)
    if call is None or call.namespace != "aten" or name in _EXCEPTED:
        return True
    return Tag.core in call.tags or Tag.view_copy in call.tags


def out_variant(edge: str) -> str:
    """``add.out`` of ``aten::add.Tensor``; "" where PyTorch has none."""
    if edge in _DIM_ORDER:
        return _DIM_ORDER[edge]
    import torch

    call = overload(edge)
    if call is None or call.namespace != "aten":
        return ""
    packet = getattr(torch.ops.aten, call._schema.name.removeprefix("aten::"))
    wanted = read(call)
    for own in packet.overloads():
        other = getattr(packet, own)
        if any(a.is_out for a in other._schema.arguments) and _same(read(other), wanted):
            return str(other.name()).removeprefix("aten::")
    return ""


def _same(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> bool:
    """Whether an out overload takes these arguments; tensor options are left out of it."""
    options = {"dtype", "layout", "device", "pin_memory"}
    kept = [each for each in other if each[0] not in options]
    return list(one) == list(other) or [each for each in one if each[0] not in options] == kept


def facts(lines: Iterable[Mapping[str, Any]], release: Release) -> dict[str, dict[str, Any]]:
    """Overload -> what is known of it."""
    calls: dict[str, dict[str, list[Sequence[Leaf]]]] = defaultdict(lambda: defaultdict(list))
    whole = set(of_core(table()))
    for said in lines:
        whole |= {said["op"]} if said["whole"] else set()
        calls[said["op"]][said["dtype"]].append(said["leaves"])
    return {
        name: _of_kernel(name, release) if name in whole else _of_parts(name, calls[name], release)
        for name in sorted({*calls, *whole})
    }


def of_core(decompositions: Mapping[Any, Any]) -> Iterator[str]:
    """Overloads of Core ATen that the table leaves, and the views that stand for their copies."""
    import torch

    for schema in torch._C._jit_get_all_schemas():
        name = f"{schema.name}.{schema.overload_name}".removesuffix(".")
        call = overload(name) if name.startswith("aten::") and not schema.is_mutable else None
        if call is not None and call not in decompositions and is_core(in_edge(name)):
            yield name


def _of_kernel(name: str, release: Release) -> dict[str, Any]:
    edge = in_edge(name)
    found: dict[str, Any] = {"edge_name": edge} if edge != name else {}
    out = out_variant(edge)
    kernel = release.kernels.get(out)
    if edge in _PRIMITIVE:
        found["primitive"] = True
    elif not is_core(edge):
        found["always"] = f"verifier {edge}"
    elif kernel is None:
        found["always"] = f"{'kernel' if out else 'variant'} {edge}"
    else:
        found |= {"kernel": out, "at": kernel.at}
        found |= {"takes": list(kernel.takes)} if kernel.takes else {}
        allowed = release.edge_dtypes(edge)
        found |= {"edge": sorted(allowed)} if allowed else {}
    return found | {"delegated": "all" if edge in XNNPACK else "none"}


def _of_parts(
    name: str, calls: Mapping[str, Sequence[Sequence[Leaf]]], release: Release
) -> dict[str, Any]:
    found: dict[str, Any] = {"tried": sorted(calls)}
    refused: dict[str, str] = {}
    some: dict[str, str] = {}
    for dtype, outcomes in sorted(calls.items()):
        reasons = [worst(map(release.why, leaves)) for leaves in outcomes]
        if all(reasons):
            refused[dtype] = worst(reasons)
        elif any(reasons):
            some[dtype] = worst(reasons)
    found |= {"not": refused} if refused else {}
    found |= {"some": some} if some else {}
    return found | {"delegated": "all" if name in XNNPACK else _delegated(name, calls)}


STAGES = ("verifier", "edge", "variant", "kernel", "dtype")
"""What refuses a part, in the order in which they are asked."""


def worst(reasons: Iterable[str]) -> str:
    """The reason that is met first on the way; "" where there is none."""
    found = [why for why in reasons if why]
    return min(found, key=lambda why: STAGES.index(why.partition(" ")[0]), default="")


def _delegated(name: str, calls: Mapping[str, Sequence[Sequence[Leaf]]]) -> str:
    outcomes = calls.get("float32") or [leaves for each in calls.values() for leaves in each]
    named = (
        {in_edge(leaf[0]) for leaves in outcomes for leaf in leaves}
        - _PRIMITIVE
        - (_NOTHING - {name})
    )
    if named and named <= XNNPACK:
        return "all"
    return "some" if named & XNNPACK else "none"


def text(found: Mapping[str, Mapping[str, Any]], release: str, torch_version: str) -> str:
    """The file."""
    versions = {"torch": torch_version, "executorch": release}
    lines = [_COMMENT.rstrip(), f"versions: {yaml_writer.flow(versions)}", "overloads:"]
    lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in found.items()]
    return "\n".join(lines) + "\n"


def untried(found: Mapping[str, Any]) -> Iterator[str]:
    """Overloads that the table of decompositions has, and no sample called."""
    yield from sorted({call.name() for call in table()} - set(found))


def main() -> None:
    """Write the file of a release."""
    import torch

    calls, folder, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    release = Release(kernels(folder), constraints(folder))
    lines = map(json.loads, calls.read_text(encoding="utf-8").splitlines())
    found = facts(lines, release)
    sys.stdout.write(text(found, name, torch.__version__.partition("+")[0]))
    sys.stdout.write(f"untried: {yaml_writer.flow(list(untried(found)))}\n")


if __name__ == "__main__":
    main()
