"""A step of a fused optimizer as PyTorch takes it where ``fused`` is left out."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.optim import adagrad, adam, adamw, sgd

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate
from opcheck.trace.torch_internals.dispatcher import overload_named

NAME = "optimizer-without-fused"
SUMMARY = "Make the optimizer without fused=True"
_FIRST = 1.0
"""The step and the rate that are recorded: both are numbers of the host, which change no call."""
_TOLERANCE = 64.0
"""In ``eps``: both ways round a dozen times."""


def unfused(op: str) -> Iterator[Candidate]:
    """PyTorch's ``foreach`` functions for one of its fused optimizers; nothing for any other."""
    kind = op.removeprefix("aten::").partition(".")[0]
    found = _STEPS.get(kind)
    if found is None:
        return
    optimizer, step = found
    yield Candidate(
        rule=NAME,
        tier=Tier.SWAP,
        label=Label.TOLERANCE,
        summary=f"{SUMMARY}: torch.optim.{optimizer}(parameters, ..., foreach=True)",
        function=partial(_taken, op, step, _read),
        recorded=partial(_taken, op, step, lambda _: _FIRST),
        refuses=lambda call: "",
        code="",
        entry="",
        tolerance=_TOLERANCE,
        valid=_valid,
    )


_Number = Callable[[Any], float]
_Step = Callable[[Mapping[str, Any], _Number], None]


def _taken(op: str, step: _Step, number: _Number, *args: Any, **kwargs: Any) -> None:
    """Take the step in place, gradients unscaled first where a scaler scaled the loss."""
    schema = overload_named(op)._schema
    given = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
    scale, found = given.get("grad_scale"), given.get("found_inf")
    with torch.no_grad():
        if scale is not None and found is not None:
            torch._amp_foreach_non_finite_check_and_unscale_(
                given["grads"], found, scale.float().reciprocal()
            )
        step(given, number)


def _adam(take: Any, given: Mapping[str, Any], number: _Number) -> None:
    names = ("grads", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs")
    options = ("beta1", "beta2", "weight_decay", "eps", "amsgrad", "maximize")
    take(
        given["self"], *(given[name] for name in names), _before(given, number),
        foreach=True, lr=number(given["lr"]), **{name: given[name] for name in options},
    )  # fmt: skip


def _adagrad(given: Mapping[str, Any], number: _Number) -> None:
    options = ("weight_decay", "lr_decay", "eps", "maximize")
    adagrad.adagrad(
        given["self"], given["grads"], given["state_sums"], _before(given, number),
        foreach=True, has_sparse_grad=False, has_complex=False, lr=number(given["lr"]),
        **{name: given[name] for name in options},
    )  # fmt: skip


def _sgd(given: Mapping[str, Any], number: _Number) -> None:
    buffers = given["momentum_buffer_list"]
    used: list[Tensor | None] = [None] * len(given["self"]) if given["is_first_step"] else buffers
    options = ("weight_decay", "momentum", "dampening", "nesterov", "maximize")
    sgd.sgd(
        given["self"], given["grads"], used, foreach=True, has_sparse_grad=False,
        lr=number(given["lr"]), **{name: given[name] for name in options},
    )  # fmt: skip
    if given["is_first_step"] and given["momentum"]:
        for buffer, made in zip(buffers, used, strict=True):
            buffer.copy_(made)


def _before(given: Mapping[str, Any], number: _Number) -> list[Tensor]:
    """The count of steps before this one, on the host as optimizers that are not fused keep it."""
    return [torch.tensor(number(step) - 1) for step in given["state_steps"]]


def _read(value: Any) -> float:
    return float(value)


def _valid(call: Call) -> Call:
    """Squares that are none below zero, counts of steps, no scale of zero and nothing infinite."""
    names = [argument.name for argument in call.func._schema.arguments]
    args = tuple(_as_state(name, value) for name, value in zip(names, call.args, strict=False))
    kwargs = {name: _as_state(name, value) for name, value in call.kwargs.items()}
    return replace(call, args=args, kwargs=kwargs)


def _as_state(name: str, value: Any) -> Any:
    match name:
        case "state_steps":
            return [torch.full_like(step, 3.0) for step in value]
        case "exp_avg_sqs" | "max_exp_avg_sqs" | "state_sums":
            return [square.abs() for square in value]
        case "lr" if isinstance(value, Tensor):
            return torch.full_like(value, 1e-3)
        case "grad_scale" if value is not None:
            return torch.full_like(value, 2.0)
        case "found_inf" if value is not None:
            return torch.zeros_like(value)
    return value


_STEPS: Mapping[str, tuple[str, _Step]] = {
    "_fused_adagrad_": ("Adagrad", _adagrad),
    "_fused_adam_": ("Adam", partial(_adam, adam.adam)),
    "_fused_adamw_": ("AdamW", partial(_adam, adamw.adamw)),
    "_fused_sgd_": ("SGD", _sgd),
}
"""Operator -> the optimizer of ``torch.optim`` that makes it, and what that calls otherwise."""
