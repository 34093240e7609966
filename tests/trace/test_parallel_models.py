"""Models that their own code makes one of several processes, traced whole."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from tests.preloaded import python

SCRIPT = """
import json, sys
from opcheck.source.building import processes, sharding

processes.prepare()
sharding.prepare()
import torch
from opcheck.model.trace import Constant, TensorMeta
from opcheck.trace.run import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.trace import parallel_programs

STEP = Training(TrainingStep(), Registrations(frozenset()))


def shown(use, node):
    tensors = [str(tensor) for _, tensor in node.tensors()]
    kinds = [str(v) for _, v in node.arguments if isinstance(v, Constant) and v.kind == "reduction"]
    named = [v for name, v in node.arguments if name == "reduce_op" and isinstance(v, str)]
    return " ".join([use.phase.value, str(node.op), *tensors, *kinds, *named])


def told(name, training):
    model, inputs = getattr(parallel_programs, name)()
    trace = trace_model(model, inputs, {}, device_type="npu", training=training)
    sent = {}
    for use in trace.uses:
        node = trace.nodes[use.node]
        if node.op.namespace in ("c10d", "_c10d_functional") and "wrap" not in node.op.base:
            key = shown(use, node)
            sent[key] = sent.get(key, 0) + use.count
    torch.distributed.destroy_process_group()
    return {"gaps": [gap.reason for gap in trace.gaps], "sent": dict(sorted(sent.items()))}


asked = [(name, trained) for trained, names in json.loads(sys.argv[1]) for name in names]
print(json.dumps([told(name, STEP if trained else None) for name, trained in asked]))
"""

INFERENCE: Mapping[str, Mapping[str, int]] = {
    "by_hand": {"forward c10d::allreduce_ float32[2,8] SUM": 1},
    "tensor_parallel": {
        "forward _c10d_functional::all_gather_into_tensor float32[2,2]": 1,
        "forward _c10d_functional::all_reduce float32[2,8] sum": 2,
    },
    "in_forward": {
        "forward _c10d_functional::all_gather_into_tensor float32[2,8]": 1,
        "forward c10d::broadcast_ float32[2,8]": 1,
    },
    "whole_module": {"forward _c10d_functional::all_gather_into_tensor float32[2,16]": 1},
    "sharded": {
        "forward c10d::_allgather_base_ bfloat16[36] bfloat16[18]": 1,
        "forward c10d::_allgather_base_ bfloat16[552] bfloat16[276]": 2,
    },
    "both": {
        "forward _c10d_functional::all_reduce float32[2,8] sum": 2,
        "forward c10d::_allgather_base_ float32[596] float32[298]": 1,
    },
    "first_stage": {
        "forward c10d::recv_ int32[1]": 1,  # stages vote on whether all know their shapes
        "forward c10d::send float32[2,8]": 2,
        "forward c10d::send int32[1]": 1,
    },
    "last_stage": {
        "forward c10d::recv_ float32[2,8]": 2,
        "forward c10d::recv_ int32[1]": 1,
        "forward c10d::send int32[1]": 1,
    },
    "ring": {"forward c10d::recv_ float32[4,8]": 1, "forward c10d::send float32[4,8]": 1},
    "experts": {"forward c10d::alltoall_base_ float32[4,8] float32[4,8]": 2},
}
TRAINING: Mapping[str, Mapping[str, int]] = {
    "by_hand": {
        "backward c10d::allreduce_ float32[2,8] SUM": 1,
        "forward c10d::allreduce_ float32[2,8] SUM": 1,
    },
    "tensor_parallel": {
        "backward _c10d_functional::all_reduce float32[2,8] sum": 2,
        "forward _c10d_functional::all_gather_into_tensor float32[2,2]": 1,
        "forward _c10d_functional::all_reduce float32[2,8] sum": 2,
    },
    "sharded": {
        "backward c10d::_allgather_base_ bfloat16[552] bfloat16[276]": 2,
        "backward c10d::_reduce_scatter_base_ float32[18] float32[36] AVG": 1,
        "backward c10d::_reduce_scatter_base_ float32[276] float32[552] AVG": 2,
        "forward c10d::_allgather_base_ bfloat16[36] bfloat16[18]": 1,
        "forward c10d::_allgather_base_ bfloat16[552] bfloat16[276]": 2,
    },
    "both": {
        "backward _c10d_functional::all_reduce float32[2,8] sum": 1,
        "backward c10d::_reduce_scatter_base_ float32[298] float32[596] AVG": 1,
        "forward _c10d_functional::all_reduce float32[2,8] sum": 2,
        "forward c10d::_allgather_base_ float32[596] float32[298]": 1,
    },
}


@pytest.fixture(scope="module")
def found() -> Mapping[tuple[str, bool], Any]:
    """All of them, traced in a process of their own: groups are opened for a whole process."""
    asked = [(False, list(INFERENCE)), (True, list(TRAINING))]
    script = [*python("torch"), "-c", SCRIPT, json.dumps(asked)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = [(name, trained) for trained, names in asked for name in names]
    return dict(zip(names, json.loads(done.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", INFERENCE)
def test_what_a_process_sends_in_inference_is_recorded(
    found: Mapping[tuple[str, bool], Any], name: str
) -> None:
    assert found[name, False] == {"gaps": [], "sent": INFERENCE[name]}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINING)
def test_what_a_process_sends_in_a_training_step_is_recorded(
    found: Mapping[tuple[str, bool], Any], name: str
) -> None:
    assert found[name, True] == {"gaps": [], "sent": TRAINING[name]}
