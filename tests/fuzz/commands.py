"""Fuzzed files given to commands, end to end and among canaries, many to a batch."""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random

from tests.fuzz import programs
from tests.fuzz.loaders import LOADERS
from tests.fuzz.readers import READERS, Reader, inputs_of
from tests.hostile.canary import GOOD_ENDS, Canary, Effects
from tests.hostile.place import Place
from tests.hostile.valid import program, report

_BATCH = 25
_PART = 250
"""Commands that one process tries, so that no processor waits for the slowest reader."""
_LIMIT = 30.0
"""Seconds for one command."""
_AT_ONCE = os.cpu_count() or 1
_HEAD = """\
| reader | commands | harmful | crashed | hung | in a second |
| --- | ---: | ---: | ---: | ---: | ---: |"""
_T = ("-t", "ascend-910b")
_GATE = ("gate", "../good.json")
COMMANDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "exported program": (("scan", "FILE", *_T), ("gate", "FILE", *_T)),
    "exported program, by torch": (
        ("scan", "FILE", *_T, "--exact"), ("emulate", "FILE", *_T, "--values"),
        ("fix", "FILE", *_T, "--graph", "out.pt2"), ("plan", "FILE", *_T),
    ),
    "TorchScript, by torch": (
        ("scan", "FILE", *_T, "--input", "1x3"), ("emulate", "FILE", *_T, "--input", "1x3"),
        ("emulate", "FILE", *_T, "--input", "1x3", "--values"),
    ),
    "config, by transformers": (("scan", "hf:DIR", *_T), ("emulate", "hf:DIR", *_T)),
    "config, by diffusers": (("scan", "DIR", *_T),),
    "YAML, by ultralytics": (("scan", "ultralytics:FILE", *_T),),
    "archive": (("scan", "FILE", *_T),), "pickle": (("scan", "FILE", *_T),),
    "safetensors": (("scan", "FILE", *_T),), "config": (("scan", "hf:DIR", *_T),),
    "overlay": (("explain", "aten::gelu", *_T, "--db", "DIR"),),
    "report": (("convert", "FILE", "--format", "html=out.html", "--format", "text"),
               ("repro", "FILE", "aten::relu", "-o", "out.py"), ("gate", "FILE"),
               (*_GATE, "--against", "FILE")),
    "emulation": (("convert", "FILE"),), "policy": ((*_GATE, "--policy", "FILE"),),
    "project file": ((*_GATE, "--policy", "FILE"),),
    "baseline": ((*_GATE, "--baseline", "FILE"),),
    "schemas": (("scan", "../good.pt2", *_T, "--schemas", "FILE"),),
    "manifest": (("fleet", "run", "FILE", *_T, "--workers", "1", "--store", "out.db"),),
    "manifest as a table": (("fleet", "run", "FILE", *_T, "--workers", "1", "--store", "out.db"),),
    "fleet store": (("fleet", "summary", "FILE"), ("fleet", "query", "FILE"),
                    ("fleet", "page", "FILE", "-o", "out.html"), ("fleet", "missing", "FILE")),
    "linted Python": (("lint", "FILE", *_T, "--fix"),),
    "linted kernel": (("lint", "FILE", *_T, "--fix"),),
}  # fmt: skip
"""For each reader whose files a person names on the command line: the commands, in turns."""


@dataclass(slots=True)
class Figures:
    """What the commands with one reader's files came to."""

    name: str
    commands: int = 0
    harmful: int = 0
    crashed: int = 0
    hung: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        rate = self.commands / (self.seconds or 1)
        figures = (self.commands, self.harmful, self.crashed, self.hung)
        return f"| {self.name} | {' | '.join(f'{n:,}' for n in figures)} | {rate:.1f} |"

    @property
    def findings(self) -> int:
        """How many commands did what none may do."""
        return self.harmful + self.crashed + self.hung


def given_to_commands(many: int, first: int, names: Sequence[str]) -> int:
    """Give so many files of each reader to commands; how many did what none may do."""
    chosen = [name for name in COMMANDS if not names or name in names]
    findings = 0
    print(f"\n{_HEAD}")
    with ProcessPoolExecutor(_AT_ONCE) as pool:
        parts = [(name, first + done, min(_PART, many - done))
                 for name in chosen for done in range(0, many, _PART)]  # fmt: skip
        for name, figures in groupby(pool.map(_reader, *zip(*parts, strict=True)), _name):
            total = _together(name, list(figures))
            print(total, flush=True)
            findings += total.findings
    return findings


def _reader(name: str, first: int, many: int) -> Figures:
    (reader,) = (reader for reader in (*READERS, *LOADERS) if reader.name == name)
    figures, began = Figures(name), time.monotonic()
    with Canary.opened() as canary:
        canary.load()
        for start in range(first, first + many, _BATCH):
            seeds = range(start, min(start + _BATCH, first + many))
            _count(figures, canary, reader, seeds)
    figures.seconds = time.monotonic() - began
    return figures


def _name(figures: Figures) -> str:
    return figures.name


def _together(name: str, parts: Sequence[Figures]) -> Figures:
    return Figures(
        name,
        sum(part.commands for part in parts),
        sum(part.harmful for part in parts),
        sum(part.crashed for part in parts),
        sum(part.hung for part in parts),
        sum(part.seconds for part in parts),
    )


def _count(figures: Figures, canary: Canary, reader: Reader, seeds: Sequence[int]) -> None:
    """Try a batch; where there was harm, each of its files alone."""
    effects, codes = _tried(canary, reader, seeds)
    figures.commands += len(seeds)
    for seed, code in zip(seeds, codes, strict=False):
        figures.hung += code is None
        figures.crashed += code is not None and code not in GOOD_ENDS
        if code is None or code not in GOOD_ENDS:
            _tell(reader, seed, f"exit code {code}", effects)
    if not effects.harm():
        return
    for seed in seeds:
        alone, _ = _tried(canary, reader, (seed,))
        if alone.harm():
            figures.harmful += 1
            _tell(reader, seed, f"{', '.join(alone.harm())}: {alone.evidence()}", alone)


def _tell(reader: Reader, seed: int, what: str, effects: Effects) -> None:
    said = effects.files.get(f"out/{seed}", b"").decode(errors="replace")
    words = " ".join(_words(reader, seed, Path(reader.file)))
    print(f"{reader.name}, input {seed}, {words}: {what}\n{said[-1500:]}", file=sys.stderr,
          flush=True)  # fmt: skip


def _tried(
    canary: Canary, reader: Reader, seeds: Sequence[int]
) -> tuple[Effects, list[int | None]]:
    def prepare(place: Place) -> Sequence[str]:
        programs.CANARIES = place.bait  # where the paths in inputs lead
        commands = []
        (place.project / "out").mkdir()
        (place.project / "good.json").write_bytes(report())
        (place.project / "good.pt2").write_bytes(program().packed())
        for seed in seeds:
            folder = place.project / f"in{seed}"
            path = folder / reader.file
            path.parent.mkdir(parents=True)
            path.write_bytes(inputs_of(reader, Random(seed)))
            said = place.project / "out" / str(seed)
            commands.append((str(folder), _words(reader, seed, path), str(said)))
        asked = {"limit": _LIMIT, "commands": commands}
        (place.project / "out" / "batch.json").write_text(json.dumps(asked))
        return (str(place.project / "out" / "batch.json"),)

    outputs = ["out", *(f"in{seed}/{name}" for seed in seeds for name in _WRITTEN)]
    effects = canary.run(prepare, outputs, _LIMIT * len(seeds), canary.also("tests.hostile.batch"))
    codes = json.loads(effects.files.get("out/batch.codes", b"[]"))
    return effects, codes or [None] * len(seeds)


_WRITTEN = ("out.html", "out.py", "out.db", "out.pt2")


def _words(reader: Reader, seed: int, path: Path) -> list[str]:
    """What is typed for a file."""
    words = COMMANDS[reader.name][seed % len(COMMANDS[reader.name])]
    return [word.replace("FILE", str(path)).replace("DIR", str(path.parent)) for word in words]
