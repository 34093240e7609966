"""A model on the accelerator that is here, with the same call everywhere."""

import threading
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn

from opcheck.db.store import Database
from opcheck.errors import InferenceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.runtime import failures
from opcheck.runtime.batching import Call, NotByRowsError, groups, joined, mapped, parted, placed
from opcheck.runtime.device import DetectedDevice, detect_device
from opcheck.runtime.failures import told
from opcheck.runtime.loading import Given, Placing, given, program_on
from opcheck.runtime.precision import Precision, casting, chosen, narrow_dtype, settled
from opcheck.runtime.shims import Registered, from_file, matrix_of, planned

AUTO = "auto"
_HOST = torch.device("cpu")


class Inferencer:
    """Runs one model on one device: inputs come from the host, outputs go back to it.

    The module that is given has its weights on the device and is in evaluation mode meanwhile;
    :meth:`close`, or the end of a ``with`` block, gives it back as it was.
    """

    def __init__(
        self,
        model_or_path: nn.Module | Callable[[], nn.Module] | str | Path,
        device: str | torch.device | DetectedDevice = AUTO,
        precision: str = AUTO,
        shim: str | Path | None = AUTO,
        *,
        allow: str = "exact",
        trust: bool = False,
    ) -> None:
        """Put a model on a device.

        Args:
            model_or_path: a module, a function without arguments that makes one, or what ``opcheck
                scan`` takes: a ``.pt2`` or TorchScript file, ``file.py:NAME``, a folder that
                transformers saved, ``timm:NAME``. Of a source without weights of its own they
                are random, which is warned of.
            device: ``auto``, what :func:`detect_device` gave, or a priority as it takes one:
                ``"npu,cpu"``.
            precision: ``auto``: what the weights are in, else bfloat16 or float16 by autocast where
                the database says that the chip computes in it, else float32. Or ``float32``,
                ``bfloat16``, ``float16``.
            shim: ``auto``: before the first call, kernels are planned and registered for what the
                model calls and the device lacks. Or a file that ``opcheck fix --shim`` wrote. None:
                neither.
            allow: how far the values of a planned kernel may be off: ``exact``, ``tolerance``,
                ``approximate``.
            trust: whether code that is pickled inside the file may be run.

        Raises:
            UsageError: an argument is none of these, or the chip does not have the precision.
            InferenceError: the device is not here, its memory does not do, or no such shim.
            SourceError: the file cannot be read, or not without trust.
            DatabaseError: the database cannot be read.
        """
        self._allow = _label(allow)
        self.device = device if isinstance(device, DetectedDevice) else _found(device)
        """Where it runs, and how that was found."""
        self._database = Database.open()
        self._matrix = matrix_of(self.device, self._database, torch.__version__)
        self._lock = threading.Lock()
        self._by_rows = True
        self._given = given(model_or_path, trust=trust)
        self._precisions = self._chosen(precision)
        self.precision = self._precisions[0]
        """What it computes in, and why; the first call may show that the next best has to do."""
        self._plan = shim == AUTO
        self._prepared = False
        self._kernels = Registered([])
        if shim is not None and shim != AUTO:
            self._kernels = from_file(Path(shim))
        self._placing = Placing(self._given.module or nn.Module())
        self._model: nn.Module | None = None
        try:
            self._model = self._placed()
        except BaseException:
            self.close()
            raise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model once; tensors in the result are on the host, in float32 where autocast ran.

        Raises:
            InferenceError: the device ran out of memory, or has no kernel for what is asked, or
                this was closed.
        """
        call = Call(args, kwargs)
        self._prepare(call)
        return self._run(call)

    def batch(self, inputs: Iterable[Any], max_batch: int = 32) -> list[Any]:
        """Give what one call for each of ``inputs`` gives, in as few calls as shapes allow.

        Those of the same structure, dtypes and shapes but for the first dimension are joined along
        it, and nothing is padded. A call whose tensors do not all begin with as many rows is made
        alone; so is every call where the model's results have not as many rows as its inputs. What
        is no tensor in a result is given to each as it is.

        Args:
            inputs: each a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict).
            max_batch: most rows in one call; an input that has more alone is not taken apart.

        Raises:
            UsageError: ``max_batch`` is less than 1.
            InferenceError: as a call.
        """
        if max_batch < 1:
            raise UsageError(
                Sentence("max_batch is {text}", text=max_batch), Sentence("it is 1 or more")
            )
        calls = [Call.of(one) for one in inputs]
        results: dict[int, Any] = {}
        for positions in groups(calls, max_batch):
            members = [calls[position] for position in positions]
            results.update(zip(positions, self._together(members), strict=True))
        return [results[position] for position in range(len(calls))]

    def warm_up(self, *args: Any, **kwargs: Any) -> Self:
        """Make what only a first call makes: the shim, compiled kernels, the allocator's pools."""
        call = Call(args, kwargs)
        self._prepare(call)
        for _ in range(2):
            self._run(call)
        self.synchronize()
        return self

    def synchronize(self) -> None:
        """Wait until the device has done all that was asked of it; results are there before."""
        failures.synchronize(self.device)

    def close(self) -> None:
        """Give the model back as it was, take the shim's kernels away, and free the device."""
        self._kernels.drop()
        self._model = None
        self._placing.back()
        # what was made here goes with the last of these
        self._given, self._placing = Given(None), Placing(nn.Module())
        failures.release(self.device)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _chosen(self, asked: str) -> tuple[Precision, ...]:
        weights = self._given.weights
        if self._given.program is not None and asked == AUTO:
            # it says itself, between its calls, what its tensors have to be in
            return (Precision(narrow_dtype(weights) or torch.float32, "it was exported so"),)
        return chosen(asked, self.device, weights, self._database, self._matrix)

    def _placed(self) -> nn.Module:
        """The model where it runs."""
        device = self.device.device
        with told(self.device, Sentence("for the weights")):
            if self._given.program is not None:
                return program_on(self._given.program, device)
            widened = self.precision.dtype == torch.float32
            placed = self._placing.put(device, widened=widened)
            if self._given.ours:
                self._placing.forget()
            return placed

    def _prepare(self, call: Call) -> None:
        """Settle the precision and plan the shim, before the first call alone."""
        model = self._require_open()
        with self._lock:
            if self._prepared or self._matrix is None:
                return
            self._prepared = True
            found = settled(model, call, self._precisions, self._matrix, always=self._plan)
            self.precision = found.precision
            if self._plan and found.trace is not None:
                self._kernels = planned(found.trace, self._matrix, self._database, self._allow)

    def _together(self, calls: list[Call]) -> list[Any]:
        """What calls give that were joined; each by itself where they cannot be parted again."""
        self._prepare(calls[0])
        if len(calls) > 1 and self._by_rows:
            result = self._run(joined(calls))
            try:
                return parted(result, [call.rows for call in calls])
            except NotByRowsError:
                self._by_rows = False
                warnings.warn(
                    "the model's results have not as many rows as its inputs, so its calls are "
                    "made one by one",
                    RuntimeWarning,
                    stacklevel=3,
                )
        return [self._run(call) for call in calls]

    def _run(self, call: Call) -> Any:
        model = self._require_open()
        args, kwargs = call.whole
        kind = self.device.device.type
        doing = told(self.device, _in_a_call(call.rows))
        with doing, torch.inference_mode(), casting(kind, self.precision):
            inputs: Any = placed((args, kwargs), self.device.device)
            result = placed(model(*inputs[0], **inputs[1]), _HOST)
        return mapped(result, self._widened) if self.precision.autocast else result

    def _widened(self, tensor: Tensor) -> Tensor:
        return tensor.float() if tensor.dtype == self.precision.dtype else tensor

    def _require_open(self) -> nn.Module:
        if self._model is None:
            raise InferenceError(
                Sentence("this Inferencer was closed"), Sentence("make another one")
            )
        return self._model


def _found(device: str | torch.device) -> DetectedDevice:
    return detect_device(None if device == AUTO else str(device))


def _in_a_call(rows: int | None) -> Sentence:
    if not rows:
        return Sentence("in a call of no rows")
    said = "in a call of {count} row" if rows == 1 else "in a call of {count} rows"
    return Sentence(said, count=f"{rows:,}")


def _label(text: str) -> Label:
    try:
        return Label(text)
    except ValueError as error:
        raise UsageError(
            Sentence("no such label: {text}", text=repr(text)),
            Sentence("it is one of {list}", list=", ".join(Label)),
        ) from error
