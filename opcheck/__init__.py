"""Says whether a model runs on an accelerator, where it does not, and how that is known."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.version import __version__

if TYPE_CHECKING:
    from opcheck.commands.gate.values import GateResult
    from opcheck.emulate.session import Emulator as emulate  # noqa: N813  # called as a function
    from opcheck.model.policy import Policy
    from opcheck.model.report import Report
    from opcheck.model.scan_options import ScanOptions
    from opcheck.model.script import ScriptRun
else:
    from opcheck import emulate  # the room, which is that function without loading torch

__all__ = ["__version__", "emulate", "gate", "run", "scan"]


def scan(
    model: Any,
    inputs: Any = None,
    *,
    targets: Sequence[str] = (),
    exact: bool = False,
    train: bool = False,
    step: Sequence[str] = (),
    loss: Callable[[Any], Any] | None = None,
    input_sets: str = "",
    decode: bool = False,
    dynamic: Sequence[str] = (),
    databases: Sequence[str] = (),
    plan: bool = False,
) -> "Report":
    """Hold a live model, or a source, against targets.

    Args:
        model: a ``torch.nn.Module`` (its weights may be on meta), or a source as on the command
            line: ``"model.pt2"``, ``"hf:DIR"``, ``"file.py:name"``. A module is copied without its
            weights and left as it is; it is traced in this process.
        inputs: for a module: a tensor, a tuple of positional inputs, a dict of named ones, or
            (tuple, dict); their values matter only where Python looks at them. None where the
            module's first layers tell. An iterator gives several of these, for a call each. For a
            source: texts as ``--input`` takes them.
        targets: as on the command line: ``"ascend-910b"``, ``"ascend-910b@26.1.0+torch2.7"``.
            Empty: the newest release of every target.
        exact: record the exact kernels asked of every target, not only of a single one.
        train: record a training step (forward, backward, optimizer) in training mode, instead of a
            forward in evaluation mode.
        step: what the step does, as ``--step`` takes it: ``["optimizer=adamw:fused", "clip=1.0"]``;
            implies ``train``.
        loss: makes the loss, a tensor without dimensions, of a module's output; None where the
            output has a ``loss``, else the sum of the means of its tensors. For a source it is
            named in ``step``.
        input_sets: ``"FILE.py:NAME"`` of a function that gives several sets of inputs, as
            ``--inputs`` takes it.
        decode: call a generating model on one token more, with the cache of the first call.
        dynamic: dimensions of inputs whose size is not always the same, as ``--dynamic`` takes
            them: ``["ids:1"]``; the model is run with other sizes too, to see where they matter.
        databases: folders of overlays, as ``--db`` takes them; the last one holds.
        plan: look for a suggestion for each finding too, as ``opcheck plan`` does.

    Returns:
        The report, as ``opcheck scan --format json`` prints it.

    Raises:
        OpcheckError: the request, the model or the database is not usable; the message says why.
    """
    from opcheck.commands.plan.answer import plan as planned
    from opcheck.commands.scan.answer import scan as scanned
    from opcheck.commands.scan.live import scan_module
    from opcheck.errors import UsageError
    from opcheck.model.dynamic import dynamic_inputs
    from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
    from opcheck.model.target import TargetSpec

    try:
        specs = tuple(TargetSpec.parse(target) for target in targets)
    except ValueError as error:
        raise UsageError(sentence_of(error)) from error
    folders = tuple(map(str, databases))
    spec = TrainingSpec.parse(step) if train or step or loss else None
    calls = CallSpec.parse(input_sets, decode=decode)
    sizes = dynamic_inputs(dynamic)
    if decode and spec is not None:
        raise UsageError(
            Sentence("a training step decodes nothing"), Sentence("leave decode or train out")
        )
    if isinstance(model, str):
        given = tuple(inputs or ())
        if loss is not None:
            raise UsageError(
                Sentence("a source takes no function as its loss"),
                Sentence('name it: step=["loss=FILE.py:NAME"]'),
            )
        run = planned if plan else scanned
        return run(
            ScanRequest(
                ModelSpec(model, given, step=spec, calls=calls, dynamic=sizes),
                specs,
                exact,
                databases=folders,
            )
        )
    return scan_module(
        model, inputs, specs,
        exact=exact, step=spec, loss=loss, calls=calls, dynamic=sizes, databases=folders,
        plan=plan,
    )  # fmt: skip


def gate(
    model: Any,
    policy: "Policy | Mapping[str, Any] | str | os.PathLike[str] | None" = None,
    *,
    inputs: Any = None,
    targets: Sequence[str] = (),
    baseline: str | os.PathLike[str] = "",
    against: "Report | None" = None,
    databases: Sequence[str] = (),
    **scanning: "Unpack[ScanOptions]",
) -> "GateResult":
    """Hold a report, a live model, or a source, against a policy; ``.passed`` is the answer.

    Args:
        model: what :func:`scan` returned, or what it takes; or the path of a saved report.
        policy: a file, as ``--policy`` takes it; a mapping with the keys of one; or a
            :class:`~opcheck.model.policy.Policy`. None for the nearest ``opcheck.yaml`` or
            ``[tool.opcheck]``, as on the command line, and the defaults where there is none.
        inputs: for a module or a source, as :func:`scan` takes them.
        targets: what to judge; empty for the policy's, and where it names none, for all.
        baseline: a file that ``opcheck gate --write-baseline`` wrote; empty for the policy's.
        against: the report of what a change is made to; only what is new since fails.
        databases: folders of overlays, as ``--db`` takes them.
        **scanning: further arguments of :func:`scan`, such as ``train=True``.

    Raises:
        OpcheckError: as :func:`scan`; or the policy, the baseline or a report is not usable.
    """
    from opcheck.commands.gate.answer import gate_report
    from opcheck.commands.gate.files import is_report, policy_from, report_at, report_on
    from opcheck.errors import UsageError
    from opcheck.model.report import Report

    asked = policy_from(policy)
    wanted = targets or tuple(map(str, asked.targets))
    if isinstance(model, str) and is_report(model):
        model = report_at(model)
    if not isinstance(model, Report):
        model = scan(model, inputs, targets=wanted, databases=databases, **scanning)
    elif inputs is not None or scanning:
        raise UsageError(
            Sentence("a report was given, and how to run a model with it"),
            Sentence("leave that out"),
        )
    else:
        model = report_on(model, wanted)
    return gate_report(model, asked, os.fspath(baseline), against, databases)


def run(
    path: str | os.PathLike[str],
    argv: Sequence[str] = (),
    target: str = "ascend-910b",
    *,
    module: bool = False,
    steps: int | None = None,
    forwards: int | None = None,
    ranks: int | None = None,
    values: bool = False,
    stop: bool = False,
    as_cuda: bool = True,
    write: bool = False,
    data: str = "none",
    compare: bool = False,
    plan: bool = False,
    output: Callable[[str], None] | None = None,
    databases: Sequence[str] = (),
    schemas: Sequence[str] = (),
    timeout: float | None = None,
    memory: float | None = None,
) -> "ScriptRun":
    """Run a script or a notebook as it stands on an emulated device, in a process of its own.

    Args:
        path: a Python file, a notebook, or with ``module`` the name of a module.
        argv: the script's own arguments.
        target: as on the command line: ``"ascend-910b"``, ``"ascend-910b@26.1.0+torch2.7"``.
        module: whether ``path`` names a module, as with ``python -m``.
        steps: end it after so many optimizer steps.
        forwards: end it after so many forward calls of its outermost modules with parameters.
        ranks: run it as the first of so many processes, whose others are not there.
        values: compute on the host; else only dtypes, shapes and strides are followed.
        stop: raise in the script where the device refuses a call, as the device would; else note
            it and go on.
        as_cuda: take ``cuda`` for the device.
        write: let what the script writes through; else only the script sees it.
        data: ``"fake"``: random images and rows stand for data sets of torchvision and Hugging
            Face that are not here.
        compare: run it on the CPU first, and this run with values: ``.comparison`` of the answer
            says where the numbers part.
        plan: look for the cheapest fix for each call that leaves the device or is refused:
            ``.plan`` of the answer has them, and what each tier of fixes brings.
        output: called with each line that the script prints; None: nobody sees them.
        databases: folders of overlays, as ``--db`` takes them; the last one holds.
        schemas: files with operator schemas of libraries that are not installed.
        timeout: seconds after which it is ended.
        memory: GiB that its process may have; None for most of what the machine has.

    Returns:
        How the script ended, and what the device was called on. ``.runs`` is whether the device
        takes it: None where nobody knows, and where the script failed or never used the device.
        A script's own exception is not raised here: ``.emulation.error`` and ``.frames`` have it.

    Raises:
        UsageError: no such target; no such ``data``; or a number of steps, calls or ranks that is
            not above zero.
        SourceError: there is no such script, or it is not a notebook that can be read.
        EmulationError: this torch cannot have such a device.
        PartialRunError: the script's process ended too early, as at ``timeout``; its ``.run`` is
            what was seen until then.
        DatabaseError: a support matrix is missing or damaged.
    """
    from opcheck.commands.run.answer import run as ran
    from opcheck.errors import UsageError
    from opcheck.model.request import ModelSpec
    from opcheck.model.script import Data, ScriptRequest, ScriptSpec
    from opcheck.model.target import TargetSpec
    from opcheck.pipeline.database import silent

    for count in (steps, forwards, ranks):
        if count is not None and count < 1:
            raise UsageError(Sentence("not a number above zero: {text}", text=count))
    if data not in tuple(Data):
        raise UsageError(
            Sentence("not one of {list}: {text}", list=", ".join(Data), text=repr(data))
        )
    try:
        spec = TargetSpec.parse(target)
    except ValueError as error:
        raise UsageError(sentence_of(error)) from error
    script = ScriptSpec(os.fspath(path), module, tuple(map(str, argv)), processes=ranks or 1)
    request = ScriptRequest(
        script,
        ModelSpec(script.name, schemas=tuple(schemas), timeout=timeout, memory=memory),
        spec,
        values=values or compare,
        compare=compare,
        stop=stop,
        as_cuda=as_cuda,
        steps=steps,
        forwards=forwards,
        write=write,
        plan=plan,
        data=Data(data),
        databases=tuple(map(str, databases)),
    )
    return ran(request, output=output or silent)


def load_ipython_extension(ipython: Any) -> None:
    """Add ``%%opcheck -t TARGET`` to IPython and Jupyter: what ``%load_ext opcheck`` calls."""
    from opcheck.commands.run.cell_magic import register

    register(ipython)
