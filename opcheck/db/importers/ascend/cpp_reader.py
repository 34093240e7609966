"""Reads the C++ of op-plugin's kernels: its functions, each with the tree of its statements.

Only as much of the language as these files use: what it does not know stays one statement, as the
tokens that it is made of.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*|\d[\w.]*"
    r"|->|[=!<>+\-*/%&|^]=|&&|\|\||\+\+|--|::|\S"
)
_OPEN, _CLOSE = {"(": ")", "{": "}", "[": "]"}, frozenset(")}]")
_TYPES = frozenset({"class", "struct", "enum", "union", "using", "typedef", "template"})


class Token(Struct, frozen=True):
    """One token, and its 1-based line."""

    text: str
    line: int


Tokens = tuple[Token, ...]


class Parameter(Struct, frozen=True):
    """One parameter of a function."""

    name: str
    type: str
    """Without spaces: ``constat::Tensor&`` for ``const at::Tensor&``."""
    optional: bool = False
    """Whether it has a default."""


class Statement(Struct, frozen=True):
    """One statement: ``if``, ``loop``, ``block``, ``return``, or ``plain`` for every other."""

    kind: str
    tokens: Tokens = ()
    """Of the condition, of what is returned, or of all of a plain one."""
    body: tuple["Statement", ...] = ()
    other: tuple["Statement", ...] = ()
    """What follows ``else``."""


class Code(Struct, frozen=True):
    """One function as it is defined."""

    name: str
    """Without its namespace."""
    line: int
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]


def functions(text: str) -> Iterator[Code]:
    """Every function that a file defines outside of classes, whatever its namespace."""
    bare = _DIRECTIVE.sub(_lines_only, _COMMENT.sub(_no_comment, text))
    tokens = tuple(
        Token(match[0], line)
        for line, row in enumerate(bare.split("\n"), 1)
        for match in _TOKEN.finditer(row)
    )
    yield from _definitions(tokens)


def _lines_only(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _no_comment(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else " " + _lines_only(match)


def _definitions(tokens: Tokens) -> Iterator[Code]:
    start, at = 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if text == ";" or text == "}":
            start = at + 1
        elif text in ("(", "["):
            at = _end(tokens, at)
        elif text == "{":
            head, end = tokens[start:at], _end(tokens, at)
            words = {token.text for token in head}
            if "namespace" in words or "extern" in words:
                start = at + 1
            else:
                if not words & _TYPES and (code := _function(head, tokens[at + 1 : end])):
                    yield code
                at, start = end, end + 1
        at += 1


def _end(tokens: Tokens, at: int) -> int:
    """Where the bracket that opens at a place closes."""
    depth = 0
    for place in range(at, len(tokens)):
        if tokens[place].text in _OPEN:
            depth += 1
        elif tokens[place].text in _CLOSE:
            depth -= 1
            if depth == 0:
                return place
    return len(tokens) - 1


def _function(head: Tokens, body: Tokens) -> Code | None:
    """The function of a head and a body; None where the head is of something else."""
    opens = next((i for i, token in enumerate(head) if token.text == "("), 0)
    if not opens or any(token.text == "=" for token in head[:opens]):
        return None
    name = head[opens - 1]
    if not re.match(r"[A-Za-z_]", name.text):
        return None
    inside = head[opens + 1 : _end(head, opens)]
    parameters = tuple(_parameter(part) for part in split(inside) if part)
    return Code(name.text.rpartition("::")[2], name.line, parameters, statements(body))


def _parameter(tokens: Tokens) -> Parameter:
    words = [token.text for token in tokens]
    optional = "=" in words
    if optional:
        words = words[: words.index("=")]
    return Parameter(words[-1], "".join(words[:-1]), optional)


def split(tokens: Tokens, separator: str = ",") -> list[Tokens]:
    """The parts of a list, between commas that stand in no bracket."""
    parts, start, depth, at = list[Tokens](), 0, 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if text in _OPEN:
            at = _end(tokens, at)
        elif text == "<" and at and re.match(r"[A-Za-z_]", tokens[at - 1].text):
            depth += _template(tokens, at)
        elif text == ">" and depth:
            depth -= 1
        elif text == separator and not depth:
            parts.append(tokens[start:at])
            start = at + 1
        at += 1
    return [*parts, tokens[start:]]


def _template(tokens: Tokens, at: int) -> int:
    """1 where what opens is a list of types, which closes before anything else begins."""
    for token in tokens[at + 1 :]:
        if token.text == ">":
            return 1
        if not re.match(r"[\w:,<*&]", token.text) and token.text not in ("const",):
            return 0
    return 0


def statements(tokens: Tokens) -> tuple[Statement, ...]:
    """The statements of a block."""
    found, at = list[Statement](), 0
    while at < len(tokens):
        one, at = _statement(tokens, at)
        if one.kind != "plain" or one.tokens:
            found.append(one)
    return tuple(found)


def _statement(tokens: Tokens, at: int) -> tuple[Statement, int]:
    text = tokens[at].text
    if text == "{":
        end = _end(tokens, at)
        return Statement("block", (), statements(tokens[at + 1 : end])), end + 1
    if text in ("if", "for", "while", "switch"):
        return _guarded(tokens, at)
    if text == "else":  # of an ``if`` that a directive took apart
        return _statement(tokens, at + 1) if at + 1 < len(tokens) else (Statement("plain"), at + 1)
    end = _semicolon(tokens, at)
    if text == "return":
        return Statement("return", tokens[at + 1 : end]), end + 1
    return Statement("plain", tokens[at:end]), end + 1


def _guarded(tokens: Tokens, at: int) -> tuple[Statement, int]:
    """A statement with a condition in brackets."""
    kind = "if" if tokens[at].text == "if" else "loop"
    opens = next((i for i in range(at, len(tokens)) if tokens[i].text == "("), at)
    end = _end(tokens, opens)
    if end + 1 >= len(tokens):
        return Statement(kind, tokens[opens + 1 : end]), end + 1
    body, after = _statement(tokens, end + 1)
    other: tuple[Statement, ...] = ()
    if kind == "if" and after + 1 < len(tokens) and tokens[after].text == "else":
        second, after = _statement(tokens, after + 1)
        other = _flat(second)
    return Statement(kind, tokens[opens + 1 : end], _flat(body), other), after


def _flat(one: Statement) -> tuple[Statement, ...]:
    return one.body if one.kind == "block" else (one,)


def _semicolon(tokens: Tokens, at: int) -> int:
    """Where a plain statement ends."""
    while at < len(tokens) and tokens[at].text != ";":
        at = (_end(tokens, at) if tokens[at].text in _OPEN else at) + 1
    return min(at, len(tokens))


def written(tokens: Sequence[Token]) -> str:
    """The tokens as one text without spaces, but between words."""
    text = " ".join(token.text for token in tokens)
    return re.sub(r" ?([^\w\s\"']+) ?", r"\1", text)
