"""Calls that select by a mask and have no way over everything, or of a fixed size."""

from opcheck.model.trace import Node, TensorMeta
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.fixed_size import of_fixed_size
from opcheck.rewrite.structural.lines import Site
from opcheck.rewrite.structural.mask_to_where import over_everything
from opcheck.rewrite.structural.proof import Prover
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


def test_a_call_has_no_fixed_size_without_one_mask_of_its_shape() -> None:
    for indices, reason in (
        (tensor("int64", 2), "it is not indexed by one mask alone"),
        (WRONG, "its mask is broadcast"),
    ):
        found = of_fixed_size(selecting(tensor(), indices), ON, Prover(Recorder("npu", {})))
        assert isinstance(found, str)
        reads(found, reason)
