"""Operators of a library that is not installed, known to the dispatcher by shapes alone."""

import ast
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import torch
from torch import Tensor

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.schemas import LibrarySchema, OperatorSchema, Returned

Sizes = Mapping[str, Any]
"""What names stand for: a size, a list of sizes, or None where an argument was left out."""

_LARGEST = 1 << 48
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_FUNCTIONS: Mapping[str, Callable[..., int]] = {"min": min, "max": max}


class SizeError(ValueError):
    """An expression that is none, or that has no value here."""


class OpenSizeError(NotImplementedError):
    """A size that only the data knows."""


def dimensions(shape: Sequence[str], sizes: Sizes) -> list[int]:
    """The sizes that the expressions of a shape have.

    Raises:
        SizeError: one of them is not written as one, or has no value.
        OpenSizeError: one of them is an argument that was left out.
    """
    found: list[int] = []
    for text in shape:
        if text.endswith("..."):
            run = _named(text.removesuffix("...").strip(), sizes, text)
            found += run if isinstance(run, list | tuple) else [run]
        else:
            found.append(value_of(text, sizes))
    return found


def value_of(text: str, sizes: Sizes) -> int:
    """The value of one expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SizeError(Sentence("{text} is no expression of sizes", text=repr(text))) from error
    try:
        value = _value(tree, sizes, text)
    except ZeroDivisionError as error:
        raise SizeError(Sentence("{text} divides by zero", text=repr(text))) from error
    if isinstance(value, list | tuple):
        raise SizeError(
            Sentence(
                "{text} is a list; write {text_name}... for all of it, or {text_first}[0]",
                text=repr(text),
                text_name=text,
                text_first=text,
            )
        )
    if value < 0:
        raise SizeError(
            Sentence(
                "{text} is {text_value}, and no size is below 0", text=repr(text), text_value=value
            )
        )
    return int(value)


def _value(node: ast.expr, sizes: Sizes, text: str) -> Any:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return _named(name, sizes, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, sizes, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            value = _OPERATIONS[type(op)](_number(left, sizes, text), _number(right, sizes, text))
            if abs(value) > _LARGEST:
                raise SizeError(Sentence("{text} is larger than any tensor", text=repr(text)))
            return value
        case ast.Call(ast.Name(id=name), [_, _, *_] as args, []) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_number(arg, sizes, text) for arg in args))
        case ast.Subscript(value=ast.Name(id=name), slice=at):
            listed, place = _named(name, sizes, text), _number(at, sizes, text)
            if not isinstance(listed, list | tuple) or not -len(listed) <= place < len(listed):
                raise SizeError(
                    Sentence(
                        "{text}: {name} has no item {place}",
                        text=repr(text),
                        name=name,
                        place=place,
                    )
                )
            return listed[place]
    raise SizeError(
        Sentence(
            "{text} is no expression of sizes (names, numbers, + - * // %, min, max)",
            text=repr(text),
        )
    )


def _number(node: ast.expr, sizes: Sizes, text: str) -> Any:
    value = _value(node, sizes, text)
    if isinstance(value, list | tuple):
        raise SizeError(Sentence("{text} computes with a list", text=repr(text)))
    return value


def _named(name: str, sizes: Sizes, text: str) -> Any:
    if name not in sizes:
        raise SizeError(
            Sentence(
                "{text}: there is no {name}; known: {list}",
                text=repr(text),
                name=repr(name),
                list=", ".join(sorted(sizes)),
            )
        )
    if sizes[name] is None:
        raise OpenSizeError(f"the size {text!r} depends on data, as {name} is not given")
    return sizes[name]


_LIBRARIES: list[torch.library.Library] = []  # registrations live as long as their Library


def register(library: LibrarySchema) -> Mapping[str, Any]:
    """Define the library's operators that torch does not know yet; gives all of them by name.

    Raises:
        SourceError: a schema is none, or its rule speaks of arguments that it has not.
    """
    return {op: _registered(library, operator) for op, operator in library.operators.items()}


def parsed(library: LibrarySchema, where: str, signature: str) -> Any:
    """A signature as torch reads it.

    Raises:
        SourceError: it is none; the message names the file and the key.
    """
    try:
        return torch._C.parse_schema(signature)
    except RuntimeError as error:
        said = str(error).strip().partition("\n")[0].rstrip(": ")
        raise SourceError(
            Sentence(
                "{text_file}: expected a schema as PyTorch writes it (at {text}), {text_why}",
                text_file=library.path,
                text=where,
                text_why=said,
            ),
            Sentence("the form is (Tensor x, int dim=-1) -> Tensor"),
        ) from error


def _registered(library: LibrarySchema, operator: OperatorSchema) -> Any:
    namespace, _, name = operator.name.partition("::")
    where = f"operators > {operator.name} > signature"
    schema = parsed(library, where, operator.name + operator.signature)
    _require_sound(library, operator, schema)
    if not hasattr(getattr(torch.ops, namespace), name):
        made = torch.library.Library(namespace, "FRAGMENT")
        made.define(name + operator.signature)
        made.impl(name, _rule(operator, schema), "Meta")
        _LIBRARIES.append(made)
        if not schema.is_mutable:
            _differentiable(made, operator)
    return getattr(getattr(torch.ops, namespace), name)


def _require_sound(library: LibrarySchema, operator: OperatorSchema, schema: Any) -> None:
    known = {argument.name for argument in schema.arguments}
    asked = {one.like for one in operator.returns} | {*operator.sizes, *operator.only}
    asked |= {*operator.letters, *operator.letters.values()}
    asked |= {one.along for one in operator.returns if one.along}
    asked |= {one.dtype_of for one in operator.returns if one.dtype_of}
    for name in sorted(asked - known):
        raise SourceError(
            Sentence(
                "{text_file}: {op} has no argument {name} (at operators > {op_at})",
                text_file=library.path,
                op=operator.name,
                name=repr(name),
                op_at=operator.name,
            ),
            Sentence("its arguments: {list}", list=", ".join(sorted(known))),
        )
    tensors = sum(map(_is_tensor, schema.returns))
    if tensors != len(operator.returns):
        raise SourceError(
            Sentence(
                "{text_file}: expected {count} results, found {count_found} (at "
                "operators > {op} > returns)",
                text_file=library.path,
                count=tensors,
                count_found=len(operator.returns),
                op=operator.name,
            ),
            Sentence("there is one for each tensor that the signature returns"),
        )


def _is_tensor(returned: Any) -> bool:
    return str(returned.type) in ("Tensor", "Optional[Tensor]")


def _defaults(schema: Any) -> Mapping[str, Any]:
    """Every argument by name, with its default or None: the dispatcher leaves defaults out."""
    return {a.name: a.default_value if a.has_default_value() else None for a in schema.arguments}


def _rule(operator: OperatorSchema, schema: Any) -> Callable[..., Any]:
    """The shape rule, as a kernel for tensors without values; numbers that it gives are 0."""
    defaults = _defaults(schema)

    def rule(*args: Any, **kwargs: Any) -> Any:
        given = {**defaults, **dict(zip(defaults, args, strict=False)), **kwargs}
        try:
            sizes = _sizes(operator, given)
            tensors = iter([_made(one, given, sizes) for one in operator.returns])
        except OpenSizeError as error:
            raise OpenSizeError(f"{operator.name}: {error}") from error
        except SizeError as error:
            raise RuntimeError(f"{operator.name}: {error}") from error
        made = [next(tensors) if _is_tensor(one) else 0 for one in schema.returns]
        return made[0] if len(made) == 1 else tuple(made)

    return rule


def _sizes(operator: OperatorSchema, given: Mapping[str, Any]) -> dict[str, Any]:
    """What names stand for: arguments that are no tensors, and dimensions of tensors."""
    found = {name: value for name, value in given.items() if not isinstance(value, Tensor)}
    for name, layout in operator.letters.items():
        found |= _lettered(name, given[name], str(given[layout]))
    for name, wanted in operator.sizes.items():
        tensor = given.get(name)
        if not isinstance(tensor, Tensor):
            continue
        for size, value in _dimensions_of(name, wanted, tensor):
            expected = int(size) if size.isdigit() else found.setdefault(size, value)
            if expected != value:
                raise SizeError(
                    Sentence(
                        "{name} has {size} = {count}, and elsewhere it is {count_other}",
                        name=name,
                        size=size,
                        count=value,
                        count_other=expected,
                    )
                )
    return found


def _lettered(name: str, tensor: Tensor, layout: str) -> dict[str, Any]:
    """Dimensions by the letters of a layout; any other letter names no dimension at all."""
    if len(layout) != tensor.dim():
        raise SizeError(
            Sentence(
                "{name} has {count} dimensions, and its layout is {text}",
                name=name,
                count=tensor.dim(),
                text=repr(layout),
            )
        )
    return {letter: [] for letter in ascii_uppercase} | dict(zip(layout, tensor.shape, strict=True))


def _dimensions_of(name: str, wanted: Sequence[str], tensor: Tensor) -> list[tuple[str, Any]]:
    runs = [place for place, size in enumerate(wanted) if size.endswith("...")]
    shape = list(tensor.shape)
    extra = len(shape) - len(wanted)
    if extra < -len(runs) or len(runs) > 1 or (extra and not runs):
        raise SizeError(
            Sentence(
                "{name} has {count} dimensions, expected {list}",
                name=name,
                count=len(shape),
                list=", ".join(wanted),
            )
        )
    if not runs:
        return list(zip(wanted, shape, strict=True))
    at, end = runs[0], runs[0] + extra + 1
    run = (wanted[at].removesuffix("..."), shape[at:end])
    after = zip(wanted[at + 1 :], shape[end:], strict=True)
    return [*zip(wanted[:at], shape[:at], strict=True), run, *after]


def _made(one: Returned, given: Mapping[str, Any], sizes: Mapping[str, Any]) -> Tensor:
    like = given.get(one.like)
    if not isinstance(like, Tensor):
        raise SizeError(Sentence("{name}, which a result is like, was not given", name=one.like))
    dtype: torch.dtype = getattr(torch, one.dtype) if one.dtype else like.dtype
    dtype = given.get(one.dtype_of) or dtype
    if one.along:
        shape = list(like.shape)
        place = sizes.get(one.along)
        if not isinstance(place, int) or not -len(shape) <= place < len(shape):
            raise SizeError(
                Sentence(
                    "{name} = {text} is no dimension of {text_shape}",
                    name=one.along,
                    text=place,
                    text_shape=one.like,
                )
            )
        shape[place] = value_of(one.size, sizes)
        return like.new_empty(shape, dtype=dtype)
    if one.shape is None:
        return torch.empty_like(like, dtype=dtype)
    return like.new_empty(dimensions(one.shape, sizes), dtype=dtype)


def _differentiable(made: torch.library.Library, operator: OperatorSchema) -> None:
    """Let gradients through: they are what another operator gives, each like its input."""
    namespace, _, name = operator.name.partition("::")
    backward = operator.gradient.partition("::")[2] or f"{name}_backward"
    if not hasattr(getattr(torch.ops, namespace), backward):
        made.define(f"{backward}(Tensor[] grads, Tensor[] inputs) -> Tensor[]")
        made.impl(backward, lambda grads, inputs: [torch.empty_like(t) for t in inputs], "Meta")

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.wanted = [
            isinstance(value, Tensor) and value.is_floating_point() and value.requires_grad
            for value in inputs
        ]
        kept = (value for value, wanted in zip(inputs, ctx.wanted, strict=True) if wanted)
        ctx.save_for_backward(*kept)

    def gradients(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        given = [grad for grad in grads if isinstance(grad, Tensor)]
        op = getattr(getattr(torch.ops, namespace), backward)
        found = iter(op(given, list(ctx.saved_tensors)))
        return tuple(next(found) if wanted else None for wanted in ctx.wanted)

    torch.library.register_autograd(
        f"{namespace}::{name}", gradients, setup_context=setup, lib=made
    )
