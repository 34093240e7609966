"""Every call that reaches the device, run on the host as well, and compared.

Private torch API used here, checked on 2.13.0: ``torch._C._dispatch_dump``,
``torch._C._dispatch_has_kernel_for_dispatch_key`` and ``torch._C._current_graph_task_id``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opcheck.errors import EmulationError
from opcheck.model.probe import Observed, Outcome
from opcheck.model.trace import Phase, TensorMeta, Value
from opcheck.runtime.probe.arguments import arguments, copied, resolving, value_of

_UNINITIALISED = re.compile(r"(new_)?empty|resize|_resize|set_|_reshape_alias|_efficientzerotensor")
"""Overloads whose values are whatever the memory held, by the beginning of their names."""
_FIRST_ALONE = frozenset(
    {"topk", "sort", "kthvalue", "mode", "median", "nanmedian", "max", "min", "cummax", "cummin"}
    | {"max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d"}
    | {"adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "_ctc_loss"}
)
"""Overloads whose second result says where, and of equal values any may be meant, or is in part not
written."""
_ANY_OF_SEVERAL = frozenset(
    {"_linalg_svd", "_linalg_eigh", "linalg_eig", "linalg_qr", "geqrf", "_linalg_det"}
    | {"_linalg_slogdet", "linalg_lu_factor_ex", "linalg_lu", "_linalg_solve_ex", "argsort"}
    | {"linalg_ldl_factor_ex", "_unique2", "argmax", "argmin"}
)
"""Overloads that have several right answers: signs, pivots, places of equal values."""


def first_line(error: Exception) -> str:
    """The type of an error and the first line of its text."""
    return f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0]


def comparable(func: Any) -> bool:
    """Whether it gives the same values wherever it runs."""
    base = func._schema.name.partition("::")[2]
    random = torch.Tag.nondeterministic_seeded in func.tags
    return not (random or base in _ANY_OF_SEVERAL or _UNINITIALISED.match(base))


def expected(func: Any, copies: Any) -> Any:
    """What the host gives; None where it gives nothing."""
    try:
        return None if copies is None else func(*copies[0], **copies[1])
    except Exception:  # the device's own error is what is told
        return None


def compared(call: Observed, func: Any, copies: Any, found: Any, given: Any) -> Observed:
    """Hold the results, and what was written to, against the host's."""
    try:
        host = func(*copies[0], **copies[1])
    except Exception as error:  # the host has no such kernel, or refuses the call
        return replace(call, text=f"the host gives nothing to compare with: {first_line(error)}")
    ours, theirs = tensors(found), tensors(host)
    if call.op.partition("::")[2].partition(".")[0] in _FIRST_ALONE:
        ours, theirs = ours[:1], theirs[:1]
    if func._schema.is_mutable:
        ours, theirs = [*ours, *tensors(given)], [*theirs, *tensors(copies)]
    try:
        torch.testing.assert_close(
            [tensor.detach().cpu() for tensor in ours], [tensor.detach() for tensor in theirs],
            equal_nan=True, check_dtype=False, check_layout=False, check_stride=False,
        )  # fmt: skip
    except AssertionError as error:
        return replace(call, outcome=Outcome.WRONG, text=_off(error))
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        return replace(call, text=f"its result cannot be read: {first_line(error)}")
    return replace(call, text=_dtypes(ours, theirs))


def _off(error: AssertionError) -> str:
    """What ``torch.testing`` says, on one line."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _dtypes(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> str:
    """Where results are of another dtype than the host's, their values being close."""
    pairs = {
        f"gives {a.dtype} where the host gives {b.dtype}".replace("torch.", ""): None
        for a, b in zip(ours, theirs, strict=True)
        if a.dtype != b.dtype
    }
    return ", ".join(pairs)


def tensors(value: Any) -> list[Tensor]:
    """Every tensor in nested values, in order."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


Tell = Callable[[Observed], None]
KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "xla": "XLA", "hpu": "HPU"}
"""Device type -> dispatch key of its kernels; PrivateUse1 for all others."""
_COMPOSITE = re.compile(r"^Composite\w+\[alias\]:", re.MULTILINE)


class Tries(Struct, frozen=True):
    """A device, and what there is to ask beside calling it."""

    device: torch.device
    registered: Callable[[str], bool]
    """Whether it has a kernel for an overload."""
    fell_back: Callable[[], tuple[str, ...]]
    """Overloads that ran on the host since this was asked last, as its runtime says."""
    inside: Callable[[], bool] = lambda: False
    """Whether what is called now is done by a kernel, and not asked of the device."""


_NO_RESULT = object()
"""What a call that fails in backward gives: C++ refuses it, which ends the backward. An exception
would end the process where the device is a plugin's. Checked on 2.13.0."""


class Held(TorchDispatchMode):
    """Runs each call of the device on copies of its arguments on the host, too."""

    def __init__(
        self,
        on: Tries,
        hosted: dict[str, tuple[str, ...]],
        announce: Tell,
    ) -> None:
        """``hosted`` is shared by all samples of a process: what is known to run on the host."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._on = on
        self._device = on.device
        self._hosted = hosted
        self._announce = announce
        self.phase = Phase.FORWARD
        self.seen: list[Observed] = []
        """Every distinct call, in order."""
        self._in_backward: Exception | None = None

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Give what a call in backward raised in the place of what came of that."""
        self._in_backward = None
        try:
            yield
        except Exception:
            if self._in_backward is None:
                raise
            raise self._in_backward from None

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Announce the call, make it, and note what came of it."""
        given = (args, dict(kwargs or {}))
        if not isinstance(func, OpOverload) or self._on.inside() or not self._concerned(given):
            return func(*given[0], **given[1])
        try:
            with resolving():
                return self._held(func, given)
        except Exception as error:
            if torch._C._current_graph_task_id() == -1:
                raise
            self._in_backward = self._in_backward or error
            return _NO_RESULT

    def _held(self, func: OpOverload, given: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        call = self._observed(func, given)
        self._announce(call)
        copies = self._on_host(given)
        self._on.fell_back()  # what the copies asked for is not this call's
        try:
            found = func(*given[0], **given[1])
            self._wait()
        except EmulationError:  # says that this is not emulated, and nothing of the device
            raise
        except Exception as error:  # whatever the device raises is what came of it
            results = self._metas(expected(func, copies))
            text = first_line(error)
            self._note(replace(call, outcome=Outcome.RAISES, text=text, results=results))
            raise
        call = replace(self._fallen(call), results=self._metas(found))
        if copies is not None and comparable(func):
            call = compared(call, func, copies, found, given)
        self._note(call)
        return found

    def _concerned(self, given: Any) -> bool:
        return any(
            (isinstance(leaf, Tensor) and leaf.device.type == self._device.type)
            or (isinstance(leaf, torch.device) and leaf.type == self._device.type)
            for leaf in tree_leaves(given)
        )

    def _observed(self, func: Any, given: Any) -> Observed:
        return Observed(
            op=func.name(),
            arguments=arguments(func, given[0], given[1], self._device.type),
            phase=self.phase,
            outcome=Outcome.CRASHES,
            registered=self._on.registered(func.name()),
            composite=_is_composite(func.name()),
        )

    def _on_host(self, given: Any) -> Any:
        """Copies of the arguments; None where the device does not give them."""
        try:
            return copied(given)
        except (RuntimeError, NotImplementedError):
            return None

    def _metas(self, results: Any) -> tuple[Value, ...]:
        """Results without their values, all as if they were on the device."""
        return tuple(
            replace(meta, host=False)
            for tensor in tensors(results)
            if isinstance(meta := value_of(tensor, self._device.type), TensorMeta)
        )

    def _wait(self) -> None:
        """Have errors of the call be raised here, and not by a later one."""
        module: Any = getattr(torch, self._device.type, None)
        if self._device.type != "cpu" and hasattr(module, "synchronize"):
            module.synchronize()

    def _fallen(self, call: Observed) -> Observed:
        """Mark a call that ran on the host; a runtime may say so of its first call alone."""
        names = self._on.fell_back()
        if names:
            self._hosted[call.op] = names
        elif not call.registered:
            names = self._hosted.get(call.op, ())
        outcome = Outcome.FALLS_BACK if names else Outcome.WORKS
        return replace(call, outcome=outcome, fell_back=names)

    def _note(self, call: Observed) -> None:
        if call not in self.seen:
            self.seen.append(call)


def has_kernel(device_type: str, name: str) -> bool:
    """Whether the dispatcher has a kernel of the device's for an overload."""
    key = KEYS.get(device_type, "PrivateUse1")
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


@cache
def _is_composite(name: str) -> bool:
    return bool(_COMPOSITE.search(torch._C._dispatch_dump(name)))
