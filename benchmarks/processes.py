"""Figures of whole processes; this one stays small, or their memory could not be measured."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from benchmarks.measure import Figure, in_turn, median_peak, median_seconds, process
from opcheck.app.commands import names
from opcheck.db.store import Database

SCAN = ("-m", "opcheck", "scan")
TARGET = ("-t", "ascend-910b")
PLANNED_TARGET = "moorethreads-s4000@1.0.0"
PLANNED = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        y = torch.roll(self.one(x), 1, -1)
        return x + self.two(y / (y.std(-1, keepdim=True) + 1e-5))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(12)))

    def forward(self, ids, x):
        ends = torch.isin(ids, torch.tensor([1, 2], device=ids.device))
        return self.blocks(x), ends, torch.isneginf(x), torch.nanmedian(x, -1).values


def model():
    return Net(), (torch.arange(32).reshape(4, 8), torch.randn(4, 8, 64))
"""
"""A model with operators that the target lacks, as users call them."""
TOKENS = 128
MANY = 20


_EMPTY = """
import typer
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
def made():
    def command(name: str = ""):
        "Do something that is said in one line."
    return command
for name in range({count}):
    app.command(f"command{{name}}")(made())
app()
"""
"""An application of typer that does nothing, with so many commands."""


def startup() -> Iterator[Figure]:
    """``--help`` is there at once: as soon as that of an application that does nothing."""
    empty = _EMPTY.format(count=len(names()))
    costs = in_turn(
        {
            "help": partial(process, "-c", "from opcheck.app.main import main; main()", "--help"),
            "empty": partial(process, "-c", empty, "--help"),
        },
        runs=21,
    )
    helped, base = median_seconds(costs["help"]), median_seconds(costs["empty"])
    detail = f"{helped * 1e3:.0f} ms / {base * 1e3:.0f} ms"
    yield Figure("opcheck --help / an empty typer application's", helped / base, 1.1, detail)


def saved_graphs(folder: Path) -> Iterator[Figure]:
    """A saved graph is scanned in less time than torch takes to import."""
    process("-m", "benchmarks.models", str(folder))
    for name in ("resnet50.pt2", "gpt2.pt2"):
        scan = (*SCAN, str(folder / name), *TARGET)
        process(*scan)  # the index of the database is written on its first use
        costs = in_turn(
            {
                "scan": partial(process, *scan),
                "torch": partial(process, "-c", "import torch"),
            }
        )
        scanned, torch = median_seconds(costs["scan"]), median_seconds(costs["torch"])
        detail = f"{scanned:.2f} s / {torch:.2f} s"
        yield Figure(f"scan {name} / import torch", scanned / torch, 0.2, detail, goal=0.15)


def large_process(folder: Path) -> Iterator[Figure]:
    """A model of 405 billion parameters, scanned from its config, whole processes."""
    config = folder / "llama"
    inputs = ("--input", f"input_ids=1x{TOKENS}:int64")
    costs = in_turn(
        {
            "scan": partial(process, *SCAN, f"hf:{config}", *TARGET, *inputs),
            "bare": partial(process, "-m", "benchmarks.bare_llama"),
        }
    )
    scanned, bare = median_seconds(costs["scan"]), median_seconds(costs["bare"])
    detail = f"{scanned:.2f} s / {bare:.2f} s"
    yield Figure("Llama 405B: scan / import, build, forward", scanned / bare, 1.3, detail)
    scanned, bare = median_peak(costs["scan"]), median_peak(costs["bare"])
    detail = f"{scanned / 2**20:.0f} MiB / {bare / 2**20:.0f} MiB"
    yield Figure("Llama 405B: peak memory, the same", scanned / bare, 1.3, detail)


def packed_processes(folder: Path) -> Iterator[Figure]:
    """The same model with packed weights, beside the forward of its floating-point one."""
    packs = sorted(folder.glob("llama-*"))
    inputs = ("--input", f"input_ids=1x{TOKENS}:int64")
    scans = {one.name: (*SCAN, f"hf:{one}", "-t", "nvidia-h100", *inputs) for one in packs}
    costs = in_turn(
        {
            "bare": partial(process, "-m", "benchmarks.bare_llama"),
            **{name: partial(process, *scan) for name, scan in scans.items()},
        }
    )
    base, room = median_seconds(costs["bare"]), median_peak(costs["bare"])
    for name in scans:
        scanned, peak = median_seconds(costs[name]), median_peak(costs[name])
        method = name.removeprefix("llama-")
        detail = f"{scanned:.2f} s / {base:.2f} s"
        yield Figure(f"Llama 405B in {method}: scan / forward", scanned / base, 1.3, detail)
        detail = f"{peak / 2**20:.0f} MiB / {room / 2**20:.0f} MiB"
        yield Figure(f"Llama 405B in {method}: peak memory", peak / room, 1.3, detail)


def every_target(folder: Path) -> Iterator[Figure]:
    """The newest of every target: a trace a device type, and a verdict a target."""
    for name, source in {
        "ResNet-50": "torchvision:resnet50",
        "Llama 405B": f"hf:{folder / 'llama'}",
    }.items():
        scans = {"one": (*SCAN, source, *TARGET), "all": (*SCAN, source, "-t", "all")}
        process(*scans["all"])  # the index of every release is written on its first use
        costs = in_turn({count: partial(process, *scan) for count, scan in scans.items()})
        one, every = (median_seconds(costs[count]) for count in scans)
        detail = f"{every:.2f} s / {one:.2f} s"
        yield Figure(f"{name}: scan for all targets / one", every / one, 1.5, detail)


def planning(folder: Path) -> Iterator[Figure]:
    """A plan beside a scan of the same model for the same target."""
    net = folder / "net.py"
    net.write_text(PLANNED, encoding="utf-8")
    target = ("-t", PLANNED_TARGET)
    runs = {name: ("-m", "opcheck", name, f"{net}:model", *target) for name in ("plan", "scan")}
    process(*runs["plan"])  # the index of the release is written on its first use
    costs = in_turn({name: partial(process, *run) for name, run in runs.items()})
    planned, scanned = (median_seconds(costs[name]) for name in runs)
    detail = f"{planned:.2f} s / {scanned:.2f} s"
    yield Figure("plan / scan, four missing operators", planned / scanned, 1.5, detail)


def many_targets(folder: Path) -> Iterator[Figure]:
    """Twenty targets share one trace, so that they cost little more than one; whole processes."""
    database = Database.open()
    every = [t for newest in database.targets() for t in reversed(database.releases(newest.name))]
    for name, source in {
        "ResNet-50": "torchvision:resnet50",
        "Llama 405B": f"hf:{folder / 'llama'}",
    }.items():
        scans = {
            count: (*SCAN, source, *chain.from_iterable(("-t", str(t)) for t in every[:count]))
            for count in (1, MANY)
        }
        process(*scans[MANY])  # the index of every release is written on its first use
        costs = in_turn({str(count): partial(process, *scan) for count, scan in scans.items()})
        one, many = (median_seconds(costs[str(count)]) for count in (1, MANY))
        detail = f"{many:.2f} s / {one:.2f} s"
        yield Figure(f"{name}: scan for {MANY} targets / one", many / one, 1.3, detail)
