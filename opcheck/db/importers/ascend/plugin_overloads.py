"""Joins the overloads of op-plugin's list to its C++: to the kernels that each of them calls.

An overload's code is the function of its name whose parameters are those of the schema; where the
list says that the function is generated (``gen_opapi``), it is made here of what the list says.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from opcheck.db.importers.ascend.cpp_reader import Code, functions
from opcheck.db.importers.ascend.plugin_calls import Calls, Follower, Functions
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_LIST = "op_plugin/config/op_plugin_functions.yaml"
_CODE = re.compile(r"op_plugin/ops/opapi/.*\.cpp")
_SCHEMA = re.compile(r"(?P<name>[\w.]+)\((?P<arguments>.*)\) -> .*", re.DOTALL)
_ARGUMENT = re.compile(r"(?P<type>[^\s=]+) (?P<name>\w+)(?:=.*)?", re.DOTALL)
_ENTRY = re.compile(r"\s*- func: ([\w.]+)\(")
_ALIAS = re.compile(r"\([^)]*\)")
_KEYS = frozenset(
    {
        "exec", "new_params", "integral_identity_tensor", "cpu_scalar_op", "cpu_scalar_h2d",
        "structured_inherit",
    }
)  # fmt: skip
"""Of ``gen_opapi``; every other names a result."""
_KINDS = {
    "SymInt": "int", "Layout": "int", "MemoryFormat": "int", "ScalarType": "int", "Device": "int",
    "float": "double", "str": "string",
}  # fmt: skip
_WORDS = (
    ("Tensor", ("Tensor",)), ("Scalar", ("Scalar",)), ("Dimname", ("Dimname",)),
    ("Generator", ("Generator",)), ("string", ("string",)),
    ("int", ("int", "ScalarType", "Layout", "Device", "MemoryFormat", "SymInt", "Int")),
    ("bool", ("bool",)), ("double", ("double",)), ("Storage", ("Storage",)),
)  # fmt: skip


class Argument(Struct, frozen=True):
    """One argument of a schema."""

    name: str
    type: str
    """``Tensor``, ``Tensor?``, ``int[]`` …, without aliases."""
    written: bool = False


class Overload(Struct, frozen=True):
    """One entry of the list that has an op_api kernel."""

    name: str
    arguments: tuple[Argument, ...]
    line: int
    """Of the list."""
    generated: Mapping[str, Any]
    delegate: str
    """The overload that does its work, by ``structured_delegate``; ""."""

    @property
    def tensors(self) -> tuple[str, ...]:
        """The arguments that are one tensor each, and are not ``out=``."""
        return tuple(
            a.name
            for a in self.arguments
            if a.type in ("Tensor", "Tensor?") and (not a.written or a.name == "self")
        )

    @property
    def function(self) -> str:
        """What its C++ function is called."""
        base = self.name.partition(".")[0]
        out = any(a.written for a in self.arguments) and not base.endswith("_") and self._out
        return f"{base}_out" if out else base

    @property
    def _out(self) -> bool:
        return any(a.written and a.name != "self" for a in self.arguments)


def read_list(text: str) -> tuple[Overload, ...]:
    """The overloads of PyTorch's that a list gives an op_api kernel."""
    import yaml

    listed = yaml.load(text, yaml.CSafeLoader)["official"]
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _ENTRY.match(line):
            lines.setdefault(match[1], number)
    return tuple(_overload(item, lines) for item in listed if item.get("op_api"))


def _overload(item: Mapping[str, Any], lines: Mapping[str, int]) -> Overload:
    match = _SCHEMA.fullmatch(item["func"])
    if match is None:
        raise DatabaseError(Sentence("not an operator schema: {text}", text=repr(item["func"])))
    name = match["name"]
    entry = item.get("gen_opapi") or {}
    delegate = item.get("structured_delegate", "")
    return Overload(name, tuple(_arguments(match["arguments"])), lines[name], entry, delegate)


def _arguments(text: str) -> Iterator[Argument]:
    """Of a schema, those that are written last where they are behind the star."""
    for part in _parts(text):
        if match := _ARGUMENT.fullmatch(part.strip()):
            kind = _ALIAS.sub("", match["type"])
            yield Argument(match["name"], kind, "!" in match["type"])


def _parts(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _kind(text: str) -> str:
    """What a parameter is, of a schema or of C++, as far as overloads are told apart by it."""
    word = _KINDS.get(re.sub(r"[?\[].*", "", text), "")
    if not word:
        word = next((k for k, names in _WORDS if any(n in text for n in names)), text)
    many = bool(re.search(r"\[\d*\]|List|Array|array<|vector<", text))
    return f"{word}[]" if many else word


def is_code_of(code: Code, overload: Overload) -> bool:
    """Whether a C++ function has the parameters of a schema."""
    if len(code.parameters) != len(overload.arguments):
        return False
    kinds = [_kind(parameter.type.replace("ScalarType", "int")) for parameter in code.parameters]
    return kinds == [_kind(argument.type) for argument in overload.arguments]


def generated(overload: Overload, listed: Mapping[str, Overload]) -> str:
    """The C++ that the vendor's generator makes of an entry, as far as the reader looks at it."""
    entry = overload.generated
    if parent := entry.get("structured_inherit"):
        entry = listed[parent].generated
        written = overload.name.partition(".")[0].endswith("_")
        if written:  # calls the ``out`` overload with itself as the result
            return _function(overload, _body(listed[parent], entry))
    return _function(overload, _body(overload, entry))


def _function(overload: Overload, body: str) -> str:
    names = ", ".join(f"const at::Tensor& {a.name}" for a in overload.arguments)
    above = "\n" * (overload.line - 1)
    return f"{above}void {overload.function}({names}) {{ {body} }}"


def _body(overload: Overload, entry: Mapping[str, Any]) -> str:
    kernel, *given = [part.strip() for part in entry["exec"].split(",")]
    given = given or [*_all(overload, entry)]
    copied = set(entry.get("cpu_scalar_h2d", ()))
    lines = []
    if tensor := entry.get("integral_identity_tensor"):
        lines.append(f"if (isIntegralType({tensor})) {{ return acl_op::{overload.function}(); }}")
    lines += [f"auto {name} = {text};" for name, text in entry.get("new_params", {}).items()]
    lines += [f"at::Tensor {name}_cp = {name};" for name in sorted(copied)]
    given = [f"{name}_cp" if name in copied else name for name in given]
    for one in entry.get("cpu_scalar_op", ()):
        other = [f"{n}_number" if n in (one["param"], f"{one['param']}_cp") else n for n in given]
        call = f"EXEC_NPU_CMD({one['exec']}, {', '.join(other)});"
        lines.append(f"if (npu_preparation::IsCPUScalar({one['param']})) {{ {call} return; }}")
    lines.append(f"EXEC_NPU_CMD({', '.join([kernel, *given])});")
    return " ".join(lines)


def _all(overload: Overload, entry: Mapping[str, Any]) -> Iterator[str]:
    """What an entry hands over that names nothing: all arguments, and results that are made."""
    yield from (a.name for a in overload.arguments)
    if not any(a.written for a in overload.arguments):
        yield from (key for key in entry if key not in _KEYS)


def joined(text: str, files: Mapping[str, str]) -> dict[str, Calls]:
    """Overload -> what it calls; those whose code calls no kernel, or was not found, are not there.

    ``text`` is the list of a release and ``files`` are its C++ files, path to text.
    """
    known = Functions({path: [*functions(code)] for path, code in files.items()})
    listed = {overload.name: overload for overload in read_list(text)}
    found = {}
    for name, overload in listed.items():
        worker = listed.get(overload.delegate, overload)
        calls = _calls(worker, listed, known)
        if calls is not None:
            found[f"aten::{name}"] = calls
    return found


def _calls(overload: Overload, listed: Mapping[str, Overload], known: Functions) -> Calls | None:
    codes: Sequence[tuple[str, Code]]
    if overload.generated:
        codes = [(_LIST, code) for code in functions(generated(overload, listed))]
    else:
        named = (*known.named(overload.function), *known.named(f"{overload.function}_symint"))
        codes = [(file, code) for file, code in named if is_code_of(code, overload)]
    given = [a.name if a.name in overload.tensors else "" for a in overload.arguments]
    return Follower(known).follow(codes, given)


def read_plugin(folder: str, ref: str) -> dict[str, Calls]:
    """Join the overloads of one branch of op-plugin, of which ``folder`` is the git directory."""
    files = dict(files_of(folder, ref, _CODE))
    ((_, text),) = files_of(folder, ref, re.compile(re.escape(_LIST)))
    return joined(text, files)


def files_of(folder: str, ref: str, path: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Path and text of the files of one branch whose paths match, read in one go."""
    listing = _git(folder, "ls-tree", "-r", "--name-only", "-z", ref).decode()
    named = [found for found in listing.split("\0") if path.fullmatch(found)]
    asked = "".join(f"{ref}:{found}\n" for found in named).encode()
    answer, at = _git(folder, "cat-file", "--batch", asked=asked), 0
    for found in named:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[-1])
        at = end + 1 + size + 1
        yield found, answer[end + 1 : at - 1].decode(errors="replace")


def commit_of(folder: str, ref: str) -> dict[str, str]:
    """The commit of a branch, and its date, as a source cites them."""
    commit, date = _git(folder, "log", "-1", "--format=%H %cs", ref).decode().split()
    return {"commit": commit, "path": "README.md", "date": date}


def _git(folder: str, *command: str, asked: bytes = b"") -> bytes:
    command = ("git", "-C", folder, *command)
    return subprocess.run(command, input=asked, capture_output=True, check=True).stdout
