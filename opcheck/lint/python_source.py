"""A Python source taken apart: what its names mean, where things stand, what guards them."""

import ast
import functools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from opcheck.lang.sentence import Sentence, verbatim
from opcheck.lint.python_scopes import Scope, caught_by, guarded_by, left_before, scopes_of
from opcheck.model.porting import Span

_LONGEST = 10_000
"""Characters of an f-string in which a part is looked for."""
_END = re.compile(r"\r\n|\r|\n")


class UnreadableError(ValueError):
    """A source that is not Python as this Python knows it."""


@dataclass(frozen=True)
class PythonSource:
    """One file, read once for all checks."""

    text: str
    tree: ast.Module
    watched: frozenset[str] = frozenset()
    """Dotted names that somebody has given up."""
    packages: frozenset[str] = frozenset()
    """Packages that are made for CUDA."""
    _scopes: dict[ast.AST, Scope] = field(default_factory=dict, repr=False)
    _parents: dict[ast.AST, ast.AST] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(
        cls,
        text: str,
        watched: frozenset[str] = frozenset(),
        packages: frozenset[str] = frozenset(),
    ) -> "PythonSource":
        """Take a source apart.

        Raises:
            UnreadableError: it is not Python, or nests deeper than Python reads.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the user's own escapes
                tree = ast.parse(text)
        except SyntaxError as error:
            raise UnreadableError(
                Sentence("line {count}: {said}", count=error.lineno or 1, said=error.msg)
            ) from error
        except (RecursionError, MemoryError) as error:
            raise UnreadableError(Sentence("it nests too deeply")) from error
        except ValueError as error:
            raise UnreadableError(verbatim(error)) from error
        return cls(text, tree, watched, packages)

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node, in no order."""
        self._scopes.update(scopes_of(self.tree))
        for node in self._scopes:
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
        return tuple(self._scopes)

    def of(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of some kinds."""
        return (node for node in self.nodes if isinstance(node, kinds))

    def calls(self) -> Iterator[ast.Call]:
        """Every call."""
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What a node is a part of."""
        return self._parents.get(node)

    def meaning(self, node: ast.AST) -> str:
        """The dotted name of an imported thing; "" for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node not in self._scopes:
            return ""
        root = self._scopes[node].means(node.id)
        return ".".join([root, *reversed(parts)]) if root else ""

    def dotted(self) -> Iterator[tuple[ast.expr, str]]:
        """Every use of an imported name at its longest: ``torch.cuda.synchronize``."""
        for node in self.nodes:
            if not isinstance(node, ast.Name | ast.Attribute):
                continue
            if isinstance(self.parent(node), ast.Attribute):
                continue
            meant = self.meaning(node)
            if meant:
                yield node, meant

    def imports(self) -> Iterator[tuple[ast.AST, str]]:
        """Every module, or name of one, that an import statement names."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    name = "" if alias.name == "*" else f".{alias.name}"
                    yield alias, f"{node.module}{name}"

    def guard(self, node: ast.AST) -> str:
        """Why a node is not reached where CUDA is missing; "" where it is."""
        for parent, child in self._around(node):
            found = guarded_by(parent, child, self.meaning) or self._left.get(child, "")
            if found:
                return found
        return ""

    @functools.cached_property
    def _left(self) -> dict[ast.AST, str]:
        """Statements that are not reached, since one before them leaves where CUDA is missing."""
        found = (left_before(node, self.meaning) for node in self.nodes)
        return {statement: why for each in found for statement, why in each}

    def caught(self, node: ast.AST) -> str:
        """The handler that takes over where what a node imports is missing; "" for none."""
        return next(filter(None, (caught_by(p, c) for p, c in self._around(node))), "")

    def tests_around(self, node: ast.AST) -> Iterator[ast.expr]:
        """The conditions of what a node is in."""
        return (p.test for p, _ in self._around(node) if isinstance(p, ast.If | ast.IfExp))

    def _around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What a node is in, from the inside out, each with the part that it is in."""
        child, parent = node, self.parent(node)
        while parent is not None:
            yield parent, child
            child, parent = parent, self.parent(parent)

    def is_in_f_string(self, node: ast.AST) -> ast.JoinedStr | None:
        """The f-string that a node is in: places inside are not told before Python 3.12."""
        inside: ast.AST | None = node
        while inside is not None and not isinstance(inside, ast.stmt):
            if isinstance(inside, ast.JoinedStr) and inside is not node:
                return inside
            inside = self.parent(inside)
        return None

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, or the f-string that it is somewhere in."""
        found = self.exactly(node) or self.offsets(self.is_in_f_string(node) or node)
        return self.span_of(*found)

    def exactly(self, node: ast.AST) -> tuple[int, int] | None:
        """The offsets of a node; None in an f-string that has its words more than once."""
        around = self.is_in_f_string(node)
        if around is None:
            return self.offsets(node)
        start, end = self.offsets(around)
        if end - start > _LONGEST:
            return None
        written = ast.unparse(node)
        if self.text.count(written, start, end) != 1:
            return None
        found = self.text.index(written, start, end)
        return found, found + len(written)

    def written(self, node: ast.AST) -> str:
        """A node as the source has it, on one line."""
        found = self.exactly(node)
        text = ast.unparse(node) if found is None else self.text[slice(*found)]
        return " ".join(text.split())

    def span_of(self, start: int, end: int) -> Span:
        """Offsets as lines and columns."""
        return Span(*self._place(start), *self._place(end))

    def offsets(self, node: ast.AST) -> tuple[int, int]:
        """The first character of a node and the one behind its last."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None)
        if end_column is None:
            end_column = column
        return self._offset(line, column), self._offset(end_line, end_column)

    @functools.cached_property
    def _starts(self) -> tuple[int, ...]:
        """Where each line begins."""
        return (0, *(match.end() for match in _END.finditer(self.text)))

    def _offset(self, line: int, column: int) -> int:
        """An offset in characters; ``column`` counts bytes of UTF-8."""
        start = self._starts[min(line, len(self._starts)) - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        encoded = self.text[start:end].encode("utf-8", "surrogatepass")
        return start + len(encoded[:column].decode("utf-8", "ignore"))

    def _place(self, offset: int) -> tuple[int, int]:
        import bisect

        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
