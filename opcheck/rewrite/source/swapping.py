"""Calls in a Python source replaced by calls of functions that are put into it; no torch here.

Everything else stays as it is, character by character.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.source.call_sites import CallSite, Parameters, call_sites, tail, text_lines
from opcheck.rewrite.source.changing import INTO, OUT, Change, Changing, Form
from opcheck.rewrite.source.operators import Operation, operands
from opcheck.rewrite.text import Module


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
    helpers: str = ""
    """The module beside the source, where functions went into it; "" where none did."""


class Helpers(Struct, frozen=True):
    """A module that functions go into which are long."""

    name: str
    """How the source imports from it: ``.opcheck_helpers`` in a package."""
    text: str
    """What it has already."""
    most: int
    """Lines of functions that stay in the source itself."""


def swapped(text: str, swaps: Sequence[Swap], helpers: Helpers | None = None) -> Swapped:
    """Replace calls in ``text``, and define what they call after its imports, or in ``helpers``.

    Raises:
        UnreadableError: it is not Python, or not Python as libcst knows it.
    """
    module, sites = call_sites(text)
    room = Module(text, names_in(text))
    changes: dict[cst.Call | Operation, Change] = {}
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
            reason = _reason(site, form, parameters)
            if reason:
                left[index] = Sentence(
                    "{op} on line {count} stays: {said}",
                    op=site.spelling,
                    count=swap.line,
                    said=reason,
                )
                continue
            to_out = _out(site, parameters) is not None
            change = Change(form, site.is_method, parameters, to_out, site.loses_parentheses)
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
    forms = dict.fromkeys(change.form for change in changes.values())
    names = {form: room.add(form.code, form.function) for form in forms}
    beside = ""
    if helpers is not None and len(room.body.splitlines()) > helpers.most:
        room = Module(text, names_in(text))
        names, beside = _imported(forms, room, helpers)
    into = room.add(INTO, "_into") if any(c.to_out for c in changes.values()) else ""
    changed = module.visit(Changing(changes, names, into))
    first = min(site.first_line for site in sites if site.node in changes)
    text = with_room(changed.code + tail(text), after_imports(text, first), room)
    return Swapped(text, frozenset(done), left, frozenset(constructed & done), beside)


def _imported(forms: Iterable[Form], room: Module, helpers: Helpers) -> tuple[dict[Form, str], str]:
    """The names by which a source imports functions, and the module with them in it."""
    there = Module(helpers.text, names_in(helpers.text))
    names: dict[Form, str] = {}
    for form in forms:
        name = there.add(form.code, form.function)
        names[form] = room.add(f"from {helpers.name} import {name}\n", name)
    head = helpers.text or _HEAD
    made = with_room(head, after_imports(head, len(text_lines(head)) + 1), there)
    return names, made.rstrip("\n") + "\n"


_HEAD = '''"""Functions in place of operators that a device lacks; written by opcheck fix --diff."""
'''


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


def _reason(site: CallSite, form: Form, parameters: Parameters | None) -> str:
    """Why a call stays, or "" where it need not; what a layer takes, its subclass takes."""
    if parameters is None:
        return ""
    keywords, out = site.keywords, _out(site, parameters)
    if out is not None:
        keywords = tuple(name for name in keywords if name != OUT)
    reason = site.obstacle or parameters.misfit(site.positional, keywords)
    if reason:
        return reason
    if isinstance(out, cst.Tuple | cst.List):
        return Sentence("it passes several tensors as out=")
    if form.in_place and not _is_place(_written(site)):
        return Sentence("what it writes to is no name, and would be computed twice")
    return ""


def _out(site: CallSite, parameters: Parameters | None) -> cst.BaseExpression | None:
    """What a call passes as ``out=`` that the function does not take."""
    if parameters is None or OUT in (*parameters.positional, *parameters.named):
        return None
    args = site.node.args if isinstance(site.node, cst.Call) else ()
    return next((a.value for a in args if a.keyword and a.keyword.value == OUT), None)


def _written(site: CallSite) -> cst.BaseExpression | None:
    """What a call in place writes to: its object, or its first argument."""
    if not isinstance(site.node, cst.Call):
        return operands(site.node)[0]
    if site.is_method and isinstance(site.node.func, cst.Attribute):
        return site.node.func.value
    args = site.node.args
    return args[0].value if args and args[0].keyword is None else None


def _is_place(written: cst.BaseExpression | None) -> bool:
    """Whether it is a name, or an attribute of one: the same however often it is asked for."""
    while isinstance(written, cst.Attribute):
        written = written.value
    return isinstance(written, cst.Name)


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


# --- what they call ------------------------------------------------------------------------------


def names_in(text: str) -> set[str]:
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


def after_imports(text: str, first: int) -> int:
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


def with_room(text: str, after: int, room: Module) -> str:
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
