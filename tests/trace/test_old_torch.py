"""What a torch before 2.10 cannot do is refused in a sentence."""

import pytest
from torch.utils import backend_registration

from opcheck.errors import TraceError
from opcheck.trace.device import require_backward


def test_a_training_step_needs_device_hooks_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    require_backward()
    monkeypatch.delattr(backend_registration, "_setup_privateuseone_for_python_backend")
    with pytest.raises(TraceError, match="cannot run a backward") as raised:
        require_backward()
    assert "torch 2.10 or newer" in raised.value.hint
