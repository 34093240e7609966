"""Small pieces of training, for the emulated device and for the host."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.utils.checkpoint import checkpoint

from tests.emulate.outcome import HOST

PIECES: dict[str, Callable[[torch.device], Any]] = {}


def piece(function: Callable[[torch.device], Any]) -> Callable[[torch.device], Any]:
    PIECES[function.__name__] = function
    return function


def network(device: torch.device) -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)).to(device)
    assert isinstance(model, nn.Sequential)
    return model


def numbers(device: torch.device, *shape: int, needed: bool = True) -> Tensor:
    values = torch.linspace(-1, 1, torch.Size(shape).numel()).view(shape)
    return values.to(device).requires_grad_(needed)


def gradients(model: nn.Module) -> list[Tensor | None]:
    return [parameter.grad for parameter in model.parameters()]


@piece
def gradients_of_a_network(device: torch.device) -> Any:
    model, x = network(device), numbers(device, 5, 4)
    loss = F.cross_entropy(model(x), torch.arange(5, device=device) % 3)
    loss.backward()
    return loss, x.grad, *gradients(model)


@piece
def gradients_through_views(device: torch.device) -> Any:
    x = numbers(device, 3, 4)
    y = x * 1
    y[0].mul_(2)
    y[:, 1] = 7
    (y.t().reshape(-1) ** 2).sum().backward()
    return x.grad, y


@piece
def gradients_of_gradients(device: torch.device) -> Any:
    x = numbers(device, 4)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    first.pow(2).sum().backward()
    return first, x.grad


@piece
def penalty_on_the_gradient(device: torch.device) -> Any:
    model, x = network(device), numbers(device, 5, 4)
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    slope.norm().backward()
    return slope, *gradients(model)


@piece
def hooks(device: torch.device) -> Any:
    model, x, seen = network(device), numbers(device, 5, 4), []
    x.register_hook(lambda given: given * 2)
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad))
    model[0].register_forward_hook(lambda module, given, output: output * 3)
    model[3].register_full_backward_hook(lambda module, given, output: seen.extend(output))
    model(x).sum().backward()
    return x.grad, *seen


@piece
def own_function(device: torch.device) -> Any:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, *given: Tensor) -> Tensor:
            x: Tensor = ctx.saved_tensors[0]
            return given[0] * 2 + x

    x = numbers(device, 4)
    doubled: Any = Doubled
    doubled.apply(x).sum().backward()
    return x.grad


@piece
def checkpointed(device: torch.device) -> Any:
    model, x = network(device), numbers(device, 5, 4)
    found = []
    for reentrant in (True, False):
        output: Any = checkpoint(model, x, use_reentrant=reentrant)
        output.sum().backward()
        found.append(x.grad)
        x.grad = None
    return found


@piece
def transformed(device: torch.device) -> Any:
    model, x = network(device), numbers(device, 5, 4, needed=False)
    weights: dict[str, Tensor] = dict(model.named_parameters())

    def loss(weights: dict[str, Tensor], row: Tensor) -> Tensor:
        return functional_call(model, weights, (row,)).sum()  # type: ignore[no-any-return]  # torch

    return (
        vmap(grad(loss), (None, 0))(weights, x), grad(loss)(weights, x), vmap(model)(x),
        jacrev(torch.sin)(x[0]), hessian(lambda v: (v**3).sum())(x[0]),
        jvp(torch.tanh, (x,), (x,)),
    )  # fmt: skip


@piece
def clipped(device: torch.device) -> Any:
    model = network(device)
    model(numbers(device, 5, 4)).pow(2).sum().backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    nn.utils.clip_grad_value_(model.parameters(), 0.1)
    return norm, *gradients(model)


@piece
def state_carried_over(device: torch.device) -> Any:
    model, other = network(device), copy.deepcopy(network(HOST))
    model(numbers(device, 5, 4)).sum().backward()
    torch.optim.Adam(model.parameters(), 0.1).step()
    other.load_state_dict(model.state_dict())
    return dict(model.state_dict()), dict(other.state_dict())


@piece
def normalised_over_the_batch(device: torch.device) -> Any:
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.25)
    model.to(device)
    x = numbers(device, 2, 2, 6, 6)
    model(x).sum().backward()
    return x.grad, *gradients(model), *model.buffers()


ENDS: dict[str, Callable[[torch.device], Any]] = {
    "no scalar": lambda device: (numbers(device, 2) * 2).backward(),
    "nothing to differentiate": lambda device: numbers(device, 2, needed=False).sum().backward(),
    "twice": lambda device: _twice(numbers(device, 2).sin().sum()),
    "saved value written": lambda device: _written(numbers(device, 2) * 1),
    "unused": lambda device: torch.autograd.grad(numbers(device, 2).sum(), numbers(device, 2)),
    "gradient of another size": lambda device: (numbers(device, 2) * 2).backward(
        torch.ones(3, device=device)
    ),
}


def _twice(loss: Tensor) -> None:
    loss.backward()
    loss.backward()


def _written(x: Tensor) -> None:
    y = x.sin()
    x.add_(1)
    y.sum().backward()


Make = Callable[[Any], torch.optim.Optimizer]
OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1),
    "SGD, momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, 0.1, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 0.1),
    "AdamW, one by one": lambda p: torch.optim.AdamW(p, 0.1, foreach=False),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.1, momentum=0.5),
    "Adagrad": lambda p: torch.optim.Adagrad(p, 0.1),
    "Adadelta": lambda p: torch.optim.Adadelta(p),
    "Adamax": lambda p: torch.optim.Adamax(p),
    "LBFGS": lambda p: torch.optim.LBFGS(p, 0.1),
}


def stepped(device: torch.device, make: Make) -> list[Tensor]:
    """Parameters after three steps."""
    model, x = network(device), numbers(device, 5, 4, needed=False)
    optimizer = make(model.parameters())

    def loss() -> Tensor:
        optimizer.zero_grad()
        found: Tensor = model(x).pow(2).mean()
        found.backward()
        return found

    for _ in range(3):
        optimizer.step(loss)  # type: ignore[arg-type]  # a tensor does for a float
    return list(model.parameters())
