"""Calls in a Python source replaced by calls of functions that are put into it; no torch here.

Everything else stays as it is, character by character.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.source.call_sites import CallSite, Parameters, call_sites, tail, text_lines
from opcheck.rewrite.text import Module


class Form(Struct, frozen=True):
    """A function that may be called where a user writes one spelling."""

    code: str
    function: str
    is_layer: bool = False
    """Whether it is a class to construct where a user constructs the layer."""

    def parameters(self) -> Parameters | None:
        """What it takes; None for what the layer takes."""
        return None if self.is_layer else Parameters.of(self.code, self.function)


class Swap(Struct, frozen=True):
    """One thing to replace on one line of a source."""

    line: int
    """1-based; where Python says that the call stands."""
    forms: Mapping[str, Form]
    """Spelling -> what to call for it: ``torch.roll``, ``Tensor.roll``, ``torch.nn.Unfold``."""
    module: str = ""
    """Path of the module that ran: a layer in it is looked for where it is constructed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the path; numbers are not told apart in it."""
        return tuple(name for name in self.module.split(".") if name not in ("", "*"))


class Swapped(Struct, frozen=True):
    """What came of a source."""

    text: str
    """The source itself where nothing could be replaced."""
    done: frozenset[int] = frozenset()
    """Indices of the swaps for which a call was replaced."""
    left: Mapping[int, str] = field(default_factory=dict)
    """Index of a swap that was not done, not wholly at least -> why, as one sentence."""
    constructed: frozenset[int] = frozenset()
    """Indices of those done where a layer is constructed, not where it is called."""


def swapped(text: str, swaps: Sequence[Swap]) -> Swapped:
    """Replace calls in ``text``, and define what they call after its imports.

    Raises:
        UnreadableError: it is not Python, or not Python as libcst knows it.
    """
    module, sites = call_sites(text)
    room = Module(text, _names(text))
    changes: dict[cst.Call, _Change] = {}
    done: set[int] = set()
    left: dict[int, str] = {}
    constructed: set[int] = set()
    for index, swap in enumerate(swaps):
        found = [site for site in _on_line(sites, swap.line) if _is_meant(site, swap)]
        layers = [site for site in sites if _constructs(site, swap)]
        if layers and (not found or _calls_layer(sites, swap)):
            found = layers
            constructed.add(index)
        if not found:
            left[index] = _no_call(sites, swap)
        for site in found:
            form = swap.forms[site.spelling]
            parameters = form.parameters()
            reason = _reason(site, parameters)
            if reason:
                left[index] = Sentence(
                    "{op} on line {count} stays: {said}",
                    op=site.spelling,
                    count=swap.line,
                    said=reason,
                )
                continue
            change = _Change(form, site.is_method, parameters)
            if changes.setdefault(site.node, change) == change:
                done.add(index)
            else:
                left[index] = Sentence(
                    "{op} on line {count} is replaced otherwise already",
                    op=site.spelling,
                    count=swap.line,
                )
    if not changes:
        return Swapped(text, left=left)
    names = {
        change.form: room.add(change.form.code, change.form.function) for change in changes.values()
    }
    changed = module.visit(_Changing(changes, names))
    first = min(site.first_line for site in sites if site.node in changes)
    text = _with(changed.code + tail(text), _after_imports(text, first), room)
    return Swapped(text, frozenset(done), left, frozenset(constructed & done))


def _on_line(sites: Iterable[CallSite], line: int) -> list[CallSite]:
    """Calls that Python says stand on a line; else those that reach over it."""
    sites = tuple(sites)
    exact = [site for site in sites if line in site.lines]
    return exact or [site for site in sites if site.first_line <= line <= site.last_line]


def _is_meant(site: CallSite, swap: Swap) -> bool:
    """Whether it is a call to replace, and not one of a layer that is named like a method."""
    form = swap.forms.get(site.spelling)
    if form is None or form.is_layer:
        return False
    return not _is_layers(site, swap)


def _is_layers(site: CallSite, swap: Swap) -> bool:
    name = site.spelling.rpartition(".")[2]
    return site.is_method and site.owner == "self" and swap.names[-1:] == (name,)


def _calls_layer(sites: Iterable[CallSite], swap: Swap) -> bool:
    """Whether its line calls the layer itself, be there a call of the function or not."""
    return any(_is_layers(site, swap) for site in _on_line(sites, swap.line))


def _constructs(site: CallSite, swap: Swap) -> bool:
    """Whether it makes the layer that ran: one of that class, assigned to a name in its path."""
    form = swap.forms.get(site.spelling)
    return form is not None and form.is_layer and not site.assigned.isdisjoint(swap.names)


def _reason(site: CallSite, parameters: Parameters | None) -> str:
    """Why a call stays, or "" where it need not; what a layer takes, its subclass takes."""
    if parameters is None:
        return ""
    return site.obstacle or parameters.misfit(site.positional, site.keywords)


def _no_call(sites: Sequence[CallSite], swap: Swap) -> str:
    wanted = " or ".join(sorted(name for name, form in swap.forms.items() if not form.is_layer))
    if any(site.is_method for site in _on_line(sites, swap.line)):
        return Sentence(
            "line {count} calls a layer or another method, not {op}; use --shim",
            count=swap.line,
            op=wanted,
        )
    return Sentence(
        "line {count} has no plain call of {op}; use --shim", count=swap.line, op=wanted
    )


# --- the calls -----------------------------------------------------------------------------------


class _Change(Struct, frozen=True):
    form: Form
    is_method: bool
    parameters: Parameters | None


class _Changing(cst.CSTTransformer):
    """Calls other functions; what it is not told of stays."""

    def __init__(self, changes: Mapping[cst.Call, _Change], names: Mapping[Form, str]) -> None:
        super().__init__()
        self._changes = changes
        self._names = names

    def leave_Call(  # noqa: N802  # libcst names it
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.Call:
        """Change the callee; the object of a method becomes the first argument."""
        change = self._changes.get(original_node)
        if change is None:
            return updated_node
        args = [_renamed(argument, change.parameters) for argument in updated_node.args]
        if change.is_method:
            assert isinstance(updated_node.func, cst.Attribute), "a method"
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            receiver = cst.Arg(updated_node.func.value)
            args = [receiver.with_changes(comma=comma) if args else receiver, *args]
        return updated_node.with_changes(func=cst.Name(self._names[change.form]), args=args)


def _renamed(argument: cst.Arg, parameters: Parameters | None) -> cst.Arg:
    if argument.keyword is None or parameters is None:
        return argument
    name = parameters.renamed(argument.keyword.value)
    if name == argument.keyword.value:
        return argument
    return argument.with_changes(keyword=argument.keyword.with_changes(value=name))


# --- what they call ------------------------------------------------------------------------------


def _names(text: str) -> set[str]:
    """Every name that a source uses or binds, attributes and names of arguments left out."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            case ast.Global(names=globals_) | ast.Nonlocal(names=globals_):
                found |= set(globals_)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
    return found


def _after_imports(text: str, first: int) -> int:
    """The line after which functions can stand: the imports before anything that may need them."""
    body = ast.parse(text).body
    after = 0
    for number, statement in enumerate(body):
        start = min(
            [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))]
        )
        if start > first or (statement.end_lineno or start) >= first:
            break
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        is_docstring = not number and isinstance(statement, ast.Expr)
        if is_docstring or _imports(statement):
            after = statement.end_lineno or start
    return after


def _imports(statement: ast.stmt) -> bool:
    """Whether it imports something, be it under a condition."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.If(body=body, orelse=orelse):
            return any(map(_imports, (*body, *orelse)))
        case ast.Try(body=body, handlers=handlers):
            return any(map(_imports, (*body, *(s for h in handlers for s in h.body))))
        case _:
            return False


def _with(text: str, after: int, room: Module) -> str:
    """Put imports and functions of ``room`` behind line ``after``."""
    lines = text_lines(text)
    before, behind = lines[:after], lines[after:]
    end = "\n" if not lines else lines[0][len(lines[0].rstrip("\r\n")) :] or "\n"
    added = []
    if room.imports:
        added += [
            *([] if _ends_in_import(before) or not before else [""]),
            *room.imports.split("\n"),
        ]
    if room.body:
        added += [*(["", ""] if before or added else []), *room.body.split("\n")]
        blank = next((n for n, line in enumerate(behind) if line.strip()), len(behind))
        added += [""] * max(2 - blank, 0)
    return "".join([*before, *(f"{line}{end}" for line in added), *behind])


def _ends_in_import(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[-1].lstrip().startswith(("import ", "from ", ")"))
