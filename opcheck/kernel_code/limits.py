"""What a compiler or a chip asks of the sizes, the dtypes and the launch of a kernel."""

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping

from opcheck.kernel_code.judged import Judged
from opcheck.lang.sentence import Sentence
from opcheck.model.launches import (
    ANY_STAGES,
    ASSEMBLY,
    Called,
    Launch,
    Limit,
    LimitKind,
    TritonCompiler,
)
from opcheck.model.verdict import Confidence, Method, Verdict

BEYOND = "kernel-beyond-limit"
DOUBTED = "kernel-may-abort"
BYTES: Mapping[str, int] = {
    "bfloat16": 2, "bool": 1, "float16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1,
    "float8_e5m2": 1, "int16": 2, "int32": 4, "int64": 8, "int8": 1, "uint8": 1,
}  # fmt: skip
"""Of one element, by the dtype as torch names it."""
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
_PARTS = re.compile(r"[\s.,;{}\[\]()]+")
"""What stands between the words of an instruction and its types."""


def beyond(launch: Launch, compiler: TritonCompiler, chip: str) -> Iterator[Judged]:
    """What a launch asks that is not there; nothing where sizes or dtypes were not followed."""
    for limit in compiler.limits:
        for text in _CHECKS.get(limit.kind, _nothing)(launch, limit, compiler.package, chip):
            sure = Confidence.HIGH if _is_code(limit) else Confidence.MEDIUM
            yield Judged(Verdict.UNSUPPORTED, BEYOND, text, sure, limit.evidence)
            break


def doubted(launch: Launch, compiler: TritonCompiler, chip: str) -> Iterator[Judged]:
    """What users saw fail of kernels like it, without anybody having said which of them do."""
    for limit in compiler.limits:
        if limit.kind is LimitKind.WARPS:
            for text in _warps(launch, limit, compiler.package, chip):
                yield Judged(Verdict.UNKNOWN, DOUBTED, text, Confidence.LOW, limit.evidence)
                break


def _nothing(*_: object) -> Iterator[Sentence]:
    yield from ()


def _is_code(limit: Limit) -> bool:
    return all(found.method is Method.REGISTERED for found in limit.evidence)


def evaluated(text: str, constants: Mapping[str, str]) -> int | None:
    """The number that a size is for the constants of a launch; None where it is none."""
    try:
        return _number(ast.parse(text, mode="eval").body, constants)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return None


def _number(node: ast.expr, constants: Mapping[str, str]) -> int | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            text = constants.get(name, "")
            return int(text) if text.isdecimal() else None
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _number(left, constants), _number(right, constants)
            computes = _OPERATORS.get(type(op))
            return None if None in (one, other) or computes is None else computes(one, other)
    return None


_OPERATORS: Mapping[type[ast.operator], Callable[..., int]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
    ast.Mult: lambda one, other: one * other,
    ast.FloorDiv: lambda one, other: one // other,
}


def _calls(launch: Launch, *names: str) -> Iterator[tuple[Called, tuple[int | None, ...]]]:
    """Calls of functions in the order of lines, with their sizes as numbers."""
    constants = dict(launch.constants)
    for each in sorted(launch.kernel.calls, key=lambda each: each.line):
        if each.name in names:
            yield each, tuple(evaluated(size, constants) for size in each.sizes)


def _dtypes(called: Called, launch: Launch) -> tuple[str, ...]:
    """The dtypes of operands; "" where one was not followed."""
    given = dict(launch.dtypes)
    return tuple(
        given.get(dtype[1:], "") if dtype.startswith("*") else dtype for dtype in called.dtypes
    )


def _ranges(launch: Launch, _: Limit, package: str, __: str) -> Iterator[Sentence]:
    for each, (size,) in _calls(launch, "arange"):
        if size is not None and size > 0 and size & (size - 1):
            yield Sentence(
                "{package} has ranges of a power of two alone, and that of line {count} has "
                "{count_here} numbers",
                package=package, count=each.line, count_here=size,
            )  # fmt: skip


def _elements(launch: Launch, limit: Limit, package: str, _: str) -> Iterator[Sentence]:
    for each, sizes in _calls(launch, "arange", "block"):
        whole = math.prod(size for size in sizes if size is not None)
        if None not in sizes and whole > limit.most:
            yield Sentence(
                "{package} has blocks of {count_most} elements at most, and that of line {count} "
                "has {count_here}",
                package=package, count_most=limit.most, count=each.line, count_here=whole,
            )  # fmt: skip


def _products(launch: Launch, limit: Limit, package: str, chip: str) -> Iterator[Sentence]:
    for each, sizes in _calls(launch, "dot"):
        left, right = _dtypes(each, launch)
        if not left or not right or not {left, right} <= (limit.dtypes or {left, right}):
            continue
        rows, depth, columns = sizes
        found = (rows, columns, depth)
        if any(size and size < least for size, least in zip(found, limit.least, strict=True)):
            yield Sentence(
                "{package} multiplies blocks of {list} rows, columns and depth or more on {chip}, "
                "and that of line {count} has {list_here}",
                package=package, list=", ".join(map(str, limit.least)), chip=chip,
                count=each.line, list_here=", ".join(str(size or "?") for size in found),
            )  # fmt: skip


def _one_dtype(launch: Launch, _: Limit, package: str, __: str) -> Iterator[Sentence]:
    for each, _sizes in _calls(launch, "dot"):
        left, right = _dtypes(each, launch)
        if left != right and {left, right} <= _FLOATS:
            yield Sentence(
                "{package} multiplies blocks of one dtype alone, and those of line {count} are of "
                "{dtype} and {dtype_other}",
                package=package, count=each.line, dtype=left, dtype_other=right,
            )  # fmt: skip


def _maths(launch: Launch, limit: Limit, package: str, _: str) -> Iterator[Sentence]:
    for each, _sizes in _calls(launch, *limit.words):
        (dtype,) = _dtypes(each, launch)
        if dtype in limit.dtypes:
            yield Sentence(
                "{package} has no {op} of {dtype}, which the kernel calls in line {count}",
                package=package, op=each.name, dtype=dtype, count=each.line,
            )  # fmt: skip


def _threads(launch: Launch, limit: Limit, _: str, chip: str) -> Iterator[Sentence]:
    threads = launch.warps * limit.least[0]
    if threads > limit.most and launch.stages != ANY_STAGES:
        yield Sentence(
            "num_warps={count} asks for {count_here} threads, and a block has {count_most} at "
            "most on {chip}",
            count=launch.warps, count_here=threads, count_most=limit.most, chip=chip,
        )  # fmt: skip


def _clusters(launch: Launch, _: Limit, package: str, chip: str) -> Iterator[Sentence]:
    if launch.clusters > 1:
        yield Sentence(
            "{package} has no num_ctas={count} on {chip}, where it is one",
            package=package, count=launch.clusters, chip=chip,
        )  # fmt: skip


def _grid(launch: Launch, limit: Limit, _: str, chip: str) -> Iterator[Sentence]:
    longest = max(launch.grid[1:], default=0)
    if longest > limit.most:
        yield Sentence(
            "the grid has {count} programs along its second or third axis, where {chip} has "
            "{count_most} at most",
            count=longest, chip=chip, count_most=limit.most,
        )  # fmt: skip


def _core_memory(launch: Launch, limit: Limit, _: str, chip: str) -> Iterator[Sentence]:
    if any(each.name.startswith("dot") for each in launch.kernel.operations):
        return
    for each, sizes in _calls(launch, "block"):
        (dtype,) = _dtypes(each, launch)
        whole = math.prod(size for size in sizes if size is not None) * BYTES.get(dtype, 0)
        if None not in sizes and whole > limit.most:
            yield Sentence(
                "the block of line {count} has {size} bytes, and all blocks of a kernel have "
                "{size_most} at most in a core of {chip}",
                count=each.line, size=whole, size_most=limit.most, chip=chip,
            )  # fmt: skip


def _fma_memory(launch: Launch, limit: Limit, _: str, chip: str) -> Iterator[Sentence]:
    for each, (rows, depth, columns) in _calls(launch, "dot"):
        dtypes = {*_dtypes(each, launch)} - {""}
        if rows is None or depth is None or columns is None or not dtypes or dtypes - _FLOATS:
            continue
        left, right = rows * depth * BYTES["float32"], depth * columns * BYTES["float32"]
        # the one from before a loop stays while the other is there
        needed = left + right if "held" in each.text.split() else max(left, right)
        if needed > limit.most:
            yield Sentence(
                "the product of line {count} keeps {size} bytes or more in shared memory, as "
                "float32, and {chip} has {size_most} for a block of threads",
                count=each.line, size=needed, chip=chip, size_most=limit.most,
            )  # fmt: skip


def _while(launch: Launch, _: Limit, package: str, chip: str) -> Iterator[Sentence]:
    for each, _sizes in _calls(launch, "dot"):
        if "while" in each.text.split():
            yield Sentence(
                "{package} does not compile products in loops of while on {chip}, such as that of "
                "line {count}",
                package=package, chip=chip, count=each.line,
            )  # fmt: skip


def _warps(launch: Launch, limit: Limit, package: str, chip: str) -> Iterator[Sentence]:
    if launch.warps < limit.least[0] or launch.stages == ANY_STAGES:
        return
    for each, (rows, _, columns) in _calls(launch, "dot"):
        if rows == columns == limit.most:
            yield Sentence(
                "users saw {package} abort on {chip} where blocks of {count_most} rows and columns "
                "are multiplied with num_warps={count}, as in line {count_here}",
                package=package, chip=chip, count_most=limit.most, count=launch.warps,
                count_here=each.line,
            )  # fmt: skip


def _assembly(launch: Launch, limit: Limit, _: str, chip: str) -> Iterator[Sentence]:
    for each, _sizes in _calls(launch, ASSEMBLY):
        found = {*_PARTS.split(each.text)} & limit.words
        if found:
            yield Sentence(
                "{chip} does not run the inline assembly of line {count}, which has {word}",
                chip=chip, count=each.line, word=min(found),
            )  # fmt: skip


_CHECKS: Mapping[LimitKind, Callable[[Launch, Limit, str, str], Iterator[Sentence]]] = {
    LimitKind.RANGE: _ranges,
    LimitKind.ELEMENTS: _elements,
    LimitKind.PRODUCT: _products,
    LimitKind.ONE_DTYPE: _one_dtype,
    LimitKind.MATHS: _maths,
    LimitKind.THREADS: _threads,
    LimitKind.CLUSTERS: _clusters,
    LimitKind.GRID: _grid,
    LimitKind.CORE_MEMORY: _core_memory,
    LimitKind.FMA_MEMORY: _fma_memory,
    LimitKind.WHILE: _while,
    LimitKind.ASSEMBLY: _assembly,
}
