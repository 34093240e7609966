"""``--engine ray``: the processors of a Ray cluster that is there already."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.cluster.driver import Driver
from opcheck.commands.fleet.cluster.terms import task, terms
from opcheck.commands.fleet.engine import Engine
from opcheck.commands.fleet.keys import unchanged
from opcheck.commands.fleet.values import Began, Done, Job
from opcheck.errors import UsageError
from opcheck.model.codec import from_json

_ADDRESS = "RAY_ADDRESS"
"""The environment variable that Ray's own tools read the address from."""
_CONNECT_SECONDS = 10.0


class RayCluster(Engine):
    """Has jobs done on the nodes of a Ray cluster."""

    name = "ray"

    def run(self, jobs: Iterable[Job], began: Callable[[Began], None]) -> Iterator[Done]:
        """Do every job and give each as soon as it is over.

        Raises:
            UsageError: Ray is not installed, the cluster cannot be reached, or a node has other
                versions, data or files than this machine.
        """
        if find_spec("ray") is None:
            raise UsageError("--engine ray needs Ray", "pip install 'opcheck[ray]'")
        setup = replace(self.setup, address=_address(self.setup.address))
        more = iter(jobs)
        first = next(more, None)
        if first is None:
            return
        tasks = map(task, chain((first,), more))
        with Driver() as driver:
            driver.send(terms(setup, first.request))
            for message in driver.messages():
                match message:
                    case "more":
                        driver.send(next(tasks, None))
                    case {"Began": _}:
                        began(from_json(Began, message))
                    case {"Done": _}:
                        yield _checked(from_json(Done, message))
                    case {"error": [what, hint]}:
                        raise UsageError(f"{what}", f"{hint}")
                    case {"crash": text}:
                        raise RuntimeError(f"opcheck failed on the cluster:\n{text}")


def _address(given: str) -> str:
    """Where the cluster is; ``auto``: the one that this machine is a node of.

    Raises:
        UsageError: nothing answers there. Ray itself would try for two minutes.
    """
    address = given or os.environ.get(_ADDRESS, "") or "auto"
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return address
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"nothing answers at {address}: {getattr(error, 'strerror', None) or error}",
            "--address is what ray start --head tells, HOST:PORT; without it, the cluster that "
            "this machine is a node of",
        ) from error
    return address


def _checked(done: Done) -> Done:
    """The same, where the node has read no file that is another one here."""
    for file, digest in done.outcome.files.items():
        if Path(file).is_file() and not unchanged({file: digest}):
            raise UsageError(
                f"node {done.worker} has another {file} than there is here",
                "have the models where every node sees the same files, or send the working "
                "directory along with --ship",
            )
    return done
