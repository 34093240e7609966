"""Lines that select by a mask and bring together, or write back, what was selected."""

import ast
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.structural.lines import (
    Reduction,
    Select,
    Spot,
    changes,
    loads,
    names_in,
    not_by_element,
    parents,
    reduction,
    same,
    selects,
    spot,
    stores,
    swapped,
    topmost,
)


class Use(Struct, frozen=True):
    """One place where what a mask selects is used up."""

    line: int
    parts: tuple[ast.expr, ...]
    """Expressions that compute each element by itself; two for a loss."""
    reduced: Reduction | None
    """What brings them together; None where they are written back."""
    target: ast.expr | None = None
    """What they are written to, by the same mask."""
    shown: str = ""
    """As it stands in the file."""


class Masked(Struct, frozen=True):
    """All that one statement selects by one mask, and what becomes of it."""

    chosen: tuple[Select, ...]
    """Each base once, in the order in which it is written."""
    ids: Mapping[int, int]
    """``id`` of a node that selects -> which of the bases it selects from."""
    uses: tuple[Use, ...]


def masked(text: str, line: int) -> Masked | str:
    """What a line selects by a mask and what becomes of it; why that is not known, where not."""
    found = spot(text, line)
    if found is None:
        return "its line was not found"
    statement = _plain(found.statement)
    chosen = selects(statement)
    if not chosen:
        return "what its line selects is not written as an index or as masked_select"
    if any(not same(select.mask, chosen[0].mask) for select in chosen):
        return "its line has more than one index"
    bases: list[Select] = []
    ids: dict[int, int] = {}
    for select in chosen:
        known = [number for number, base in enumerate(bases) if same(base.base, select.base)]
        ids[id(select.node)] = known[0] if known else len(bases)
        if not known:
            bases.append(select)
    names = {id(statement): found.statement}
    uses = _uses(Spot(statement, found.around), ids, chosen, names)
    return uses if isinstance(uses, str) else Masked(tuple(bases), ids, uses)


def _plain(statement: ast.stmt) -> ast.stmt:
    """``a[m] = a[m] * 2`` of ``a[m] *= 2``."""
    match statement:
        case ast.AugAssign(target=ast.Subscript(value=base, slice=index) as target, op=operation):
            read = ast.copy_location(ast.Subscript(base, index, ast.Load()), target)
            value = ast.copy_location(ast.BinOp(read, operation, statement.value), target)
            return ast.copy_location(ast.Assign([target], value), statement)
    return statement


def _uses(
    found: Spot, ids: dict[int, int], chosen: Sequence[Select], names: Mapping[int, ast.AST]
) -> tuple[Use, ...] | str:
    match found.statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if not not_by_element(value, ids):
                return _later(found, name, value, ids, chosen)
    return _here(found.statement, ids, chosen[0].mask, names)


def _later(
    found: Spot, name: str, value: ast.expr, ids: dict[int, int], chosen: Sequence[Select]
) -> tuple[Use, ...] | str:
    """What becomes of a name that holds what was selected; each read of it gets its own copy."""
    if stores(name, found.around) > 1:
        return Sentence("{name} is bound more than once", name=name)
    for other in {n.id for s in chosen for e in (s.base, s.mask) for n in names_in(e)}:
        if changes(other, found.around, found.statement.lineno):
            return Sentence(
                "{name} changes after line {count}", name=other, count=found.statement.lineno
            )
    reads = [read for read in loads(name, found.around) if read.lineno >= found.statement.lineno]
    copies = {id(read): swapped(value, {}) for read in reads}
    for copy in copies.values():
        pairs = zip(selects(value), selects(copy), strict=True)
        ids.update({id(new.node): ids[id(old.node)] for old, new in pairs})
    names: dict[int, ast.AST] = {id(copy): ast.Name(name, ast.Load()) for copy in copies.values()}
    uses: list[Use] = []
    for statement in dict.fromkeys(_statement_of(read, found.around) for read in reads):
        here = _here(swapped(_header(statement), copies), ids, chosen[0].mask, names)
        if isinstance(here, str):
            return Sentence(
                "{name} is used in another way in line {count}: {text}",
                name=name,
                count=statement.lineno,
                text=here,
            )
        uses += (replace(use, line=statement.lineno) for use in here)
    return tuple(uses) or Sentence("{name} is not used in the function that binds it", name=name)


def _statement_of(node: ast.AST, around: ast.AST) -> ast.stmt:
    above = parents(around)
    while not isinstance(node, ast.stmt):
        node = above[id(node)]
    return node


def _header(statement: ast.stmt) -> ast.AST:
    """A statement without the statements in it."""
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            return test
        case ast.For(iter=read):
            return read
    return statement


def _here(
    root: ast.AST, ids: Mapping[int, int], mask: ast.expr, names: Mapping[int, ast.AST]
) -> tuple[Use, ...] | str:
    """What becomes of everything that a statement selects; ``names`` stand for parts of it."""
    above = dict(parents(root))
    nodes = [node for node in ast.walk(root) if id(node) in ids and isinstance(node, ast.expr)]
    found: dict[int, Use] = {}
    for node in nodes:
        part = topmost(node, above)
        use = _use(part, above, root, mask)
        if use is None:
            return Sentence("{text} needs as many elements as the mask has", text=ast.unparse(part))
        for each in use.parts:
            if other := not_by_element(each, ids):
                return Sentence("{text} is not known to go element by element", text=other)
        whole = use.reduced.node if use.reduced else root
        found[id(whole)] = replace(use, shown=ast.unparse(swapped(whole, names)))
    return tuple(found.values())


def _use(part: ast.expr, above: dict[int, ast.AST], root: ast.AST, mask: ast.expr) -> Use | None:
    brought = reduction(part, above)
    if brought is not None:
        return Use(part.lineno, brought.parts, brought)
    match root:
        case ast.Assign(targets=[ast.Subscript(slice=index) as target], value=value):
            if value is part and same(index, mask):
                return Use(part.lineno, (part,), None, target.value)
    return None
