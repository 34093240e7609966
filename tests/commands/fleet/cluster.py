"""A Ray cluster of several nodes on this machine, and models whose workers a test can end."""

import contextlib
import os
import shutil
import signal
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

MODELS = """
import os
import time
import torch
from torch import nn


def dense():
    return nn.Sequential(nn.Linear(8, 8), nn.GELU()), (torch.zeros(2, 8),)


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x).abs()


def spectrum():
    return Spectrum(), (torch.zeros(4, 16),)


def held():
    while not os.path.exists("released"):
        time.sleep(0.02)
    return dense()


worker = node = cursed = held


def broken():
    raise ValueError("no such layer")


def crashing():
    os.kill(os.getpid(), 11)


def hungry():
    kept = []
    while True:
        kept.append(bytearray(2**26))
"""


class SmallCluster:
    """A head that does no work, and nodes with a processor each."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._others: list[Any] = []
        self.address: str = cluster.address

    def add_node(self) -> None:
        """Add one."""
        self._others.append(self._cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20))

    def kill_node_of(self, worker: str) -> None:
        """End the node that a worker is on, without a word to anyone."""
        parent = _parent(_pid(worker))
        for node in self._others:
            if parent == node.all_processes["raylet"][0].process.pid:
                self._others.remove(node)
                self._cluster.remove_node(node, allow_graceful=False)
                return
        raise LookupError(worker)


def kill(worker: str) -> None:
    """End a worker as the system does that is out of memory."""
    os.kill(_pid(worker), signal.SIGKILL)


def folder_of(worker: str) -> Path:
    """The working directory of a worker."""
    return Path(f"/proc/{_pid(worker)}/cwd").readlink()


def at_work_in(folder: Path) -> Collection[int]:
    """The processes whose working directory is a folder, but for our own."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if (process / "cwd").readlink() == folder:
                found.add(int(process.name))
    return found - {os.getpid()}


@contextlib.contextmanager
def small_cluster(nodes: int) -> Iterator[SmallCluster]:
    """A cluster; all its processes are ended."""
    from ray.cluster_utils import Cluster

    before = os.environ.get("RAY_ADDRESS")
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
        },
    )
    folder = cluster.head_node.get_session_dir_path()
    try:
        small = SmallCluster(cluster)
        for _ in range(nodes):
            small.add_node()
        cluster.wait_for_nodes()
        yield small
    finally:
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        if before is None:
            os.environ.pop("RAY_ADDRESS", None)


def _pid(worker: str) -> int:
    """Of ``host/pid``."""
    return int(worker.rpartition("/")[2])


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
