"""One training step, the same for every device that runs it: forward, loss, backward, optimizer.

Private torch API used here, checked on 2.13.0: ``torch.optim.optimizer._foreach_supported_types``
and ``torch.utils._foreach_utils._foreach_supported_types``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Self

import torch
from msgspec import Struct
from torch import Tensor, nn

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.request import TrainingSpec
from opcheck.model.trace import Phase
from opcheck.trace.running import lightning
from opcheck.trace.running.distributed import wrapped

Begins = Callable[[Phase], None]
"""Told which phase begins."""
Ended = Callable[[torch.optim.Optimizer], None]
"""Told that a step is over, while its optimizer and the gradients are there."""
Ready = Callable[[], None]
"""Told that the gradients are as optimizers take them, which may change them."""

Loss = Callable[[Any], Any]
"""Makes the loss of a model's output."""
_MOMENTUM = 0.9
_USUAL = TrainingSpec()


def adamw(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer of a step unless another is chosen."""
    return torch.optim.AdamW(parameters, lr=1e-3)


class TrainingStep(Struct, frozen=True):
    """What a step does beyond the model's own forward."""

    optimizer: Callable[[list[nn.Parameter]], torch.optim.Optimizer] = adamw
    """Makes the optimizer of the parameters that are trained."""
    loss: Loss | None = None
    """None: :func:`loss_of`."""
    autocast: torch.dtype | None = None
    """What the forward and its loss are cast to; None: they are not."""
    scaler: bool = False
    """Whether the loss is scaled, and the gradients are unscaled before they are used."""
    clip: float | None = None
    """The norm that all gradients together are clipped to; None: they are not."""
    checkpointing: bool = False
    """Whether the model computes activations again in backward."""
    wrap: str = ""
    """How the model is made one of several processes: ``ddp``, ``fsdp2``; "": it is not."""
    own_optimizers: bool = False
    """Whether those count that a LightningModule makes; its loss does unless there is another."""

    @classmethod
    def of(cls, spec: TrainingSpec, loss: Loss | None = None) -> Self:
        """The step that was asked for; ``loss`` is what its name stands for."""
        return cls(
            optimizer=partial(_optimizer, spec),
            loss=loss,
            autocast=getattr(torch, spec.autocast) if spec.autocast else None,
            scaler=spec.scaler,
            clip=spec.clip,
            checkpointing=spec.checkpointing,
            wrap=spec.wrap,
            own_optimizers=_names_no_optimizer(spec),
        )

    def run(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        begins: Begins,
        ended: Ended = lambda _: None,
        ready: Ready = lambda: None,
    ) -> Any:
        """Train ``module`` by one step and give its output; the loss is part of the forward.

        Gradients that it had are dropped; afterwards each trained parameter has its own.

        Raises:
            TraceError: nothing of the module is trained, or its output has no gradient, or it
                cannot be told to compute activations again.
        """
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained:
            raise TraceError(
                Sentence(
                    "{module} has no parameter that requires a gradient, so there is "
                    "nothing to train",
                    module=type(module).__name__,
                ),
                hint=Sentence("unfreeze a parameter, or run inference"),
            )
        module.train()
        if self.checkpointing:
            compute_again(module)
        with wrapped(module, self.wrap) as parallel:
            return self._run(parallel, args, kwargs, begins, ended, ready)

    def _run(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        begins: Begins,
        ended: Ended,
        ready: Ready,
    ) -> Any:
        trained = [p for p in module.parameters() if p.requires_grad]
        device_type = trained[0].device.type
        model = lightning.unwrapped(module)
        own = self.takes_own_step(module)
        optimizers = self._optimizers(model, trained, own=own)
        scaler = torch.amp.GradScaler(device_type) if self.scaler else None
        for optimizer in optimizers:
            optimizer.zero_grad()
        begins(Phase.FORWARD)
        with torch.autocast(device_type, self.autocast) if self.autocast else nullcontext():
            if own:
                with lightning.training_step_as_forward(model):
                    output = module(lightning.batch_of(args, kwargs))
            else:
                output = module(*args, **kwargs)
            loss = loss_of(output if self.loss is None else self.loss(output))
        begins(Phase.BACKWARD)
        (loss if scaler is None else scaler.scale(loss)).backward()
        begins(Phase.OPTIMIZER)
        self._step(optimizers, trained, scaler, ready)
        for optimizer in optimizers:
            ended(optimizer)
        return output

    def takes_own_step(self, module: nn.Module) -> bool:
        """Whether the step is the ``training_step`` that a LightningModule has."""
        return self.loss is None and lightning.is_lightning(lightning.unwrapped(module))

    def _optimizers(
        self, model: nn.Module, trained: list[nn.Parameter], *, own: bool
    ) -> Sequence[torch.optim.Optimizer]:
        if own:
            lightning.require_automatic(model)
        made = own and self.own_optimizers
        return lightning.optimizers_of(model) if made else [self.optimizer(trained)]

    def _step(
        self,
        optimizers: Sequence[torch.optim.Optimizer],
        trained: list[nn.Parameter],
        scaler: torch.amp.GradScaler | None,
        ready: Ready,
    ) -> None:
        if scaler is not None:
            for optimizer in optimizers:
                scaler.unscale_(optimizer)
        if self.clip is not None:
            nn.utils.clip_grad_norm_(trained, self.clip)
        ready()
        for optimizer in optimizers:
            if scaler is None:
                optimizer.step()
            else:
                scaler.step(optimizer)
        if scaler is not None:
            scaler.update()


def _names_no_optimizer(spec: TrainingSpec) -> bool:
    """Whether a step has the optimizer that is taken where none is named."""
    named, usual = spec, _USUAL
    return (named.optimizer, named.implementation) == (usual.optimizer, usual.implementation)


def _optimizer(spec: TrainingSpec, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    found = {name.lower(): kind for name, kind in vars(torch.optim).items()}.get(spec.optimizer)
    if found is None:
        raise TraceError(
            Sentence(
                "torch {version} has no optimizer {name}",
                version=torch.__version__,
                name=spec.optimizer,
            ),
            hint=Sentence("choose another with --step optimizer=NAME, or install a newer torch"),
        )
    options: dict[str, Any] = {"lr": 1e-3}
    if spec.optimizer == "sgd":
        options["momentum"] = _MOMENTUM
    if spec.implementation == "plain":
        options["foreach"] = False
    elif spec.implementation:
        options[spec.implementation] = True
    made: torch.optim.Optimizer = found(parameters, **options)
    return made


def compute_again(module: nn.Module) -> None:
    """Have a model compute activations again in backward, in its library's own way.

    Raises:
        TraceError: it has none of the ways that transformers, diffusers and timm have.
    """
    for name in ("gradient_checkpointing_enable", "enable_gradient_checkpointing"):
        if hasattr(module, name):
            switch: Callable[[], object] = getattr(module, name)
            switch()
            return
    if not hasattr(module, "set_grad_checkpointing"):
        raise TraceError(
            Sentence(
                "{module} has no switch for checkpointing "
                "(gradient_checkpointing_enable, enable_gradient_checkpointing or "
                "set_grad_checkpointing)",
                module=type(module).__name__,
            ),
            hint=Sentence(
                "call torch.utils.checkpoint in the model itself, and leave checkpointing out"
            ),
        )
    switch = getattr(module, "set_grad_checkpointing")  # noqa: B009  # no such tensor
    switch()


def loss_of(output: Any) -> Tensor:
    """The model's own loss, else the sum of the means of every tensor that has a gradient.

    Raises:
        TraceError: nothing in the output has a gradient.
    """
    own = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    found = differentiable(output if own is None else own)
    if not found:
        what = "output" if own is None else "loss"
        raise TraceError(
            Sentence(
                "nothing in the model's {text} depends on a parameter through "
                "floating-point numbers ({text_what}), so it cannot be trained",
                text=what,
                text_what=_described(output if own is None else own),
            ),
            hint=Sentence(
                "give the inputs from which the model computes its loss (labels), or a "
                "model whose output is differentiable"
            ),
        )
    loss, *others = map(_scalar, found)
    for other in others:
        loss = loss + other
    return loss


def backward_from(output: Any) -> int:
    """Run backward from everything in ``output`` that has a gradient, with gradients of ones.

    Gives how many tensors that were.
    """
    found = differentiable(output)
    if found:
        torch.autograd.backward(found, [torch.ones_like(tensor) for tensor in found])
    return len(found)


def differentiable(output: Any) -> list[Tensor]:
    """Every tensor in a nested output that has a gradient, each once, in order."""
    found: dict[int, Tensor] = {}
    _collect(output, found)
    return list(found.values())


def _collect(value: Any, found: dict[int, Tensor]) -> None:
    if isinstance(value, Tensor):
        if value.requires_grad:
            found[id(value)] = value
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _collect(getattr(value, field.name), found)


def _scalar(tensor: Tensor) -> Tensor:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.mean() if tensor.dim() else tensor


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__


@contextmanager
def taken_as_plain(kind: type[Tensor]) -> Iterator[None]:
    """Have torch choose its ``foreach`` functions for ``kind`` as for plain device tensors."""
    from torch.optim import optimizer
    from torch.utils import _foreach_utils

    lists: list[Any] = [
        getattr(module, "_foreach_supported_types", [])
        for module in (optimizer, _foreach_utils)  # older ones name the types in the code
    ]
    for known in lists:
        known.append(kind)
    try:
        yield
    finally:
        for known in lists:
            known.remove(kind)
