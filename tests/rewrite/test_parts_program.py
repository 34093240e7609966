"""Exported programs with complex tensors, computed on real and imaginary parts."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn

from opcheck.model.jobs import Replacement
from opcheck.rewrite.graph import rewritten
from opcheck.rewrite.parts import program
from opcheck.rewrite.parts.calls import NAME
from opcheck.rewrite.parts.table import form
from tests.rewrite.reasons import reads


class Rotary(nn.Module):
    """Turns pairs by a table that is kept as complex numbers."""

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.1]))
        self.register_buffer("table", torch.polar(torch.ones_like(angles), angles), False)

    def forward(self, x: Tensor) -> Tensor:
        numbers = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        turned = numbers * self.table[: x.size(1)]
        return torch.view_as_real(turned).flatten(2).type_as(x)


class Kept(Rotary):
    """Its table is in the state dict."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", self.table.clone())


class Filter(nn.Module):
    """Multiplies a spectrum by weights, as Fourier neural operators do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3, dtype=torch.cfloat))

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x)
        kept = torch.zeros(2, spectrum.size(-1), dtype=torch.cfloat)
        kept[:, :3] = spectrum[:, :3] * self.weight
        found: Tensor = torch.fft.irfft(kept, n=x.size(-1))
        return found


class Spectrogram(nn.Module):
    """Runs composites that turn tensors in place inside PyTorch."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        window = torch.hann_window(16)
        spectrum = torch.stft(x, 16, window=window, return_complex=True)
        back = torch.istft(spectrum, 16, window=window, length=x.size(-1))
        return spectrum.abs(), back


class Mixing(nn.Module):
    """Fourier transforms in two dimensions, of which the real part is kept."""

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.fft.fft2(x, dim=(-2, -1)).real + x
        return found


class Several(nn.Module):
    """Lists, numbers, conjugates and products of matrices."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        z = torch.complex(x, x.flip(0)) * (1 - 2j)
        first, second = z.chunk(2, dim=-1)
        product = first.mT.conj() @ second
        joined = torch.cat([first / (second + 3), 1j * second], 0).exp()
        return product.abs(), joined.angle(), torch.view_as_real(joined.sum(-1))


MODELS: Sequence[tuple[nn.Module, Tensor]] = (
    (Rotary(), torch.rand(2, 5, 4)),
    (Kept(), torch.rand(2, 5, 4)),
    (Filter(), torch.rand(2, 12)),
    (Spectrogram(), torch.rand(2, 64)),
    (Mixing(), torch.rand(2, 5, 6)),
    (Several(), torch.rand(4, 6)),
)


def changed(model: nn.Module, x: Tensor, **kwargs: Any) -> tuple[Any, Any]:
    before = torch.export.export(model, (x,), **kwargs)
    again = torch.export.export(model, (x,), **kwargs)
    return before, rewritten(again, [Replacement("aten::view_as_complex", NAME)])


def complex_nodes(program: Any) -> list[str]:
    leaves = torch.utils._pytree.tree_leaves
    return [
        str(node)
        for node in program.graph.nodes
        for leaf in leaves(node.meta.get("val"))
        if isinstance(leaf, Tensor) and leaf.is_complex()
    ]


@pytest.mark.parametrize(("model", "x"), MODELS, ids=lambda value: type(value).__name__)
def test_no_tensor_is_complex_any_more(model: nn.Module, x: Tensor) -> None:
    before, found = changed(model, x)
    assert found.left == {}
    assert complex_nodes(before)
    assert complex_nodes(found.program) == []
    torch.testing.assert_close(found.program.module()(x), before.module()(x))
    other = torch.randn_like(x)
    torch.testing.assert_close(found.program.module()(other), before.module()(other))


def test_open_sizes_stay_open() -> None:
    x, rows = torch.rand(2, 5, 4), torch.export.Dim("rows", min=2, max=64)
    before, found = changed(Rotary(), x, dynamic_shapes=({0: rows},))
    assert found.left == {}
    for size in (2, 7):
        x = torch.rand(size, 5, 4)
        torch.testing.assert_close(found.program.module()(x), before.module()(x))


@pytest.mark.slow
def test_a_program_on_parts_is_saved_and_loaded(tmp_path: Any) -> None:
    x = torch.rand(2, 12)
    before, found = changed(Filter(), x)
    torch.export.save(found.program, tmp_path / "on_parts.pt2")
    again = torch.export.load(tmp_path / "on_parts.pt2")
    assert again.state_dict["weight"].shape == (2, 3, 2)
    torch.testing.assert_close(again.module()(x), before.module()(x))


class Gives(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.fft.rfft(x)
        return found


class Sines(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.complex(x, x).sinh().abs()


class Writes(nn.Module):
    """Writes through one view of a complex tensor, and reads through the other."""

    def forward(self, x: Tensor) -> Tensor:
        z = torch.complex(x, x)
        pairs = torch.view_as_real(z)
        pairs.mul_(2)
        return z.abs()


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.cond(
            x.sum() > 0, lambda x: torch.complex(x, x).abs(), lambda x: x.abs(), [x]
        )
        return found


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Gives(), "the program gives complex tensors to its caller"),
        (Sines(), "aten::sinh on parts is nothing that is known"),
        (Writes(), "aten::mul_.Tensor writes to a tensor that is also seen through "
                   "aten::view_as_real"),
        (Branches(), "a branch or a loop of the program computes with complex tensors"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_cannot_be_is_left_with_the_reason(model: nn.Module, reason: str) -> None:
    before, found = changed(model, torch.rand(3, 4))
    assert list(found.left) == ["aten::view_as_complex"]
    reads(found.left["aten::view_as_complex"], reason)
    assert str(found.program.graph) == str(before.graph)


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.fft.fft(x, dim=0).abs()
        return found


def test_a_transform_along_a_size_that_is_left_open_is_left() -> None:
    size = torch.export.Dim("size", min=8, max=64)
    before, found = changed(Spectrum(), torch.rand(16, 4), dynamic_shapes=({0: size},))
    reason = found.left["aten::view_as_complex"]
    where = re.search(r"Eq\(\w+, 16\)", reason)
    assert where
    reads(reason, f"aten::_fft_r2c on parts decides by a size that is left open ({where[0]})")
    assert str(found.program.graph) == str(before.graph)


def test_a_form_that_gives_another_shape_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    made = form("aten::abs")
    assert made is not None
    wrong = replace(made, function=lambda z: z[0].flatten())
    monkeypatch.setattr(program, "form", lambda op: wrong if op == "aten::abs" else form(op))
    before, found = changed(Turned(), torch.rand(3, 4))
    reads(found.left["aten::view_as_complex"], "aten::abs on parts gives another dtype or shape")
    assert str(found.program.graph) == str(before.graph)


class Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.complex(x, x).abs()


def test_complex_inputs_are_left_to_the_caller() -> None:
    _, found = changed(nn.ReLU(), torch.rand(3))
    assert found.left == {}
    program = torch.export.export(Back(), (torch.rand(3, dtype=torch.cfloat),))
    found = rewritten(program, [Replacement("aten::abs", NAME)])
    assert list(found.left) == ["aten::abs"]
    reads(found.left["aten::abs"], "the program takes complex tensors from its caller")


class Back(nn.Module):
    def forward(self, z: Tensor) -> Tensor:
        return z.abs()
