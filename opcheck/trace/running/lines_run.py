"""Which lines of methods run, where it matters what a line names.

The interpreter tells of lines at a price that every function pays; so only methods that may name
something are heard, by a wrapper that stands for them in their class while a model runs.
"""

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from msgspec import Struct

_LEFT_OUT = frozenset({"torch", "opcheck", "__main__", *sys.stdlib_module_names})
"""Packages whose methods are not looked at: none of them may be PyTorch's own tracer, or ours."""
_HEAP = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: Python code made the class, not C."""
Matters = Callable[[CodeType, Mapping[str, Any]], bool]
"""Whether code, in a module with these names, names something."""


class _Heard(Struct):
    """A method that is heard."""

    code: CodeType
    lines: set[int]
    calls: int = 0


class LinesRun:
    """The lines of methods that ran in a block."""

    def __init__(self, matters: Matters) -> None:
        self._matters = matters
        self._heard: dict[CodeType, _Heard] = {}
        self._resting = False
        self._telling = False
        """Whether a method is at work of which the interpreter tells lines."""
        self._alone = True
        """Whether nobody else was told of lines."""

    @contextmanager
    def during(self) -> Iterator[None]:
        """Hear the methods of all classes that are there when the block begins."""
        with ExitStack() as undo:
            for kind, name, method in [*_methods()]:
                if not self._matters(method.__code__, method.__globals__):
                    continue
                # not what a metaclass of the model's makes of it
                type.__setattr__(kind, name, self._standing_for(method))
                undo.callback(type.__setattr__, kind, name, method)
            yield

    def rest(self, rests: bool) -> bool:
        """From here on hear nothing, or all; gives whether nothing was heard before."""
        before, self._resting = self._resting, rests
        if self._telling and before != rests:  # being told is slow even where nobody hears
            teller = sys.gettrace()
            self._alone &= teller == (self._begun if rests else None)
            if rests and teller == self._begun:
                sys.settrace(None)
            elif not rests and teller is None:
                sys.settrace(self._begun)
        return before

    def of(self, code: CodeType, calls: int) -> set[int] | None:
        """The lines that ran of code that was called so often; None: not every call was heard."""
        heard = self._heard.get(code)
        return heard.lines if heard and self._alone and heard.calls == calls else None

    def _standing_for(self, method: FunctionType) -> Callable[..., Any]:
        heard = self._heard.setdefault(method.__code__, _Heard(method.__code__, set()))

        @functools.wraps(method)
        def hearing(*args: Any, **kwargs: Any) -> Any:
            if self._resting:
                return method(*args, **kwargs)
            heard.calls += 1
            teller = sys.gettrace()
            if teller is not None:
                self._alone &= teller == self._begun
                return method(*args, **kwargs)
            self._telling = True
            sys.settrace(self._begun)
            try:
                return method(*args, **kwargs)
            finally:
                self._alone &= sys.gettrace() == self._begun
                sys.settrace(None)
                self._telling = False

        return hearing

    def _begun(self, frame: FrameType, _: str, __: object) -> Callable[..., Any] | None:
        heard = None if self._resting else self._heard.get(frame.f_code)
        if heard is None:
            return None
        add = heard.lines.add

        def ran(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            if event == "line":
                add(frame.f_lineno)
            return ran

        return ran


def _methods() -> Iterator[tuple[type, str, FunctionType]]:
    """Every plain method of the classes of libraries and of models."""
    for module_name, module in [*sys.modules.items()]:
        if module_name.partition(".")[0] in _LEFT_OUT or not isinstance(module, ModuleType):
            continue
        for kind in [*vars(module).values()]:
            if isinstance(kind, type) and kind.__module__ == module_name:
                for name, method in [*vars(kind).items()]:
                    if isinstance(method, FunctionType):
                        yield kind, name, method
