"""What of a function's code a run may reach, where a module's flags decide.

Libraries ask once, when they are imported, what there is, and keep the answers as true or false in
names of their modules. Code behind one that is false is not reached.
"""

import dis
from collections.abc import Iterator, Mapping, Set
from types import CodeType
from typing import Any

_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_JUMPS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"})
"""Those that are always taken."""
_HANDLES = "PUSH_EXC_INFO"
"""How code begins that an exception leads to, from wherever it is."""
_BETWEEN = frozenset({"TO_BOOL", "NOT_TAKEN", "CACHE", "EXTENDED_ARG"})
"""What may stand between a value and the jump that goes by it."""
_TARGETS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


def reached(
    code: CodeType, names: Mapping[str, Any], lines: Set[int] | None = None
) -> Iterator[str | object]:
    """The names and constants of the code that may run.

    ``names`` are those of its module, ``lines`` the only ones that ran; None: any may have.
    """
    instructions = [*dis.get_instructions(code)]
    places = {one.offset: number for number, one in enumerate(instructions)}
    left = [0, *(n for n, one in enumerate(instructions) if one.opname == _HANDLES)]
    seen: set[int] = set()
    while left:
        number = left.pop()
        if number in seen or number >= len(instructions):
            continue
        seen.add(number)
        left += _next(instructions, number, places, names)
    for number in sorted(seen):
        one = instructions[number]
        line = one.positions.lineno if one.positions else None
        ran = lines is None or line is None or line in lines
        if ran and (one.opcode in dis.hasname or one.opcode in dis.hasconst):
            yield one.argval


def _next(
    instructions: list[dis.Instruction],
    number: int,
    places: Mapping[int, int],
    names: Mapping[str, Any],
) -> list[int]:
    """Where a run goes on after an instruction."""
    one = instructions[number]
    if one.opname in _ENDS:
        return []
    if one.opcode not in _TARGETS:
        return [number + 1]
    there = places[one.argval]
    if one.opname in _JUMPS:
        return [there]
    decided = _decided(instructions, number, names)
    return [number + 1, there] if decided is None else [there if decided else number + 1]


def _decided(
    instructions: list[dis.Instruction], number: int, names: Mapping[str, Any]
) -> bool | None:
    """Whether a jump is taken that goes by a flag of the module; None: it goes by something else.

    No other jump may lead between the two, as those do that a chain of ``and`` ends with.
    """
    name = instructions[number].opname
    if not name.startswith("POP_JUMP_") or not name.endswith(("IF_TRUE", "IF_FALSE")):
        return None
    before = number - 1
    while before >= 0 and instructions[before].opname in _BETWEEN:
        before -= 1
    asked = instructions[before]
    between = instructions[before + 1 : number + 1]
    if asked.opname != "LOAD_GLOBAL" or any(one.is_jump_target for one in between):
        return None
    value = names.get(asked.argval)
    return None if not isinstance(value, bool) else value is name.endswith("IF_TRUE")
