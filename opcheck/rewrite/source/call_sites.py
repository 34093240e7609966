"""The calls in a Python source, and the arguments that they can pass; no torch here."""

import ast
from collections.abc import Iterable, Sequence

import libcst as cst
from libcst.metadata import (
    MetadataWrapper,
    PositionProvider,
    QualifiedNameProvider,
    QualifiedNameSource,
)
from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.source.operators import (
    Operation,
    comments,
    function_of,
    loses_parentheses,
    obstacle,
    operands,
)

FIRST = "input"
"""What PyTorch's Python functions call the argument that schemas call ``self``."""
_NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names, which they take as well."""


class Parameters(Struct, frozen=True):
    """What a function takes."""

    function: str
    positional: tuple[str, ...]
    named: tuple[str, ...]
    """Those that can only be named."""
    required: frozenset[str]
    rest: bool = False
    """Whether it takes any number of further arguments without a name."""

    @classmethod
    def of(cls, code: str, function: str) -> "Parameters":
        """Those of ``function``, which ``code`` defines at its top level."""
        found = next(
            statement
            for statement in ast.parse(code).body
            if isinstance(statement, ast.FunctionDef) and statement.name == function
        )
        arguments = found.args
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        named = [argument.arg for argument in arguments.kwonlyargs]
        with_default = positional[len(positional) - len(arguments.defaults) :]
        pairs = zip(named, arguments.kw_defaults, strict=True)
        with_default += [name for name, default in pairs if default is not None]
        required = frozenset((*positional, *named)) - frozenset(with_default)
        rest = arguments.vararg is not None
        return cls(function, tuple(positional), tuple(named), required, rest)

    def renamed(self, keyword: str) -> str:
        """What the function calls a named argument of PyTorch's."""
        first = self.positional[0] if self.positional else ""
        known = (*self.positional, *self.named)
        if keyword not in known and _NUMPY.get(keyword) in known:
            return _NUMPY[keyword]
        return first if keyword == FIRST and first == "self" else keyword

    def misfit(self, positional: int, keywords: Sequence[str]) -> str:
        """Say why so many arguments, and those names, are not what the function takes; or ""."""
        names = [self.renamed(keyword) for keyword in keywords]
        if positional > len(self.positional) and not self.rest:
            return Sentence(
                "it passes {count} arguments where {func}() takes {count_taken}",
                count=positional,
                func=self.function,
                count_taken=self._most,
            )
        unknown = [name for name in names if name not in (*self.positional, *self.named)]
        if unknown:
            return Sentence(
                "it passes {list}, which {func}() does not take",
                list=_listed(unknown),
                func=self.function,
            )
        given = self.positional[:positional]
        twice = [name for name in names if name in given]
        if twice:
            return Sentence("it passes {name} twice", name=_listed(twice))
        missing = [n for n in (*self.positional, *self.named) if n in self.required - {*given}]
        missing = [name for name in missing if name not in names]
        if missing:
            return Sentence(
                "it passes no {name}, which {func}() needs",
                name=_listed(missing),
                func=self.function,
            )
        return ""

    @property
    def _most(self) -> str:
        return f"at most {len(self.positional)}" if self.positional else "none"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"{name}=" for name in names)


METHOD = "Tensor."
"""How the spelling of a method of tensors begins."""


class UnreadableError(ValueError):
    """A source that cannot be decomposed and put together again."""


class CallSite(Struct, frozen=True):
    """One call as it is written, be it by an operator."""

    node: cst.Call | Operation
    spelling: str
    """``torch.roll`` whatever it was imported as, ``Tensor.roll`` for a method of anything."""
    is_method: bool
    lines: frozenset[int]
    """Lines where Python may say that the call stands: where it begins, and its last name."""
    first_line: int
    last_line: int
    positional: int
    """Arguments without a name, the object of a method among them."""
    keywords: tuple[str, ...]
    owner: str
    """The object of a method where that is a name: ``self``."""
    assigned: frozenset[str]
    """Names of variables and attributes that what it is a part of is assigned to."""
    obstacle: str
    """Why it cannot be rewritten whatever it calls; "" for nothing."""
    loses_parentheses: bool = False
    """Whether those around an operator can go once it is a call."""


def call_sites(text: str) -> tuple[cst.Module, tuple[CallSite, ...]]:
    """The source taken apart up to its :func:`tail`, and every call in it.

    Raises:
        UnreadableError: it is not Python, or not Python as libcst knows it.
    """
    try:
        ast.parse(text)
        body = text.removesuffix(tail(text))
        module = cst.parse_module(body)
    except (SyntaxError, ValueError, RecursionError, cst.ParserSyntaxError) as error:
        raise UnreadableError(_brief(error)) from error
    if module.code != body:
        raise UnreadableError("its whitespace cannot be kept")
    finder = _Finder(text_lines(text))
    MetadataWrapper(module, unsafe_skip_copy=True).visit(finder)
    return module, tuple(finder.found)


def tail(text: str) -> str:
    """What a source has behind its last statement; libcst (1.9) does not keep all of that."""
    body = ast.parse(text).body
    end = (body[-1].end_lineno or 0) if body else 0
    kept = "".join(text_lines(text)[:end]).rstrip(" \t\f\r\n")
    return text[len(kept) :]


def text_lines(text: str) -> list[str]:
    """Lines with their ends, as Python counts them: form feeds and the like end none."""
    lines: list[str] = []
    start = position = 0
    while position < len(text):
        two = text.startswith("\r\n", position)
        if text[position] in "\r\n":
            lines.append(text[start : position + 1 + two])
            start = position + 1 + two
        position += 1 + two
    return [*lines, text[start:]] if start < len(text) else lines


def _brief(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return Sentence("line {count}: {said}", count=error.lineno, said=error.msg)
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _Finder(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider, QualifiedNameProvider)

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.found: list[CallSite] = []
        self._lines = lines
        self._targets: list[tuple[str, ...]] = []

    def visit_Assign(self, node: cst.Assign) -> None:  # noqa: N802  # libcst names it
        """Keep what is assigned to."""
        self._targets.append(tuple(_last_name(target.target) for target in node.targets))

    def leave_Assign(self, original_node: cst.Assign) -> None:  # noqa: N802  # libcst names it
        """Forget it."""
        self._targets.pop()

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802  # libcst names it
        """Note the call."""
        spelling, is_method = self._spelling(node.func)
        span = self.get_metadata(PositionProvider, node)
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        last = self.get_metadata(PositionProvider, name).end.line
        plain = [argument for argument in node.args if argument.keyword is None]
        self.found.append(
            CallSite(
                node=node,
                spelling=spelling,
                is_method=is_method,
                lines=frozenset((span.start.line, last)),
                first_line=span.start.line,
                last_line=span.end.line,
                positional=len(plain) + is_method,
                owner=_owner(node.func) if is_method else "",
                assigned=frozenset(name for names in self._targets for name in names if name),
                keywords=tuple(a.keyword.value for a in node.args if a.keyword is not None),
                obstacle=_obstacle(node, is_method),
            )
        )

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:  # noqa: N802
        """Note what it calls."""
        self._operation(node)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:  # noqa: N802
        """Note what it calls."""
        self._operation(node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        """Note what it calls."""
        self._operation(node)

    def _operation(self, node: Operation) -> None:
        spelling = function_of(node)
        if not spelling:
            return
        span = self.get_metadata(PositionProvider, node)
        before = self._lines[span.start.line - 1][: span.start.column]
        self.found.append(
            CallSite(
                node=node,
                spelling=spelling,
                is_method=False,
                lines=frozenset((span.start.line,)),
                first_line=span.start.line,
                last_line=span.end.line,
                positional=len(operands(node)),
                keywords=(),
                owner="",
                assigned=frozenset(),
                obstacle=obstacle(node),
                loses_parentheses=loses_parentheses(node, before),
            )
        )

    def _spelling(self, callee: cst.BaseExpression) -> tuple[str, bool]:
        """What is called, and whether as a method of some object."""
        if _is_dotted(callee):
            names = self.get_metadata(QualifiedNameProvider, callee, set())
            imported = [n.name for n in names if n.source is QualifiedNameSource.IMPORT]
            if imported:
                # a name that was imported in two ways means neither for sure
                found = imported[0] if len(names) == 1 else ""
                return found.removeprefix("torch.") if ".Tensor." in found else found, False
        if isinstance(callee, cst.Attribute):
            return f"{METHOD}{callee.attr.value}", True
        return "", False


def _last_name(target: cst.BaseExpression) -> str:
    match target:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
        case _:
            return ""


def _owner(callee: cst.BaseExpression) -> str:
    match callee:
        case cst.Attribute(value=cst.Name(value=name)):
            return name
        case _:
            return ""


def _is_dotted(callee: cst.BaseExpression) -> bool:
    while isinstance(callee, cst.Attribute):
        callee = callee.value
    return isinstance(callee, cst.Name)


def _obstacle(node: cst.Call, is_method: bool) -> str:
    if any(argument.star for argument in node.args):
        return Sentence("it passes * or **, which may be anything")
    if is_method and isinstance(node.func, cst.Attribute):
        if any(comments(node.func.dot)):
            return Sentence("a comment stands between the object and the method")
        loose = [a.value for a in node.args if isinstance(a.value, cst.GeneratorExp)]
        if any(not value.lpar for value in loose):
            return Sentence("it passes a generator without parentheses")
    return ""
