"""Figures of many models: what a fleet adds to a scan, workers side by side, asking a store.

``python -m benchmarks.fleets`` prints them alone, as JSON; ``… zoo [COUNT [FOLDER]]`` scans so many
models of timm, and sixty of transformers, against every target, and prints how long that took.
The manifest and the store are left in the folder.
"""

import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.fleet_made import fill
from benchmarks.fleet_zoo import written
from benchmarks.measure import Cost, Figure, in_turn, median_seconds, process, timed

TARGET = "ascend"
MODELS = (
    "timm:resnet18", "timm:efficientnet_b0", "timm:vit_tiny_patch16_224", "timm:convnext_tiny",
    "timm:mobilenetv3_small_100", "timm:resnet34", "timm:regnety_002", "timm:deit_tiny_patch16_224",
)  # fmt: skip
MADE_MODELS = 4000
"""On twenty-five targets each: a hundred thousand results."""
MOST_SECONDS = 1.0


def figures(folder: Path) -> Iterator[Figure]:
    """All of them; ``folder`` is for manifests and stores."""
    yield from overhead(folder)
    yield from side_by_side(folder)
    yield from asking(folder)


def overhead(folder: Path) -> Iterator[Figure]:
    """What a model more costs a fleet, over what it costs scans with torch loaded."""
    few, many = MODELS[:1], MODELS
    costs = in_turn(
        {
            "one": partial(_fleet, folder, few, 1),
            "all": partial(_fleet, folder, many, 1),
            "bare one": partial(_bare, few),
            "bare all": partial(_bare, many),
        },
        runs=3,
    )
    more = len(many) - len(few)
    fleet, bare = (
        (_cpu(costs[f"{kind}all"]) - _cpu(costs[f"{kind}one"])) / more for kind in ("", "bare ")
    )
    detail = f"{fleet * 1e3:.0f} ms / {bare * 1e3:.0f} ms of computing a model"
    yield Figure("fleet / scans with torch loaded", fleet / bare, 1.1, detail)


def side_by_side(folder: Path) -> Iterator[Figure]:
    """Two workers on two processors; what either needs to begin is not counted."""
    runs = {
        f"{workers} {len(models)}": partial(_fleet, folder, models, workers)
        for workers in (1, 2)
        for models in (MODELS[:workers], MODELS)
    }
    costs = in_turn(runs, runs=3)
    one, two = (
        (median_seconds(costs[f"{workers} {len(MODELS)}"]) - median_seconds(costs[begin]))
        / (len(MODELS) - workers)
        for workers, begin in ((1, "1 1"), (2, "2 2"))
    )
    detail = f"{1 / two:.1f} / {1 / one:.1f} models a second"
    yield Figure("two workers / one", one / two, 1.8, detail, at_least=True)


def asking(folder: Path) -> Iterator[Figure]:
    """A hundred thousand results read whole, with what is in the way of each."""
    from opcheck.commands.fleet.answers.queries import query_of

    store = folder / "made.db"
    fill(store, MADE_MODELS)
    cost = median_seconds(in_turn({"": partial(timed, partial(query_of, store))})[""])
    detail = f"{cost:.2f} s of {MOST_SECONDS:g} s"
    yield Figure("100,000 results read whole", cost / MOST_SECONDS, 1.0, detail)


def zoo(count: int, folder: Path) -> str:
    """Models of timm and transformers against every target, a worker for each processor."""
    manifest, models = written(folder, count)
    cost = _run(folder, manifest, "all")
    size = sum(path.stat().st_size for path in folder.glob("fleet.db*"))
    return (
        f"{models} models in {cost.seconds / 60:.1f} minutes, "
        f"{(cost.cpu_seconds or 0) / models:.2f} s of computing and "
        f"{size / models / 1024:.0f} KiB a model"
    )


def _fleet(folder: Path, models: Sequence[str], workers: int) -> Cost:
    manifest = folder / "models.yaml"
    manifest.write_text("".join(f"- {model}\n" for model in models))
    return _run(folder, manifest, TARGET, "--workers", str(workers))


def _run(folder: Path, manifest: Path, target: str, *options: str) -> Cost:
    """A run that knows nothing yet."""
    for path in folder.glob("fleet.db*"):
        path.unlink()
    return process(
        "-m", "opcheck", "fleet", str(manifest), "-t", target, "-q",
        "--store", str(folder / "fleet.db"), *options,
    )  # fmt: skip


def _bare(models: Sequence[str]) -> Cost:
    return process("-m", "benchmarks.bare_scans", TARGET, *models)


def _cpu(costs: Sequence[Cost]) -> float:
    """The least of what was computed: whatever else runs here only adds to it."""
    return min(cost.cpu_seconds or 0.0 for cost in costs)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        if sys.argv[1:2] == ["zoo"]:
            count, folder = (*sys.argv[2:], *("300", name)[len(sys.argv[2:]) :])
            print(zoo(int(count), Path(folder)))
        else:
            print(json.dumps([dataclasses.asdict(figure) for figure in figures(Path(name))]))
