"""What an Inferencer does on one emulated device; run by itself, with the target's name."""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import opcheck
from opcheck.errors import InferenceError, UsageError
from opcheck.runtime import Inferencer, detect_device
from opcheck.runtime.batching import tensors


class Net(nn.Module):
    """Calls an operator that not every device has, and gives nested results."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 6)
        self.dropout = nn.Dropout(0.5)

    def forward(self, pair: dict[str, Tensor], *, scale: float = 1.0) -> Any:
        made = self.dropout(self.body(pair["x"])) * scale + pair["y"]
        return {"scores": torch.special.i0e(made), "parts": (made, [7, made.sum(-1)])}


def given(rows: int = 2) -> dict[str, Tensor]:
    return {"x": torch.randn(rows, 6), "y": torch.randn(rows, 6)}


def check(target: str) -> None:
    torch.manual_seed(0)
    model, pair = Net(), given()
    with Inferencer(model, device="cpu") as infer:
        host = infer(pair, scale=2.0)
    with opcheck.emulate(target) as device:
        found = detect_device()
        assert (found.device, found.target) == (device, target), found
        assert found.memory and found.name in found.how
        assert detect_device("cpu").device.type == "cpu"
        plain(model, pair, host, device)
        lowered(model, pair, host)
        shimmed(model, pair, host, target)
        if target != "moorethreads-s4000":
            stepped_down(target)
        exported(model, pair, device)
        refused(model)


def near(found: Any, wanted: Any) -> None:
    """Equal structure, and values as near as two orders of the same sums are."""
    pairs = zip(tensors(found), tensors(wanted), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def plain(model: Net, pair: dict[str, Tensor], host: Any, device: torch.device) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Inferencer(model, precision="float32") as infer:
            assert next(model.parameters()).device == device
            assert not model.training
            result = infer(pair, scale=2.0)
            assert result["scores"].device.type == "cpu"
            assert result["parts"][1][0] == 7
            near(result, host)
            doubled = ((pair,), {"scale": 2.0})
            joined = infer.batch([doubled, (given(1),), doubled])
            near(joined[0], host)
            near(joined[2], host)
            infer.warm_up(pair)
            infer.synchronize()
    assert model.training
    torch.testing.assert_close(dict(model.state_dict()), before, rtol=0, atol=0)  # on the host
    try:
        infer(pair)
    except InferenceError as error:
        assert "closed" in error.message
    else:
        raise AssertionError("it was closed")


class Complement(nn.Module):
    """An operator of which the vendor's table and the kernel's page leave out bfloat16."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.erfc(x)


def lowered(model: Net, pair: dict[str, Tensor], host: Any) -> None:
    """In what the chip computes in: near, and given back in float32."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Inferencer(model) as infer:
            result = infer(pair, scale=2.0)
            assert infer.precision.autocast, infer.precision
            assert infer.precision.dtype in (torch.bfloat16, torch.float16)
    assert result["scores"].dtype == torch.float32
    torch.testing.assert_close(result["scores"], host["scores"], rtol=0.05, atol=0.05)
    assert not torch.equal(result["scores"], host["scores"])


def stepped_down(target: str) -> None:
    """A chip that computes in bfloat16, but not all that this model calls: the next best does."""
    x = torch.randn(2, 4)
    with Inferencer(nn.Sequential(nn.Linear(4, 4), Complement())) as infer:
        first = infer.precision.dtype
        infer(x)
        assert infer.precision.dtype == torch.float16
        stepped = "aten::erfc in bfloat16" in infer.precision.why
    assert (first, stepped) == (
        (torch.bfloat16, True) if target == "ascend-910b" else (torch.float16, False)
    ), infer.precision


def shimmed(model: Net, pair: dict[str, Tensor], host: Any, target: str) -> None:
    """Nothing of the model leaves a device that lacks an operator, once a kernel is allowed."""
    lacks = "i0e" in _left(model, pair, "exact")
    assert lacks == (target != "moorethreads-s4000"), "what the database says of special_i0e"
    assert not _left(model, pair, "tolerance")
    with Inferencer(model, precision="float32", allow="tolerance") as infer:
        near(infer(pair, scale=2.0), host)
    assert lacks == ("i0e" in _left(model, pair, "exact")), "closing takes the kernels away"


def _left(model: Net, pair: dict[str, Tensor], allow: str) -> str:
    """What is told of calls that leave the device."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with Inferencer(model, precision="float32", allow=allow) as infer:
            infer(pair)
    return " ".join(str(one.message) for one in told if "does not run" in str(one.message))


def exported(model: Net, pair: dict[str, Tensor], device: torch.device) -> None:
    """A file of torch.export, read without unpickling."""
    program = torch.export.export(model.eval(), (pair,))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, Path(folder) / "net.pt2")
        with Inferencer(Path(folder) / "net.pt2", precision="float32") as infer:
            assert infer.device.device == device
            result = infer(pair)
    near(result, model(pair))


def refused(model: Net) -> None:
    wrongs: list[dict[str, Any]] = [
        {"precision": "int4"}, {"allow": "anything"}, {"device": "toaster"},
    ]  # fmt: skip
    for wrong in wrongs:
        try:
            Inferencer(model, **wrong)
        except UsageError as error:
            assert error.hint, error
        else:
            raise AssertionError(wrong)


if __name__ == "__main__":
    check(sys.argv[1])
    print("done")
