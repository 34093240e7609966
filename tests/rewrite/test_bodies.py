"""A call put into the forward of a class; everything else stays as it is."""

from msgspec.structs import replace

from opcheck.model.fusing import LayerCode
from opcheck.rewrite.source.bodies import edited

SOURCE = '''"""A module."""
import torch


class Norm(torch.nn.Module):
    def forward(
        self, hidden
    ):
        """Say what it does."""
        # and how
        wide = hidden.float()
        return (
            wide * self.weight
        )

    def other(self):
        return 1
'''
LAYER = LayerCode(
    file="net.py",
    line=6,
    name="Norm",
    rule="a-norm",
    plugin="torch_npu",
    vendor=("def vendors(x, eps):\n    return x\n", "vendors"),
    arguments=(("x", "hidden"), ("eps", "self.eps")),
    modules=("norm",),
)
EDITED = '''"""A module."""
import torch


def vendors(x, eps):
    return x


class Norm(torch.nn.Module):
    def forward(
        self, hidden
    ):
        """Say what it does."""
        # and how
        if hidden.device.type == "npu":
            import torch_npu  # noqa: F401  # brings the operator

            return vendors(x=hidden, eps=self.eps)
        wide = hidden.float()
        return (
            wide * self.weight
        )

    def other(self):
        return 1
'''


def test_the_call_comes_behind_the_docstring_and_the_rest_stays() -> None:
    found = edited(SOURCE, (LAYER,), "npu")
    assert found.text == EDITED
    assert found.done == (LAYER,)


def test_other_ends_of_lines_stay() -> None:
    found = edited(SOURCE.replace("\n", "\r\n"), (LAYER,), "npu")
    assert found.text == EDITED.replace("\n", "\r\n")


def test_a_forward_that_is_no_longer_there_stays_as_it_is() -> None:
    moved = replace(LAYER, line=7)
    assert edited(SOURCE, (moved,), "npu").done == ()
    other = replace(LAYER, line=16)
    assert edited(SOURCE, (other,), "npu").text == SOURCE


def test_a_forward_of_one_line_stays_as_it_is() -> None:
    text = "class Norm:\n    def forward(self, x): return x\n"
    assert edited(text, (replace(LAYER, line=2),), "npu").text == text
