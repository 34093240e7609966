"""Follows op-plugin's op_api code from an overload to the aclnn kernels that it calls.

What is told of an argument is safe to deny a use with: on every way through the code that ends, and
that is not for empty tensors, a kernel gets the argument as it came. Where the code casts it, hands
it to something else than a kernel, or leaves before any call, nothing is told.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.importers.ascend.cpp_reader import Code, Statement, Token, Tokens, split, written

ANY = "*"
"""Stands for the call itself, whatever its arguments."""
_RANK = "#rank"
_CALLS = frozenset(
    {
        "EXEC_NPU_CMD", "EXEC_NPU_NO_FORMAT_CHECK_CMD", "EXEC_NPU_CMD_SYNC",
        "EXEC_UPDATE_NPU_NO_FORMAT_CHECK_CMD",
    }
)  # fmt: skip
_COMPATIBILITY = frozenset(
    {"DO_COMPATIBILITY", "DO_MATMUL_COMPATIBILITY", "DO_ADDMM_COMPATIBILITY"}
)
"""Fall back where the installed CANN has no such kernel, to acl_op or to an older kernel; those of
products also for tensors in formats of the vendor's own, which PyTorch makes none in."""
_OTHER_COMPATIBILITY = re.compile(r"DO_\w+_COMPATIBILITY")
_SAME = frozenset({"contiguous", "value", "clone", "detach", "alias", "transpose", "permute", "t"})
_SAME_DTYPE = frozenset(
    {
        "unsqueeze", "squeeze", "view", "reshape", "flatten", "expand", "expand_as", "select",
        "view_as", "slice", "narrow",
    }
)  # fmt: skip
_THROUGH = frozenset(
    {
        "std::move", "npu_utils::format_contiguous", "c10::value_or_else",
        "at::borrow_from_optional_tensor", "self_tensor_to_device", "format_contiguous",
        "op_infer::unoptional", "npu_preparation::unwrap",
    }
)  # fmt: skip
"""Functions that give their first argument back, but for scalars of the host."""
_EMPTY = re.compile(r"(numel\(\)(==0|<=0|<1)|\.empty\(\)|size\(\w*\)==0|is_empty)")
_SCALAR = re.compile(r"IsCPUScalar\((\w+)\)|is_scalar_wrapped_to_tensor\((\w+)\)|(\w+)\.dim\(\)==0")
_MAYBE = frozenset({"?", "&&", "||", "["})
_DEEPEST = 6


class Value(Struct, frozen=True):
    """An argument of the overload, as a variable holds it."""

    argument: str
    rank: bool = True
    """Whether it has its own number of dimensions still."""


class Reached(Struct, frozen=True):
    """A parameter of a kernel."""

    kernel: str
    place: int
    count: int
    """How many arguments the call has."""


class Calls(Struct):
    """What one overload calls."""

    kernels: dict[str, str]
    """Every kernel -> file and line of a call."""
    every: bool
    """Whether no way leaves without a call."""
    dtypes: dict[str, set[Reached]]
    """Arguments that a kernel gets on every way -> the parameters that get them."""
    ranks: dict[str, set[Reached]]


Variables = Mapping[str, Value]


class State(Struct, frozen=True):
    """What is known at one place of the code."""

    variables: Variables
    covered: frozenset[str]
    """Arguments that a kernel has got."""
    scalars: frozenset[str] = frozenset()
    """Arguments that are scalars of the host here: no matter what becomes of them."""


class Functions:
    """The functions of one release, by file and by name."""

    def __init__(self, files: Mapping[str, Sequence[Code]]) -> None:
        self._files = files
        self._all: dict[str, list[tuple[str, Code]]] = {}
        for file, codes in files.items():
            for code in codes:
                self._all.setdefault(code.name, []).append((file, code))

    def named(self, name: str) -> Sequence[tuple[str, Code]]:
        """Functions of any file."""
        return self._all.get(name, ())

    def of_file(self, file: str, name: str) -> Sequence[tuple[str, Code]]:
        """Functions of one file."""
        return [(file, code) for code in self._files.get(file, ()) if code.name == name]


class Follower:
    """One overload's way through the code."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.kernels: dict[str, str] = {}
        self.dtypes: dict[str, set[Reached]] = {}
        self.ranks: dict[str, set[Reached]] = {}

    def follow(self, codes: Iterable[tuple[str, Code]], arguments: Sequence[str]) -> Calls | None:
        """Follow every definition of the function; None where nothing is called."""
        covered: frozenset[str] | None = None
        for file, code in codes:
            given = [Value(name) if name else None for name in arguments]
            one = self.run(file, code, given, 0)
            covered = one if covered is None else covered & one
        if not self.kernels or covered is None:
            return None
        dtypes = {name: found for name, found in self.dtypes.items() if name in covered}
        ranks = {name: found for name, found in self.ranks.items() if name + _RANK in covered}
        return Calls(self.kernels, ANY in covered, dtypes, ranks)

    def run(
        self, file: str, code: Code, given: Sequence[Value | None], depth: int
    ) -> frozenset[str]:
        """What is covered on every way through a function that is called with some values."""
        variables = {
            parameter.name: value
            for parameter, value in zip(code.parameters, given, strict=False)
            if value is not None
        }
        way = _Way(self, file, depth)
        end = way.block(code.body, State(variables, frozenset()))
        if end is not None:
            way.leave(end)
        return frozenset.intersection(*way.left) if way.left else frozenset()

    def call(self, kernel: str, values: Sequence[Value | None], at: str) -> frozenset[str]:
        """Note the call of a kernel: what it gets."""
        self.kernels.setdefault(kernel, at)
        covered = {ANY}
        for place, value in enumerate(values):
            if value is not None:
                reached = Reached(kernel, place, len(values))
                self.dtypes.setdefault(value.argument, set()).add(reached)
                covered.add(value.argument)
                if value.rank:
                    self.ranks.setdefault(value.argument, set()).add(reached)
                    covered.add(value.argument + _RANK)
        return frozenset(covered)

    def called(self, file: str, name: str, count: int) -> Sequence[tuple[str, Code]]:
        """Functions of the vendor's own that a call may mean."""
        space, _, base = name.rpartition("::")
        if space in ("", "op_api", "npu_op_api"):
            found = self._functions.of_file(file, base)
            if not found and space:
                found = self._functions.named(base)
            return [
                (where, code)
                for where, code in found
                if _least(code) <= count <= len(code.parameters)
            ]
        return ()


def _least(code: Code) -> int:
    return sum(not parameter.optional for parameter in code.parameters)


class _Way:
    """The ways through one function."""

    def __init__(self, follower: Follower, file: str, depth: int) -> None:
        self._follower = follower
        self._file = file
        self._depth = depth
        self.left: list[frozenset[str]] = []

    def leave(self, state: State) -> None:
        """Note what is covered where a way ends."""
        scalars = state.scalars | {name + _RANK for name in state.scalars}
        self.left.append(state.covered | scalars)

    def block(self, body: Iterable[Statement], state: State) -> State | None:
        """The state behind some statements; None where all ways have left."""
        for statement in body:
            after = self._statement(statement, state)
            if after is None:
                return None
            state = after
        return state

    def _statement(self, one: Statement, state: State) -> State | None:
        match one.kind:
            case "block":
                return self.block(one.body, state)
            case "if":
                return self._branches(one, state)
            case "loop":
                inside = self.block(one.body, self._expression(one.tokens, state))
                return state if inside is None else _joined(state, inside)
            case "return":
                self.leave(self._expression(one.tokens, state))
                return None
            case _:
                return self._plain(one.tokens, state)

    def _branches(self, one: Statement, state: State) -> State | None:
        condition = written(one.tokens)
        if _EMPTY.search(condition) and "||" not in condition and not one.other:
            kept = len(self.left)
            inside = self.block(one.body, state)
            del self.left[kept:]
            return state if inside is None else _joined(state, inside)
        state = self._expression(one.tokens, state)
        scalars = _scalars(condition, state.variables)
        inside = self.block(one.body, replace(state, scalars=state.scalars | scalars))
        other = self.block(one.other, state)
        if inside is None or other is None:
            return other if inside is None else inside
        if scalars:
            inside = replace(inside, covered=inside.covered | scalars, scalars=state.scalars)
            inside = replace(inside, variables=_kept(inside.variables, state.variables, scalars))
        return _joined(inside, other)

    def _plain(self, tokens: Tokens, state: State) -> State | None:
        words = [token.text for token in tokens]
        if words and words[0] in _COMPATIBILITY:
            return self._fallback(tokens, state)
        if words and _OTHER_COMPATIBILITY.fullmatch(words[0]):
            self.leave(state)
            return state
        if words and words[0] in ("break", "continue", "throw"):
            return state if words[0] != "throw" else None
        equals = next((i for i, word in enumerate(words) if word == "="), -1)
        opens = next((i for i, word in enumerate(words) if word in ("(", "{")), len(words))
        state = self._expression(tokens, state)
        if words and words[0].endswith("tie"):
            return _without(state, words[: max(equals, 0)])
        if 0 < equals < opens or (equals > 0 and words[equals - 1] not in (")", "]")):
            return self._assigned(words[equals - 1], tokens[equals + 1 :], state)
        return _without(state, words[:equals]) if equals > 0 else state

    def _fallback(self, tokens: Tokens, state: State) -> State:
        """Where a kernel is missing: of what it falls back to, only aclnn kernels count."""
        kernels = len(self._follower.kernels)
        after = self._expression(tokens, state)
        if after != state or len(self._follower.kernels) > kernels:
            self.leave(after)
        return state

    def _assigned(self, name: str, right: Tokens, state: State) -> State:
        variables = dict(state.variables)
        value = self._value(right, state.variables)
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
        return replace(state, variables=variables)

    def _value(self, tokens: Tokens, variables: Variables) -> Value | None:
        """The argument that an expression gives, if it gives one as it came."""
        words = [token.text for token in tokens]
        if words and words[0] == "*":
            return self._value(tokens[1:], variables)
        if len(words) == 1:
            return variables.get(words[0])
        if len(words) > 3 and words[0] in _THROUGH and words[1] == "(" and words[-1] == ")":
            return self._value(split(tokens[2:-1])[0], variables)
        if len(words) > 4 and words[1] in (".", "->") and words[3] == "(" and words[-1] == ")":
            return self._method(tokens, variables)
        return None

    def _method(self, tokens: Tokens, variables: Variables) -> Value | None:
        value: Value | None = variables.get(tokens[0].text)
        at = 1
        while value is not None and at + 2 < len(tokens):
            name = tokens[at + 1].text
            if name not in _SAME | _SAME_DTYPE or tokens[at + 2].text != "(":
                return None
            value = value if name in _SAME else replace(value, rank=False)
            depth, at = 0, at + 2
            for place in range(at, len(tokens)):
                depth += {"(": 1, ")": -1}.get(tokens[place].text, 0)
                if depth == 0:
                    at = place + 1
                    break
        return value

    def _expression(self, tokens: Tokens, state: State) -> State:
        """The state behind the calls of an expression."""
        sure = not any(token.text in _MAYBE for token in tokens)
        for name, arguments in _calls(tokens):
            values = [self._value(part, state.variables) for part in arguments]
            if name.text in _CALLS:
                covered = self._kernel(name, arguments, values)
            else:
                covered = self._function(name.text, values)
            if sure:
                state = replace(state, covered=state.covered | covered)
        return state

    def _kernel(
        self, name: Token, arguments: Sequence[Tokens], values: Sequence[Value | None]
    ) -> frozenset[str]:
        kernel = written(arguments[0]) if arguments else ""
        if not re.fullmatch(r"aclnn\w+", kernel):
            return frozenset()
        return self._follower.call(kernel, values[1:], f"{self._file}:{name.line}")

    def _function(self, name: str, values: Sequence[Value | None]) -> frozenset[str]:
        if self._depth >= _DEEPEST:
            return frozenset()
        found = self._follower.called(self._file, name, len(values))
        covered = [self._follower.run(f, code, values, self._depth + 1) for f, code in found]
        return frozenset.intersection(*covered) if covered else frozenset()


def _calls(tokens: Tokens) -> Iterator[tuple[Token, list[Tokens]]]:
    """Every call in an expression: what is called, and the arguments."""
    for at in range(len(tokens) - 1):
        if tokens[at + 1].text == "(" and re.match(r"[A-Za-z_]", tokens[at].text):
            if at and tokens[at - 1].text in (".", "->"):
                continue
            depth = 0
            for end in range(at + 1, len(tokens)):
                depth += {"(": 1, ")": -1}.get(tokens[end].text, 0)
                if depth == 0:
                    inside = tokens[at + 2 : end]
                    yield tokens[at], split(inside) if inside else []
                    break


def _joined(one: State, other: State) -> State:
    """What is known where two ways meet."""
    variables = {
        name: replace(value, rank=value.rank and other.variables[name].rank)
        for name, value in one.variables.items()
        if name in other.variables and other.variables[name].argument == value.argument
    }
    return State(variables, one.covered & other.covered, one.scalars & other.scalars)


def _without(state: State, words: Iterable[str]) -> State:
    gone = frozenset(words)
    return replace(state, variables={n: v for n, v in state.variables.items() if n not in gone})


def _scalars(condition: str, variables: Variables) -> frozenset[str]:
    """Arguments that are scalars of the host where a condition holds."""
    if "||" in condition:
        found = [
            match.group(1) or match.group(2) or match.group(3)
            for match in _SCALAR.finditer(condition)
        ]
        if len(set(found)) != 1:
            return frozenset()
    names = {n for match in _SCALAR.finditer(condition) for n in match.groups() if n}
    return frozenset(variables[name].argument for name in names if name in variables)


def _kept(inside: Variables, before: Variables, scalars: frozenset[str]) -> dict[str, Value]:
    """The variables behind a branch for scalars, which change nothing of other tensors."""
    spared = {name: value for name, value in before.items() if value.argument in scalars}
    return {**inside, **spared}
