"""A rule's function as text that needs nothing but torch."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.rewrite.text import needs, standalone

WIDE: float = 1.5
UNUSED = 7


def _helper(x: Tensor) -> Tensor:
    """Used by one and not by the other."""
    return x * WIDE


def uses_helper(x: Tensor, sizes: Sequence[int] = ()) -> Tensor:
    """Goes through a helper and a constant."""
    return _helper(x).reshape(list(sizes)) if sizes else _helper(x) + math.pi


def stands_alone(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def test_helpers_constants_and_imports_come_along_and_nothing_else() -> None:
    text = standalone(uses_helper)
    assert text.startswith(
        "import math\nfrom collections.abc import Sequence\nfrom torch import Tensor\n\n\nWIDE:"
    )
    assert "UNUSED" not in text
    assert "import torch\n" not in text
    assert needs(uses_helper) == ("Sequence", "Tensor", "WIDE", "_helper", "math", "uses_helper")


def test_the_text_runs_and_gives_the_same() -> None:
    space: dict[str, object] = {}
    exec(standalone(uses_helper), space)
    x = torch.tensor([1.0, -2.0])
    function = space["uses_helper"]
    assert callable(function)
    assert torch.equal(function(x), uses_helper(x))
    assert torch.equal(function(x, [2, 1]), uses_helper(x, [2, 1]))


def test_another_name_is_given_beside_its_own() -> None:
    text = standalone(stands_alone, name="plus_one")
    assert text == (
        "import torch\n\n\ndef stands_alone(x: torch.Tensor) -> torch.Tensor:\n    return x + 1\n"
        "\n\nplus_one = stands_alone\n"
    )
