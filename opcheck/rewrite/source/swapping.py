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
    in_place: bool = False
    """Whether the first argument is written to, as by ``x.erfinv_()``."""

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
            reason = _reason(site, form, parameters)
            if reason:
                left[index] = Sentence(
                    "{op} on line {count} stays: {said}",
                    op=site.spelling,
                    count=swap.line,
                    said=reason,
                )
                continue
            change = _Change(form, site.is_method, parameters, _out(site, parameters) is not None)
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
    into = room.add(_INTO, "_into") if any(c.to_out for c in changes.values()) else ""
    changed = module.visit(_Changing(changes, names, into))
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


OUT = "out"


def _out(site: CallSite, parameters: Parameters | None) -> cst.BaseExpression | None:
    """What a call passes as ``out=`` that the function does not take."""
    if parameters is None or OUT in (*parameters.positional, *parameters.named):
        return None
    return next((a.value for a in site.node.args if a.keyword and a.keyword.value == OUT), None)


def _written(site: CallSite) -> cst.BaseExpression | None:
    """What a call in place writes to: its object, or its first argument."""
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


# --- the calls -----------------------------------------------------------------------------------


class _Change(Struct, frozen=True):
    """What becomes of one call."""

    form: Form
    is_method: bool
    parameters: Parameters | None
    to_out: bool
    """Whether its result goes to what it passes as ``out=``."""


_INTO = '''\
def _into(out, result):
    """Write a result to ``out``, which takes its size."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)
'''
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


class _Changing(cst.CSTTransformer):
    def __init__(
        self, changes: Mapping[cst.Call, _Change], names: Mapping[Form, str], into: str
    ) -> None:
        super().__init__()
        self._changes = changes
        self._names = names
        self._into = into

    def leave_Call(  # noqa: N802  # libcst names it
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.Call:
        """Change the callee; the object of a method becomes the first argument.

        What is written to is cloned before: autograd may need it as it was.
        """
        change = self._changes.get(original_node)
        if change is None:
            return updated_node
        out = next((a for a in updated_node.args if change.to_out and _is_out(a)), None)
        plain = _without(updated_node.args, out)
        args = [_renamed(argument, change.parameters) for argument in plain]
        if change.is_method:
            assert isinstance(updated_node.func, cst.Attribute), "a method"
            receiver = cst.Arg(updated_node.func.value)
            args = [receiver.with_changes(comma=_COMMA) if args else receiver, *args]
        if change.form.in_place:
            written = args[0].value
            args[0] = args[0].with_changes(value=_called(written, "clone"))
        call = updated_node.with_changes(func=cst.Name(self._names[change.form]), args=args)
        if out is not None:
            return cst.Call(cst.Name(self._into), [cst.Arg(out.value, comma=_COMMA), cst.Arg(call)])
        if change.form.in_place:
            return _called(written, "copy_", cst.Arg(call))
        return call


def _called(owner: cst.BaseExpression, method: str, *args: cst.Arg) -> cst.Call:
    return cst.Call(cst.Attribute(owner, cst.Name(method)), args)


def _is_out(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == OUT


def _without(args: Sequence[cst.Arg], gone: cst.Arg | None) -> list[cst.Arg]:
    """The others; where the last is gone, no comma is left behind the one before."""
    left = [argument for argument in args if argument is not gone]
    if left and gone is not None and args[-1] is gone:
        left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return left


def _renamed(argument: cst.Arg, parameters: Parameters | None) -> cst.Arg:
    if argument.keyword is None or parameters is None:
        return argument
    name = parameters.renamed(argument.keyword.value)
    if name == argument.keyword.value:
        return argument
    return argument.with_changes(keyword=argument.keyword.with_changes(value=name))


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
