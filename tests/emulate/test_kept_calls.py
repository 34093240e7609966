"""Calls that are kept to look for other ways."""

import torch

from opcheck.emulate.kept_calls import MOST, KeptCalls
from opcheck.emulate.session import Emulator
from opcheck.model.trace import Phase, Trace


def kept(target: str = "ascend-910b", *sizes: int, grad: bool = False) -> Trace:
    emulator, calls = Emulator(target, values=False, stop=False), KeptCalls()
    with emulator as device:
        emulator.device.kept = calls
        for size in sizes:
            x = torch.ones(size, device=device, requires_grad=grad)
            (torch.special.i0(x) + 1).to(torch.bfloat16)
    return calls.trace("npu")


def test_what_the_device_does_not_take_is_kept_with_its_places() -> None:
    trace = kept("ascend-910a", 3, 3, 5)
    names = [str(node.op) for node in trace.nodes]
    assert names.count("aten::i0.out") == 2  # of two sizes
    assert "aten::_to_copy" in names
    assert "aten::add.Tensor" not in names
    first = names.index("aten::i0.out")
    assert [(use.count, use.phase) for use in trace.uses if use.node == first] == [
        (2, Phase.FORWARD)
    ]


def test_what_a_call_gives_is_kept_for_conditions_of_results() -> None:
    emulator, calls = Emulator("ascend-910b", values=False, stop=False), KeptCalls()
    with emulator as device:
        emulator.device.kept = calls
        torch.arange(4, dtype=torch.float64, device=device)
    (node,) = calls.trace("npu").nodes
    assert (str(node.op), *map(str, node.outputs)) == ("aten::arange", "float64[4]")


def test_arguments_that_gradients_are_wanted_of_are_known() -> None:
    assert kept("ascend-910a", 3).mode == "inference"
    trace = kept("ascend-910a", 3, grad=True)
    assert trace.mode == "train"
    needs = {str(trace.nodes[index].op): names for index, names in trace.differentiated}
    assert needs == {"aten::i0.out": ("self",), "aten::_to_copy": ("self",)}


def test_an_overload_has_few_signatures() -> None:
    trace = kept("ascend-910b", *range(1, MOST + 5))
    assert len(trace.nodes) == MOST
