"""What is kept of a script: outputs of outermost modules, losses and steps, in their order."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from opcheck.emulate.kept_outputs import KeptOutputs
from opcheck.emulate.script_modules import ScriptModules
from opcheck.emulate.script_outputs import ScriptOutputs, seed, seeded
from opcheck.model.comparison import Kept, Kind


@pytest.fixture
def kept() -> Iterator[KeptOutputs]:
    made = KeptOutputs(lambda _: None, lambda: 0)
    modules = ScriptModules(lambda *_: None)
    with modules.watching(), ScriptOutputs(modules, made).watching():
        yield made


def told(kept: KeptOutputs) -> list[tuple[Kind, str, int, str]]:
    found: tuple[Kept, ...] = kept.outputs(seeded=True).kept
    return [(one.moment.kind, one.moment.module, one.moment.call, one.path) for one in found]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x: Tensor) -> dict[str, Any]:
        y = checkpoint(self.fc, x, use_reentrant=False)
        return {"logits": y, "hidden": (x, [y])}


def test_a_step_is_kept_from_the_output_to_the_parameters(kept: KeptOutputs) -> None:
    net, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        loss = criterion(net(torch.ones(3, 2))["logits"], torch.zeros(3, 1))
        loss.backward()
        optimizer.step()
    expected = [
        (kind, module, call, path)
        for call in (1, 2)
        for kind, module, path in (
            (Kind.WITHIN, "Net.fc", ""),
            (Kind.OUTPUT, "Net", ".logits"), (Kind.OUTPUT, "Net", ".hidden[0]"),
            (Kind.OUTPUT, "Net", ".hidden[1][0]"), (Kind.OUTPUT, "MSELoss", ""),
            (Kind.LOSS, "", ""), (Kind.STEP, "SGD", "Net.fc.weight"),
            (Kind.STEP, "SGD", "Net.fc.bias"),
        )
    ]  # fmt: skip
    assert told(kept) == expected
    places = {(one.file.rpartition("/")[2], one.line > 0) for one in kept.outputs(seeded=True).kept}
    assert places == {("test_script_outputs.py", True)}


def test_modules_within_have_their_whole_path_and_their_line(kept: KeptOutputs) -> None:
    model = nn.Sequential(nn.Identity(), Net())
    model(torch.ones(3, 2))
    found = [one for one in kept.outputs(seeded=True).kept if one.moment.kind is Kind.WITHIN]
    assert [(one.moment.module, one.moment.call, one.path) for one in found] == [
        ("Sequential.0", 1, ""), ("Sequential.1.fc", 1, ""), ("Sequential.1", 1, ".logits"),
        ("Sequential.1", 1, ".hidden[0]"), ("Sequential.1", 1, ".hidden[1][0]"),
    ]  # fmt: skip
    line = Net.forward.__code__.co_firstlineno + 1
    assert (found[1].line, found[1].file) == (line, found[0].file)
    assert found[0].line != line


def test_parameters_that_no_module_named_have_their_place_in_the_optimizer(
    kept: KeptOutputs,
) -> None:
    alone, pair = nn.Parameter(torch.ones(1)), [nn.Linear(1, 1, bias=False) for _ in range(2)]
    for one in pair:
        one(torch.ones(1)).backward()
    weights = [one.weight for one in pair]
    groups: list[dict[str, Any]] = [{"params": [alone]}, {"params": weights}]
    torch.optim.SGD(groups, lr=0.1).step()
    assert [path for kind, *_, path in told(kept) if kind is Kind.STEP] == [
        "param_groups[0].params[0]", "Linear.weight", "param_groups[1].params[1]",
    ]  # fmt: skip


def test_a_module_that_raises_gives_nothing_and_the_next_is_outermost_again(
    kept: KeptOutputs,
) -> None:
    with pytest.raises(RuntimeError):
        nn.Sequential(nn.Linear(2, 2))(torch.ones(3))
    nn.Identity()(torch.ones(1))
    assert told(kept) == [(Kind.OUTPUT, "Identity", 1, "")]


def test_a_loss_is_kept_once_though_a_mode_sees_backward(kept: KeptOutputs) -> None:
    with torch.overrides.BaseTorchFunctionMode():
        torch.ones(1, requires_grad=True).backward()
    torch.autograd.backward([torch.ones(1, requires_grad=True)] * 2)
    assert told(kept) == [
        (Kind.LOSS, "", 1, ""),
        (Kind.LOSS, "", 2, "[0]"),
        (Kind.LOSS, "", 2, "[1]"),
    ]


def test_what_sets_a_seed_is_known() -> None:
    seed()
    first = torch.rand(2)
    assert not seeded()
    seed()
    assert torch.equal(torch.rand(2), first)
    torch.manual_seed(0)
    assert seeded()
