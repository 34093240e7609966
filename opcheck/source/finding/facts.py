"""What a Python file says of itself: its classes, functions and imports, and whether it trains."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from opcheck.source.finding.syntax import dotted, given, made_by, own, required

_TRAINERS = frozenset(
    {"Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "GRPOTrainer", "Accelerator",
     "LightningCLI"}
)  # fmt: skip
"""Classes of libraries whose objects train."""
_DATA_SETS = ("torchvision.datasets", "datasets")
"""Libraries of data sets that random rows can stand for."""
_EXAMPLE = "example_input_array"
"""What Lightning's modules have their inputs in."""
_LAZY = frozenset({"L", "LazyCall"})
_MAIN = "__main__"
_BY_FIELDS, _TRAINING = "HfArgumentParser", "TrainingArguments"
"""The parser of transformers, whose options are the fields of dataclasses; one of its own."""
_TENSORS = re.compile(rb"torch\.(randn?|zeros|ones|empty|normal|randint)\(|input_size")
_WORKS = re.compile(rb"backward|Trainer|Accelerator|LightningCLI|parse_args")
_TRIES_OUT = ("test", "main", "demo", "example")


class ClassFacts(Struct, frozen=True):
    """One class at the top of a file."""

    name: str
    line: int
    bases: tuple[str, ...]
    needs: tuple[str, ...] | None
    """What has to be given to its constructor; None where it has none of its own."""
    forward: tuple[str, ...] | None
    """Those of its forward; None where it has none of its own."""
    passes_on: bool
    """Whether its constructor takes what it does not name, for that of its base."""
    makes: frozenset[str]
    """Names, with dots, of all that its methods call."""
    names: frozenset[str]
    """All names in it, without dots."""
    is_plain: bool = False
    """Whether it is a dataclass that is made without arguments."""
    example: ast.AST | None = None
    """What its ``example_input_array`` is."""


class FunctionFacts(Struct, frozen=True):
    """One function at the top of a file."""

    name: str
    line: int
    needs: tuple[str, ...]
    annotation: str
    """What it says that it returns; "" where it does not."""
    makes: str
    """Name, with dots, of what is called for the value that it returns; "" where none is seen."""
    gives_inputs: bool
    """Whether it returns the model and inputs."""


class ScriptFacts(Struct, frozen=True):
    """What a file does when it is run."""

    trains: bool = False
    guarded: bool = False
    """Whether it begins behind ``if __name__ == "__main__"``."""
    works: bool = False
    """Whether importing it trains, or reads the command line."""
    needs: tuple[str, ...] = ()
    """Options that have to be given on its command line."""
    data_sets: bool = False
    """Whether it takes data sets from a library."""


class FileFacts(Struct, frozen=True):
    """One Python file."""

    path: str
    tree: ast.Module
    classes: Mapping[str, ClassFacts] = field(default_factory=dict)
    functions: Mapping[str, FunctionFacts] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    """Name -> what it stands for, with dots; relative imports begin with theirs."""
    handed_on: frozenset[str] = frozenset()
    """Names that calls outside of classes have as their arguments."""
    mentioned: frozenset[str] = frozenset()
    """Names in its functions, but those that try it out."""
    writes_tensors: bool = False
    """Whether it may call a model on tensors whose sizes stand in it."""
    lazy: tuple[tuple[str, int], ...] = ()
    """Names that detectron2's ``LazyCall`` is given to, with their lines."""
    script: ScriptFacts = ScriptFacts()


class UnreadableError(ValueError):
    """A file that is no Python."""


def facts_of(path: str, text: bytes) -> FileFacts:
    """Read one file.

    Raises:
        UnreadableError: it is no Python, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own escapes
            tree = ast.parse(text)
    except SyntaxError as error:
        raise UnreadableError(f"{path}:{error.lineno or 1}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(path) from error
    return FileFacts(
        path,
        tree,
        {one.name: _class(one) for one in tree.body if isinstance(one, ast.ClassDef)},
        {one.name: _function(one) for one in tree.body if isinstance(one, ast.FunctionDef)},
        dict(_imports(tree)),
        frozenset(_handed_on(tree)),
        frozenset(_mentioned(tree)),
        _TENSORS.search(text) is not None,
        tuple(_lazy(tree)),
        _script(tree) if _WORKS.search(text) else ScriptFacts(),
    )


def _class(node: ast.ClassDef) -> ClassFacts:
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    first, forward = methods.get("__init__"), methods.get("forward")
    inside = [*ast.walk(node)]
    makes = {dotted(one.func) for one in inside if isinstance(one, ast.Call)}
    return ClassFacts(
        node.name,
        node.lineno,
        tuple(dotted(_bare(base)) for base in node.bases),
        None if first is None else required(first.args, method=True),
        None if forward is None else required(forward.args, method=True),
        first is not None and bool(first.args.vararg or first.args.kwarg),
        frozenset(makes - {""}),
        frozenset(one.id for one in inside if isinstance(one, ast.Name)),
        _is_plain(node),
        next(_examples(node), None),
    )


def _is_plain(node: ast.ClassDef) -> bool:
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    return _is_dataclass(node) and all(_has_default(one.value) for one in fields)


def _is_dataclass(node: ast.ClassDef) -> bool:
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return "dataclass" in [dotted(one).rpartition(".")[2] for one in marks]


def _bare(base: ast.expr) -> ast.expr:
    """A base class without what stands in its brackets."""
    return base.value if isinstance(base, ast.Subscript) else base


def _examples(node: ast.ClassDef) -> Iterator[ast.AST]:
    for one in ast.walk(node):
        if isinstance(one, ast.Assign):
            names = [dotted(target) for target in one.targets]
            if {_EXAMPLE, f"self.{_EXAMPLE}"} & {*names}:
                yield one.value


def _function(node: ast.FunctionDef) -> FunctionFacts:
    known = given(node.body)
    makes, gives_inputs = "", False
    for one in own(node.body):
        value = one.value if isinstance(one, ast.Return) else None
        both = isinstance(value, ast.Tuple) and len(value.elts) == 2
        call = made_by(value.elts[0] if both and isinstance(value, ast.Tuple) else value, known)
        if call is not None and not makes:
            makes, gives_inputs = dotted(call.func), both
    return FunctionFacts(
        node.name, node.lineno, required(node.args), _annotation(node), makes, gives_inputs
    )


def _annotation(node: ast.FunctionDef) -> str:
    found = node.returns
    if isinstance(found, ast.Constant) and isinstance(found.value, str):
        return found.value if found.value.replace(".", "").isidentifier() else ""
    return dotted(found)


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in own(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name,) * 2
        elif isinstance(node, ast.ImportFrom):
            base = f"{'.' * node.level}{node.module or ''}"
            for alias in node.names:
                end = "" if base.endswith(".") else "."
                yield alias.asname or alias.name, f"{base}{end}{alias.name}"


def _handed_on(tree: ast.Module) -> Iterator[str]:
    bodies = [tree.body, *(one.body for one in tree.body if isinstance(one, ast.FunctionDef))]
    for node in (node for body in bodies for node in own(body)):
        if isinstance(node, ast.Call):
            yield from (one.id for one in node.args if isinstance(one, ast.Name))


def _mentioned(tree: ast.Module) -> Iterator[str]:
    for one in tree.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith(_TRIES_OUT):
            yield from (node.id for node in own(one.body) if isinstance(node, ast.Name))


def _lazy(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            inner = node.value.func
            if isinstance(inner, ast.Call) and dotted(inner.func) in _LAZY:
                yield from ((name, node.lineno) for name in map(dotted, node.targets) if name)


def _script(tree: ast.Module) -> ScriptFacts:
    outside = [one for one in tree.body if not _is_guard(one)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {dotted(call.func).rpartition(".")[2] for call in calls}
    imported = {name for _, name in _imports(tree)}
    at_top = [node for node in own(outside) if isinstance(node, ast.Call)]
    return ScriptFacts(
        trains="torch" in "".join(sorted(imported | _froms(tree))) and any(map(_trains, calls)),
        guarded=len(outside) < len(tree.body),
        works=any(_trains(call) or _method(call) == "parse_args" for call in at_top),
        needs=(*(name for call in calls for name in _option(call)), *_fields(tree, names)),
        data_sets=any(name.startswith(_DATA_SETS) for name in imported),
    )


def _fields(tree: ast.Module, called: set[str]) -> Iterator[str]:
    """The options that transformers makes of a file's dataclasses and that have to be given."""
    if _BY_FIELDS not in called:
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_dataclass(node):
            for one in node.body:
                if isinstance(one, ast.AnnAssign) and not _has_default(one.value):
                    yield f"--{dotted(one.target)}"
    if any(isinstance(node, ast.Name) and node.id == _TRAINING for node in ast.walk(tree)):
        yield "--output_dir"  # the one that its own arguments ask for


def _has_default(value: ast.expr | None) -> bool:
    """Whether a field of a dataclass has one: ``field(metadata=…)`` has none."""
    if not isinstance(value, ast.Call) or dotted(value.func).rpartition(".")[2] != "field":
        return value is not None
    return any(one.arg in ("default", "default_factory") for one in value.keywords)


def _froms(tree: ast.Module) -> set[str]:
    return {"torch" for name in _TRAINERS for _, one in _imports(tree) if one.endswith(f".{name}")}


def _is_guard(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    values = (node.test.left, *node.test.comparators)
    constants = [value.value for value in values if isinstance(value, ast.Constant)]
    return constants == [_MAIN] and "__name__" in map(dotted, values)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _trains(call: ast.Call) -> bool:
    return _method(call) == "backward" or dotted(call.func).rpartition(".")[2] in _TRAINERS


def _option(call: ast.Call) -> Iterator[str]:
    """The option that a call of argparse's adds, where it has to be given."""
    if _method(call) != "add_argument" or not call.args:
        return
    names = [one.value for one in call.args if isinstance(one, ast.Constant)]
    named = {one.arg: one.value for one in call.keywords if one.arg}
    must = named.get("required")
    optional = "nargs" in named or "default" in named
    for name in names[-1:]:
        if not isinstance(name, str):
            continue
        is_option = name.startswith("-")
        if (isinstance(must, ast.Constant) and must.value is True) or not (is_option or optional):
            yield name
