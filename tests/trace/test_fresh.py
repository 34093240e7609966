"""A copy of a model for one run is the one that ``copy.deepcopy`` makes."""

import copy
import threading
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.source.building.build import light_copy, whole_copy
from opcheck.trace.running.model_state import copied, fresh_copy
from tests.trace.small_models import MODELS, ready


class Shares(nn.Module):
    """A weight and lists, empty and not, in two places each; a module that holds its parent."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.seen: list[Any] = []
        vars(self.first)["seen"] = self.seen
        self.options = {"seen": self.seen, "part": self.first}
        self.register_buffer("kept", torch.ones(2), persistent=False)
        self.__dict__["parent"] = self
        self.first.register_forward_hook(lambda *_: None)


class OfItsOwn(nn.Module):
    """Copied in a way of its own."""

    def __init__(self, copied: int = 0) -> None:
        super().__init__()
        self.copied = copied

    def __deepcopy__(self, memo: Any) -> "OfItsOwn":
        return OfItsOwn(self.copied + 1)


def state(module: nn.Module) -> dict[str, list[str]]:
    """By path: the class and the names and types of all that a module has."""
    return {
        path: [type(part).__name__, *(f"{n}: {type(v).__name__}" for n, v in vars(part).items())]
        for path, part in module.named_modules()
    }


@pytest.mark.parametrize("name", MODELS)
def test_every_module_has_what_a_deep_copy_has(name: str) -> None:
    model, *_ = ready(name)
    if not isinstance(model, nn.Module):
        pytest.skip("a function")
    copied, deep = fresh_copy(model), copy.deepcopy(model)
    assert copied is not model
    assert state(copied) == state(deep)
    for ours, theirs in zip(copied.state_dict().values(), deep.state_dict().values(), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_what_is_shared_stays_shared() -> None:
    model = Shares()
    copied = fresh_copy(model)
    assert isinstance(copied, Shares)
    assert copied.second.weight is copied.first.weight is not model.first.weight
    assert copied.seen is vars(copied.first)["seen"] is copied.options["seen"] is not model.seen
    assert copied.options["part"] is copied.first
    assert vars(copied)["parent"] is copied
    assert copied._non_persistent_buffers_set == {"kept"}
    assert len(copied.first._forward_hooks) == 1
    assert copied.first._forward_hooks is not model.first._forward_hooks


def test_a_class_says_how_it_is_copied() -> None:
    model = nn.Sequential(OfItsOwn(), nn.ReLU())
    found = fresh_copy(model)
    assert isinstance(found, nn.Sequential)
    assert found[0].copied == 1


def test_what_cannot_be_copied_is_used_as_it_is() -> None:
    model = nn.Sequential(nn.ReLU())
    vars(model[0])["lock"] = threading.Lock()
    assert fresh_copy(model) is model


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("copied", [fresh_copy, copied, whole_copy, light_copy])
def test_what_autograd_computed_is_copied_without_its_history(copied: Any) -> None:
    """Old weight norms leave such a weight as an attribute."""
    model: Any = nn.Sequential(nn.utils.weight_norm(nn.Linear(2, 2)))
    model[0].seen = [model[0].weight]
    made = copied(model)
    assert made is not model
    assert made[0].weight.grad_fn is None
    assert made[0].seen[0] is made[0].weight
    assert made[0].weight_v is not model[0].weight_v
    torch.testing.assert_close(made(torch.ones(1, 2)), model(torch.ones(1, 2)))


class Watches(nn.Module):
    """Hooks and a replaced method that see the model, a table of it, or each other."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        seen: dict[str, Any] = {}
        self.seen = seen

        def keep(name: str) -> Any:
            def hook(module: nn.Module, given: Any, result: torch.Tensor) -> None:
                seen[name] = result

            return hook

        def doubled(x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return plain(x) * 2

        self.calls, plain = 0, self.layer.forward
        self.layer.register_forward_hook(keep("layer"))
        self.layer.register_forward_pre_hook(lambda module, given: (given[0] + self.calls,))
        vars(self.layer)["forward"] = doubled

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x), self.seen["layer"]


@pytest.mark.parametrize("copied", [fresh_copy, copied, whole_copy, light_copy])
def test_functions_see_the_copy_that_has_them(copied: Any) -> None:
    model = Watches()
    made: Any = copied(model)
    result, seen = made(torch.ones(1, 2))
    assert seen is result
    assert (made.calls, model.calls, model.seen) == (1, 0, {})
    torch.testing.assert_close(model(torch.ones(1, 2))[0], result)
    assert copied(made).layer.forward is not made.layer.forward
