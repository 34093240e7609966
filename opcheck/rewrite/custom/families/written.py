"""A family's expressions in the language of a toolchain."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from opcheck.rewrite.custom.expressions import Statement, lines_of
from opcheck.rewrite.custom.families.folds import Fold
from opcheck.rewrite.custom.families.gathers import Gather, Scatter
from opcheck.rewrite.custom.families.interface import Family, Interface
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.families.products import Product
from opcheck.rewrite.custom.nests import Names
from opcheck.rewrite.custom.translate import Dialect, Program, VectorDialect


def by_number(found: Family, language: Dialect) -> Mapping[str, tuple[str, ...]]:
    """Function of the kernel -> its lines, in a language that computes one number at a time.

    Raises:
        UntranslatableError: the language lacks a part of it.
    """
    match found:
        case Fold(each=each, combine=combine, finish=finish):
            texts = {"each": each, "combine": combine, "finish": finish}
        case Scatter():
            texts = {"put": found.text}
        case Product(epilogue=epilogue):
            texts = {"finish": epilogue}
        case Gather() | Loops():
            texts = {}
    any_type = language.assignment_of_any or language.assignment
    language = replace(language, assignment=any_type)
    return {name: language.lines(lines_of(text)) for name, text in texts.items()}


def by_vector(
    found: Family, k: Interface, language: VectorDialect, number: str
) -> Mapping[str, Program]:
    """Step of the kernel -> its instructions, in a language that computes whole vectors.

    Args:
        found: the family.
        k: what its kernel is handed.
        language: in which it is written.
        number: where a number {0} is in the kernel.

    Raises:
        UntranslatableError: the language lacks a part of it.
    """
    numbers = {name: f"float({number.format(name)})" for name in (*k.values, "length")}
    numbers["i"] = "float(i)"
    given = {operand.name: f"given_{operand.name}" for operand in k.tensors}
    results = [operand.name for operand in k.results]
    match found:
        case Fold(finish=finish, parts=parts):
            states = {f"a_{name}": f"state_{name}" for name in parts}
            step = language.program(tuple(_step(found)), {**given, **states}, numbers, parts)
            made = {name: f"state_{name}" for name in parts}
            last = language.program(lines_of(finish), {**given, **made}, numbers, results)
            return {"step": step, "finish": last}
        case Scatter():
            old = {**given, "old": "given_old"}
            return {"put": language.program(lines_of(found.text), old, numbers, results)}
        case Product(epilogue=epilogue):
            sums = {**given, "sum": "state_sum"}
            return {"finish": language.program(lines_of(epilogue), sums, numbers, results)}
        case Gather() | Loops():
            return {}


def names(found: Loops, k: Interface) -> Names:
    """What the text of a nest may read in the kernel."""
    return Names(
        sizes=k.sizes,
        values=k.values,
        tensors=tuple(a.name for a in k.tensors),
        wholes=found.wholes,
        results=tuple(a.name for a in k.results),
    )


def _step(fold: Fold) -> Iterator[Statement]:
    """A number joins the state: it is the second of the two that are put together."""
    for name, value in lines_of(fold.each):
        yield f"b_{name}" if name in fold.parts else name, value
    yield from lines_of(fold.combine)
