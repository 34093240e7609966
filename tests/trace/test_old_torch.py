"""What a torch before 2.10 lacks is borrowed, or refused in a sentence."""

import subprocess

import pytest
from torch.utils import backend_registration

from opcheck.errors import TraceError
from opcheck.trace.device.tensors import require_backward
from tests.preloaded import python


@pytest.mark.since("2.10")
def test_a_training_step_needs_device_hooks_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    require_backward()
    monkeypatch.delattr(backend_registration, "_setup_privateuseone_for_python_backend")
    with pytest.raises(TraceError, match="cannot run a backward") as raised:
        require_backward()
    assert "torch 2.10 or newer" in raised.value.hint


GUARDED = """
import torch
from torch.utils import backend_registration
from opcheck.trace import trace_model

vars(backend_registration).pop("_setup_privateuseone_for_python_backend", None)
calls = (lambda x: x[x > 0], torch.nonzero, lambda x: float(x.sum()))
for call in calls:
    trace = trace_model(call, (torch.ones(2, 4),), {}, device_type="npu")
    print(trace.nodes[trace.uses[-1].node].op, *trace.gaps)
"""


@pytest.mark.slow
def test_calls_that_switch_devices_first_are_followed_without_hooks_from_python() -> None:
    """The process has torch's device hooks taken away, as they are absent before 2.10."""
    done = subprocess.run(
        [*python("torch"), "-c", GUARDED], capture_output=True, text=True, check=False
    )
    found = ["aten::index.Tensor", "aten::nonzero", "aten::item"]
    assert done.stdout.splitlines() == found, done.stderr
