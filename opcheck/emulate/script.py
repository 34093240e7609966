"""Runs a script as it stands, ``__main__`` and all, on one emulated device.

Steps and forward calls are counted by torch's own hooks.
"""

import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from opcheck.emulate.children import followed
from opcheck.emulate.kept_calls import KeptCalls
from opcheck.emulate.kept_outputs import KeptOutputs
from opcheck.emulate.launchers import prepare_environment
from opcheck.emulate.own_traceback import show
from opcheck.emulate.patches import as_cuda
from opcheck.emulate.record import Journal, Record
from opcheck.emulate.run import beginning, general_notes, mode_of, renamed, with_what_was_asked
from opcheck.emulate.script_errors import frames, unrecognized
from opcheck.emulate.script_modules import ScriptModules, module_calls
from opcheck.emulate.script_outputs import ScriptOutputs, seed, seeded
from opcheck.emulate.session import Emulator, prepared
from opcheck.errors import EmulationError
from opcheck.model.emulation import Emulation, Site
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import SCRIPT, ModelInfo
from opcheck.model.script import (
    ENDED_WELL,
    Ending,
    ScriptRequest,
    ScriptRun,
    ScriptSpec,
)
from opcheck.model.target import Target
from opcheck.model.trace import Phase
from opcheck.trace.calls.call_site import from_error

_MAIN = "__main__"
_FAILED = 1
"""What Python exits with where an exception ends a script."""


class _Enough(BaseException):  # no error: what ends a script that has done enough
    """The steps that were asked for are taken; no ``except Exception`` holds it up."""


class _Progress:
    """Counts optimizer steps, and calls of outermost modules that have parameters."""

    def __init__(self, record: Record, steps: int | None, forwards: int | None) -> None:
        self._record = record
        self._most_steps, self._most_forwards = steps, forwards
        self._depth = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count inside the block, and end it when that is enough."""
        steps = register_optimizer_step_post_hook(self._stepped)
        try:
            with module_calls(self._entered, self._left):
                yield
        finally:
            steps.remove()

    def _stepped(self, *_: Any) -> None:
        self._end(self._record.stepped(), self._most_steps)

    def _entered(self, *_: Any) -> None:
        self._depth += 1

    def _left(self, module: nn.Module, *_: Any) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth or torch._C._current_graph_task_id() >= 0:
            return  # backward computes a checkpointed part once more
        if next(module.parameters(), None) is not None:
            self._end(self._record.called(), self._most_forwards)

    @staticmethod
    def _end(count: int, most: int | None) -> None:
        if most is not None and count >= most:
            raise _Enough


class _Ended(Struct, frozen=True):
    """How a script ended."""

    ending: Ending
    status: int = 0
    error: BaseException | None = None


def run_script(
    request: ScriptRequest,
    target: Target,
    matrix: SupportMatrix,
    *,
    digest: str,
    begins: Callable[[], None],
    notes: Callable[[], Sequence[str]],
    journal: Path | None = None,
    play: Callable[[Record], None] | None = None,
    kept: KeptCalls | None = None,
) -> ScriptRun:
    """Run the script that ``request`` names, in this process and for good: it may leave anything.

    Args:
        request: what to run, and how far.
        target: the target, chosen in full.
        matrix: what it supports.
        digest: of the script's file.
        begins: called once the device is open.
        notes: asked in the end for what is to be said of the run.
        journal: the file to follow the run in.
        play: runs the code where that is not what Python does with the script's file; it is given
            what the device records.
        kept: gets the calls that the device does not take.

    Raises:
        EmulationError: this process or this torch cannot have the device.
    """
    prepared(target.device_type)
    model = ModelInfo(request.script.name, SCRIPT, digest)
    begun = beginning(target, matrix, model, values=request.values)
    emulator = Emulator(matrix, values=request.values, stop=request.stop)
    met = dict[str, None]()
    with ExitStack() as stack:
        device = stack.enter_context(emulator)
        modules = ScriptModules(emulator.device.met_compiled)
        if request.as_cuda:
            stack.enter_context(as_cuda(device, lambda name: met.setdefault(name)))
        emulator.device.modules, emulator.device.kept = modules, kept
        stack.enter_context(modules.watching())
        emulator.device.state.count = request.script.processes
        stack.enter_context(followed(emulator.device.record))
        outputs = _outputs(emulator, modules, stack) if request.compare else None
        progress = _Progress(emulator.device.record, request.steps, request.forwards)
        stack.enter_context(progress.counting())
        if journal is not None:
            Journal(journal, begun).follow(emulator.device.record)
        begins()
        played = partial(play, emulator.device.record) if play else partial(_run, request.script)
        ended = _ran(request.script, played)
        given = outputs.outputs(seeded=seeded()) if outputs is not None else None
    said = _said(request, begun, emulator, modules, ended, [
        *notes(), *renamed(met, target.device_type), *emulator.device.record.notes,
        *general_notes(matrix),
    ])  # fmt: skip
    return replace(said, outputs=given)


def _outputs(emulator: Emulator, modules: ScriptModules, stack: ExitStack) -> KeptOutputs:
    """Keep what the script computes until ``stack`` is closed, from a seed of all such runs."""
    device = emulator.device
    kept = KeptOutputs(device.memory.host, lambda: device.state.generator.get_offset())
    stack.enter_context(ScriptOutputs(modules, kept).watching())
    seed()
    return kept


def _ran(script: ScriptSpec, play: Callable[[], None]) -> _Ended:
    """Run the code of ``script`` as its launcher would, and say what came of it."""
    try:
        prepare_environment(script)
        play()
    except _Enough:
        return _Ended(Ending.ENOUGH)
    except SystemExit as error:
        status = _status(error.code)
        return _Ended(Ending.EXITED, status, error) if status else _Ended(Ending.RETURNED)
    except MemoryError:
        raise
    except Exception as error:  # the script's own or the device's, and the answer says which
        show(error)
        ours = isinstance(error, EmulationError)
        return _Ended(Ending.NOT_EMULATED if ours else Ending.FAILED, _FAILED, error)
    return _Ended(Ending.RETURNED)


def _run(script: ScriptSpec) -> None:
    """Run a file or a module as Python would."""
    sys.argv = [script.name, *script.argv]
    if script.module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(script.name, run_name=_MAIN, alter_sys=True)
    else:
        sys.path.insert(0, str(Path(script.name).resolve().parent))
        runpy.run_path(script.name, run_name=_MAIN)


def _status(code: Any) -> int:
    if code is None:
        return 0
    return code if isinstance(code, int) else _FAILED


def _said(
    request: ScriptRequest,
    begun: Emulation,
    emulator: Emulator,
    modules: ScriptModules,
    ended: _Ended,
    notes: Sequence[str],
) -> ScriptRun:
    refusals, error, record = emulator.refusals, ended.error, emulator.device.record
    text = "" if error is None else f"{type(error).__name__}: {error}".strip()
    refused = [item for item in refusals if item.error == text]
    ending = Ending.REFUSED if refused and ended.ending is Ending.FAILED else ended.ending
    passed = () if error is None else tuple(frames(error))
    caught = {
        site for item in refusals if request.stop for site in item.sites if item not in refused
    }
    place = None if error is None else Site(modules.failed_with(error), *from_error(error))
    trained = any(count.phase is not Phase.FORWARD for count in emulator.kernels)
    emulation = replace(
        with_what_was_asked(begun, emulator),
        mode=mode_of(trains=trained),
        finished=ending in ENDED_WELL,
        error=text,
        error_site=place if place and place.file else None,
        error_source=passed[-1].source if passed else "",
        notes=tuple(dict.fromkeys(notes)),
        gaps=tuple(record.gaps),
    )
    return ScriptRun(
        request.script, emulation, ending, ended.status, record.steps, record.forwards,
        passed, tuple(sorted(caught)), unrecognized=() if error is None else unrecognized(error),
    )  # fmt: skip
