"""The calls of a run that its device does not take as they are, kept to look for other ways.

Of each overload a few distinct signatures are kept: what replaces one replaces the others, as a
rule, and a script may have thousands.
"""

from collections import Counter
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.emulate.overload import Overload, results
from opcheck.model.emulation import Site
from opcheck.model.trace import Node, Phase, Trace, Use
from opcheck.trace.calls.signature import Call, named_arguments
from opcheck.trace.device.tensors import DeviceTensor

MOST = 16
"""Distinct signatures of one overload that are kept."""


class KeptCalls:
    """Distinct calls in the order in which they were first made, each with its places."""

    def __init__(self) -> None:
        self._calls: dict[tuple[object, ...], int] = {}
        self._nodes: list[Node] = []
        self._needs: list[set[str]] = []
        self._uses: Counter[tuple[int, Site, Phase]] = Counter()
        self._of_overload: Counter[str] = Counter()

    def add(self, overload: Overload, call: Call, site: Site, phase: Phase) -> None:
        """Keep one call; ``site`` and ``phase``: where and when it is made."""
        index = self._calls.get(call.key)
        if index is None:
            if self._of_overload[overload.name] >= MOST:
                return
            self._of_overload[overload.name] += 1
            index = self._calls[call.key] = len(self._nodes)
            self._nodes.append(_node(overload, call))
            self._needs.append(set())
        if phase is Phase.FORWARD:
            self._needs[index] |= _differentiated(overload, call)
        self._uses[index, site, phase] += 1

    def gave(self, call: Call, result: Any) -> None:
        """Note what a call that is kept gave: some conditions are of its results."""
        index = self._calls.get(call.key)
        if index is not None:
            self._nodes[index] = replace(self._nodes[index], outputs=results(result))

    def trace(self, device_type: str) -> Trace:
        """The calls as a trace of them alone."""
        uses = tuple(
            Use(index, site.module, site.file, site.line, count, phase)
            for (index, site, phase), count in self._uses.items()
        )
        needs = ((i, tuple(sorted(names))) for i, names in enumerate(self._needs) if names)
        differentiated = tuple(needs)
        return Trace(
            torch_version=torch.__version__.partition("+")[0],
            device_type=device_type,
            mode="train" if differentiated else "inference",
            nodes=tuple(self._nodes),
            uses=uses,
            sequence=tuple(range(len(uses))),
            differentiated=differentiated,
        )


def _node(overload: Overload, call: Call) -> Node:
    return Node(
        overload.op,
        named_arguments(overload.facts.argument_names, call.args, call.kwargs),
        composite=overload.facts.composite,
        cpu_kernel=overload.facts.cpu_kernel,
        modes=call.modes,
    )


def _differentiated(overload: Overload, call: Call) -> set[str]:
    """Names of the arguments that gradients are wanted of."""
    names = dict(zip(overload.facts.argument_names, call.args, strict=False)) | call.kwargs
    return {
        name
        for name, value in names.items()
        if any(isinstance(leaf, Tensor) and _requires_gradient(leaf) for leaf in tree_leaves(value))
    }


def _requires_gradient(tensor: Tensor) -> bool:
    """Of a stand-in for a tensor of the device, whether that one does."""
    given = tensor.origin if isinstance(tensor, DeviceTensor) else tensor
    return (tensor if given is None else given).requires_grad
