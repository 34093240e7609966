"""What is known of an expression: its dtype, and its sizes as texts of the source."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

Shape = tuple[str, ...]
ONE = "1"


class Value(Struct, frozen=True):
    """What is known of an expression."""

    shape: Shape | None = ()
    """() of a number, None where it is not followed."""
    dtype: str | None = None
    points: str = ""
    """The parameter that it is an address of."""
    loops: int = -1
    """In how many loops its name was bound; -1 where it has none."""


def broadcast(one: Shape | None, other: Shape | None) -> Shape | None:
    """The sizes of what two blocks give together; None where that is not followed."""
    if one is None or other is None:
        return None
    if not one or not other:
        return one or other
    if len(one) != len(other):
        return None
    return tuple(right if left == ONE else left for left, right in zip(one, other, strict=True))


def indexed(shape: Shape | None, indices: Iterable[ast.expr]) -> Shape | None:
    """What ``x[:, None]`` makes of the sizes of ``x``."""
    if shape is None:
        return None
    left, found = list(shape), []
    for index in indices:
        if isinstance(index, ast.Constant) and index.value is None:
            found.append(ONE)
        elif isinstance(index, ast.Slice) and left:
            found.append(left.pop(0))
        else:
            return None
    return (*found, *left)


def reduced(shape: Shape | None, axis: ast.expr | None, *, kept: bool) -> Shape | None:
    """What is left of sizes after a sum along one axis, or along all."""
    if shape is None or kept:
        return None
    if axis is None:
        return ()
    try:
        place = ast.literal_eval(axis)
        return tuple(size for at, size in enumerate(shape) if at != range(len(shape))[place])
    except (ValueError, TypeError, IndexError):
        return None


def resized(
    name: str, shape: Shape | None, args: Sequence[ast.expr],
    sizes: Callable[[ast.expr | None], Shape | None],
) -> Shape | None:  # fmt: skip
    """What a function makes of sizes that it changes alone."""
    if name == "trans" and not args:
        return shape and shape[::-1]
    if name in ("reshape", "view", "broadcast_to") and len(args) == 1:
        return sizes(args[0])
    return None


def written_out(node: ast.expr, texts: Mapping[str, str]) -> str:
    """An expression as text, with names of ``texts`` replaced by what they stand for."""
    return ast.unparse(_WrittenOut(texts).visit(ast.parse(ast.unparse(node), mode="eval")))


class _WrittenOut(ast.NodeTransformer):
    """Writes out names that stand for constants."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:  # ast's own name
        """A name, or what it stands for."""
        text = self._texts.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


def joined(values: list[Value]) -> Value:
    """What becomes of values in one operation: sizes as broadcast, the dtype that all have."""
    shape: Shape | None = ()
    for each in values:
        shape = broadcast(shape, each.shape)
    dtypes = {each.dtype for each in values} - {""}
    dtype = "" if not dtypes else next(iter(dtypes)) if len(dtypes) == 1 else None
    points = next((each.points for each in values if each.points), "")
    return Value(shape, dtype, points)
