"""The commands that take a hostile file, and what each says about a model's running."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.hostile.canary import Canary, Effects
from tests.hostile.case import Case, Family, Made, write
from tests.hostile.place import Place

_TARGET = ("-t", "ascend-910b")
_FINDING = "aten::relu"
_FORMATS = ("text", "html", "markdown", "json", "sarif", "junit", "csv", "github", "gitlab")


@dataclass(frozen=True, slots=True)
class Command:
    """A way to give a file to opcheck."""

    name: str
    arguments: Callable[[Made, Place], tuple[str, ...]]
    outputs: tuple[str, ...] = ()
    """What it is asked to write."""
    runs: Callable[[Effects], bool] = lambda _: False
    """Whether it said that the model runs."""


_UNIX = frozenset({"unix"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did with a file, compared with what it may."""

    case: Case
    command: str
    effects: Effects
    runs: bool
    """Whether it said that the model runs."""
    unsaid: bool
    """Whether a command that refused did not say what tried."""

    @property
    def harm(self) -> tuple[str, ...]:
        """The kinds of harm that were done."""
        opened = all(sign.startswith("opened ") for sign in self.effects.executed)
        code = self.case.runs_code  # reads what its user may, and may use unix sockets
        allowed = {
            "executed": code or (self.case.opens_bait and opened),
            "read": code or self.case.opens_key,
            "connected": code and set(self.effects.connected) <= _UNIX,
            "leaked": code and set(self.effects.leaked) <= _UNIX,
        }
        found = [kind for kind in self.effects.harm() if not allowed.get(kind)]
        if self.runs and not self.case.runnable:
            found.append("called runnable")
        if self.unsaid:
            found.append("place not named")
        return tuple(found)

    def __str__(self) -> str:
        harm = ", ".join(self.harm) or "no harm"
        return f"{self.case.reader} · {self.case.name} · {self.command}: {harm} " \
               f"({self.effects.evidence()})"  # fmt: skip


def tried(canary: Canary, case: Case, command: Command) -> Outcome:
    """Give the file of a case to a command, among canaries."""

    def prepare(place: Place) -> tuple[str, ...]:
        return command.arguments(case.lay(place), place)

    effects = canary.run(prepare, command.outputs, case.limit)
    refused = case.says and effects.exit_code == 3
    return Outcome(case, command.name, effects, command.runs(effects),
                   bool(refused) and case.says not in effects.output)  # fmt: skip


def _typed(*words: str, outputs: tuple[str, ...] = (), name: str = "",
           runs: Callable[[Effects], bool] = lambda _: False,
           options: bool = True) -> Command:  # fmt: skip
    """A command as it is typed: ``SOURCE`` stands for the file, and its options follow."""

    def arguments(made: Made, place: Place) -> tuple[str, ...]:
        found = tuple(made.source if word == "SOURCE" else word for word in words)
        return (*found, *made.options) if options else found

    return Command(name or " ".join(words[:1]), arguments, outputs, runs)


def _document(effects: Effects, name: str) -> Any:
    try:
        return json.loads(effects.files.get(name, b"null"))
    except ValueError:
        return None


def _reported(effects: Effects) -> bool:
    """Whether the report has a target that runs the model."""
    found = _document(effects, "out.json") or {}
    return any(target["summary"]["runs"] for target in found.get("targets", ()))


def _emulated(effects: Effects) -> bool:
    return bool((_document(effects, "out.json") or {}).get("runs"))


def _summed(effects: Effects) -> bool:
    found = _document(effects, "out.json") or {}
    return any(target["models"]["device"] or target["models"]["fallback"]
               for target in found.get("targets", ()))  # fmt: skip


def _passed(effects: Effects) -> bool:
    return effects.exit_code == 0


_OUT = ("--format", "json=out.json", "--format", "text")


def _fleet(made: Made, place: Place) -> tuple[str, ...]:
    """A manifest of the one model, with its options."""
    keys = {"--input": "input", "--inputs": "inputs", "--step": "step", "--dynamic": "dynamic",
            "--schemas": "schemas"}  # fmt: skip
    keys["--timeout"] = "timeout"
    given = dict(zip(made.options[::2], made.options[1::2], strict=False))
    entry: dict[str, Any] = {keys[key]: [text] for key, text in given.items() if key in keys}
    if "timeout" in entry:
        entry["timeout"] = float(given["--timeout"])
    write(place.project / "all.yaml", json.dumps([{"source": made.source, **entry}]))
    return ("fleet", "run", "all.yaml", *_TARGET, "--workers", "1", "--store", "all.db",
            "--format", "json", "-o", "out.json")  # fmt: skip


_SCAN = _typed("scan", "SOURCE", *_TARGET, *_OUT, outputs=("out.json",), runs=_reported)
_PLAN = _typed("plan", "SOURCE", *_TARGET, *_OUT, outputs=("out.json",), runs=_reported)
_GATE = _typed("gate", "SOURCE", *_TARGET, runs=_passed)
_EMULATE = _typed("emulate", "SOURCE", *_TARGET, "--format", "json", "-o", "out.json",
                  outputs=("out.json",), runs=_emulated)  # fmt: skip
_EXACT = _typed("scan", "SOURCE", *_TARGET, "--exact", *_OUT, name="scan --exact",
                outputs=("out.json",), runs=_reported)  # fmt: skip
_VALUES = _typed("emulate", "SOURCE", *_TARGET, "--values", "--format", "json", "-o", "out.json",
                 name="emulate --values", outputs=("out.json",), runs=_emulated)  # fmt: skip
_FIX = _typed("fix", "SOURCE", *_TARGET, "--graph", "out.pt2", name="fix --graph",
              outputs=("out.pt2",), runs=_passed)  # fmt: skip
_REPRO = _typed("repro", "SOURCE", _FINDING, *_TARGET, "-o", "out.py", outputs=("out.py",))
_MODEL = (
    _SCAN, _EXACT, _GATE, _PLAN, _FIX, _EMULATE, _VALUES,
    Command("fleet run", _fleet, ("all.db", "out.json"), _summed), _REPRO,
    _typed("scan", "SOURCE", *_TARGET, "--train", *_OUT, name="scan --train",
           outputs=("out.json",)),
)  # fmt: skip
_OUTPUTS = tuple(f"out.{name}" for name in _FORMATS)
_CONVERT = _typed(
    "convert", "SOURCE",
    *(word for name in _FORMATS for word in ("--format", f"{name}=out.{name}")),
    outputs=_OUTPUTS, options=False,
)  # fmt: skip
_REPORT = (
    _CONVERT,
    _typed("convert", "SOURCE", "--verbose", "--explain", name="convert to text"),
    _typed("repro", "SOURCE", _FINDING, "-o", "out.py", outputs=("out.py",)),
    _typed("gate", "SOURCE"),
    _typed("gate", "good.json", "--against", "SOURCE", name="gate --against"),
)
_SCHEMA = "library_user.py"
_LATER = ("summary", "missing", "query", "diff", "page", "export")


def _stored(name: str, *more: str, outputs: tuple[str, ...] = ()) -> Command:
    return _typed("fleet", name, "SOURCE", *more, name=f"fleet {name}", outputs=outputs)


COMMANDS: Mapping[Family, tuple[Command, ...]] = {
    Family.MODEL: _MODEL,
    Family.PYTHON: (_SCAN, _EXACT, _GATE, _PLAN, _EMULATE, _VALUES,
                    Command("fleet run", _fleet, ("all.db", "out.json"), _summed)),
    Family.REPORT: _REPORT,
    Family.EMULATION: (_CONVERT, _typed("gate", "SOURCE"), _typed("repro", "SOURCE", _FINDING)),
    Family.POLICY: (_typed("gate", "good.json", "--policy", "SOURCE"),),
    Family.BASELINE: (_typed("gate", "good.json", "--baseline", "SOURCE"),),
    Family.OVERLAY: (
        _typed("explain", "aten::gelu", *_TARGET, "--db", "db"),
        _typed("scan", "good.pt2", *_TARGET, "--db", "db"),
        _typed("db", "status", "--db", "db", name="db status"),
        _typed("db", "diff", "ascend-910b", "--db", "db", name="db diff"),
    ),
    Family.SCHEMAS: (_typed("scan", "net.py:build", *_TARGET, "--schemas", "SOURCE"),),
    Family.MANIFEST: (_typed("fleet", "run", "SOURCE", *_TARGET, "--store", "all.db",
                             name="fleet run", outputs=("all.db",)),),
    Family.STORE: (
        _stored("summary"), _stored("missing"), _stored("query"), _stored("diff"),
        _stored("page", "-o", "out.html", outputs=("out.html", "fleet.db")),
        _stored("export", "--parquet", "out", outputs=("out",)),
        _stored("report", "model.pt2", "--format", "html=out.html", outputs=("out.html",)),
        _typed("fleet", "run", "models.yaml", *_TARGET, "--store", "SOURCE", name="fleet run",
               outputs=("fleet.db",)),
    ),
    Family.INPUTS: (_SCAN, _EMULATE, _typed("scan", "SOURCE", *_TARGET, "--train", *_OUT,
                                            name="scan --train", outputs=("out.json",))),
    Family.LINT: (_typed("lint", "SOURCE", *_TARGET),
                  _typed("lint", "SOURCE", *_TARGET, "--fix", name="lint --fix")),
}  # fmt: skip
"""Every command that takes a file of a kind."""

_DEEPEST: Mapping[str, tuple[str, ...]] = {
    "program targets": ("scan", "emulate --values"),
    "program arguments": ("scan", "emulate --values"),
    "program that cannot run": ("scan", "scan --exact"),
    "TorchScript": ("scan",), "report": ("convert",), "fleet store": ("fleet summary",),
}  # fmt: skip


def commands_of(case: Case) -> tuple[Command, ...]:
    """Every command that takes the file of a case."""
    return tuple(map(_with_files, COMMANDS[case.family]))


def deepest(case: Case) -> tuple[Command, ...]:
    """The one or two that reach most of its reader."""
    names = _DEEPEST.get(case.reader, ())
    found = [command for command in commands_of(case) if command.name in names]
    return tuple(found) or commands_of(case)[:1]


def _with_files(command: Command) -> Command:
    """The command, after what else it needs was laid into the project."""

    def arguments(made: Made, place: Place) -> tuple[str, ...]:
        words = command.arguments(made, place)
        _lay(place, words)
        return words

    return replace(command, arguments=arguments)


def _lay(place: Place, words: tuple[str, ...]) -> None:
    from tests.hostile.valid import program, report

    for word in words:
        if word == "good.json":
            write(place.project / word, report())
        elif word == "good.pt2" or (word == "models.yaml" and "--store" in words):
            write(place.project / "good.pt2", program().packed())
            if word == "models.yaml" and not (place.project / word).exists():
                write(place.project / word, "- good.pt2\n")
        elif word.startswith("net.py:") and not os.path.lexists(place.project / "net.py"):
            write(place.project / "net.py", _NET)


_NET = """\
import torch
try:
    from mine import attend
except ImportError:
    attend = None

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def build():
    return Net(), torch.ones(2, 3)
"""
