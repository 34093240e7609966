"""Fused calls in the user's own sources: classes whose whole forward one kernel computes."""

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fix.diff import patched_files
from opcheck.commands.fix.files import SourceFile, require_writable, unified, write_all
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.values import FixRequest
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.fusing import LayerCode, ModelCheck
from opcheck.model.jobs import HostRequest
from opcheck.pipeline.database import Progress
from opcheck.source.load import select
from opcheck.source.user_code import is_users, shown


def require_python(request: FixRequest) -> None:
    """Refuse a source that is no file of the user's.

    Raises:
        UsageError: it is none.
    """
    source = request.scan.model.source
    if select(source).name != "python":
        raise UsageError(
            Sentence("--diff changes source files of yours, and {text} is none", text=source),
            Sentence("give path/to/file.py:NAME, or use --shim or --graph"),
        )


def in_sources(
    request: FixRequest,
    found: Better,
    layers: Sequence[LayerCode],
    device_type: str,
    progress: Progress,
    output: Progress,
) -> Better:
    """Have the classes call what was fused, once the changed files give what they gave.

    Args:
        request: what was asked.
        found: the same calls, fused and proved in the program.
        layers: the classes.
        device_type: on which the vendor's kernel is called.
        progress: hears the stages.
        output: hears what the model prints.

    Raises:
        UsageError: a file cannot be written.
    """
    files, done = _changed(layers, device_type)
    if not files or not found.fused or not found.holds:
        return replace(found, files=())
    if request.write:
        require_writable(tuple(files))
    if not _same(request, files, found, progress, output):
        return replace(found, check=_failed(found))
    found = replace(found, layers=tuple(f"{shown(one.file)}:{one.line} {one.name}" for one in done))
    if request.write:
        write_all(files)
        return replace(found, files=tuple(file.shown for file in files))
    return replace(found, text="".join(map(unified, files, files.values())))


def _changed(
    layers: Sequence[LayerCode], device_type: str
) -> tuple[Mapping[SourceFile, str], list[LayerCode]]:
    """The files of the user's with their new text, and the classes that are changed in them."""
    from opcheck.rewrite.source.bodies import edited

    by_file: dict[str, list[LayerCode]] = defaultdict(list)
    for layer in layers:
        if is_users(layer.file):
            by_file[layer.file].append(layer)
    files: dict[SourceFile, str] = {}
    done: list[LayerCode] = []
    for path, here in sorted(by_file.items()):
        file = SourceFile.read(shown(path), Path(path).resolve())
        if isinstance(file, SourceFile):
            made = edited(file.text, tuple(here), device_type)
            if made.done:
                files[file] = made.text
                done += made.done
    return files, done


def _same(
    request: FixRequest,
    files: Mapping[SourceFile, str],
    found: Better,
    progress: Progress,
    output: Progress,
) -> bool:
    """Whether the changed files' model is as near to the unchanged one's as what was fused."""
    from opcheck.sandbox.parent.run import on_host

    model = request.scan.model
    with tempfile.TemporaryDirectory(prefix="opcheck-") as folder:
        kept = str(Path(folder) / "results.pt")
        progress(Sentence("running {text} on the host, as it is", text=model.source))
        on_host(HostRequest(model, keep=kept), progress=progress, output=output)
        progress(Sentence("running {text} on the host, as it became", text=model.source))
        with patched_files(files) as patched:
            changed = replace(model, patched=patched)
            after = on_host(HostRequest(changed, against=kept), progress=progress, output=output)
    allowed = 0.0 if found.check is None else found.check.allowed
    return all(d.largest is not None and d.largest <= allowed for d in after.forward)


def _failed(found: Better) -> ModelCheck:
    """The check of a model whose changed files give something else."""
    assert found.check is not None, "it was fused"
    return replace(found.check, difference=None, holds=False)
