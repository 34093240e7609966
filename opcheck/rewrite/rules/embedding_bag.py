"""``embedding_bag`` by looking up and adding up."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw
from opcheck.rewrite.ties import Outcome

_LARGEST = 1 << 24


def _bags(offsets: Tensor, bags: int, count: int) -> Tensor:
    """Which bag each place belongs to: the last that starts at or before it."""
    place = torch.arange(count, device=offsets.device).unsqueeze(-1)
    return (offsets.narrow(0, 0, bags) <= place).long().sum(-1) - 1


def _largest(rows: Tensor, here: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of each bag, and the place that it is at; 0 and -1 for an empty bag."""
    table = torch.where(here, rows, torch.full_like(rows, -math.inf))
    values, places = table.max(1)
    none = ~here.any(1)
    return torch.where(none, torch.zeros_like(values), values), torch.where(none, -1, places)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Look the rows up, and add them up by the bag that they belong to."""
    count, size = indices.numel(), weight.size(1)
    bags = offsets.numel() - include_last_offset
    bag = _bags(offsets.long(), bags, count)
    kept = (indices != padding_idx).unsqueeze(-1)
    rows = weight.index_select(0, indices.long())
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    ones = torch.where(kept.squeeze(-1), torch.ones_like(bag), torch.zeros_like(bag))
    sizes = torch.zeros_like(offsets.narrow(0, 0, bags).long()).scatter_add(0, bag, ones)
    if mode == 2:
        number = torch.arange(bags, device=bag.device).unsqueeze(-1)
        here = ((bag == number) & kept.squeeze(-1)).unsqueeze(-1)
        best, places = _largest(rows.unsqueeze(0), here)
        return best, bag, sizes, places
    rows = torch.where(kept, rows, torch.zeros_like(rows))
    total = weight.new_zeros([bags, size])
    total = total.scatter_add(0, bag.unsqueeze(-1).expand(count, size), rows)
    if mode == 1:
        total = total / sizes.clamp(min=1).unsqueeze(-1).to(total.dtype)
    return total, bag, sizes, torch.zeros_like(sizes)


def bags_of(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """``embedding_bag`` as users call it: the rows of a table of indices are bags as well."""
    if input.is_floating_point():  # both in the order of old, which PyTorch takes still
        input, weight = weight, input
    if max_norm is not None:
        with torch.no_grad():
            torch.embedding_renorm_(weight, input.reshape(-1), max_norm, norm_type)
    if offsets is None:
        offsets = torch.arange(0, input.numel(), input.size(1), device=input.device)
    own = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    none = -1 if padding_idx is None else padding_idx % weight.size(0)
    how = ("sum", "mean", "max").index(mode)
    return embedding_bag(
        weight, input.reshape(-1), offsets, scale_grad_by_freq, how, sparse, own,
        include_last_offset, none,
    )[0]  # fmt: skip


class EmbeddingBagByScatterAdd(Rule):
    """Rows are looked up, and ``scatter_add`` puts each where its bag is.

    For ``mode="max"`` a table of bags times rows is made instead. Of the results only the first
    is what users see; what the others hold is up to the kernel.
    """

    name = "embedding-bag-by-scatter-add"
    label = Label.TOLERANCE
    tolerance = 8
    replaces = ("aten::_embedding_bag_forward_only", "aten::_embedding_bag")
    summary = "Look the rows up, and add them up with scatter_add"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.embedding_bag": bags_of
    }
    replace = staticmethod(embedding_bag)

    def refuses(self, call: Call) -> str:
        """Decline other gradients than dense sums, and a table that is too large."""
        if call.given("scale_grad_by_freq") or call.given("sparse"):
            return "its gradient is dense, and not scaled by how often a row is used"
        offsets, indices = call.given("offsets"), call.given("indices")
        if not indices.numel() or not offsets.numel():
            return "there is nothing to look up"
        table = indices.numel() * offsets.numel()
        table *= call.given("weight").size(1) if call.given("mode") == 2 else 1
        if table > _LARGEST:
            return f"its table takes {table:,} numbers, more than {_LARGEST:,}"
        return ""

    def valid(self, call: Call) -> Call:
        """Let bags start at 0 and come one after the other."""
        args = list(call.args)
        args[2] = (args[2].sort().values - args[2].min()).clamp(max=args[1].numel() - 1)
        return Call(call.func, tuple(args), call.kwargs)

    def settled(self, call: Call, outcome: Outcome) -> Outcome:
        """Only the first result is promised."""
        return outcome[0][:1], outcome[1]

    def example(self, op: str, draw: Draw) -> Arguments:
        """Every mode, empty bags, weights of their own, and padding."""
        dtype = (draw.choose(FLOATS[:2]),)
        weight = draw.tensor([draw.integer(1, 5), draw.integer(1, 3)], dtype, edges=False) + 0
        count = draw.integer(1, 6)
        indices = draw.indices([count], weight.size(0))
        starts = draw.indices([draw.integer(0, 3)], count).sort().values
        offsets = torch.cat([starts.new_zeros([1]), starts])
        mode, last = draw.choose((0, 1, 2)), draw.flag()
        if last:
            offsets = torch.cat([offsets, offsets.new_full([1], count)])
        own = draw.tensor([count], dtype, edges=False) + 0 if not mode and draw.flag() else None
        given: tuple[Any, ...] = (False, mode, False, own, last, draw.choose((-1, 0)))
        return (weight, indices, offsets, *given), {}
