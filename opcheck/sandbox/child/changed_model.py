"""A changed model - its program written anew, and compared with the unchanged one on the host."""

import copy
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from opcheck.errors import EmulationError, OpcheckError, SourceError, TraceError, out_of_memory
from opcheck.lang.sentence import Sentence, restored
from opcheck.model.emulation import Difference, is_after_step, is_of_backward
from opcheck.model.jobs import GraphRequest, GraphRun, HostRequest, HostRun, Tolerance
from opcheck.model.request import TrainingSpec
from opcheck.sandbox.child.process import Process
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.load import select
from opcheck.source.patches import classes_at

if TYPE_CHECKING:
    from opcheck.emulate.host_and_device import Job


def write_graph(request: GraphRequest, process: Process, load: Callable[[], Loaded]) -> GraphRun:
    """Write an exported program anew with other calls in it; ``load`` gives what is to be exported.

    Raises:
        SourceError: the source cannot be read as a program, nor be exported.
        TraceError: the program cannot be traced anew.
    """
    import torch

    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.graph import rewritten

    program, guards, _ = program_of(request, process, load)
    process.begin("trace", "replacing calls in the exported program")
    try:
        found = rewritten(program, request.replacements, extra_rules(request.rules))
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:
        what = brief(error)
        raise TraceError(
            Sentence(
                "{text}: torch cannot trace the changed program: {text_why}",
                text=request.model.source,
                text_why=what,
            ),
            Sentence("use --shim, or --diff for a Python file"),
        ) from error
    found.program._guards_code = guards  # private, checked on 2.13.0; no older torch reads it
    torch.export.save(found.program, request.path)
    return GraphRun(found.left)


def program_of(
    request: GraphRequest, process: Process, load: Callable[[], Loaded]
) -> tuple[Any, list[str], Any]:
    """The source as an exported program, its conditions on inputs, and the module it is of."""
    import torch

    if select(request.model.source).name == "pt2":
        from opcheck.source.building.pt2.program import exported_program, guards_of

        process.begin("load", Sentence("loading {source}", source=request.model.source))
        options = LoadOptions(trust=request.model.trust, weights=True)
        path = Path(request.model.source)
        return exported_program(path, options), guards_of(path), None
    from opcheck.trace.run import as_module

    loaded = load()
    process.begin("trace", Sentence("exporting {source}", source=request.model.source))
    try:
        with torch.no_grad():
            program = torch.export.export(
                as_module(loaded.module), loaded.args, dict(loaded.kwargs)
            )
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:  # the user's model, and torch.export's many errors
        raise SourceError(
            Sentence(
                "{text}: torch.export cannot export the model: {text_why}",
                text=request.model.source,
                text_why=brief(error),
            ),
            Sentence("use --shim, or --diff for a Python file"),
        ) from error
    return program, getattr(program, "_guards_code", []), loaded.module


def brief(error: Exception) -> str:
    """The first line of an error."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


_Results = tuple[dict[str, Any], dict[str, Any] | str]
"""Results by name; gradients by name, or why there are none. Of a step, parameters after it too."""


class _RunModel(Protocol):
    def __call__(self, *, backward: bool = True, off: Mapping[str, float] = {}) -> _Results:
        """Run the model once; without ``backward``, gradients need not be there.

        ``off``: how far gradients are moved before an optimizer takes a step with them.
        """
        ...


def on_the_host(loaded: Loaded, request: HostRequest, process: Process) -> HostRun:
    """Run a model with values; keep what it gives, or compare that with what was kept.

    Raises:
        EmulationError: the model fails.
    """
    if request.layers:
        return HostRun((), (), classes=classes_at(loaded.module, request.layers))
    process.begin("emulate", Sentence("running {source} on the host", source=request.model.source))
    play = (
        partial(_run, loaded)
        if request.model.step is None
        else _stepped(loaded, request.model.step)
    )
    try:
        found = play()
        moved = _moved(play, found, request.tolerances, process)
        if request.keep:
            _keep(found, request.keep)
        if not request.against:
            return HostRun((), (), _reason(found), moved)
        return replace(_held(found, _kept(request.against)), moved=moved)
    except RuntimeError as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise


def _job(loaded: Loaded) -> "Job":
    """One forward; inputs stay as they are."""
    from opcheck.emulate.host_and_device import Job
    from opcheck.trace.run import as_module

    args, kwargs = copy.deepcopy((loaded.args, loaded.kwargs))
    return Job(as_module(loaded.module), args, kwargs)


def _stepped(loaded: Loaded, spec: TrainingSpec) -> "_RunModel":
    """What runs one training step: its output, and what backward and optimizer come to."""
    from opcheck.emulate.host_and_device import on_host
    from opcheck.source.building.training_data import loss_named
    from opcheck.trace.running.training_step import TrainingStep

    step = TrainingStep.of(spec, loss_named(spec.loss))

    def play(*, backward: bool = True, off: Mapping[str, float] = {}) -> _Results:
        found = on_host(replace(_job(loaded), step=step, off=off))
        after = {name: found.pop(name) for name in [*found] if is_of_backward(name)}
        return found, after

    return play


def _run(loaded: Loaded, *, backward: bool = True, off: Mapping[str, float] = {}) -> _Results:
    """Results of one forward, and their gradients, which nothing takes a step with."""
    from opcheck.emulate.host_and_device import on_host

    results = on_host(_job(loaded))
    if not backward:
        return results, ""
    try:
        return results, on_host(replace(_job(loaded), gradients=True))
    except MemoryError:
        return results, "there is not enough memory for a backward on the host"
    except EmulationError as error:  # the forward alone is the model's use then
        return results, f"with gradients, {error.message}"
    except TraceError as error:
        return results, error.message


def _moved(
    play: "_RunModel", found: _Results, tolerances: Mapping[str, Tolerance], process: Process
) -> Mapping[str, float] | None:
    """How far results and gradients move with what is replaced; None where torch is too old."""
    if not tolerances:
        return {}
    from opcheck.rewrite.perturbation import CAN_MOVE, DRAWS, moving, places, roundings

    if not CAN_MOVE:
        return None
    _, gradients = found
    backward = not isinstance(gradients, str)
    if not backward and not any(tolerance.eps for tolerance in tolerances.values()):
        return {}
    process.begin("emulate", "finding what the tolerances come to")
    far = places(lambda: play(backward=False), tolerances)
    furthest: dict[str, float] = {}
    for draw in range(DRAWS):
        with moving(far, draw), suppress(EmulationError):  # a draw that fails says nothing
            _widen(furthest, _apart(play(backward=backward), found))
    least = {} if isinstance(gradients, str) else roundings(gradients)
    for name, rounding in least.items():
        furthest[name] = max(furthest.get(name, 0.0), rounding)
    if backward and any(map(is_after_step, gradients)):
        with suppress(EmulationError):
            others, after = play(off={name: furthest[name] for name in least})
            stepped = [d for d in _apart((others, after), found) if is_after_step(d.name)]
            _widen(furthest, stepped)
    return furthest


def _apart(others: _Results, found: _Results) -> list[Difference]:
    """How far one run is from another."""
    from opcheck.emulate.compare import differences

    (results, gradients), (wanted, known) = others, found
    apart = [*differences(results, wanted)]
    if not (isinstance(gradients, str) or isinstance(known, str)):
        apart += differences(gradients, known)
    return apart


def _widen(furthest: dict[str, float], found: Iterable[Difference]) -> None:
    for one in found:
        if one.largest:  # what ends in NaN says nothing
            furthest[one.name] = max(furthest.get(one.name, 0.0), one.largest)


def _held(found: _Results, kept: _Results) -> HostRun:
    from opcheck.emulate.compare import differences

    (results, gradients), (old, wanted) = found, kept
    forward = differences(*_alike(results, old))
    if isinstance(gradients, str) or isinstance(wanted, str):
        # what has gradients may not lose them
        lost = isinstance(gradients, str) and not isinstance(wanted, str)
        return HostRun(forward, _lost(wanted) if lost else (), _reason(found) or _reason(kept))
    both = [name for name in wanted if name in gradients]
    backward = differences({n: gradients[n] for n in both}, {n: wanted[n] for n in both})
    return HostRun(forward, backward, "" if both else "none has a name in both models")


def _lost(wanted: Mapping[str, Any] | str) -> tuple[Difference, ...]:
    from opcheck.emulate.compare import differences

    return () if isinstance(wanted, str) else differences({}, dict(wanted))


def _reason(found: _Results) -> str:
    return found[1] if isinstance(found[1], str) else ""


def _keep(found: _Results, file: str) -> None:
    import torch

    results, gradients = found
    plain = [
        part if isinstance(part, str) else {name: t.contiguous() for name, t in part.items()}
        for part in (results, gradients)
    ]
    torch.save(plain, file)


def _alike(results: dict[str, Any], kept: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both by the same names: a saved graph gives the same results in the same order, flat."""
    if len(results) == len(kept):
        results = dict(zip(kept, results.values(), strict=True))
    return results, kept


def _kept(file: str) -> _Results:
    import torch

    with torch.serialization.safe_globals([restored]):  # a reason instead of gradients
        results, gradients = torch.load(file, weights_only=True)
    return results, gradients
