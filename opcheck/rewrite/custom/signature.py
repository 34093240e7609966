"""An overload's schema, and the calls that a model makes of it, as a project needs them."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import torch
from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from opcheck.rewrite.variants import functional
from opcheck.trace.torch_internals.dispatcher import overload_named


class Argument(Struct, frozen=True):
    """One argument of the overload that gives a new result."""

    name: str
    kind: str
    """The schema's type: ``Tensor``, ``Tensor?``, ``int``, ``float``, ``bool``, ``number``,
    ``int[]``, ``ScalarType``; with ``?`` where it may be left out."""
    keyword: bool
    """Whether it is given by name alone."""
    default: str
    """As Python writes it; "" without one."""

    @property
    def tensor(self) -> bool:
        """Whether it is a tensor."""
        return self.kind.startswith("Tensor")

    @property
    def optional(self) -> bool:
        """Whether it may be None."""
        return self.kind.endswith("?")

    @property
    def passed(self) -> bool:
        """Whether the kernel is given it; a dtype only decides what comes out."""
        return self.kind.rstrip("?") in _VALUES

    @property
    def value_type(self) -> str:
        """The C++ type in which the kernel gets it."""
        return _VALUES[self.kind.rstrip("?")]


_VALUES = {"int": "int64_t", "float": "double", "bool": "bool", "number": "double",
           "int[]": "List"}  # fmt: skip


class Form(Struct, frozen=True):
    """Another overload that the same kernel serves: it writes what the other gives."""

    op: str
    outs: tuple[str, ...]
    """Names of what it writes; empty where it writes its first argument."""


class Signature(Struct, frozen=True):
    """What a project is written for."""

    op: str
    """The overload that gives a new result, or the one asked for where there is none."""
    schema: str
    arguments: tuple[Argument, ...]
    results: int
    """Tensors that it gives."""
    forms: tuple[Form, ...]
    pointwise: bool
    """Whether each number of the result depends on one number of each tensor."""
    core: bool
    """Whether PyTorch counts it among its core operators."""
    formula: bool
    """Whether PyTorch differentiates it by itself."""
    composite: bool
    """Whether PyTorch computes it by other operators, and differentiates those."""

    @property
    def name(self) -> OpName:
        """Its name in parts."""
        return OpName.parse(self.op)

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The arguments that are tensors."""
        return tuple(a for a in self.arguments if a.tensor)

    @property
    def values(self) -> tuple[Argument, ...]:
        """The other arguments that a kernel is given."""
        return tuple(a for a in self.arguments if a.passed)

    @property
    def dtype_argument(self) -> bool:
        """Whether a dtype can be asked for."""
        return any(a.kind.startswith("ScalarType") for a in self.arguments)


@cache
def signature(op: str) -> Signature | str:
    """What a project for an overload is written for; a sentence where none can be."""
    if overload_named(op) is None:
        return Sentence(
            "{op} is no overload that torch {version} has", op=op, version=torch.__version__
        )
    base = functional(op)
    func = overload_named(base) if base else None
    if func is None or func._schema.is_mutable:
        return "it changes what it is given, and no overload gives that as a new result"
    schema = func._schema
    if torch.Tag.nondeterministic_seeded in func.tags and base not in _DRAWS_IF_ASKED:
        return "it draws random numbers, from a generator that only the vendor's plugin has"
    arguments = tuple(_argument(a) for a in schema.arguments)
    for argument in arguments:
        if argument.kind.rstrip("?") not in {"Tensor", "ScalarType", *_VALUES}:
            return Sentence(
                "its argument {name} is a {kind}, which no kernel is given",
                name=argument.name,
                kind=argument.kind,
            )
    if not arguments or arguments[0].kind != "Tensor":
        return "its first argument is no tensor, so that its device is not known"
    if not schema.returns or any(str(r.type) != "Tensor" for r in schema.returns):
        return "what it gives is no tensor"
    forms = tuple(_forms(base))
    return Signature(
        op=base,
        schema=str(schema),
        arguments=arguments,
        results=len(schema.returns),
        forms=forms,
        pointwise=torch.Tag.pointwise in func.tags and len(schema.returns) == 1,
        core=torch.Tag.core in func.tags,
        formula=_differentiated(base),
        composite=_composite(base),
    )


_DRAWS_IF_ASKED = ("aten::scaled_dot_product_attention",)
"""What draws for dropout alone, which its kernel refuses."""


def _differentiated(op: str) -> bool:
    """Whether an autograd kernel of PyTorch's stays in force above a kernel of the device."""
    if _composite(op):  # it gives way to the device's kernel, gradient and all
        return False
    # private: torch 2.13
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key(op, "AutogradCUDA")


def _composite(op: str) -> bool:
    # private: torch 2.13
    return torch._C._dispatch_has_kernel_for_dispatch_key(op, "CompositeImplicitAutograd")


def _forms(base: str) -> list[Form]:
    parsed = OpName.parse(base)
    found = []
    for name in (parsed.base, f"{parsed.base}_"):
        packet = getattr(getattr(torch.ops, parsed.namespace), name, None)
        for overload in () if packet is None else packet.overloads():
            func = getattr(packet, overload)
            op = str(OpName.parse(func.name()))
            if op != base and functional(op) == base:
                outs = tuple(a.name for a in func._schema.arguments if a.is_out)
                found.append(Form(op, outs))
    return sorted(found, key=lambda form: form.op)


def _argument(argument: Any) -> Argument:
    default = repr(argument.default_value) if argument.has_default_value() else ""
    return Argument(argument.name, _kind(argument), argument.kwarg_only, default)


def _kind(argument: Any) -> str:
    real = str(getattr(argument, "real_type", argument.type))
    for old, new in (("List[int]", "int[]"), ("List[Tensor]", "Tensor[]"), ("SymInt", "int")):
        real = real.replace(old, new)
    if real.startswith("Optional["):
        return f"{real.removeprefix('Optional[').removesuffix(']')}?"
    return real


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
        shape = ", ".join(f"{name}: {_value_text(value)}" for name, value in arguments)
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
            raise ValueError(Sentence("a trace keeps no value of {name}", name=text or kind))
        case tuple():
            return f"[{', '.join(map(_written, value))}]"
        case float():
            return repr(value) if value - value == 0 else f'float("{value}")'
        case _:
            return repr(value)


def _value_text(value: Value) -> str:
    match value:
        case TensorMeta():
            return f"{value.dtype}[{','.join(map(str, value.shape))}]"
        case tuple():
            return f"[{', '.join(map(_value_text, value))}]"
        case _:
            return str(value)
