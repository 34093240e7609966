"""The readers of files that users have, each with valid files to start from."""

import io
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from opcheck.commands.fleet.answers.queries import query_of
from opcheck.commands.fleet.manifest.read import read_manifest
from opcheck.commands.gate.judging.accepted import baseline_from_json, baseline_text
from opcheck.db.by_hand.libraries import users_file
from opcheck.db.store import Database
from opcheck.errors import ExitCode, OpcheckError, UsageError
from opcheck.lang.sentence import sentence_of
from opcheck.model.codec import to_json
from opcheck.model.request import TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.text import printable
from opcheck.sandbox.parent.recovered import read_journal
from opcheck.settings.policy_file import read_policy, starting_policy
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import select
from opcheck.source.pt2.file import read_program
from opcheck.source.pt2.graph import read_trace
from opcheck.source.sniff import sniff
from opcheck.views.document.read_emulation import emulation_from_json
from opcheck.views.document.report import from_json
from opcheck.views.formats import Page, command_view, report_view
from tests.commands.fleet.made import filled, kernel, result, scanned, target
from tests.db.overlays import OVERLAY, ROOT, acme
from tests.db.test_schemas import GOOD as SCHEMAS
from tests.fuzz import mutate
from tests.fuzz.effects import OPENED, READS, Watch
from tests.fuzz.foreign import spoiled_config, spoiled_export, spoiled_settings
from tests.fuzz.mutate import Mutation, either
from tests.settings.test_policy import FULL, TOML
from tests.views.gates import GATES

REFUSALS = (ExitCode.USAGE, ExitCode.MODEL, ExitCode.DATABASE)
"""What an OpcheckError for a bad file may end the process with."""
_SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots" / "json"
_DATA = Path(__file__).resolve().parent / "seeds"


@dataclass(frozen=True, slots=True)
class Reader:
    """One way into the program for a file that anybody may have written."""

    name: str
    file: str
    """What the file is called."""
    seeds: Callable[[], Iterator[bytes]]
    """Valid contents."""
    spoil: Mutation
    read: Callable[[Path], object]
    looks: bool = False
    """It looks for models in the folders that a file names."""


def tried(reader: Reader, content: bytes, folder: Path) -> bool:
    """Whether the reader took the content; anything but an answer or an OpcheckError is raised."""
    path = folder / reader.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        _watched(reader, path)
    except OpcheckError as error:
        told = f"{error.message}\n{error.hint}"
        if error.exit_code not in REFUSALS:
            raise AssertionError(f"exit code {error.exit_code}: {told}") from error
        shown = printable(told)
        if not shown.replace("\n", "").replace("\t", "").isprintable():
            raise AssertionError(f"not fit for a terminal: {shown!r}") from error
        return False
    return True


def _watched(reader: Reader, path: Path) -> None:
    """Read; what is done beside reading is raised."""
    if not WATCHES:
        reader.read(path)
        return
    (watch,) = WATCHES
    watch.begin()
    try:
        reader.read(path)
    finally:
        found = watch.end()
        if reader.looks:
            found = [what for what in found if not what.startswith((f"open {READS}", OPENED))]
        if found:
            raise AssertionError(f"does more than read: {'; '.join(found)[:2000]}")


WATCHES: list[Watch] = []
"""The one that looks for what readers do beside reading, where there is one."""


def inputs_of(reader: Reader, random: Random) -> bytes:
    """One hostile content for a reader."""
    return reader.spoil(random, random.choice(valid(reader)))


@cache
def valid(reader: Reader) -> tuple[bytes, ...]:
    """The valid contents of a reader."""
    return tuple(reader.seeds())


def archived(members: dict[str, bytes]) -> bytes:
    """A zip archive of these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def program_files() -> Iterator[bytes]:
    """Exported programs in the forms of two releases of torch."""
    for path in sorted(_DATA.glob("*.json")):
        content = path.read_bytes()
        yield archived({"m/models/model.json": content, "m/version": b"1"})
        yield archived({"serialized_exported_program.json": content, "version": b"1"})


def _archives() -> Iterator[bytes]:
    weights = pickle.dumps({"conv.weight": 1.0, "conv.bias": [2.0]}, 2)
    yield archived({"m/data.pkl": weights, "m/version": b"3", "m/data/0": b"\0" * 64})
    yield archived(
        {"m/constants.pkl": pickle.dumps(()), "m/code/net.py": b"x = 1", "m/data.pkl": b""}
    )


def _pickles() -> Iterator[bytes]:
    yield b"\x80\x02cos\nabort\n)R."  # to run it would be noticed
    for protocol in range(2, 6):
        yield pickle.dumps({"conv.weight": [1, 2.5, b"x"], "name": Path("a")}, protocol)


def _safetensors() -> Iterator[bytes]:
    tensor = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "conv.weight": tensor}).encode()
    yield len(header).to_bytes(8, "little") + header + b"\0" * 16


def _configs() -> Iterator[bytes]:
    yield json.dumps({"model_type": "bert", "hidden_size": 32, "architectures": ["B"]}).encode()
    yield json.dumps({"_class_name": "UNet2DConditionModel", "sample_size": 64}).encode()


def _documents(kind: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for path in sorted(_SNAPSHOTS.rglob("*.txt")):
            content = path.read_bytes()
            if f'"opcheck.{kind}/'.encode() in content[:200] and len(content) < 60_000:
                yield content

    return seeds


def _journals() -> Iterator[bytes]:
    from opcheck.model.trace import Node, OpName, TensorMeta, Trace, Use
    from opcheck.model.work import Recorded, WorkResult

    node = Node(OpName.parse("aten::relu"), (("self", TensorMeta("float32", (1, 3), (3, 1))),))
    empty = WorkResult(Trace("2.13.0", "npu", "inference", (), (), ()), "python", "")
    parts = [Recorded((node,), (Use(0, "a", "net.py", 3, 0),), (0, 0), ())] * 3
    yield b"\n".join(json.dumps(to_json(value)).encode() for value in (empty, *parts))


def _spoiled_lines(random: Random, data: bytes) -> bytes:
    lines = data.splitlines()
    at = random.randrange(len(lines))
    lines[at] = mutate.spoiled_json(random, lines[at])
    return b"\n".join(lines)


def _arguments() -> Iterator[bytes]:
    yield from (b"x=1x3x224x224:float32", b"ids=[1x4:int64,2]", b"mask=True", b"3x4")
    yield from (b"ascend-910b@26.1.0+torch2.7", b"cuda", b"optimizer=adamw", b"clip=1.0")


def _sources() -> Iterator[bytes]:
    yield b"import torch\n\ndef model():\n    return torch.nn.Linear(3, 4)\n"


def _sources_for_cuda() -> Iterator[bytes]:
    yield b"""\
import torch, flash_attn
from torch.backends import cudnn

device = "cuda" if torch.cuda.is_available() else "cpu"
class Net(torch.nn.Module):
    def forward(self, x: "torch.Tensor") -> object:
        try:
            return self.layer(x.cuda(0)).to(device=f"cuda:{self.rank}")
        except (RuntimeError, torch.cuda.OutOfMemoryError):
            torch.cuda.empty_cache(); cudnn.benchmark = True
        with torch.cuda.amp.autocast(): return flash_attn.flash_attn_func(x, x, x)
"""


def _kernels() -> Iterator[bytes]:
    yield b"""\
#include <cuda_runtime.h>
/* adds */ __global__ void add(float *a, const float *b) { a[threadIdx.x] += __ldg(b); }
void run(float *a, float *b) { add<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(a, b); }
"""


def _policies() -> Iterator[bytes]:
    yield FULL.encode()
    yield starting_policy((TargetSpec("ascend-910b"),)).encode()


def _project_files() -> Iterator[bytes]:
    yield TOML.encode()


def _baselines() -> Iterator[bytes]:
    accepted = GATES["accepting"].accepted
    assert accepted is not None
    yield baseline_text(accepted).encode()


@cache
def _vendors() -> Path:
    """Data of one vendor; all that opcheck brings takes a second to read anew."""
    vendors = Path(tempfile.mkdtemp(prefix="vendors-"))
    acme(vendors)
    (vendors / "pytorch").symlink_to(ROOT / "pytorch")
    return vendors


def _overlays() -> Iterator[bytes]:
    _vendors()  # made here, since a reader that is watched makes nothing
    text = OVERLAY.replace("vendor: ascend", "vendor: acme").replace(
        'chips: ["910b"]', "chips: [one]"
    )
    text = text.replace('"26.0.0.."', '"1.0.."').replace('"2.9..2.12"', '"2.9"')
    yield text.replace(', torch: "2.10.."', "").encode()


def _schemas() -> Iterator[bytes]:
    yield SCHEMAS.encode()


def _manifests() -> Iterator[bytes]:
    yield b"- model.pt2\n- {source: 'net.py:build', name: ours, input: [ids=1x128:int64]}\n"
    yield b"""\
defaults: {timeout: 120, memory: 4}
models:
  - timm:resnet18
  - {source: model.pt2, schemas: [s.yaml], step: {optimizer: "adamw:fused"}, dynamic: [x:0]}
"""


def _tables() -> Iterator[bytes]:
    yield b"source,name,input,timeout\nmodel.pt2,a,x=1x3;y=2,60\nnet.py:build,b,,\n"


def _stores() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.db"
        on = target("ascend-910b@26.1.0+torch2.12")
        filled(path, {"net": scanned(result(on, kernel("aten::erfinv")))}, [on])
        yield path.read_bytes()


def _read_store(path: Path) -> object:
    return query_of(path)


def _read_baseline(path: Path) -> object:
    return baseline_from_json(path.read_text(errors="surrogateescape"), path.name)


def _lint(path: Path) -> object:
    from opcheck.commands.lint import answer as linted
    from opcheck.model.porting import LintRequest

    targets = (TargetSpec.parse("ascend-910b"),)
    with pytest.MonkeyPatch.context() as patch:  # the sources are read here, and no data anew
        patch.setattr(linted, "open_database", lambda _: _database())
        found = linted.lint(LintRequest(str(path), targets, fix=True))
    page = command_view("lint", "text").render(found, Page(verbose=True))
    if not page.replace("\n", "").isprintable():
        raise AssertionError("the page holds what a terminal obeys")
    return page


def _read_program(path: Path) -> object:
    """Everything that is done with a saved graph without torch."""
    from opcheck import saved_graph
    from opcheck.device_types import Scanned, Traced
    from opcheck.pipeline.reports import report_of

    read_program(path)
    graph = read_trace(path)
    database = _database()
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910b")))
    trace = saved_graph.trace_of(graph, database, (matrix,))
    if trace is None:
        return None
    scanned = Scanned((Traced(trace),), "pt2", graph.digest, graph.notes)
    return _written(report_of(path.name, scanned, (matrix,)))


@cache
def _database() -> Database:
    return Database.open()


def _read_report(path: Path) -> object:
    return _written(from_json(path.read_text(errors="surrogateescape"), path.name))


def _written(report: Any) -> str:
    page = report_view("text").render(report, Page(verbose=True))
    if not page.replace("\n", "").isprintable():
        raise AssertionError("the page holds what a terminal obeys")
    return page + report_view("json").render(report)


def _read_emulation(path: Path) -> object:
    found = emulation_from_json(path.read_text(errors="surrogateescape"), path.name)
    page = command_view("emulate", "text").render(found, Page(verbose=True))
    if not page.replace("\n", "").isprintable():
        raise AssertionError("the page holds what a terminal obeys")
    return page


def _read_overlay(path: Path) -> object:
    database = Database.open(_vendors(), cached=False, overlays=(path.parent,))
    return database.matrix(database.resolve(TargetSpec.parse("acme-one")))


def _read_arguments(path: Path) -> object:
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    answers: list[object] = []
    for parse in (InputSpec.parse, _target, lambda t: TrainingSpec.parse((t,))):
        try:
            answers.append(parse(text))
        except OpcheckError as error:
            refusal = error
    if not answers:
        raise refusal
    return answers


def _target(text: str) -> object:
    try:
        return TargetSpec.parse(text)
    except ValueError as error:  # as the command line takes it
        raise UsageError(sentence_of(error)) from error


def _checked(prefix: str, suffix: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        text = f"{prefix}{path}{suffix}"
        select(text).check(text, LoadOptions((), trust=False))
        return None

    return read


READERS = (
    Reader("exported program", "m.pt2", program_files,
           either(mutate.spoiled_archive(mutate.spoiled_json), spoiled_export, spoiled_export),
           _read_program),
    Reader("archive", "m.pt", _archives, mutate.spoiled_archive(mutate.spoiled_json), sniff),
    Reader("pickle", "m.pkl", _pickles, mutate.spoiled_bytes, sniff),
    Reader("safetensors", "m.safetensors", _safetensors, mutate.spoiled_header, sniff),
    Reader("overlay", "db/o.yaml", _overlays, spoiled_settings,
           _read_overlay),
    Reader("config", "config.json", _configs, either(mutate.spoiled_json, spoiled_config),
           _checked("hf:", "")),
    Reader("report", "report.json", _documents("report"), mutate.spoiled_json, _read_report),
    Reader("emulation", "run.json", _documents("emulation"), mutate.spoiled_json, _read_emulation),
    Reader("policy", "opcheck.yaml", _policies, spoiled_settings, read_policy),
    Reader("schemas", "schemas.yaml", _schemas, spoiled_settings, users_file),
    Reader("manifest", "models.yaml", _manifests, spoiled_settings,
           lambda path: read_manifest(str(path)), looks=True),
    Reader("manifest as a table", "models.csv", _tables, mutate.spoiled_text,
           lambda path: read_manifest(str(path)), looks=True),
    Reader("fleet store", "fleet.db", _stores, mutate.spoiled_bytes, _read_store),
    Reader("project file", "pyproject.toml", _project_files, mutate.spoiled_text, read_policy),
    Reader("baseline", "b.json", _baselines, mutate.spoiled_json, _read_baseline),
    Reader("journal", "0.jsonl", _journals, _spoiled_lines, read_journal),
    Reader("argument", "argument", _arguments, mutate.spoiled_text, _read_arguments),
    Reader("Python source", "net.py", _sources, mutate.spoiled_text, _checked("", ":model")),
    Reader("linted Python", "net.py", _sources_for_cuda, mutate.spoiled_source, _lint),
    Reader("linted kernel", "net.cu", _kernels, mutate.spoiled_source, _lint),
)  # fmt: skip
