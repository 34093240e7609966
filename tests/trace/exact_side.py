"""One side of the comparison, as a process: ``python -m tests.trace.exact_side traced|real``.

Reads ``{"sets": {name: [overload, ...]}, "models": [...]}`` and writes, for each model and set,
``[asked, missing]``. The real side takes exactly one set, since its kernels stay registered.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tests.trace.small_models import ready

Sets = Mapping[str, frozenset[str]]
Counts = tuple[dict[str, int], dict[str, int]]


def traced(name: str, sets: Sets) -> dict[str, Counts]:
    """What the tracer says."""
    from opcheck.trace import trace_model

    model, args, kwargs = ready(name)
    trace = trace_model(model, args, kwargs, device_type="npu", exact=sets)
    assert trace.gaps == (), trace.gaps
    return {
        label: (
            {str(k.op): k.count for k in kernels if not k.missing},
            {str(k.op): k.count for k in kernels if k.missing},
        )
        for label, kernels in trace.kernels.items()
    }


def real(names: Sequence[str], sets: Sets) -> dict[str, dict[str, Counts]]:
    """What the dispatcher does."""
    from tests.trace.real_device import RealDevice, to_device

    models = {name: ready(name) for name in names}
    attention: Any = sys.modules.get("transformers.integrations.sdpa_attention")
    if attention is not None:
        attention._is_torch_npu_available = True  # as where it is imported on such a machine
    ((label, registered),) = sets.items()
    device = RealDevice(registered)
    counts = {}
    for name, (model, args, kwargs) in models.items():
        inputs = to_device((args, kwargs))
        with device.running(model):
            model(*inputs[0], **inputs[1])
        counts[name] = {label: (dict(device.asked), dict(device.missing))}
    return counts


def main() -> None:
    asked = json.load(sys.stdin)
    sets = {name: frozenset(ops) for name, ops in asked["sets"].items()}
    if sys.argv[1] == "real":
        answer = real(asked["models"], sets)
    else:
        answer = {name: traced(name, sets) for name in asked["models"]}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
