"""The text of a module with a wrapper that pads, as it is written and as it is tried."""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from opcheck.rewrite.padding import bucketed
from opcheck.rewrite.padding.bucketed import Plan

Wrap = Callable[[nn.Module], nn.Module]

_TEMPLATE = '''"""{source} with inputs padded to few sizes, and its results cut back.

Written by opcheck fix --dynamic for {target}. wrapped(model) takes every size up
to the largest bucket, and calls the model with the sizes of buckets alone.
"""

{code}

PLAN = Plan(
    names={names!r},
    buckets={{
{buckets}
    }},
    padded=(
{padded}
    ),
    made=({made}),
    cuts=({cuts}),
)


def wrapped(model: nn.Module) -> Bucketed:
    """The model behind what pads its inputs and cuts its results."""
    return Bucketed(model, PLAN)
'''


def module_text(plan: Plan, source: str, target: str) -> str:
    """A module that needs torch alone."""
    text = inspect.getsource(bucketed)
    _, _, code = text.partition('"""\n\n')  # its own docstring goes
    return _TEMPLATE.format(
        source=source.replace("\\", "/").replace('"', "'"),
        target=target,
        code=code.rstrip() + "\n",
        names=plan.names,
        buckets="\n".join(f"        {name!r}: {sizes!r}," for name, sizes in plan.buckets.items()),
        padded=_rows(plan.padded, 8),
        made=_block(plan.made),
        cuts=_block(plan.cuts),
    )


def _rows(rows: tuple[Any, ...], indent: int) -> str:
    return "\n".join(f"{'':{indent}}{_call(row)}," for row in rows)


def _block(rows: tuple[Any, ...]) -> str:
    return f"\n{_rows(rows, 8)}\n    " if rows else ""


def _call(row: Any) -> str:
    parts = ", ".join(f"{name}={_number(value)}" for name, value in row._asdict().items())
    return f"{type(row).__name__}({parts})"


def _number(value: object) -> str:
    if value == float("-inf"):
        return 'float("-inf")'
    return repr(value)


def loaded(text: str) -> Wrap:
    """What the text of a module wraps a model with."""
    names: dict[str, Any] = {"__name__": "padded"}
    exec(compile(text, "padded.py", "exec"), names)  # the text that is written
    wrap: Wrap = names["wrapped"]
    return wrap
