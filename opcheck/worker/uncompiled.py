"""PyTorch's compiler left out of a process in which nothing is compiled: loading it takes long."""

import gc
from types import CodeType, FunctionType


def leave_compiler_out() -> None:
    """Have functions that the compiler must not look into run without asking it to look away.

    Each loads the whole compiler when it is first called, and shapes of ``addmm`` come from one.
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
