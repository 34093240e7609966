"""What ``--engine ray`` says where there is no Ray, or no cluster."""

import socket
import sys
from collections.abc import Iterator

import pytest

from opcheck.commands.fleet.engine import Setup, engine_named
from opcheck.commands.fleet.values import Job
from opcheck.errors import UsageError
from opcheck.model.request import ModelSpec, ScanRequest

RAY = engine_named("ray")
JOB = Job(0, "made", ScanRequest(ModelSpec("nets.py:made"), ()))


def refused(address: str) -> UsageError:
    engine = RAY(Setup(address=address))
    with pytest.raises(UsageError) as error:
        list(engine.run([JOB], lambda event: None))
    return error.value


@pytest.fixture
def closed() -> Iterator[str]:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    yield address


def test_the_extra_is_named_where_ray_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr(sys, "meta_path", [])
    error = refused("auto")
    assert (error.message, error.hint) == (
        "--engine ray needs Ray", "pip install 'opcheck[ray]'",
    )  # fmt: skip


@pytest.mark.slow
def test_an_address_where_nothing_is(closed: str) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    assert refused(closed).message == f"nothing answers at {closed}: Connection refused"
    assert refused(f"ray://{closed}").message.startswith(f"nothing answers at ray://{closed}: ")


@pytest.mark.slow
def test_nothing_is_asked_of_a_cluster_where_there_is_nothing_to_do(closed: str) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    engine = RAY(Setup(address="nonsense"))
    assert list(engine.run([], lambda event: None)) == []
