"""Where in the user's code and modules a graph node came from, as torch.export wrote it down."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

Place = tuple[str, int]
"""A file, relative to the working directory or to its package, and a 1-based line."""
NOWHERE: Place = ("", 0)

_FRAME = re.compile(r'^[ \t]*File "(.+?)", line (\d{1,8})\b', re.MULTILINE)
_PACKAGES = re.compile(r"^.*(?:site|dist)-packages/")
_STANDARD_LIBRARY = re.compile(r"/lib/python3\.\d+/|/Python3\d+/Lib/")
_TORCH = re.compile(r"^(?:torch|functorch)/")
_TORCH_CHECKOUT = re.compile(r"/torch/(?:nn|fx|_\w+|utils|export|autograd|jit|overrides\.py)\b")
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
_ROOT = re.compile(r"^(?:L\[['\"]self['\"]\]|_export_root)(?:\.|$)")
"""What a strict export calls the model itself; the second since torch 2.10, inside a branch."""
_REPEATED_CALL = re.compile(r"@\d+$")


class _Frame(Struct, frozen=True):
    path: str
    line: int
    package_path: str
    """The path inside site-packages; empty for a file outside."""


def locate(stack_traces: Iterable[str], directory: Path) -> Mapping[str, Place]:
    """The line that each stack trace points the user to.

    That is the innermost line of the user's own; where there is none, the innermost of a library
    other than torch. Own files are given relative to ``directory`` where they lie in it, else
    relative to the folder that holds all of them.
    """
    frames = {trace: _best_frame(trace) for trace in stack_traces}
    own = {f.path for f in frames.values() if f is not None and not f.package_path}
    relative = _relative_paths(own, directory)
    return {
        trace: NOWHERE
        if frame is None
        else (frame.package_path or relative[frame.path], frame.line)
        for trace, frame in frames.items()
    }


def module_path(nn_module_stack: str) -> str:
    """The innermost module of a stack, ``layer1.0.conv1``; empty for the root."""
    innermost = nn_module_stack.rpartition(";")[2]
    return _clean(innermost.split(",", 2)[1]) if innermost.count(",") >= 2 else ""


def module_paths(nn_module_stack: str) -> frozenset[str]:
    """Every module of a stack."""
    entries = (entry.split(",", 2) for entry in nn_module_stack.split(";"))
    return frozenset(_clean(entry[1]) for entry in entries if len(entry) == 3)


def generalise(path: str) -> str:
    """The module path with layer numbers as ``*``: ``layer1.*.conv1``."""
    return ".".join("*" if part.isdecimal() else part for part in path.split("."))


def _clean(path: str) -> str:
    return "" if path == _NO_MODULE else _REPEATED_CALL.sub("", _ROOT.sub("", path))


def _best_frame(stack_trace: str) -> _Frame | None:
    library = None
    for path, line in reversed(_FRAME.findall(stack_trace)):
        if not path.isprintable():
            continue
        frame = _frame(path.replace("\\", "/"), int(line))
        if frame is None:
            continue
        if not frame.package_path:
            return frame
        library = library or frame
    return library


def _frame(path: str, line: int) -> _Frame | None:
    """A frame worth showing: not torch, not the standard library, not generated code."""
    inside = _PACKAGES.sub("", path)
    if inside != path:
        return None if _TORCH.match(inside) else _Frame(path, line, inside)
    skipped = (
        path.startswith("<")
        or _TORCH.match(path)
        or _TORCH_CHECKOUT.search(path)
        or _STANDARD_LIBRARY.search(path)
    )
    return None if skipped else _Frame(path, line, "")


def _relative_paths(paths: Iterable[str], directory: Path) -> Mapping[str, str]:
    here = directory.as_posix().rstrip("/") + "/"
    relative = {path: path.removeprefix(here) for path in paths if path.startswith(here)}
    elsewhere = [path for path in paths if path not in relative]
    folders = {posixpath.dirname(path) for path in elsewhere}
    # a file exported on another drive, or from a relative path, shares no folder with the rest
    rooted = {folder for folder in folders if folder.startswith("/")}
    common = posixpath.commonpath(rooted) if rooted else ""
    for path in elsewhere:
        if path.startswith("/"):
            relative[path] = posixpath.relpath(path, common)
        else:
            relative[path] = posixpath.basename(path) if ":" in path else path
    for path, shown in relative.items():
        if ".." in shown.split("/"):  # a name that leads elsewhere is shown, and opened, by nobody
            relative[path] = posixpath.basename(path)
    return relative
