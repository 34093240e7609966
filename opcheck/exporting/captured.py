"""A model captured by ``torch.export``, of the sizes of its inputs or of any in what is marked."""

import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.exporting import outputs
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import Cause, ExportRun, Stage
from opcheck.trace.calls.call_site import Site, from_error, is_internal, shown
from opcheck.trace.running.exported import code_of
from opcheck.trace.sizes.runs import Inputs, Sizes, axes_of, resized

_LONGEST = 100
"""Characters of a line of the model's code that are shown."""
_DECORATORS = 20
"""Lines of decorators that are looked through above a forward."""
_UNKNOWN_CLASS = re.compile(
    r"^(?:Found <class '(?P<given>.+?)'> in output|Unsupported input type <class '.+?'>)"
)
"""torch 2.13.0: ``torch/_functorch/_aot_autograd/utils.py:198`` of what a model gives,
``torch/_export/non_strict_utils.py:209`` of what it takes."""
_CACHES = "transformers.cache_utils."


def captured(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    marked: Sequence[DynamicInput] = (),
) -> torch.export.ExportedProgram:
    """The graph of a model, whose marked dimensions have no size of their own.

    Raises:
        UsageError: the model is given no such input, or it has no such dimension.
        Exception: whatever the model's code raises while it is captured; torch.export itself does
            where the graph holds for one size alone of what is marked.
    """
    args, kwargs, shapes = with_shapes(model, args, kwargs, marked)
    return torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)


def with_shapes(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    marked: Sequence[DynamicInput],
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Inputs, and the ``dynamic_shapes`` that ``torch.export`` takes for what is marked of them.

    Raises:
        UsageError: the model is given no such input, or it has no such dimension.
    """
    if not marked:
        return args, kwargs, None
    args, kwargs = _apart(args, kwargs)
    return args, kwargs, _shapes(marked, model, args, kwargs)


def _apart(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with a tensor object for each place: shapes are named by the object."""
    found: tuple[tuple[Any, ...], dict[str, Any]] = pytree.tree_map_only(
        Tensor, lambda tensor: tensor.view_as(tensor), (args, kwargs)
    )
    return found


def _shapes(
    marked: Sequence[DynamicInput],
    model: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:  # a ShapesCollection, which torch.export takes and its annotation leaves out
    """Every tensor with marked dimensions, and those of them that have no size of their own."""
    given: dict[int | str, Any] = dict(enumerate(args))
    given.update(kwargs)
    dims: dict[int, tuple[Tensor, dict[int, Any]]] = {}
    for axis in axes_of(marked, model, args, kwargs):
        for leaf in pytree.tree_leaves(given[axis.key]):
            if isinstance(leaf, Tensor) and leaf.dim() > axis.dim:
                dims.setdefault(id(leaf), (leaf, {}))[1][axis.dim] = torch.export.Dim.DYNAMIC
    found: Any = torch.export.ShapesCollection()
    for tensor, of_tensor in dims.values():
        found[tensor] = of_tensor
    return found


def other_sizes(
    marked: Sequence[DynamicInput],
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Iterator[tuple[Sizes, Inputs]]:
    """Inputs with one element more, and twice as many, in every marked dimension."""
    axes = axes_of(marked, model, args, kwargs)
    ways: tuple[Callable[[int], int], ...] = (lambda size: size + 1, lambda size: 2 * size)
    for grown in ways:
        sizes = {axis: grown(axis.size) for axis in axes}
        yield sizes, resized(args, kwargs, sizes)


def not_captured(error: Exception, model: torch.nn.Module) -> ExportRun:
    """What ended a capture: why, and at which line of the model's code.

    What the model takes or gives is looked at when its code has ended: the line is where its
    forward begins.
    """
    file, line = from_error(error)
    cause, code = _cause(error), _code(error, (file, line))
    if cause in (Cause.CACHE, Cause.CLASS):
        file, line, code = _forward_of(model)
    return ExportRun(
        Stage.CAPTURE,
        f"{type(error).__name__}: {_own_line(str(error))}",
        cause=cause,
        place=f"{file}:{line}" if file else "",
        code=code,
    )


def _forward_of(model: torch.nn.Module) -> tuple[str, int, str]:
    """Where the model's forward begins, and what stands there; nothing where it is no file's."""
    code = getattr(code_of(model), "__code__", None)
    if code is None or is_internal(code):
        return "", 0, ""
    for line in range(code.co_firstlineno, code.co_firstlineno + _DECORATORS):
        text = linecache.getline(code.co_filename, line).strip()
        if text.startswith("def "):
            return shown(code.co_filename), line, text[:_LONGEST]
    return "", 0, ""


def _cause(error: Exception) -> Cause:
    """Why, by what torch 2.6 to 2.13 say."""
    text = str(error)
    unknown = _UNKNOWN_CLASS.search(text)
    if unknown is not None:
        return Cause.CACHE if (unknown["given"] or "").startswith(_CACHES) else Cause.CLASS
    if text.startswith("Constraints violated"):
        return Cause.SIZE
    if "Could not extract specialized integer from data-dependent" in text:
        return Cause.NUMBER
    if "Could not guard on data-dependent" not in text:
        return Cause.OTHER
    return Cause.VALUE if "(Size-like symbols: none)" in text else Cause.DATA_SIZE


def _own_line(text: str) -> str:
    """The line of an error that says what happened: the first, but of sizes the one about them."""
    lines = text.strip().splitlines() or [""]
    sizes = [line.strip() for line in lines if line.strip().startswith("- ")]
    chosen = sizes[0] if sizes and lines[0].startswith("Constraints violated") else lines[0]
    return chosen.strip().removeprefix("- ").partition(" If you're using")[0][:300]


def _code(error: BaseException, site: Site) -> str:
    """The text of the line that an error passed."""
    step = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if step.tb_lineno == site[1] and shown(file) == site[0]:
            return linecache.getline(file, step.tb_lineno).strip()[:_LONGEST]
        step = step.tb_next
    return ""


def ran(
    found: ExportRun,
    model: torch.nn.Module,
    inputs: Inputs,
    marked: Sequence[DynamicInput],
    run: Callable[[Inputs], list[Tensor]],
    told: Callable[[BaseException], str] = outputs.told,
) -> ExportRun:
    """What ``run`` gives beside PyTorch's, on the inputs and then on ones of other sizes.

    The sizes are those of the first other inputs that the model itself takes.
    """
    found = _beside(found, model, inputs, run, told)
    if not marked or found.stage is not Stage.PROVED:
        return found
    for sizes, others in other_sizes(marked, model, *inputs):
        try:
            outputs.of_model(model, *others)
        except Exception:  # the model takes no such size, on any runtime
            continue
        named = tuple((str(axis), size) for axis, size in sizes.items())
        again = _beside(found, model, others, run, told)
        return replace(again, sizes=named, differences=found.differences)
    return found


def _beside(
    found: ExportRun,
    model: torch.nn.Module,
    inputs: Inputs,
    run: Callable[[Inputs], list[Tensor]],
    told: Callable[[BaseException], str],
) -> ExportRun:
    first, again = (outputs.of_model(model, *inputs) for _ in range(2))
    try:
        got = run(inputs)
    except Exception as error:  # whatever the runtime raises
        return replace(found, stage=Stage.RUNTIME, error=told(error))
    return outputs.compared(found, first, again, got)
