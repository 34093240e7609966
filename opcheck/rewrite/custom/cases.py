"""The calls that a model makes of an overload, as cases for a project's test."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from opcheck.model.trace import Constant, Node, TensorMeta, Value
from opcheck.rewrite.custom.signature import Signature


class Cases(Struct, frozen=True):
    """What a test is run with."""

    given: tuple[str, ...]
    """Python that makes the arguments of one call, by name; each once."""
    skipped: tuple[str, ...]
    """What could not be written down, and why."""
    shapes: tuple[str, ...]
    """The same for people: ``self: float32[8,16], dim: 1``."""


def cases(signature: Signature, nodes: Iterable[Node]) -> Cases:
    """Write down the calls of the overload, or of a form of it, among ``nodes``."""
    given: dict[str, str] = {}
    skipped: dict[str, None] = {}
    for node in nodes:
        kept = [a.name for a in signature.arguments]
        arguments = [(name, value) for name, value in node.arguments if name in kept]
        shape = ", ".join(f"{name}: {_said(value)}" for name, value in arguments)
        try:
            given.setdefault(f"dict({', '.join(_all(arguments))})", shape)
        except ValueError as error:
            skipped[f"{shape}: {error}"] = None
    return Cases(tuple(given), tuple(skipped), tuple(given.values()))


def complex_numbers(nodes: Iterable[Node]) -> str:
    """Why no kernel can be written for calls with complex numbers; "" where there are none."""
    for node in nodes:
        tensors = (*(tensor for _, tensor in node.tensors()), *node.output_tensors())
        if any(tensor.dtype.startswith("complex") for tensor in tensors):
            return "it is called with complex numbers, which the kernels written here do not know"
    return ""


def _all(arguments: Iterable[tuple[str, Value]]) -> Iterator[str]:
    for name, value in arguments:
        if not (isinstance(value, Constant) and value.kind == "device"):
            yield f"{name}={_written(value)}"


def _written(value: Value) -> str:
    match value:
        case TensorMeta():
            return f"tensor({value.shape!r}, {value.stride!r}, torch.{value.dtype})"
        case Constant(kind="dtype" | "layout" | "memory_format", value=text):
            return f"torch.{text}"
        case Constant(kind=kind, value=text):
            raise ValueError(f"a trace keeps no value of {text or kind}")
        case tuple():
            return f"[{', '.join(map(_written, value))}]"
        case float():
            return repr(value) if value - value == 0 else f'float("{value}")'
        case _:
            return repr(value)


def _said(value: Value) -> str:
    match value:
        case TensorMeta():
            return f"{value.dtype}[{','.join(map(str, value.shape))}]"
        case tuple():
            return f"[{', '.join(map(_said, value))}]"
        case _:
            return str(value)
