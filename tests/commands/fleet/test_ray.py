"""A fleet on a real cluster: the local engine's answers, whatever happens to workers and nodes."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opcheck.commands.fleet.engine import ATTEMPTS, lost
from opcheck.commands.fleet.run import run_fleet
from opcheck.commands.fleet.values import Began, Done, Entry, FleetRequest, Outcome
from opcheck.model.codec import to_json
from opcheck.model.target import TargetSpec
from tests.commands.fleet.cluster import (
    MODELS,
    SmallCluster,
    at_work_in,
    folder_of,
    kill,
    small_cluster,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are looked for in /proc"),
]
CHANCES = ("worker", "node")
PLAIN = ("dense", "spectrum", "broken", "crashing", "hungry")
TARGETS = ("ascend-910b@26.1.0", "cambricon-mlu590")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cluster() -> Iterator[SmallCluster]:
    pytest.importorskip("ray", reason="ray is not installed")
    with small_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """What the local engine says of every model."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "nets.py").write_text(MODELS)
    (folder / "released").touch()
    seen = Seen()
    with contextlib.chdir(folder):
        run_fleet(request_for((*CHANCES, *PLAIN), "local", workers=2), seen)
    return seen.outcomes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the models."""
    (tmp_path / "nets.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Seen:
    """Hears of a run."""

    names: Sequence[str] = ()
    begun: Counter[str] = field(default_factory=Counter)
    """How often each model was begun."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def planned(self, entries: Sequence[Entry], left: int) -> None:
        self.names = [entry.name for entry in entries]

    def began(self, event: Began) -> None:
        self.begun[self.names[event.position]] += 1

    def done(self, event: Done) -> None:
        self.outcomes[self.names[event.position]] = event.outcome

    def known(self, position: int) -> None:
        pytest.fail(f"{self.names[position]} is as another model")

    def note(self, text: str) -> None:
        pytest.fail(text)


@dataclass
class Ending(Seen):
    """Ends the worker of one model and the node of another, and whatever works on a third."""

    cluster: SmallCluster | None = None

    def began(self, event: Began) -> None:
        super().began(event)
        assert self.cluster is not None
        name = self.names[event.position]
        if name == "cursed" or (name == "worker" and self.begun[name] == 1):
            kill(event.worker)
        if name == "node" and self.begun[name] == 1:
            self.cluster.kill_node_of(event.worker)
            self.cluster.add_node()
        if self.begun["worker"] and self.begun["node"]:
            Path("released").touch()


@dataclass
class Looking(Seen):
    """Looks where workers are."""

    folders: set[Path] = field(default_factory=set)

    def began(self, event: Began) -> None:
        super().began(event)
        self.folders.add(folder_of(event.worker))


class Telling(Seen):
    """Says what is over."""

    def done(self, event: Done) -> None:
        super().done(event)
        print(self.names[event.position], flush=True)


def request_for(
    models: Sequence[str],
    engine: str,
    address: str = "",
    *,
    workers: int | None = None,
    ship: bool = False,
) -> FleetRequest:
    manifest = Path("models.yaml")
    manifest.write_text("".join(f"- {{source: 'nets.py:{m}', name: {m}}}\n" for m in models))
    return FleetRequest(
        str(manifest),
        tuple(map(TargetSpec.parse, TARGETS)),
        f"{engine}.db",
        {"timeout": 120.0, "memory": 1.0},
        engine=engine,
        workers=workers,
        address=address,
        ship=ship,
    )


def written(outcomes: Mapping[str, Outcome]) -> str:
    """Every outcome to the byte."""
    return json.dumps({name: to_json(found) for name, found in sorted(outcomes.items())}, indent=1)


def test_dying_workers_and_nodes_change_no_answer(
    cluster: SmallCluster, alone: Mapping[str, Outcome]
) -> None:
    models = (*CHANCES, *PLAIN, "cursed")
    seen = Ending(cluster=cluster)
    run = run_fleet(request_for(models, "ray", cluster.address), seen).run
    assert (run.models, run.done) == (len(models), len(models))
    assert seen.begun == {**dict.fromkeys(PLAIN, 1), "worker": 2, "node": 2, "cursed": ATTEMPTS}
    assert written(seen.outcomes) == written({**alone, "cursed": lost()})


def test_a_run_that_is_killed_goes_on_where_it_was_also_with_its_folder_sent_along(
    cluster: SmallCluster, alone: Mapping[str, Outcome], folder: Path
) -> None:
    models = ("dense", "broken", "node")
    code = (
        "from tests.commands.fleet.test_ray import *; "
        f"run_fleet(request_for({models}, 'ray', {cluster.address!r}, workers=1), Telling())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        told = [process.stdout.readline(), process.stdout.readline()]
        process.kill()
    assert told == ["dense\n", "broken\n"]
    while at_work_in(folder):  # the cluster is as it was
        time.sleep(0.1)
    (folder / "released").touch()
    seen = Looking()
    sent = request_for(models, "ray", cluster.address, workers=1, ship=True)
    run = run_fleet(sent, seen).run
    assert (run.id, run.models, run.done) == (1, len(models), len(models))
    assert seen.begun == {"node": 1}
    assert folder not in seen.folders
    assert written(seen.outcomes) == written({"node": alone["node"]})
