"""What a shim leaves out, and what it leaves to the kernels that are there."""

from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.emulate.session import Emulator
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.predicates import Dtype, Layout, OneOf
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.rewrite.candidates import in_half
from opcheck.rewrite.shim import shim
from tests.resolve.made import NONE, TARGET, condition, matrix
from tests.rewrite.reasons import reads

OP = "aten::tril"
WAY = Suggestion(
    "tril-by-adding", Tier.SWAP, Label.EXACT, OP, "Add it up",
    code="""\
import torch


def tril(self, diagonal=0):
    rows = torch.arange(self.size(-2), device=self.device).unsqueeze(-1)
    below = torch.arange(self.size(-1), device=self.device) <= rows + diagonal
    return torch.where(below, self, torch.zeros_like(self))
""",
    function="tril",
)  # fmt: skip


def test_a_suggestion_without_code_is_no_kernel() -> None:
    way = Suggestion("made-on-the-device", Tier.SWAP, Label.EXACT, "aten::mul.Tensor", "Make it")
    made = shim(matrix("aten::ones", fallback=NONE), [way])
    assert (made.text, made.registered) == ("", ())
    (skipped,) = made.skipped
    assert skipped.suggestion == way
    reads(skipped.reason, "it is nothing that code could stand for")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12", "2.7"])
def test_a_kernel_of_the_device_keeps_what_it_takes(version: str, tmp_path: Path) -> None:
    """With a torch that gives kernels, and with an older one, where autograd is chosen from."""
    file = tmp_path / "shim.py"
    half = condition(Verdict.UNSUPPORTED, Dtype("self", OneOf(frozenset({"float16"}))))
    ascend = refusing(half)
    target = replace(ascend, target=replace(ascend.target, torch=version))
    made = shim(target, [WAY])
    assert made.registered == (WAY,)
    file.write_text(made.text, encoding="utf-8")
    emulator = Emulator(ascend, shims=(file,))
    with emulator as device:
        x = torch.arange(4.0).reshape(2, 2).to(device).requires_grad_()
        single, narrow = x.tril(), x.half().tril()
        asked = {kernel.op: kernel.count for kernel in emulator.kernels}
        assert (asked[OP], asked["aten::where.self"]) == (1, 1)
        assert [single.tolist(), narrow.tolist()] == [[[0.0, 0.0], [2.0, 3.0]]] * 2
        (single.sum() + narrow.float().sum()).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[2.0, 0.0], [2.0, 2.0]]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.7", "2.1"])
def test_where_its_kernel_is_out_of_reach_a_composite_runs_as_its_parts(
    version: str, tmp_path: Path
) -> None:
    """Ascend has autograd of its own for matmul, and before 2.4 no kernel can hand a call on."""
    file, op = tmp_path / "shim.py", "aten::matmul"
    code = """\
import torch


def matmul(self, other):
    return torch.matmul(self.half(), other.half()).float()
"""
    way = replace(WAY, replaces=op, code=code, function="matmul", label=Label.TOLERANCE)
    single = condition(Verdict.UNSUPPORTED, Dtype("self", OneOf(frozenset({"float32"}))))
    ascend = refusing(single, op=op)
    target = replace(ascend, target=replace(ascend.target, torch=version))
    made = shim(target, [way])
    assert made.registered == (way,)
    row = "aten::matmul: tril-by-adding (tolerance); its other calls as PyTorch's own parts\n"
    assert row in made.text
    file.write_text(made.text, encoding="utf-8")
    emulator = Emulator(ascend, shims=(file,))
    with emulator as device:
        x = torch.arange(4.0).reshape(2, 2).to(device).requires_grad_()
        square = x @ x
        assert square.dtype == torch.float32
        assert square.tolist() == [[2.0, 3.0], [6.0, 11.0]]
        square.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[3.0, 7.0], [5.0, 9.0]]
        with torch.inference_mode():
            halves = torch.arange(2.0).half().to(device)
            assert float(halves @ halves) == 1.0
        asked = {kernel.op for kernel in emulator.kernels}
    assert op not in asked
    assert {"aten::mm", "aten::dot"} <= asked


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12", "2.7", "2.1"])
def test_code_that_calls_its_own_overload_comes_to_what_was_there(
    version: str, tmp_path: Path
) -> None:
    """As in another dtype: ``linear``, which is made of parts, called itself without an end."""
    file = tmp_path / "shim.py"
    ways = [narrowed("aten::linear"), narrowed("aten::gelu")]
    database = Database.open()
    found = database.matrix(database.resolve(TargetSpec("ascend-910b")))
    assert not {way.replaces for way in ways} & found.entries.keys()
    target = replace(found, target=replace(found.target, torch=version))
    made = shim(target, ways)
    there = ways if version != "2.1" else ways[:1]
    assert {way.replaces for way in made.registered} == {way.replaces for way in there}
    file.write_text(made.text, encoding="utf-8")
    emulator = Emulator(found, shims=(file,))
    with emulator as device:
        weight = torch.eye(2).to(device).requires_grad_()
        x = torch.tensor([[1.0, 0.1]]).to(device)
        given = torch.nn.functional.linear(x, weight)
        assert given.tolist() == [[1.0, float(torch.tensor(0.1).half())]]
        curved = torch.nn.functional.gelu(given)
        assert curved.dtype == torch.float32
        curved.sum().backward()
        assert weight.grad is not None
        with torch.inference_mode():
            halves = torch.nn.functional.linear(x.half(), weight.half())
        assert halves.tolist() == given.tolist()
        assert emulator.refusals == ()


def narrowed(op: str) -> Suggestion:
    """One overload in float16 instead of float32."""
    found = in_half(op)
    assert found is not None
    return Suggestion(
        found.rule, found.tier, found.label, op, found.summary, code=found.code,
        function=found.entry,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12", "2.7"])
def test_a_number_in_place_of_a_tensor_comes_to_the_kernel_of_the_device(
    version: str, tmp_path: Path
) -> None:
    file, op = tmp_path / "shim.py", "aten::mul.Tensor"
    code = "import torch\n\n\ndef mul(self, other):\n    return torch.logical_and(self, other)\n"
    way = replace(WAY, replaces=op, code=code, function="mul")
    truth = condition(Verdict.UNSUPPORTED, Dtype("self", OneOf(frozenset({"bool"}))))
    ascend = refusing(truth, op=op)
    target = replace(ascend, target=replace(ascend.target, torch=version))
    file.write_text(shim(target, [way]).text, encoding="utf-8")
    with Emulator(ascend, shims=(file,)) as device:
        x = torch.tensor([1.0, 0.0]).to(device)
        assert torch.ops.aten.mul.Tensor(x, 2.0).tolist() == [2.0, 0.0]
        assert (x * 3.0).tolist() == [3.0, 0.0]
        assert (x.bool() * x.bool()).tolist() == [True, False]


def refusing(*conditions: Condition, op: str = OP) -> SupportMatrix:
    """Ascend, with these conditions on one overload and no others."""
    database = Database.open()
    found = database.matrix(database.resolve(TargetSpec("ascend-910b")))
    entries = {**found.entries, op: replace(found.entries[op], conditions=conditions)}
    return replace(found, entries=entries, conditions={**found.conditions, op: ()})


def test_where_the_chip_refuses_every_use_the_shim_has_it_to_itself() -> None:
    made = shim(matrix(OP, conditions={OP: [condition(Verdict.UNSUPPORTED)]}), [WAY])
    assert f'\n_register("{OP}", tril, "PrivateUse1", "AutogradPrivateUse1")\n' in made.text
    assert "_register_beside" not in made.text


def test_what_a_shim_cannot_leave_to_the_device_is_told() -> None:
    strided = condition(Verdict.UNSUPPORTED, Layout("self", OneOf(frozenset({"strided"}))))
    (skipped,) = shim(matrix(OP, conditions={OP: [strided]}), [WAY]).skipped
    reads(
        skipped.reason,
        "the target has a kernel for aten::tril, which refuses this use; what it refuses is "
        "nothing that a shim can ask of a call",
    )
    half = condition(Verdict.UNSUPPORTED, Dtype("self", OneOf(frozenset({"float16"}))))
    old = replace(
        matrix(OP, conditions={OP: [half]}), target=replace(TARGET, torch="2.1")
    )  # fmt: skip
    (skipped,) = shim(old, [WAY]).skipped
    reads(
        skipped.reason,
        "the target has a kernel for aten::tril, which refuses this use; with this torch a shim "
        "cannot leave all others to it",
    )
    (skipped,) = shim(replace(old, entries={}), [narrowed("aten::gelu")]).skipped
    reads(
        skipped.reason,
        "its code calls aten::gelu itself, which with this torch a shim cannot leave to what was "
        "there",
    )
