"""What coremltools' PyTorch frontend has converters for, and what they refuse: a file of facts.

``python -m opcheck.db.importers.coreml.extract GIT-DIR SOURCES > coreml_converters.yaml`` reads
each release's tag in a clone of apple/coremltools, and PyTorch's list of operators in ``SOURCES``.
"""

import ast
import gzip
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.coreml.domains import SETS, definitions
from opcheck.db.importers.coreml.reader import Reader
from opcheck.db.importers.coreml.values import UNKNOWN, Var

FRONTEND = "coremltools/converters/mil/frontend/torch"
MIL = "coremltools/converters/mil/mil/ops/defs"
FILES = ("ops", "quantization_ops", "dim_order_ops")
"""Files of the frontend that register converters."""
DTYPES: Mapping[str, tuple[str, ...]] = {
    "fp32": ("float32", "float64"),
    "fp16": ("float16",),
    "int32": ("int16", "int32", "int64"),
    "bool": ("bool",),
}
"""MIL's dtype -> those of PyTorch that it stands for."""
_CODE = Path(__file__).with_name("coreml_code.yaml")
_COMMENT = """\
# Overloads that coremltools' PyTorch frontend has converters for, release by release, and calls
# that these refuse, as their source says. Written by
# `python -m opcheck.db.importers.coreml.extract`; do not edit.
# registered: file -> overload -> line of the converter. refused: why (an operator of MIL that does
# not take the dtype, or "" where the converter itself raises), dtype of MIL, arguments that have
# it, the line, overloads, and a number beside them with its type, where that makes it so. few,
# many: the converter counts its arguments, and raises where all of these have their defaults,
# where this one has not. left: composites that torch.export keeps as they are and that have no
# converter.
"""
_ARGUMENT = re.compile(r"(?P<type>\S+) (?P<name>\w+)(?:=(?P<default>.*))?")
_ALIASED = re.compile(r"Tensor\([^)]*\)")
"""A tensor that is written, or that the result is part of."""
_SCHEMA = re.compile(r"(?P<name>[\w.]+)\((?P<arguments>.*)\) -> ")
_NUMBERS: Mapping[str, tuple[str, ...]] = {"float": ("float",), "Scalar": ("float", "int")}
"""Type in a schema -> types of Python that a call has there."""
_MIL_NUMBERS = {"float": "fp32", "int": "int32"}
"""Type of Python -> dtype of the constant that the frontend makes of a number."""
_REDUCTIONS = {"Mean": 1, "Sum": 2}
"""Names of numbers that schemas have as defaults."""
_SUFFIXES = frozenset({"default", "int", "tensor", "tensor_mode", "scalar", "tensor_scalar"})
_EXPORT = "TORCHEXPORT"
_IMPLICIT = "CompositeImplicitAutograd"


class Argument(Struct, frozen=True):
    """One argument of a schema that is given by its place."""

    name: str
    tensor: bool
    default: str | None
    numbers: tuple[str, ...] = ()
    """The types of the numbers that it may be."""


class Converter(Struct, frozen=True):
    """One converter of a release."""

    file: str
    name: str
    line: int
    fewest: int = 0
    """It raises where a call has fewer arguments."""
    most: int = 1000


def sanitized(name: str) -> str:
    """Its name in the registry: ``sum.dim_intlist`` of ``aten::sum.dim_IntList``."""
    found = name.lower()
    for between in ("::", "."):
        parts = found.split(between)
        start = 1 if parts[0] in ("aten", "prim") and len(parts) > 1 else 0
        end = -1 if parts[-1] in _SUFFIXES and len(parts) - start > 1 else len(parts)
        found = between.join(parts[start:end])
    return found


def converters(file: str, text: str) -> Iterator[tuple[str, Converter]]:
    """Name in the registry -> what it is converted by."""
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            named = call.func if call else decorator
            if not isinstance(named, ast.Name) or named.id != "register_torch_op":
                continue
            said = (
                next((k.value for k in call.keywords if k.arg == "torch_alias"), None)
                if call
                else None
            )
            aliases = (
                [e.value for e in said.elts if isinstance(e, ast.Constant)]
                if isinstance(said, ast.List)
                else []
            )
            found = Converter(file, node.name, node.lineno, *_counted(node))
            for name in (node.name, *map(str, aliases)):
                yield name, found


def _counted(node: ast.FunctionDef) -> tuple[int, int]:
    """The fewest and the most arguments that it asks for, where it asks once."""
    calls = [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id == "_get_inputs"
    ]
    if len(calls) != 1:
        return 0, 1000
    said = {keyword.arg: _numbers(keyword.value) for keyword in calls[0].keywords}
    exact, least = said.get("expected", ()), said.get("min_expected", ())
    return max(min(exact, default=0), min(least, default=0)), max(exact, default=1000)


def _numbers(node: ast.expr) -> tuple[int, ...]:
    match node:
        case ast.Constant(int() as value):
            return (value,)
        case ast.List(items) | ast.Tuple(items):
            return tuple(number for item in items for number in _numbers(item))
        case ast.Dict(keys, values):
            named = zip(keys, values, strict=True)
            return next(
                (
                    _numbers(v)
                    for k, v in named
                    if isinstance(k, ast.Attribute) and k.attr == _EXPORT
                ),
                (),
            )
    return ()


def schemas(path: Path) -> dict[str, tuple[Argument, ...]]:
    """Overload -> its arguments that are given by their places."""
    import yaml

    found = {}
    for item in yaml.load(gzip.decompress(path.read_bytes()), yaml.CSafeLoader):
        match = _SCHEMA.match(item["func"])
        if match is not None:
            found[f"aten::{match['name']}"] = tuple(_arguments(match["arguments"]))
    return found


def _arguments(text: str) -> Iterator[Argument]:
    text = _ALIASED.sub("Tensor", text)
    for part in re.split(r",\s*(?![^(\[]*[)\]])", text):
        if part.strip() == "*":
            return
        match = _ARGUMENT.fullmatch(part.strip())
        if match is not None:
            tensor = match["type"].startswith("Tensor") and "[" not in match["type"]
            numbers = _NUMBERS.get(match["type"].removesuffix("?"), ())
            yield Argument(match["name"], tensor, match["default"], numbers)


def refusals(
    reader: Reader, converter: Converter, arguments: Sequence[Argument]
) -> Iterator[tuple[str, str, int, tuple[str, ...], tuple[str, str] | None]]:
    """Why, MIL's dtype, line and arguments, of calls that the converter raises for.

    With a number beside them: its argument and its type.
    """
    tensors = [place for place, each in enumerate(arguments) if each.tensor]
    for dtype in DTYPES:
        told: list[tuple[str, str, int, tuple[str, ...], tuple[str, str] | None]]
        told = [*_refused(reader, converter, arguments, dtype, [[place] for place in tensors])]
        if len(tensors) > 1 and not told:
            told = [*_refused(reader, converter, arguments, dtype, [tensors[:2]])]
        if not told and tensors:
            told = [*_beside_numbers(reader, converter, arguments, dtype, tensors[0])]
        yield from told


def _beside_numbers(
    reader: Reader,
    converter: Converter,
    arguments: Sequence[Argument],
    dtype: str,
    tensor: int,
) -> Iterator[tuple[str, str, int, tuple[str, ...], tuple[str, str]]]:
    """What is raised of a tensor of the dtype beside a constant, which a number becomes."""
    for place, argument in enumerate(arguments):
        for number in argument.numbers:
            given: list[Any] = [UNKNOWN for _ in arguments]
            given[tensor], given[place] = Var(dtype), Var(_MIL_NUMBERS[number])
            error = reader.refusal(converter.name, given, max(place, tensor) + 1)
            if error is not None:
                names = (arguments[tensor].name,)
                yield error.why, dtype, error.line, names, (argument.name, number)


def _refused(
    reader: Reader,
    converter: Converter,
    arguments: Sequence[Argument],
    dtype: str,
    choices: Sequence[Sequence[int]],
) -> Iterator[tuple[str, str, int, tuple[str, ...], None]]:
    """Of each choice of places that have the dtype, what is raised."""
    for places in choices:
        given = [Var(dtype) if place in places else UNKNOWN for place in range(len(arguments))]
        error = reader.refusal(converter.name, given)
        if error is not None:
            names = tuple(arguments[place].name for place in places)
            yield error.why, dtype, error.line, names, None


def counts(
    converter: Converter, arguments: Sequence[Argument]
) -> Iterator[tuple[str, dict[str, str]]]:
    """``few`` with arguments that all have their defaults, ``many`` with one that has not."""
    few = arguments[converter.fewest - 1 :] if converter.fewest else ()
    if converter.fewest > len(arguments):
        yield "few", {}
    elif few and all(each.default is not None and _plain(each.default) for each in few):
        yield "few", {each.name: _plain(each.default or "") for each in few}
    for each in arguments[converter.most :]:
        if each.default is None:
            yield "many", {}
            return
        if _plain(each.default):
            yield "many", {each.name: _plain(each.default)}


def _plain(default: str) -> str:
    """A default as a trace has it; "" of what it has otherwise."""
    if default in ("None", "True", "False", "[]"):
        return default
    if default in _REDUCTIONS:
        return str(_REDUCTIONS[default])
    try:
        return str(int(default)) if default.lstrip("-").isdigit() else str(float(default))
    except ValueError:
        return ""


def release(git: Path, said: Mapping[str, Any], sources: Path) -> dict[str, Any]:
    """What one tag's files say."""
    tag = said["tag"]
    mil = definitions(dict(_folder(git, tag)))
    texts = {file: _text(git, tag, f"{FRONTEND}/{file}.py") for file in FILES}
    registry: dict[str, Converter] = {}
    for file, text in texts.items():
        registry |= dict(converters(file, text)) if text else {}
    path = sorted((sources / "pytorch").glob(f"native_functions@{said['torch']}.*.yaml.gz"))[-1]
    found = facts(registry, Reader(texts["ops"], mil), schemas(path))
    return {**found, "left": left(path, registry)}


def facts(
    registry: Mapping[str, Converter],
    reader: Reader,
    known: Mapping[str, Sequence[Argument]],
) -> dict[str, Any]:
    """What is registered, and refused; overloads of other namespaces are named in the registry."""
    registered: dict[str, dict[str, int]] = {}
    refused: dict[tuple[Any, ...], list[str]] = {}
    counted: dict[tuple[str, tuple[tuple[str, str], ...], int], list[str]] = {}
    others = {name: () for name in registry if name.startswith(("torchvision::",))}
    for op, arguments in sorted({**known, **others}.items()):
        converter = registry.get(sanitized(op))
        if converter is None:
            continue
        registered.setdefault(converter.file, {})[op] = converter.line
        if op in others or converter.file != FILES[0]:
            continue
        for found in refusals(reader, converter, arguments):
            refused.setdefault(found, []).append(op)
        for kind, tests in counts(converter, arguments):
            if any(op in ops for (_, its, _), ops in counted.items() if not its):
                break  # refused whatever it is given
            key = (kind, tuple(tests.items()), converter.line)
            counted.setdefault(key, []).append(op)
    return {"registered": registered, "refused": refused, "counted": counted}


def left(path: Path, registry: Mapping[str, Converter]) -> list[str]:
    """Composites that torch.export keeps as they are, and that have no converter.

    It keeps those that neither write nor alias an argument, and that ask for no metadata.
    """
    import yaml

    found = []
    for item in yaml.load(gzip.decompress(path.read_bytes()), yaml.CSafeLoader):
        name, _, rest = item["func"].partition("(")
        keys = " ".join(item.get("dispatch", {})) or _IMPLICIT
        composite = _IMPLICIT in keys and "structured_delegate" not in item
        aliases = re.search(r"\([a-z]!?(?:\|[a-z*]+)?(?: ?-> ?[a-z*|]+)?\)", rest)
        unsafe = "maybe_aliasing_or_mutating" in str(item.get("tags", ""))
        manual = item.get("manual_kernel_registration", False)
        tensor = "Tensor" in rest.rpartition("->")[2]
        op = f"aten::{name}"
        if (
            composite
            and tensor
            and not (aliases or unsafe or manual)
            and sanitized(op) not in registry
        ):
            found.append(op)
    seldom = re.compile("backward|_test_|imname|names|_sparse_|_nested_")
    return sorted({op for op in found if not seldom.search(op)} - {"aten::native_batch_norm"})


def _folder(git: Path, tag: str) -> Iterator[tuple[str, str]]:
    for folder in SETS:
        listed = _git(git, "ls-tree", "-r", "--name-only", tag, f"{MIL}/{folder}/")
        for path in listed.split():
            if path.endswith(".py"):
                yield path, _text(git, tag, path)


def _text(git: Path, tag: str, path: str) -> str:
    return _git(git, "show", f"{tag}:{path}")


def _git(git: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(git), *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """One release of the file."""
    yield "    registered:"
    for file, overloads in found["registered"].items():
        yield f"      {file}: {yaml_writer.flow(overloads)}"
    yield "    refused:"
    for (why, dtype, line, arguments, number), ops in found["refused"].items():
        said = {"why": why, "dtype": dtype, "arguments": list(arguments), "line": line, "ops": ops}
        said |= {"number": list(number)} if number else {}
        yield f"    - {yaml_writer.flow(said)}"
    yield f"    left: {yaml_writer.flow(found['left'])}"
    yield "    counted:"
    for (kind, tests, line), ops in found["counted"].items():
        said = {"kind": kind, "tests": dict(tests), "line": line, "ops": ops}
        yield f"    - {yaml_writer.flow(said)}"


def main() -> None:
    """Write the file."""
    git, sources = map(Path, sys.argv[1:3])
    written = [_COMMENT.rstrip(), "releases:"]
    for name, said in load_yaml(_CODE)["releases"].items():
        written += [f'  "{name}":', *lines(release(git, said, sources))]
    sys.stdout.write("\n".join(written) + "\n")


if __name__ == "__main__":
    main()
