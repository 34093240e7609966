"""What PyTorch imports only while a model runs: left out, or loaded once for many runs."""

import contextlib
import gc
import importlib
from types import CodeType, FunctionType

BY_SHAPES = "torch.fx.experimental.symbolic_shapes"
"""What the shapes of most operators come to import, and sympy with it."""
BY_OPTIMIZERS = "torch._dynamo"
"""What ``Optimizer.step`` imports; nothing else that a worker does."""


def load_for_runs(*, training: bool) -> None:
    """Import what runs of a model would each import in a process of their own."""
    for name in (BY_SHAPES, BY_OPTIMIZERS) if training else (BY_SHAPES,):
        with contextlib.suppress(ImportError):  # told by the run that needs it
            importlib.import_module(name)


def leave_compiler_out() -> None:
    """Have functions that the compiler must not look into run without asking it to look away.

    Each loads the whole compiler when it is first called, and shapes of ``addmm`` come from one.
    It finds none among what the collector was told to leave: what is copied calls this before.
    Checked with torch 2.13: what ``torch._compile._disable_dynamo`` gives keeps as an attribute of
    ``fn`` what it calls in its place. A torch that does otherwise loads its compiler as before.
    """
    from torch import _compile

    codes = [
        constant
        for constant in _compile._disable_dynamo.__code__.co_consts
        if isinstance(constant, CodeType) and "__dynamo_disable" in constant.co_consts
    ]
    for found in gc.get_objects():
        if type(found) is FunctionType and found.__code__ in codes:
            cells = dict(zip(found.__code__.co_freevars, found.__closure__ or (), strict=True))
            function = cells["fn"].cell_contents
            vars(function).setdefault("__dynamo_disable", function)
