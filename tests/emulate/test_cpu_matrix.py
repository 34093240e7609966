"""The device that computes as the CPU does, beside torch's CPU itself."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.db.store import Database
from opcheck.emulate.cpu_matrix import CHIP, cpu_matrix
from opcheck.emulate.session import Emulator
from opcheck.model.target import TargetSpec

COMPUTED: dict[str, Callable[[Tensor], Tensor]] = {
    "double": lambda x: x.double().cumsum(0) * 3,
    "attention": lambda x: F.scaled_dot_product_attention(*x.expand(3, 8, 8)),
    "convolution": lambda x: F.conv2d(x.reshape(1, 1, 8, 8), x.reshape(1, 1, 8, 8)[..., :3, :3]),
    "norms": lambda x: F.layer_norm(F.batch_norm(x, None, None, training=True), (8,)),
    "bilinear": lambda x: F.interpolate(x.reshape(1, 1, 8, 8), scale_factor=2, mode="bilinear"),
    "sort": lambda x: x.sort(dim=1).values + x.topk(1).values,
    "inverse": lambda x: torch.linalg.inv(x @ x.T + torch.eye(8, device=x.device)),
    "special": lambda x: torch.special.i0(x) + torch.polygamma(1, x.abs() + 1),
    "bfloat16": lambda x: (x.bfloat16() @ x.bfloat16()).float(),
    "fourier": lambda x: torch.fft.rfft(x).abs(),
    "index": lambda x: x[x[:, 0] > 0].sum() + x.index_select(0, x[:, 0].argsort()),
    "loss": lambda x: F.cross_entropy(x, x.argmax(1)) + F.ctc_loss(
        x.log_softmax(1)[:, None], torch.tensor([[1, 1]]), torch.tensor([8]), torch.tensor([2])),
}  # fmt: skip


@pytest.fixture(scope="module", name="made")
def as_cpu() -> Iterator[tuple[Emulator, torch.device]]:
    """The device of an Ascend 910A, which has neither bfloat16 nor casts to float64."""
    database = Database.open()
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910a")))
    emulator = Emulator(cpu_matrix(matrix), values=True, stop=True)
    with emulator as device:
        yield emulator, device


@pytest.mark.parametrize("name", COMPUTED)
def test_it_computes_what_the_cpu_does_with_gradients(
    made: tuple[Emulator, torch.device], name: str
) -> None:
    _, device = made
    host = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    results = []
    for x in (host.clone(), host.to(device)):
        x.requires_grad_()
        result = COMPUTED[name](x)
        result.sum().backward()
        assert x.grad is not None
        results.append((result.detach().cpu(), x.grad.cpu()))
    torch.testing.assert_close(results[1], results[0])


def test_attention_is_the_kernel_that_the_cpu_takes(made: tuple[Emulator, torch.device]) -> None:
    q = torch.randn(2, 4, 64, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float16)
    expected = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    given = q.to(made[1])
    found = F.scaled_dot_product_attention(given, given, given, is_causal=True)
    assert torch.equal(found.cpu(), expected)


def test_it_keeps_the_name_of_the_device_and_not_that_of_the_chip(
    made: tuple[Emulator, torch.device],
) -> None:
    _, device = made
    assert device.type == "npu"
    assert torch.get_device_module(device).get_device_name() == CHIP


def test_it_refuses_nothing_and_sends_nothing_to_the_host(
    made: tuple[Emulator, torch.device],
) -> None:
    emulator, device = made
    net = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Dropout(), nn.LSTM(8, 4)).to(device)
    with torch.autocast("npu", torch.bfloat16):
        output, _ = net(torch.randn(3, 8, device=device))
    output.double().sum().backward()
    torch.optim.AdamW(net.parameters()).step()
    assert (emulator.refusals, emulator.host_calls, emulator.cautions) == ((), (), ())
