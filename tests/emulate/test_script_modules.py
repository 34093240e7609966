"""The module of a script's that is running."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn, ones

from opcheck.emulate.script_modules import ScriptModules
from opcheck.trace.running.eager import not_compiled as not_compiling


def not_compiled(*_: object) -> None:
    pytest.fail("nothing here is compiled")


class Part(nn.Module):
    def __init__(self, told: Callable[[], None]) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.told = told

    def forward(self, x: Tensor) -> Tensor:
        self.told()
        result: Tensor = self.fc(x)
        return result


def test_a_module_is_named_from_the_outermost_one_that_is_called() -> None:
    modules, seen = ScriptModules(not_compiled), list[str]()
    part = Part(lambda: seen.append(modules.current))
    model = nn.Sequential(part, nn.Sequential(part, nn.Linear(2, 2)))
    with modules.watching():
        part(ones(2))  # a root as long as nothing around it was called
        model(ones(2))
        part(ones(2))  # as when a checkpoint runs it anew
        assert modules.current == ""
    assert seen == ["Part", "Sequential.*", "Sequential.*", "Sequential.*"]
    part(ones(2))
    assert seen[-1] == ""


def test_what_wraps_a_model_is_no_part_of_its_name() -> None:
    modules, seen = ScriptModules(not_compiled), list[str]()
    model = nn.Sequential(Part(lambda: seen.append(modules.current)))
    with modules.watching():
        nn.DataParallel(model)(ones(2))
    assert seen == ["Sequential.*"]


def test_what_is_added_to_a_module_later_counts_as_it() -> None:
    modules, seen = ScriptModules(not_compiled), list[str]()
    model = nn.Sequential(nn.Linear(2, 2))
    with modules.watching():
        model(ones(2))
        model.append(Part(lambda: seen.append(modules.current)))
        model(ones(2))
    assert seen == ["Sequential"]


def test_the_innermost_module_that_an_exception_left_is_known() -> None:
    def fail() -> None:
        raise ValueError

    modules = ScriptModules(not_compiled)
    model = nn.Sequential(nn.Sequential(Part(fail)))
    with modules.watching():
        with pytest.raises(ValueError) as caught:
            model(ones(2))
        try:
            dict[str, str]()["other"]
        except KeyError as error:
            nn.Linear(2, 2)(ones(2))  # while another one is handled
            other = error
    assert modules.failed_with(caught.value) == "Sequential.*.*"
    assert modules.failed_with(other) == ""
    assert modules.current == ""


def test_a_module_that_was_to_be_compiled_is_told_of_each_time_it_is_called() -> None:
    told = list[tuple[str, str]]()
    modules = ScriptModules(lambda how, path: told.append((how.backend, path)))
    with not_compiling(lambda _: None), modules.watching():
        model: Any = torch.compile(nn.Sequential(nn.Linear(2, 2)), backend="aot_eager")
        nn.Sequential(model, nn.ReLU())(ones(2))
        model(ones(2))
    assert told == [("aot_eager", "Sequential.*"), ("aot_eager", "Sequential.*")]
