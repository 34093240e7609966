"""PyTorch's own operator list for one version, and the forms that serve one operation."""

import csv
import gzip
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

IMPLICIT = "CompositeImplicitAutograd"
_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_FILE = re.compile(r"native_functions@(\d+\.\d+)\.\d+\.yaml\.gz")
_SCHEMA = re.compile(r"(?P<name>[\w.]+)\((?P<arguments>.*)\) -> (?P<returns>.*)")
_ARGUMENT = re.compile(r"(?P<type>\S+) (?P<name>\w+)(?:=.*)?")
_STATE = re.compile(r"!\)\S* (?!self\b)")
"""An argument that is written and is not ``self``."""
_ALIAS = re.compile(r"\([a-z! |>*-]+\)")
_COMPOSITE_ONLY = frozenset({IMPLICIT, "CompositeImplicitAutogradNestedTensor"})


class Function(Struct, frozen=True):
    """One overload as PyTorch declares it."""

    name: str
    """Without the namespace: ``add.Tensor``."""
    tensors: tuple[str, ...]
    """Names of the tensor arguments that are read, in order; ``out=`` arguments are not."""
    view: bool
    """Gives a view of an argument and writes nothing."""
    kind: str
    """``CompositeImplicitAutograd`` and the like; ``structured_delegate``, ``autogen``, ``""``."""
    delegate: str = ""
    """The ``.out`` overload that serves it, if structured."""
    module: str = ""
    """``python_module`` of the declaration: ``nn``, ``fft``, ``linalg``, ``special``, ``""``."""
    variants: frozenset[str] = frozenset({"function"})
    """``function``, ``method``."""
    cpu: str = ""
    """Name of the CPU kernel, if the declaration names one."""
    flags: frozenset[str] = frozenset()
    """Names of the ``bool`` arguments."""
    takes_dtype: bool = False
    """Has a ``dtype`` argument."""
    gives_tensor: bool = True
    """Returns a tensor; false for questions such as ``is_contiguous`` and for numbers."""
    signature: str = ""
    """Shared by the functional, in-place and ``out=`` overloads of one operation."""
    autograd: bool = True
    """Has a kernel of PyTorch's own at the Autograd key."""
    writes: bool = False
    """Writes ``self`` or ``out=``, and nothing else: a functional overload does the same work."""

    @property
    def base(self) -> str:
        """Name without the overload."""
        return self.name.partition(".")[0]


def versions(folder: Path) -> tuple[str, ...]:
    """The torch versions (``major.minor``) that ``folder`` holds the list of, oldest first."""
    found = (_FILE.fullmatch(path.name) for path in folder.glob("native_functions@*.yaml.gz"))
    return tuple(sorted((match[1] for match in found if match), key=version_key))


def newer_than(folder: Path, torch: str) -> frozenset[str]:
    """Overloads that a torch version does not have yet, by the history."""
    with (folder / "op-history.csv").open(encoding="utf-8", newline="") as file:
        first = {row["op"]: row["first_version"] for row in csv.DictReader(file)}
    version = version_key(torch)
    return frozenset(
        name
        for name, since in first.items()
        if not since.startswith("<=") and version_key(major_minor(since)) > version
    )


@cache
def functions(folder: Path, torch: str) -> Mapping[str, Function]:
    """Every overload of one torch version, generated ``.out`` ones included, by name."""
    import yaml

    paths = sorted(folder.glob(f"native_functions@{torch}.*.yaml.gz"))
    if not paths:
        known = ", ".join(versions(folder)) or "none"
        raise DatabaseError(
            Sentence(
                "{text} has no native_functions of torch {version} (has {list})",
                text=folder,
                version=torch,
                list=known,
            )
        )
    declared = yaml.load(gzip.decompress(paths[-1].read_bytes()), yaml.CSafeLoader)
    found = [_function(item) for item in declared]
    generated = [
        Function(name.strip(), (), view=False, kind="autogen")
        for item in declared
        for name in item.get("autogen", "").split(",")
        if name.strip()
    ]
    return {function.name: function for function in (*generated, *found)}


def _function(item: Mapping[str, Any]) -> Function:
    match = _SCHEMA.fullmatch(item["func"])
    if match is None:
        raise DatabaseError(Sentence("not an operator schema: {text}", text=repr(item["func"])))
    dispatch = {
        key.strip(): kernel
        for keys, kernel in item.get("dispatch", {}).items()
        for key in keys.split(",")
    }
    return Function(
        name=match["name"],
        tensors=_tensors(match["arguments"]),
        view="Tensor(a)" in match["returns"] or "Tensor(a)[]" in match["returns"],
        kind=_kind(item, dispatch),
        delegate=item.get("structured_delegate", ""),
        module=item.get("python_module", ""),
        variants=frozenset(v.strip() for v in item.get("variants", "function").split(",")),
        cpu=dispatch.get("CPU", ""),
        flags=frozenset(re.findall(r"\bbool (\w+)", match["arguments"])),
        takes_dtype="ScalarType? dtype" in match["arguments"],
        gives_tensor="Tensor" in match["returns"],
        signature=signature(item["func"]),
        writes="!" in match["arguments"]
        and not _STATE.search(match["arguments"].partition("*, ")[0]),
        # what torchgen calls abstract; of the rest only some for nested tensors have derivatives
        autograd="structured_delegate" in item
        or not (dispatch.keys() or {IMPLICIT}) <= _COMPOSITE_ONLY,
    )


def signature(schema: str) -> str:
    """Give what the variants of one operation share: its base name, and what it reads."""
    match = _SCHEMA.fullmatch(schema)
    if match is None:
        raise DatabaseError(Sentence("not an operator schema: {text}", text=repr(schema)))
    base, read = match["name"].partition(".")[0], []
    for text in _split(match["arguments"]):
        argument = _ARGUMENT.fullmatch(text)
        if argument is None:
            continue
        written, name = "!" in argument["type"], argument["name"]
        if not written or name == "self":
            read.append(f"{_ALIAS.sub('', argument['type'])} {name}")
        if written and name == "self":
            base = base.removesuffix("_")
    return f"{base}({', '.join(read)})"


def arguments(schema: str) -> tuple[str, ...]:
    """Names of all arguments of a schema, in order."""
    match = _SCHEMA.fullmatch(schema)
    found = (_ARGUMENT.fullmatch(text) for text in _split(match["arguments"] if match else ""))
    return tuple(argument["name"] for argument in found if argument)


def _kind(item: Mapping[str, Any], dispatch: Mapping[str, str]) -> str:
    delegates = "structured_delegate" in item
    if not (dispatch or delegates or item.get("manual_kernel_registration")):
        return IMPLICIT
    said = next((key for key in (IMPLICIT, *_EXPLICIT) if key in dispatch), "")
    return said or ("structured_delegate" if delegates else "")


def _tensors(arguments: str) -> tuple[str, ...]:
    """Names of the tensor arguments that a kernel reads."""
    names = []
    for text in _split(arguments):
        match = _ARGUMENT.fullmatch(text)
        if match and match["type"].startswith("Tensor"):
            names.append((match["type"], match["name"]))
    return tuple(name for kind, name in names if "!" not in kind or name.startswith("self"))


def _split(arguments: str) -> list[str]:
    """The arguments of a schema, one text each; commas in brackets and defaults stay."""
    return [text.strip() for text in re.split(r",\s*(?![^(\[]*[)\]])", arguments)]


def written_forms(listed: Collection[str], known: Mapping[str, Function]) -> dict[str, str]:
    """In-place and ``out=`` overloads that are not listed -> the listed functional one."""
    functional = {
        known[name].signature: name
        for name in listed
        if name in known and known[name].signature and not known[name].writes
    }
    return {
        name: functional[function.signature]
        for name, function in known.items()
        if function.writes and name not in listed and function.signature in functional
    }


def view_forms(listed: Collection[str], known: Mapping[str, Function]) -> dict[str, str]:
    """Views, in place too, that are not listed -> the listed overload that copies instead."""
    return {
        name: _copy(name)
        for name, function in known.items()
        if name not in listed
        and function.kind != IMPLICIT
        and (function.view or function.base.endswith("_"))
        and _copy(name) in listed
    }


def _copy(name: str) -> str:
    """``squeeze_copy.dim`` of ``squeeze.dim`` and of ``squeeze_.dim``."""
    base, dot, overload = name.partition(".")
    return f"{base.removesuffix('_')}_copy{dot}{overload}"
