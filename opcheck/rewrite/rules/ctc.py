"""``ctc_loss`` without its kernel."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_MOST = 512
"""Time steps, each of which takes a dozen calls."""


def _logsumexp(parts: Sequence[Tensor]) -> Tensor:
    """Of minus infinities alone, minus infinity, with a gradient of 0."""
    largest = parts[0].detach()
    for part in parts[1:]:
        largest = torch.where(part.detach() > largest, part.detach(), largest)
    dead = largest == -math.inf
    base = torch.where(dead, torch.zeros_like(largest), largest)
    total = torch.zeros_like(largest)
    for part in parts:
        total = total + (part - base).exp()
    alive = torch.where(dead, torch.ones_like(total), total).log() + base
    return torch.where(dead, torch.full_like(alive, -math.inf), alive)


def _later(alpha: Tensor, steps: int) -> Tensor:
    """Move paths on by some labels."""
    fresh = torch.full_like(alpha[:, :steps], -math.inf)
    return torch.cat([fresh, alpha[:, : alpha.size(1) - steps]], 1)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Carry the probabilities of all paths from step to step."""
    device = log_probs.device
    batched = log_probs.dim() == 3
    logs = log_probs if batched else log_probs.unsqueeze(1)
    labels = targets.reshape(logs.size(1), -1).to(torch.int64)
    ends = torch.as_tensor(input_lengths, device=device).to(torch.int64).reshape(-1)
    counts = torch.as_tensor(target_lengths, device=device).to(torch.int64).reshape(-1)
    blanks = torch.full_like(labels, blank)
    path = torch.stack([blanks, labels], 2).flatten(1)
    path = torch.cat([path, torch.full_like(path[:, :1], blank)], 1)
    before = torch.cat([torch.full_like(path[:, :2], blank), path[:, :-2]], 1)
    skips = torch.logical_and(path != blank, path != before)
    reads = logs.gather(2, path.unsqueeze(0).expand(logs.size(0), -1, -1))
    none = torch.full_like(reads[0], -math.inf)
    place = torch.arange(path.size(1), device=device)
    begins = torch.logical_and(place < 2, place <= 2 * counts.unsqueeze(-1))
    alpha = torch.where(begins, reads[0], none)
    for step in range(1, logs.size(0)):
        skipped = torch.where(skips, _later(alpha, 2), none)
        further = _logsumexp([alpha, _later(alpha, 1), skipped]) + reads[step]
        alpha = torch.where((ends > step).unsqueeze(-1), further, alpha)
    last = alpha.gather(1, 2 * counts.unsqueeze(-1))
    label = alpha.gather(1, (2 * counts - 1).clamp(0, path.size(1)).unsqueeze(-1))
    label = torch.where(counts.unsqueeze(-1) > 0, label, torch.full_like(label, -math.inf))
    loss = -_logsumexp([last, label]).squeeze(1)
    # PyTorch's gradient takes it that log_softmax comes before, and has its sum in it
    sums = logs.exp().sum(2)
    steps = torch.arange(logs.size(0), device=device).unsqueeze(-1)
    sums = torch.where(steps < ends, sums, torch.zeros_like(sums)).sum(0)
    loss = loss + (sums - sums.detach())
    if zero_infinity:
        loss = torch.where(loss == math.inf, torch.zeros_like(loss), loss)
    if reduction == 1:
        return (loss / counts.clamp(1, path.size(1)).to(loss.dtype)).mean()
    if reduction == 2:
        return loss.sum()
    return loss if batched else loss.squeeze(0)


def ctc_loss_by_name(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """``ctc_loss`` as users call it."""
    how = ("none", "mean", "sum").index(reduction)
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity)


class CtcLossByPaths(Rule):
    """The probabilities of all paths are carried on from step to step, the whole batch at once.

    A dozen calls for each step. The gradient is PyTorch's, which takes it that log_softmax made
    the input. Where no path fits, the loss is infinite and its gradient 0, as it
    is in PyTorch with ``zero_infinity``.
    """

    name = "ctc-loss-by-paths"
    label = Label.TOLERANCE
    tolerance = 1024.0
    replaces = ("aten::ctc_loss.IntList", "aten::ctc_loss.Tensor")
    summary = "Carry the probabilities of all paths from step to step"
    spellings = ("torch.ctc_loss",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.ctc_loss": ctc_loss_by_name
    }
    references = ("https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/LossCTC.cpp",)
    replace = staticmethod(ctc_loss)

    def refuses(self, call: Call) -> str:
        """Decline targets that are joined, and very many steps."""
        logs, targets = call.args[0], call.args[1]
        if logs.dim() == 3 and targets.dim() != 2:
            return "targets are joined into one row, so their places depend on values"
        if logs.size(0) > _MOST:
            return Sentence("{count} steps take a dozen calls each", count=logs.size(0))
        return "" if targets.numel() else "there are no labels"

    def valid(self, call: Call) -> Call:
        """Logarithms of probabilities, labels that are no blanks, and lengths of all there is."""
        logs, targets, ends, counts, blank, *rest = (
            call.given(argument.name) for argument in call.func._schema.arguments
        )
        kinds = max(logs.size(-1) - 1, 1)
        labels = (targets % kinds + 1 + blank) % (kinds + 1)

        def full(lengths: Tensor | Sequence[int], length: int) -> Tensor | list[int]:
            if isinstance(lengths, Tensor):
                return torch.full_like(lengths, length)
            return [length] * len(lengths)

        ends, counts = full(ends, logs.size(0)), full(counts, targets.size(-1))
        args = (logs.log_softmax(-1), labels, ends, counts, blank, *rest)
        return Call(call.func, args, {})

    def example(self, op: str, draw: Draw) -> Arguments:
        """Targets that fit into the steps, shorter ones among them."""
        count, labels = draw.integer(1, 3), draw.integer(1, 3)
        steps, kinds = 2 * labels + draw.integer(1, 3), draw.integer(2, 4)
        dtype = draw.choose((torch.float32, torch.float64))
        logs = draw.tensor([steps, count, kinds], (dtype,), edges=False).log_softmax(2)
        targets = draw.indices([count, labels], kinds - 1) + 1
        ends = [steps - draw.integer(0, 1) for _ in range(count)]
        sizes = [draw.integer(0, labels) for _ in range(count - 1)] + [labels]
        lengths = (torch.tensor(ends), torch.tensor(sizes)) if "Tensor" in op else (ends, sizes)
        return (logs, targets, *lengths, 0, draw.integer(0, 2), draw.flag()), {}
