"""Sources of a project that are no Python code: configs, saved models, scripts and notebooks."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from opcheck.errors import OpcheckError, SourceError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.project import Candidate, Kind, Lacks
from opcheck.source import notebook
from opcheck.source.finding.facts import FileFacts, UnreadableError, facts_of
from opcheck.source.finding.folders import beside, is_test
from opcheck.source.load import select
from opcheck.source.model_configs import MODEL, is_settings
from opcheck.source.model_folder import CONFIG, INDEX
from opcheck.source.sniff import Form, sniff

_ADAPTER = "adapter_config.json"
_MOST_CONFIG = 1 << 20
_MARKS = ("model_type", "architectures", "_class_name", "peft_type")
"""What a config of a model's library has one of."""
_SAVED = (".pt2", ".pt", ".pth", ".gguf", ".onnx", ".ckpt", ".safetensors")
_BASES = "_base_"
STEPS = 2
"""Optimizer steps after which a script is ended."""


def configs(folder: Path, files: tuple[str, ...]) -> Iterator[Candidate]:
    """The folders that have a config of transformers, diffusers or peft."""
    for name in (CONFIG, INDEX, _ADAPTER):
        for inside in beside(files, name):
            path = f"{inside}/{name}" if inside else name
            if _is_config(folder / path):
                reason = Sentence("a folder with a {name}", name=name)
                yield Candidate(inside or ".", Kind.CONFIG, reason)


def _is_config(path: Path) -> bool:
    try:
        found = json.loads(read_bytes(path, _MOST_CONFIG))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and any(mark in found for mark in _MARKS)


def python_configs(folder: Path, file: FileFacts) -> Iterator[Candidate]:
    """What mmengine or detectron2 makes a model of."""
    if is_test(file.path) or _BASES in file.path.split("/"):
        return
    for name, line in file.lazy:
        reason = Sentence("a config of detectron2")
        yield Candidate(f"{file.path}:{name}", Kind.CONFIG, reason, line)
    if not (file.classes or file.functions) and is_settings(folder / file.path):
        reason = Sentence("a config of mmengine")
        yield Candidate(f"{file.path}:{MODEL}", Kind.CONFIG, reason)


def saved(folder: Path, path: str) -> Candidate | Sentence | None:
    """A saved model, or why a file of that name is none; None for any other file."""
    if not path.endswith(_SAVED):
        return None
    try:
        form = sniff(folder / path).form
        if form in (Form.TORCHSCRIPT, Form.EXPORTED) or path.endswith(".gguf"):
            select(str(folder / path))
            return Candidate(path, Kind.SAVED, Sentence("a saved model"))
    except (OpcheckError, OSError):
        return Sentence("{text_file} cannot be read as a model", text_file=path)
    match form:
        case Form.WEIGHTS:
            return Sentence("{text_file} holds weights alone", text_file=path)
        case Form.ONNX:
            return Sentence(
                "{text_file} is an ONNX model: the PyTorch model that it is made of can be checked",
                text_file=path,
            )
        case Form.PICKLED:
            return Sentence("{text_file} is a pickle, which would run code", text_file=path)
        case _:
            return Sentence("{text_file} cannot be read as a model", text_file=path)


def script(file: FileFacts, *, is_notebook: bool = False) -> Candidate | None:
    """A script that trains; None for what is none."""
    said = file.script
    begins = said.guarded or said.works or is_notebook
    if not (said.trains and begins) or is_test(file.path):
        return None
    reason = Sentence("a notebook that trains") if is_notebook else Sentence("a script that trains")
    options: Mapping[str, str | int] = {"steps": STEPS}
    if said.data_sets:
        options = {**options, "data": "fake"}
    lacks = Lacks.ARGUMENTS if said.needs else Lacks.NOTHING
    return Candidate(file.path, Kind.SCRIPT, reason, lacks=lacks, names=said.needs, options=options)


def notebook_facts(folder: Path, path: str) -> FileFacts | None:
    """What the code cells of a notebook say; None for one that cannot be read."""
    try:
        cells = notebook.read(str(folder / path))
        return facts_of(path, "\n".join(cell.python for cell in cells).encode())
    except (SourceError, UnreadableError):
        return None
