"""A model exported by the target's own converter, run, and held against the scan."""

import os
import tempfile
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.export.values import ExportAnswer, ExportQuestion
from opcheck.commands.scan.answer import scan
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.exporting import ExportRequest
from opcheck.model.request import ScanRequest
from opcheck.model.target import OPSET, TargetKind, TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.resolve.dynamic import stays_open

OPTIONS = {"onnxruntime": "--onnx", "openvino": "--openvino", "executorch": "--pte"}
"""Vendor -> the option that keeps the file of its format."""


def export(
    question: ExportQuestion, progress: Progress = silent, output: Progress = silent
) -> ExportAnswer:
    """Export the model; with ``prove``, run the file and scan the model too.

    Raises:
        UsageError: the target is none that models are exported for, or a library is missing.
        SourceError: the model cannot be loaded.
    """
    from opcheck.sandbox.parent import run

    database = open_database(question.databases)
    target = database.resolve(question.target)
    if database.vendors[target.vendor].kind is not TargetKind.EXPORT:
        raise UsageError(
            Sentence("{target} is no target that models are exported for", target=target),
            Sentence("name one of them: {list}", list=", ".join(
                each.name for each in database.of_kind(TargetKind.EXPORT)
            )),
        )  # fmt: skip
    _require_own_options(question, target.vendor)
    spec = _with_opset(question)
    target = database.resolve(spec)
    path = os.path.abspath(question.output) if question.output else ""
    request = ExportRequest(
        question.model, str(target), target.vendor, path, _opset(spec), run=question.prove
    )
    found = run.export(request, progress=progress, output=output)
    kept = path if path and found.stage.converted else ""
    if not kept:
        for each in request.files:
            Path(each).unlink(missing_ok=True)
    answer = ExportAnswer(
        question.model.source, str(target), found, question.prove, question.output if kept else ""
    )
    return _beside_scan(question, spec, answer, progress) if question.prove else answer


def _with_opset(question: ExportQuestion) -> TargetSpec:
    """The target as it was named, with the opset that was asked for beside it.

    Raises:
        UsageError: both name one, and they differ.
    """
    spec = question.target
    if question.opset and _opset(spec) not in (0, question.opset):
        raise UsageError(
            Sentence(
                "{target} names another opset than {opset}", target=spec, opset=question.opset
            ),
            Sentence("name it in one place"),
        )
    others = tuple(each for each in spec.libraries if each[0] != OPSET)
    opset = question.opset or _opset(spec)
    return replace(spec, libraries=(*others, (OPSET, str(opset))) if opset else others)


def _opset(spec: TargetSpec) -> int:
    """The opset that a target names; 0: none."""
    return int(dict(spec.libraries).get(OPSET, 0))


def _require_own_options(question: ExportQuestion, vendor: str) -> None:
    """Refuse what is asked of the file of another format."""
    if question.output and question.output_of != vendor:
        option, own = OPTIONS[question.output_of], OPTIONS.get(vendor)
        raise UsageError(
            Sentence("{option} keeps no file for {target}", option=option, target=question.target),
            Sentence("use {option}", option=own) if own else Sentence("leave it out"),
        )
    if question.opset and vendor != "onnxruntime":
        raise UsageError(
            Sentence("--opset is a version of ONNX's operators, which {target} has none of",
                     target=question.target),
            Sentence("leave it out, or export for onnxruntime-cpu"),
        )  # fmt: skip


def _beside_scan(
    question: ExportQuestion, spec: TargetSpec, answer: ExportAnswer, progress: Progress
) -> ExportAnswer:
    """The answer with what a scan says of the model on the target."""
    report = scan(ScanRequest(question.model, (spec,), databases=question.databases), progress)
    (target,) = report.targets
    blockers = [f for f in target.findings if f.verdict is Verdict.UNSUPPORTED]
    runs, stays = target.summary.runs, stays_open(target.dynamic)
    return replace(
        answer,
        predicted=False if False in (runs, stays) else None if None in (runs, stays) else True,
        blockers=tuple(blockers),
        sizes=tuple(site for site in target.dynamic if stays_open((site,)) is False),
    )


def require_writable(path: str) -> None:
    """Refuse a file that cannot be written.

    Raises:
        UsageError: its folder is not there, or may not be written to.
    """
    folder = Path(path).absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            Sentence("cannot write {text}: {text_why}", text=path, text_why=error.strerror or error)
        ) from error
