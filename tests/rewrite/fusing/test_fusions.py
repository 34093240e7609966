"""Every fusion: each way to write it is found, and gives what the kernel's formula does."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.rewrite.fusing.base import Fusion, fusions
from opcheck.rewrite.fusing.operators import declare
from opcheck.rewrite.fusing.program import FusedProgram, fused
from opcheck.rewrite.fusing.proving import DRAWS, Before, checked

_FUSIONS = {fusion.name: fusion for fusion in fusions()}
_NO_GAIN = {"swiglu-npu": 3, "swiglu-musa": 3}
"""Ways to write it that are found, and would move more bytes: weights that are inputs are joined
in each run."""


class AllWays(nn.Module):
    """Every variant of one fusion, on the same tensors."""

    def __init__(self, fusion: Fusion) -> None:
        super().__init__()
        self.ways = fusion.ways()
        self.names = sorted({name for way in self.ways for name in way.tensors})

    def forward(self, *tensors: Tensor) -> list[Tensor]:
        given = dict(zip(self.names, tensors, strict=True))
        numbers = {"eps": 1e-5, "scale": 0.5, "divisor": 2.0, "before": 0.5, "fill": -1e9}
        return [
            way.function(
                *(given[name] for name in way.tensors),
                **{name: numbers[name] for name in way.numbers},
            )
            for way in self.ways
        ]


def inputs(fusion: Fusion, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Tensors of sizes that kernels take, in the order of their names."""
    heads = torch.randn(2, 4, 16, 128)
    rows = torch.randn(2, 16, 128)
    seen = torch.ones(16, 16).tril().bool()
    bias = torch.zeros(16, 16).masked_fill(~seen, -torch.inf)
    weight = torch.randn(128)
    known: dict[str, Tensor] = {
        "query": heads, "key": torch.randn_like(heads), "value": torch.randn_like(heads),
        "bias": bias, "hidden": ~seen, "seen": seen, "weight": weight, "x": rows,
        "cos": torch.rand(1, 1, 16, 128), "sin": torch.rand(1, 1, 16, 128),
    }  # fmt: skip
    if fusion.name.startswith("swiglu"):
        known |= {"gate": rows, "value": torch.randn_like(rows)}
        known |= {name: torch.randn(64, 128) for name in ("gate_weight", "value_weight")}
        known |= {name: torch.randn(64) for name in ("gate_bias", "value_bias")}
    if fusion.name.startswith("rotary"):
        known["x"] = heads
    known = {**fusion.example(), **known}
    found = (known[name] for name in AllWays(fusion).names)
    return tuple(t.to(dtype) if t.is_floating_point() else t for t in found)


def exported(module: nn.Module, given: tuple[Tensor, ...]) -> Any:
    with torch.no_grad():
        return torch.export.export(module, given)


def all_ways(fusion: Fusion, dtype: torch.dtype) -> tuple[Before, FusedProgram]:
    torch.manual_seed(0)
    declare([fusion])
    program = exported(AllWays(fusion), inputs(fusion, dtype))
    before = Before(program)
    return before, fused(program, [fusion], "910b")


def test_there_are_fusions() -> None:
    assert len(_FUSIONS) > 5


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", _FUSIONS)
def test_every_way_to_write_it_is_found_and_gives_the_same(name: str, dtype: str) -> None:
    fusion = _FUSIONS[name]
    before, found = all_ways(fusion, getattr(torch, dtype))
    moves_more = _NO_GAIN.get(name, 0)
    assert [one.reason for one in found.left if "it would move" not in one.reason] == []
    assert len(found.left) == moves_more
    assert len(found.sites) == len(fusion.ways()) - moves_more
    _, check = before.compared(found)
    assert check.holds
    checks = checked(found.sites)
    assert [check.dtype for check in checks] == ["float32", "float16", "bfloat16"]
    assert [check.draws for check in checks] == [DRAWS] * 3
    assert all(check.holds for check in checks)
    assert all(site.after[1] < site.before[1] for site in found.sites)


@pytest.mark.parametrize("name", _FUSIONS)
def test_a_fusion_cites_its_formula_and_a_target_has_its_kernel(name: str) -> None:
    fusion = _FUSIONS[name]
    assert fusion.references
    assert fusion.tolerance > 0
    database = Database.open()
    names = ("ascend-910b", "moorethreads-s5000", "nvidia-a100", "cambricon-mlu590", "apple-mps")
    matrices = [database.matrix(database.resolve(TargetSpec.parse(name))) for name in names]
    assert any(op in matrix.entries for matrix in matrices for op in fusion.kernels)


class Gated(nn.Module):
    """A gate and a value of two layers, with a bias or without one; one weight is used again."""

    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.gate, self.value = nn.Linear(32, 16, bias=bias), nn.Linear(32, 16, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = nn.functional.silu(self.gate(x)) * self.value(x)
        return found @ self.value.weight


@pytest.mark.parametrize("bias", [True, False])
def test_weights_of_two_layers_are_joined_when_the_program_is_written(bias: bool) -> None:
    fusion = _FUSIONS["swiglu-npu"]
    declare([fusion])
    torch.manual_seed(0)
    module, x = Gated(bias), torch.randn(64, 32)
    program = exported(module, (x,))
    before = Before(program)
    found = fused(program, [fusion], "910b")
    assert [one.reason for one in found.left] == []
    written, check = before.compared(found)
    assert check.holds
    calls = [str(n.target) for n in written.graph.nodes if n.op == "call_function"]
    assert calls == [
        "aten.linear.default", "npu.npu_swiglu.default", "aten.matmul.default",
    ]  # fmt: skip
    joined = {name for name in written.state_dict if name.endswith("_of_weights")}
    assert len(joined) == 1 + bias
    assert set(written.state_dict) - joined == {"value.weight"}
    torch.testing.assert_close(written.module()(x), module(x))


class Twice(nn.Module):
    """The weights of attention are a result, too."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        weights = (query @ key.transpose(-2, -1)).softmax(-1)
        return weights @ value, weights


class Written(nn.Module):
    """What is normed is written to before the norm is done."""

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        x = x + 0
        flat = x.view(-1)
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        flat.mul_(2)
        return x * scale * weight


class OtherWay(nn.Module):
    """Nearly a rotation: it is the first half that is negated."""

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat((second, -first), dim=-1) * sin


class OtherSize(nn.Module):
    """Nearly a norm: it is over another dimension."""

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-2, keepdim=True) + 1e-6) * weight


def outcome(module: nn.Module, name: str, *given: Tensor, chip: str = "910b") -> tuple[int, str]:
    """How many places are fused, and why one is left."""
    fusion = _FUSIONS[name]
    declare([fusion])
    found = fused(exported(module, given), [fusion], chip)
    return len(found.sites), found.left[0].reason if found.left else ""


def test_what_something_else_uses_stays() -> None:
    heads = torch.randn(1, 2, 4, 8)
    found = outcome(Twice(), "attention-torch", heads, heads.clone(), heads.clone())
    assert found == (0, "something else uses what is computed on the way")


def test_what_is_written_to_stays() -> None:
    found = outcome(Written(), "rms-norm-npu", torch.randn(4, 32), torch.randn(32))
    assert found == (0, "a tensor is written to in between")


@pytest.mark.parametrize(
    ("module", "name"), [(OtherWay(), "rotary-npu"), (OtherSize(), "rms-norm-npu")],
    ids=["rotation", "norm"],
)  # fmt: skip
def test_what_only_looks_alike_is_not_found(module: nn.Module, name: str) -> None:
    given: tuple[Tensor, ...] = (torch.randn(32, 32), torch.randn(32))
    if name == "rotary-npu":
        given = (torch.randn(1, 2, 4, 8), torch.randn(1, 1, 4, 8), torch.randn(1, 1, 4, 8))
    assert outcome(module, name, *given) == (0, "")


class CastsElsewhere(nn.Module):
    """A norm whose mean alone is of float32."""

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        mean = x.pow(2).to(torch.float32).mean(-1, keepdim=True)
        return (x * torch.rsqrt(mean + 1e-6) * weight).to(x.dtype)


def test_what_casts_elsewhere_is_told() -> None:
    x, weight = torch.randn(4, 32), torch.randn(32)
    found = outcome(CastsElsewhere(), "rms-norm-npu", x.half(), weight.half())
    assert found == (0, "it casts elsewhere than the ways to write it that are known")
    assert outcome(CastsElsewhere(), "rms-norm-npu", x, weight) == (1, "")


REFUSED = [
    ("rms-norm-npu", "910b", (torch.randn(128), torch.randn(128)), "takes tensors of 2 to 8"),
    ("rms-norm-npu", "910a", (torch.randn(4, 2), torch.randn(2)), "32 bytes or more"),
    (
        "rms-norm-npu", "910a", (torch.randn(4, 32).bfloat16(), torch.randn(32).bfloat16()),
        "does not take bfloat16",
    ),
    ("rms-norm-npu", "910b", (torch.randn(4, 32), torch.randn(1)), "one number for each"),
    ("rms-norm-torch", "a100", (torch.randn(4, 32).half(), torch.randn(32)), "another dtype"),
    ("rotary-npu", "910b", (torch.randn(2, 4, 6), *[torch.randn(4, 6)] * 2), "such a shape"),
    ("rotary-npu", "910a", (torch.randn(1, 2, 4, 64), *[torch.randn(1, 1, 4, 64)] * 2), "on this"),
    (
        "rotary-npu", "910b", (torch.randn(1, 2, 4, 8).double(), *[torch.randn(1, 1, 4, 8)] * 2),
        "tensors of one dtype",
    ),
    ("swiglu-npu", "910a", (torch.randn(4, 8),), "names Atlas A2 alone"),
    ("swiglu-npu", "910b", (torch.randn(4, 8).double(),), "takes float32"),
    ("attention-torch", "a100", tuple([torch.randn(4, 8)] * 3), "fused kernels take"),
]  # fmt: skip


class OneWay(nn.Module):
    """The first variant of a fusion."""

    def __init__(self, fusion: Fusion) -> None:
        super().__init__()
        masked = {"bias", "hidden", "seen", "gate_weight"}
        self.way = next(way for way in fusion.ways() if masked.isdisjoint(way.tensors))
        self.numbers = dict.fromkeys(self.way.numbers, 0.5)

    def forward(self, *tensors: Tensor) -> Any:
        return self.way.function(*tensors, **self.numbers)


@pytest.mark.parametrize(
    ("name", "chip", "given", "reason"), REFUSED, ids=[f"{r[0]}-{r[3][:9]}" for r in REFUSED]
)
def test_what_the_kernel_does_not_take_stays(
    name: str, chip: str, given: tuple[Tensor, ...], reason: str
) -> None:
    places, said = outcome(OneWay(_FUSIONS[name]), name, *given, chip=chip)
    assert places == 0
    assert re.search(reason, said)


class Broadcast(nn.Module):
    """One value for all rows of gates."""

    def forward(self, gate: Tensor, value: Tensor) -> Tensor:
        return nn.functional.silu(gate) * value


def test_gate_and_value_of_two_shapes_stay() -> None:
    found = outcome(Broadcast(), "swiglu-npu", torch.randn(4, 8), torch.randn(8))
    assert found == (0, "gate and value are not of one shape")


class Filled(nn.Module):
    """Scores that are not to be seen are filled with a number that is no lower than others."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor) -> Tensor:
        return (query @ key.transpose(-2, -1)).masked_fill(hidden, -1.0).softmax(-1) @ value


class MixedMask(nn.Module):
    """A mask in float32 beside scores in 16 bits."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) + bias
        return scores.softmax(-1, dtype=torch.float32).to(query.dtype) @ value


def test_masks_that_the_kernel_does_not_take_stay() -> None:
    heads = [torch.randn(1, 2, 4, 8) for _ in range(3)]
    places, said = outcome(Filled(), "attention-torch", *heads, torch.eye(4).bool())
    assert (places, said) == (
        0,
        "scores that are not to be seen are filled with too large a number",
    )
    halves = [one.half() for one in heads]
    places, said = outcome(MixedMask(), "attention-torch", *halves, torch.zeros(4, 4))
    assert (places, said) == (0, "the mask is of another dtype than the queries")


class OtherShape(Fusion):
    """A kernel whose result is smaller."""

    name = "other-shape"
    summary = "Use what is smaller"
    kernels = ("aten::sum",)
    tolerance = 1.0
    variants = (lambda x: x.exp().log(),)
    replace = staticmethod(lambda x: x.sum())

    def example(self) -> dict[str, Tensor]:
        return {"x": torch.ones(2)}


class BySize(OtherShape):
    """A kernel that is called for some sizes alone."""

    name = "by-size"
    replace = staticmethod(lambda x: x.relu() if x.shape[0] > 3 else x.neg())


class Logs(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.exp().log()


def test_a_kernel_with_another_result_stays_out() -> None:
    found = fused(exported(Logs(), (torch.rand(4),)), [OtherShape()], "")
    assert [one.reason for one in found.left] == ["the kernel's result has another shape or dtype"]


def test_a_kernel_that_is_called_by_an_open_size_stays_out() -> None:
    rows = torch.export.Dim("rows", min=2, max=64)
    program = torch.export.export(Logs(), (torch.rand(5),), dynamic_shapes=({0: rows},))
    found = fused(program, [BySize()], "")
    said = "its kernel is called by a size that the program leaves open"
    assert [one.reason for one in found.left] == [said]


def test_a_program_with_open_sizes_is_fused_and_holds_for_others() -> None:
    fusion = _FUSIONS["rms-norm-npu"]
    declare([fusion])
    rows = torch.export.Dim("rows", min=2, max=64)
    given = (torch.randn(5, 32), torch.randn(32))
    program = torch.export.export(OneWay(fusion), given, dynamic_shapes=(({0: rows}, None),))
    found = fused(program, [fusion], "910b")
    assert len(found.sites) == 1
    for many in (2, 5, 40):
        x = torch.randn(many, 32)
        kept = OneWay(fusion)(x, given[1])
        torch.testing.assert_close(found.program.module()(x, given[1]), kept)


class Draws(nn.Module):
    """Draws numbers itself, and gives complex ones beside those that are normed."""

    def forward(self, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        x = x + torch.randn_like(x)
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return x * scale * weight, torch.fft.fft(x)


def test_numbers_that_a_model_draws_are_the_same_in_all_runs() -> None:
    fusion = _FUSIONS["rms-norm-npu"]
    declare([fusion])
    program = exported(Draws(), (torch.randn(4, 32), torch.randn(32)))
    before = Before(program)
    found = fused(program, [fusion], "910b")
    assert len(found.sites) == 1
    _, check = before.compared(found)
    assert (check.results, check.holds) == (2, True)


class Wrong(Fusion):
    """A kernel that computes something else."""

    name = "wrong"
    summary = "Use what is wrong"
    kernels = ("aten::sub.Tensor",)
    tolerance = 1.0
    variants = (lambda x, y: (x + y).exp().log(),)
    replace = staticmethod(lambda x, y: x - y)

    def example(self) -> dict[str, Tensor]:
        return {"x": torch.ones(2), "y": torch.ones(2)}


class Sums(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + y).exp().log()


def test_the_proof_finds_a_fusion_that_computes_something_else() -> None:
    wrong = Wrong()
    program = exported(Sums(), (torch.rand(4), torch.rand(4)))
    before = Before(program)
    found = fused(program, [wrong], "")
    assert len(found.sites) == 1
    _, check = before.compared(found)
    assert not check.holds
    assert not any(check.holds for check in checked(found.sites))
