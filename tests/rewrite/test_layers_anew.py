"""Layers written anew around another function: found by PyTorch's own forwards, and as good."""

import inspect

import pytest
import torch
from torch import nn

from opcheck.rewrite.source.call_sites import Parameters
from opcheck.rewrite.source.changing import Form
from opcheck.rewrite.source.layers import forms_of, layer_calling, layers_calling
from opcheck.rewrite.source.swapping import Swap, Swapped, swapped

CODE = "def turned(input, kernel_size, dilation=1, padding=0, stride=1):\n    return input\n"
LAYER = {
    "torch.nn.functional.unfold": Form(CODE, "turned"),
    "torch.nn.Unfold": Form("class Turned(object):\n    pass\n", "Turned", is_layer=True),
}
MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Unfold(3)
        self.more = nn.Sequential(nn.ReLU(), nn.Unfold(kernel_size=2, stride=2))
        self.other = nn.Unfold(5)

    def forward(self, x):
        return self.more(self.parts(x)), nn.functional.unfold(x, 2)
"""


def test_a_layer_is_its_own_forward_with_another_function() -> None:
    assert layer_calling("Unfold", "torch.nn.functional.unfold", "turned") == (
        "class SwappedUnfold(torch.nn.Unfold):\n"
        '    """``torch.nn.Unfold`` whose forward calls ``turned``."""\n\n'
        "    def forward(self, input):\n"
        "        return turned(\n"
        "            input, self.kernel_size, self.dilation, self.padding, self.stride\n"
        "        )\n",
        "SwappedUnfold",
    )


@pytest.mark.parametrize(
    ("code", "layers"),
    [
        (CODE, ("Unfold",)),
        ("def turned(input, kernel_size):\n    return input\n", ()),
    ],
)
def test_layers_that_pass_more_than_the_function_takes_are_left_out(
    code: str, layers: tuple[str, ...]
) -> None:
    parameters = Parameters.of(code, "turned")
    assert layers_calling("torch.nn.functional.unfold", parameters) == layers
    assert layers_calling("torch.unfold", parameters) == ()


MADE = [
    ("unfold-by-index", nn.Unfold(2, padding=1), (1, 2, 4, 5)),
    ("fold-by-adding", nn.Fold((3, 4), 2), (1, 8, 6)),
    ("reflection-pad-by-index", nn.ReflectionPad2d((1, 0, 2, 1)), (1, 2, 4, 5)),
    ("replication-pad-by-index", nn.ReplicationPad1d(3), (1, 2, 4)),
    ("constant-pad-by-joining", nn.ZeroPad2d(1), (1, 2, 4, 5)),
    ("upsample-nearest-by-index", nn.Upsample(scale_factor=2), (1, 2, 4, 5)),
    ("upsample-nearest-by-index", nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 4, 5)),
    ("upsample-by-taps", nn.Upsample((7, 3), mode="bicubic"), (1, 2, 4, 5)),
    ("rms-norm-by-mean", nn.RMSNorm(5), (2, 5)),
]


@pytest.mark.parametrize(("rule", "layer", "shape"), MADE, ids=[str(made[1]) for made in MADE])
def test_a_layer_made_anew_computes_what_it_did(
    rule: str, layer: nn.Module, shape: tuple[int, ...]
) -> None:
    form = forms_of(rule)[f"torch.nn.{type(layer).__name__}"]
    assert form.is_layer
    space: dict[str, type[nn.Module]] = {}
    exec(form.code, space)
    kind = space[form.function]
    assert issubclass(kind, type(layer))
    assert inspect.signature(kind) == inspect.signature(type(layer))
    other = kind.__new__(kind)
    other.__dict__.update(layer.__dict__)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(other(x), layer(x))


def swap(line: int, module: str) -> Swapped:
    return swapped(MODEL, [Swap(line, LAYER, module)])


def test_a_layer_is_replaced_where_it_is_constructed() -> None:
    found = swap(12, "parts")
    assert found.text == MODEL.replace("nn.Unfold(3)", "Turned(3)").replace(
        "nn\n\n\n", f"nn\n\n\n{LAYER['torch.nn.Unfold'].code}\n\n", 1
    )
    assert not found.left
    assert found.done == found.constructed == frozenset([0])


def test_a_layer_in_a_container_is_found_by_the_name_of_that() -> None:
    found = swap(12, "more.*")
    assert "nn.ReLU(), Turned(kernel_size=2, stride=2))" in found.text
    assert found.text.count("Turned(") == 2  # with its definition
    assert "self.other = nn.Unfold(5)" in found.text


def test_a_call_beside_a_layer_is_replaced_for_itself() -> None:
    found = swap(12, "")
    assert "self.parts(x)), turned(x, 2)" in found.text
    assert "Turned" not in found.text
    assert found.constructed == frozenset()


def test_a_layer_that_is_named_like_a_method_is_no_call_of_it() -> None:
    text = "import torch\n\n\ndef forward(self, x):\n    return self.roll(x, 1) + x.roll(1)\n"
    form = Form("def turned(self, shifts, dims=()):\n    return self\n", "turned")
    found = swapped(text, [Swap(5, {"Tensor.roll": form}, "parts.roll")])
    assert found.text.endswith("    return self.roll(x, 1) + turned(x, 1)\n")
