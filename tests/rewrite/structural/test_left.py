"""Calls that select by a mask: over everything or of a fixed size, or why they stay."""

import pytest

from opcheck.model.plan import Suggestion
from opcheck.model.trace import Node, TensorMeta
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.fixed_size import of_fixed_size
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.lines import Site
from opcheck.rewrite.structural.mask_to_where import over_everything
from tests.resolve.made import NONE, matrix, node, tensor
from tests.rewrite.reasons import reads

MASK, WRONG = tensor("bool", 2, 3), tensor("bool", 1, 3)
ON = matrix("aten::empty.memory_format", fallback=NONE)
SUM = "s = x[mask].sum()"


def selecting(base: TensorMeta, mask: TensorMeta = MASK) -> Node:
    return node("aten::index.Tensor", given={"self": base, "indices": (mask,)})


def line(text: str, *nodes: Node) -> str:
    site = Site("model.py", 1, text)
    found = over_everything(nodes[0], site, nodes, ON, Prover(Recorder("npu", {})))
    assert isinstance(found, str), found
    return found


def test_a_line_stays_whose_calls_do_not_fit_together() -> None:
    several = (selecting(tensor()), selecting(tensor("float32", 4), tensor("bool", 4)))
    reads(line(SUM, *several), "its line is called with tensors of several shapes")
    reads(line(SUM, selecting(tensor(), WRONG)), "its mask is broadcast")
    places = selecting(tensor(), tensor("int64", 2))
    reads(line(SUM, selecting(tensor()), places), "its line has more than one index")


@pytest.mark.parametrize("written", [(), (tensor(), tensor())])
def test_a_line_stays_that_writes_where_no_tensor_is(written: tuple[TensorMeta, ...]) -> None:
    """As where what is written to is a list of the user's own."""
    given = {"self": written, "indices": (MASK,)}
    found = line("y[mask] = x[mask]", selecting(tensor()), node("aten::index_put_", given=given))
    reads(found, "what its line writes to is not known")


def test_a_call_has_no_fixed_size_without_one_mask_of_its_shape() -> None:
    for indices, reason in (
        (tensor("int64", 2), "it is not indexed by one mask alone"),
        (WRONG, "its mask is broadcast"),
    ):
        found = of_fixed_size(selecting(tensor(), indices), ON, Prover(Recorder("npu", {})))
        assert isinstance(found, str)
        reads(found, reason)


KERNELS = (
    "aten::as_strided", "aten::view", "aten::unsqueeze", "aten::empty.memory_format",
    "aten::fill_.Scalar", "aten::where.self", "aten::sum", "aten::__and__.Tensor",
    "aten::arange", "aten::arange.start_out", "aten::bitwise_and.Tensor_out", "aten::cat.out",
    "aten::cumsum.out", "aten::empty_strided", "aten::index_select", "aten::lt.Scalar_out",
    "aten::lt.Tensor_out", "aten::new_zeros", "aten::scatter.src_out", "aten::sub.out",
    "aten::to.dtype", "aten::zero_", "aten::cat", "aten::cumsum", "aten::lt.Scalar",
    "aten::lt.Tensor", "aten::scatter.src", "aten::sub.Tensor",
)  # fmt: skip


@pytest.mark.slow
def test_a_fixed_size_gives_the_same_and_says_what_it_costs() -> None:
    given = {"self": tensor("float32", 3), "mask": tensor("bool", 3)}
    on = matrix(*KERNELS, fallback=NONE)
    way = of_fixed_size(node("aten::masked_select", given=given), on, Prover(Recorder("npu", {})))
    assert isinstance(way, Suggestion), way
    assert way.measured is not None
    assert way.measured.forward.absolute == 0.0
    reads(
        way.gives_up,
        "A size has to be chosen: what does not fit into it is lost, and what is left of it is "
        "padding that the second result marks, which what comes after has to heed",
    )
