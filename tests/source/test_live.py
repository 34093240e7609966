"""A live module is traced on a copy."""

import pytest
import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.source.building.ready import load_live
from tests.lang.told import in_chinese


def test_the_module_is_left_as_it_is() -> None:
    module = nn.Sequential(nn.Linear(300, 300), nn.Dropout()).train()
    image = torch.rand(400, 300)
    loaded = load_live(module, image)
    copied = loaded.module
    assert isinstance(copied, nn.Sequential)
    assert (module.training, copied.training) == (True, False)
    assert (module[0].weight.is_meta, copied[0].weight.is_meta) == (False, True)
    assert loaded.args[0].is_meta
    assert (loaded.kind, loaded.digest) == ("live", "")
    assert loaded.notes == (
        "given in training mode, run in evaluation mode: 1 (Dropout) may compute otherwise",
    )


def test_inputs_come_in_every_form_or_are_told() -> None:
    module = nn.Linear(3, 4)
    x = torch.ones(2, 3)
    assert load_live(module, (x,)).args == (x,)
    assert load_live(module, {"input": x}).kwargs == {"input": x}
    assert load_live(module, None).notes == (
        "no inputs given: 1x3:float32, as the module (Linear) wants",
    )


def test_what_are_no_inputs_is_refused_as_that_of_the_call() -> None:
    with pytest.raises(SourceError) as refused:
        load_live(nn.Linear(3, 4), 3)
    assert refused.value.message == "the call gives inputs of type int"
    assert in_chinese([refused.value.message]) == ["该调用给出的输入类型为 int"]


def test_a_graph_of_torch_fx_is_a_module_like_any_other() -> None:
    graph = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(8, 4), nn.ReLU()))
    loaded = load_live(graph, torch.ones(2, 8))
    assert isinstance(loaded.module, torch.fx.GraphModule)
    assert loaded.module(*loaded.args).shape == (2, 4)
