"""Small programs on tensors, for the emulated device and for the host: views, storages, errors."""

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.emulate.outcome import HOST

PROGRAMS: dict[str, Callable[[torch.device], Any]] = {}


def program(function: Callable[[torch.device], Any]) -> Callable[[torch.device], Any]:
    PROGRAMS[function.__name__] = function
    return function


def numbers(device: torch.device, *shape: int) -> Tensor:
    size = shape or (3, 4)
    return torch.arange(float(torch.Size(size).numel())).view(size).to(device)


@program
def lazy_modules(device: torch.device) -> Any:
    """They are moved before they know their sizes; their parameters raise if asked for a shape."""
    linear = nn.LazyLinear(3, bias=False)
    net = nn.Sequential(linear, nn.LazyBatchNorm1d()).to(device)
    net = net.cpu().to(device).half().float()
    given = numbers(device, 2, 4)
    linear(given)
    nn.init.ones_(linear.weight)
    net(given).square().sum().backward()
    return [*net.parameters(), linear.weight.grad, net[1].running_mean]


@program
def written_through_a_view(device: torch.device) -> Any:
    x = numbers(device)
    part = x[1:, ::2]
    part.add_(100)
    part.t()[0].mul_(-1)
    return x, part, part.data_ptr() - x.data_ptr()


@program
def views_of_views(device: torch.device) -> Any:
    x = numbers(device, 2, 3, 4)
    views = x.permute(2, 0, 1), x.unfold(2, 2, 1), x.diagonal(0, 1, 2), x.movedim(0, -1)
    x.view(-1)[3] = 50
    return *views, [v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for v in views]


@program
def split_and_written(device: torch.device) -> Any:
    x = numbers(device)
    first, second = x.chunk(2, 1)
    first.zero_()
    second[:, 0].fill_(7)
    return x, *x.unbind(0), *x.split([1, 2])


@program
def result_into_a_given_tensor(device: torch.device) -> Any:
    empty, full = torch.empty(0, device=device), numbers(device)
    given = torch.add(full, 1, out=empty)
    torch.mul(full, 2, out=full)
    return empty, given is empty, full


@program
def result_into_a_tensor_of_another_size(device: torch.device) -> Any:
    out = torch.ones(7, device=device)
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        torch.cat([numbers(device), numbers(device)], out=out)
    return out


@program
def result_into_a_view(device: torch.device) -> Any:
    x = numbers(device)
    torch.neg(x[0], out=x[1])
    return x


@program
def two_results_into_given_tensors(device: torch.device) -> Any:
    values, indices = torch.empty(0, device=device), torch.empty(0, device=device).long()
    torch.sort(numbers(device), descending=True, out=(values, indices))
    return values, indices


def _emptied(x: Any) -> Any:
    return x.set_()


@program
def another_storage_set(device: torch.device) -> Any:
    x: Any = numbers(device, 4)
    y = numbers(device, 6)
    x.set_(y)
    y[0] = 9
    z: Any = torch.empty(0, device=device)
    z.set_(y.untyped_storage(), 2, (2, 2), (2, 1))
    return x, x.data_ptr() == y.data_ptr(), z, _emptied(x.clone())


@program
def resized(device: torch.device) -> Any:
    x, y = numbers(device, 6), numbers(device, 6)
    x.resize_(2, 2)
    y.resize_(20)
    return x, y.shape, y.untyped_storage().nbytes(), y[:6]


@program
def data_replaced(device: torch.device) -> Any:
    x = nn.Parameter(numbers(device, 4))
    x.data = numbers(device, 2)
    x.data.mul_(3)
    return x


@program
def restrided(device: torch.device) -> Any:
    x = numbers(device)
    x.t_()
    x.unsqueeze_(0)
    return x, x.contiguous(), torch.as_strided(x, (2, 2), (1, 2), 3), x.transpose_(0, 1)


@program
def without_elements(device: torch.device) -> Any:
    x = torch.empty(0, 3, device=device)
    return x, x.sum(0), x.mm(torch.ones(3, 2, device=device)), torch.cat([x, x]), x[:, :1], x + 1


@program
def without_dimensions(device: torch.device) -> Any:
    x = torch.tensor(3.0, device=device)
    return x + 1, x.expand(2, 3), x.view(1), x.item(), int(x), bool(x), x.tolist(), x * 2


@program
def conjugated(device: torch.device) -> Any:
    x = torch.complex(numbers(HOST), numbers(HOST).flip(0)).to(device)
    y = x.conj()
    return y, y.imag, y * x, y.resolve_conj(), torch.view_as_real(x), y.real.contiguous(), y.t()


@program
def conjugated_and_written(device: torch.device) -> Any:
    x = torch.complex(numbers(HOST), numbers(HOST).flip(0)).to(device)
    x.conj().imag.fill_(5)
    x.real.zero_()
    return x


@program
def taken_by_index(device: torch.device) -> Any:
    x, rows = numbers(device), torch.tensor([2, 0], device=device)
    return (
        x[rows], x[[0, 2]], x[:, None], x[..., -1], x[x > 5], x[1, 2], x[None, :, rows],
        x[:2][rows > 0], x[torch.tensor([1])], x[rows, rows], x[1:, rows, None],
    )  # fmt: skip


@program
def written_by_index(device: torch.device) -> Any:
    x, rows = numbers(device), torch.tensor([2, 0], device=device)
    x[x > 5] = 0
    x[0] = 7
    x[:, 1] = torch.arange(3.0, device=device)
    x[rows] += 1
    x[rows, rows] = 50
    x.index_add_(0, rows, torch.ones(2, 4, device=device))
    x.masked_fill_(x == 50, -1)
    return x.scatter_(1, rows[None], 3)


@program
def strides_that_kernels_give(device: torch.device) -> Any:
    x = numbers(HOST, 2, 3, 4, 4).to(memory_format=torch.channels_last).to(device)
    return (
        x * 2, x.clone(), torch.empty_like(x).zero_(), x + x.contiguous(), x.mT + 1,
        F.max_pool2d(x, 2), x.sum(1), x.expand(2, 2, 3, 4, 4)[0].relu(), torch.cat([x, x], 1),
    )  # fmt: skip


@program
def moved_between_dtypes(device: torch.device) -> Any:
    x = numbers(device)
    return (
        x.half(), x.bfloat16(), x.long(), x.bool(), x.to(torch.int8), x.type_as(x.half()),
        x.to(x.short()), x.type(torch.uint8), x.half() + x, x.long() / 2, x.bool() + 1,
        x.to(device, torch.float16), x.cpu().to(device, torch.int32),
    )  # fmt: skip


@program
def copied_to_and_fro(device: torch.device) -> Any:
    x, y = numbers(HOST).t(), torch.zeros(4, 3, device=device)
    y.copy_(x, non_blocking=True)
    z = torch.zeros(4, 3).copy_(y.mul(2))
    half = torch.zeros(4, 3, dtype=torch.float16, device=device).copy_(x)
    return y, z, half, y.to(device) is y, y.cpu().numpy().sum(), torch.ones(2).to(y)


@program
def made_there(device: torch.device) -> Any:
    with torch.device(device):
        inside = torch.ones(2), nn.Linear(1, 2, bias=False).weight.device == device
    torch.set_default_device(device)
    try:
        default = torch.zeros(2)
    finally:
        torch.set_default_device(None)
    return (
        inside, default, torch.arange(5, device=device), torch.eye(3, device=device),
        torch.full((2,), 3, device=device), torch.linspace(0, 1, 3, device=device),
        torch.tensor([[1, 2]], device=device), torch.zeros_like(default), default.new_ones(2),
        torch.tril(torch.ones(3, 3, device=device)), torch.scalar_tensor(2, device=device),
    )  # fmt: skip


@program
def copied_deeply(device: torch.device) -> Any:
    x = numbers(device)
    shared = {"whole": x, "row": x[1], "layer": nn.Parameter(x.clone())}
    copied = copy.deepcopy(shared)
    copied["whole"].add_(1)
    return shared, copied, isinstance(copied["layer"], nn.Parameter)


@program
def saved_and_loaded(device: torch.device) -> Any:
    x = numbers(device)
    found: list[Any] = []
    for modern in (True, False):
        file = io.BytesIO()
        torch.save(
            {"x": x, "row": x[1], "half": x.half()}, file, _use_new_zipfile_serialization=modern
        )
        for where in (None, "cpu", device):
            file.seek(0)
            loaded = torch.load(file, map_location=where)
            loaded["x"][1] = 5
            found.append(loaded)
    return found


@program
def inside_inference_mode(device: torch.device) -> Any:
    with torch.inference_mode():
        x = numbers(device)
        x.view(-1)[0] = 5
        return x, x.is_inference()


@program
def compiled(device: torch.device) -> Any:
    torch.manual_seed(0)
    layer = nn.Linear(4, 2).to(device)
    layer.compile()
    doubled = torch.compile(lambda x: x * 2, fullgraph=True)
    return doubled(numbers(device)), layer(numbers(device)), torch.compile(layer)(numbers(device))


ERRORS: dict[str, Callable[[torch.device], Any]] = {
    "expanded": lambda device: numbers(device, 3).expand(2, 4),
    "strided beyond the storage": lambda device: torch.as_strided(numbers(device, 3), (5,), (1,)),
    "index beyond the end": lambda device: numbers(device, 3)[7],
    "view of another size": lambda device: numbers(device, 3).view(2, 2),
    "view across strides": lambda device: numbers(device).t().view(-1),
    "sizes do not fit": lambda device: numbers(device) + numbers(device, 3),
    "product does not fit": lambda device: numbers(device) @ numbers(device),
    "wrong dtypes": lambda device: numbers(device).mm(numbers(device).half().t()),
    "dimension there is not": lambda device: numbers(device).sum(3),
    "truth of many": lambda device: bool(numbers(device)),
    "item of many": lambda device: numbers(device).item(),
    "leaf written": lambda device: torch.ones(2, device=device, requires_grad=True).add_(1),
    "no reshaping": lambda device: numbers(device).reshape(5, -1),
}
