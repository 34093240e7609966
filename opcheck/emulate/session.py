"""``with opcheck.emulate("ascend-910b") as device:`` — one emulated device, open for a while."""

import runpy
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch.utils import backend_registration

from opcheck.db.by_hand.libraries import FOLDER, Schemas
from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.emulate.collectives import collecting
from opcheck.emulate.device import Device
from opcheck.emulate.gradients import overridden, vendor_gradients
from opcheck.emulate.memory import allocated, pinning
from opcheck.emulate.patches import as_cuda, optimizer_noticed, printable, printed, set_until
from opcheck.emulate.refusals import closed, layouts_refused
from opcheck.emulate.registration import registered
from opcheck.emulate.supported import require_emulated
from opcheck.emulate.tensor_types import default_noted
from opcheck.errors import EmulationError, TraceError, UsageError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.kernel_code.launching import listening
from opcheck.lang.sentence import Sentence, sentence_of, verbatim
from opcheck.model.emulation import Asked, Caution, HostCalls, Refusal
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import KernelCount
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence
from opcheck.source.building.stand_ins.finder import standing_in
from opcheck.trace.calls.call_site import from_stack
from opcheck.trace.device.generators import generators_of
from opcheck.trace.device.module import DeviceModule
from opcheck.trace.device.tensors import prepare
from opcheck.trace.running.eager import not_compiled
from opcheck.trace.running.library_flags import libraries_know_device, libraries_know_torch
from opcheck.trace.running.model_state import forget
from opcheck.trace.torch_internals.autocast import autocasting
from opcheck.trace.torch_internals.dispatcher import copied_as_they_are
from opcheck.trace.torch_internals.overrides import overriding

LIBRARIES = "LIBRARIES"
"""What such a file calls the list of the ``torch.library.Library`` that hold its kernels."""


@contextmanager
def shimmed(files: Sequence[str | Path]) -> Iterator[None]:
    """Have the kernels of these files registered inside the block.

    Raises:
        EmulationError: a file cannot be run, or registers nothing that could be taken away again.
    """
    libraries: list[Any] = []
    try:
        for file in files:
            libraries += _run(Path(file))
        yield
    finally:
        for library in libraries:
            library._destroy()  # private, checked on 2.13.0


def _run(file: Path) -> list[Any]:
    hint = Sentence("a shim is what opcheck fix --shim writes")
    try:
        require_regular(file, MOST_SOURCE_BYTES)  # Python would wait for a pipe
    except OSError as error:
        raise EmulationError(
            Sentence("cannot read {text_file}: {text}", text_file=file, text=error.strerror), hint
        ) from error
    try:
        with warnings.catch_warnings():
            # torch tells that a kernel takes the place of another: of the one that refuses
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            found = runpy.run_path(str(file))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise EmulationError(
            Sentence("{text} cannot be run: {text_why}", text=file, text_why=what), hint
        ) from error
    libraries = found.get(LIBRARIES)
    if not isinstance(libraries, list):
        raise EmulationError(
            Sentence(
                "{text} has no list {name}, which holds what it registers",
                text=file,
                name=LIBRARIES,
            ),
            hint,
        )
    return libraries


_open: "Emulator | None" = None
_lock = threading.Lock()
_between = ExitStack()
"""What holds from the close of one device to the opening of the next."""


class Emulator:
    """An emulated device; entering it gives the ``torch.device`` to put tensors on.

    Inside the block the device behaves as the target's: an overload without a kernel warns and
    runs on the host, or raises, as the vendor's runtime does; a dtype that the chip lacks raises.
    One device is open at a time; autograd's and the data loader's threads may use it.
    """

    def __init__(
        self,
        target: str | SupportMatrix,
        *,
        values: bool = True,
        stop: bool = True,
        as_cuda: bool = False,
        confidence: Confidence | str = Confidence.LOW,
        databases: Sequence[str | Path] = (),
        shims: Sequence[str | Path] = (),
    ) -> None:
        """Choose the target; nothing happens before the block is entered.

        Args:
            target: as on the command line, ``"ascend-910b"`` or ``"ascend-910b@6.0.0"``.
            values: compute on the host; else follow only dtypes, shapes and strides, which takes
                no memory for weights.
            stop: raise where the device refuses a call; else note it and go on.
            as_cuda: take ``cuda`` for the device inside the block, and the functions of
                ``torch.cuda`` for its own, as the vendor's transfer module does.
            confidence: the least sure condition that refuses a call: ``"high"`` leaves out what
                only a document says.
            databases: folders of overlays, as ``--db`` takes them; the last one holds.
            shims: files that ``opcheck fix --shim`` wrote, with further kernels for the device.

        Raises:
            UsageError: there is no such target, no such confidence, or no such folder.
            DatabaseError: its matrix cannot be read.
            EmulationError: its device is none that this torch can have.
        """
        self._matrix = _matrix(target, databases)
        require_emulated(self._matrix)
        self.values = values
        """Whether the device computes."""
        self._stop = stop
        self._as_cuda = as_cuda
        self._least = _confidence(confidence)
        self._shims = tuple(shims)
        self._undo = ExitStack()
        self._device: Device | None = None
        self._opened_at = ""

    def __enter__(self) -> torch.device:
        """Open the device.

        Raises:
            EmulationError: another device is open, this process has named its device otherwise,
                torch is too old, or a shim cannot be run.
        """
        self._claim()
        try:
            return self._opened()
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _open  # the dispatcher's tables are the process's own
        self._undo.close()
        with _lock:
            _open = None

    @property
    def device(self) -> Device:
        """The device behind, also after it was closed.

        Raises:
            UsageError: it was never opened.
        """
        if self._device is None:
            raise UsageError(
                Sentence("the emulated device was never opened"),
                Sentence("use it in a with statement"),
            )
        return self._device

    @property
    def target(self) -> str:
        """The whole name of what is emulated: ``ascend-910b@26.1.0+torch2.13``."""
        return str(self._matrix.target)

    @property
    def kernels(self) -> tuple[KernelCount, ...]:
        """Every overload that the device was asked for, with its verdict and how often."""
        return self.device.record.kernels()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Calls that the device refuses, with the error it raises and where."""
        return self.device.record.refusals()

    @property
    def host_calls(self) -> tuple[HostCalls, ...]:
        """Calls that ran on the host, with the bytes that crossed."""
        return self.device.record.host_calls()

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Calls that ran otherwise than on the host."""
        return self.device.record.cautions()

    @property
    def asked(self) -> Asked:
        """The bare counts by overload and phase."""
        return self.device.record.totals()

    def _open_as(self) -> Sentence:
        if not self._opened_at:
            return verbatim(self.target)
        return Sentence("{target} (opened at {text})", target=self.target, text=self._opened_at)

    def _claim(self) -> None:
        global _open  # as above
        with _lock:
            if _open is not None:
                raise EmulationError(
                    Sentence("an emulated device is open already: {said}", said=_open._open_as()),
                    Sentence(
                        "close it first: torch has one PrivateUse1 device in a process, and "
                        "all of its threads share it"
                    ),
                )
            file, line = from_stack(2, None)
            self._opened_at = f"{file}:{line}" if file else ""
            _open = self

    def _opened(self) -> torch.device:
        made = prepared(self._matrix.target.device_type)
        printable()
        module: DeviceModule = getattr(torch, made.type)
        self._undo = ExitStack()
        _between.close()
        self._undo.callback(lambda: _between.enter_context(closed()))
        device = self._device = Device(
            self._matrix, made,
            values=self.values, stop=self._stop, least=self._least,
        )  # fmt: skip
        self._undo.callback(forget)
        self._undo.enter_context(registered(device))
        self._undo.enter_context(collecting(device))
        self._undo.enter_context(copied_as_they_are(self._matrix.entries))
        self._undo.enter_context(layouts_refused(device.backward))
        self._undo.enter_context(
            overriding(overridden(self._matrix), vendor_gradients(self._matrix), device)
        )
        self._undo.enter_context(autocasting(self._matrix.autocast))
        self._undo.enter_context(module.hosted(device.state))
        self._undo.enter_context(allocated(device.memory, self.values))
        self._undo.enter_context(device.backward.watched())
        self._undo.enter_context(pinning())
        self._undo.enter_context(generators_of(made, other=lambda: device.state.stands_for))
        self._undo.enter_context(printed(device))
        set_until(self._undo, torch, "set_default_tensor_type", default_noted(device.note_at))
        self._undo.enter_context(not_compiled(device.met_compiled))
        self._undo.enter_context(listening(device.met_launch))
        self._undo.enter_context(optimizer_noticed(device.record))
        self._undo.enter_context(shimmed(self._shims))
        self._undo.enter_context(libraries_know_device(made.type))
        self._undo.enter_context(libraries_know_torch(version_key(self._matrix.target.torch)))
        self._undo.enter_context(standing_in(_libraries()))
        if self._as_cuda:
            self._undo.enter_context(as_cuda(made))
        return made

    def __copy__(self) -> Self:
        """Refuse: a device is no value."""
        raise TypeError("an emulated device cannot be copied")


def _confidence(text: str) -> Confidence:
    try:
        return Confidence(text)
    except ValueError as error:
        raise UsageError(
            Sentence("no such confidence: {text}", text=repr(text)),
            Sentence("it is one of {list}", list=", ".join(Confidence)),
        ) from error


def _matrix(target: str | SupportMatrix, databases: Sequence[str | Path]) -> SupportMatrix:
    if isinstance(target, SupportMatrix):
        return target
    try:
        spec = TargetSpec.parse(target)
    except ValueError as error:
        raise UsageError(sentence_of(error), Sentence("opcheck targets lists them")) from error
    database = Database.open(overlays=tuple(map(Path, databases)))
    return database.matrix(database.resolve(spec))


@cache
def _libraries() -> Schemas:
    """What is known of libraries that are not installed."""
    return Schemas(Database.open().root / FOLDER)


def prepared(device_type: str) -> torch.device:
    """Make this process know the device; once per process, and before its first backward.

    Raises:
        EmulationError: torch is too old, or the process has named its device otherwise.
    """
    if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        raise EmulationError(
            Sentence(
                "torch {version} cannot have a device written in Python", version=torch.__version__
            ),
            Sentence("emulation needs torch 2.10 or newer; scanning works with this one"),
        )
    try:
        return prepare(device_type)
    except TraceError as error:
        raise EmulationError(
            Sentence(
                "this process already uses torch's PrivateUse1 device as {device}, so "
                "{device_asked} cannot be emulated in it",
                device=error.message.arguments["device"],
                device_asked=repr(device_type),
            ),
            Sentence(
                "torch lets that device be named once a process: use another process, "
                "as the command line does"
            ),
        ) from error
