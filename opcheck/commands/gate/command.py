"""``opcheck gate``: a policy decides."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.outputs import Outputs
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.app.target_names import meant
from opcheck.commands.gate.judging.accepted import baseline_text
from opcheck.commands.gate.project.values import FORMATS, ProjectGateRequest
from opcheck.commands.gate.values import GateRequest, PartialGateError
from opcheck.errors import ExitCode
from opcheck.model.project import ProjectRequest
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.sandbox import command_line
from opcheck.views.formats import command_formats, report_view

Command = ModelCommand

Judged = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE|REPORT.json",
        help="A model, in one of the forms below, a folder with several, or what scan or run "
        "--format json wrote.",
        show_default=False,
    ),
]
PolicyFile = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="The policy: a YAML file, or a pyproject.toml with the table [tool.opcheck].",
        show_default="opcheck.yaml or pyproject.toml, here or above",
    ),
]
BaselineFile = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="What was accepted before; only what is new fails.",
        show_default="the policy's",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="REPORT.json",
        help="The report of what a change is made to: only what is new since fails.",
        show_default="none",
    ),
]
WriteBaseline = Annotated[
    Path | None,
    typer.Option(
        "--write-baseline",
        parser=Path,
        metavar="FILE",
        help="Accept what fails today: write it as the baseline, and exit with 0.",
        show_default="no",
    ),
]
KeptReport = Annotated[
    Path | None,
    typer.Option(
        "--report",
        parser=Path,
        metavar="FILE",
        help="Keep the report that was judged, as JSON: --against and opcheck convert read it.",
        show_default="no",
    ),
]
WithPlan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Look for the cheapest fix for each finding too, as opcheck plan does.",
        show_default="judge alone",
    ),
]
ShowWaived = Annotated[
    bool,
    typer.Option("--show-waived", help="List what is waived, and why.", show_default="count it"),
]
JudgedTargets = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=options.target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y], VENDOR[@SDK] or all, repeatable; opcheck targets lists them.",
        show_default="those of the policy, or of the report",
    ),
]
GateFormats = Annotated[list[str] | None, options.several_formats(command_formats("gate"))]


def gate(
    source: Judged,
    target: JudgedTargets = None,
    policy: PolicyFile = None,
    baseline: BaselineFile = None,
    against: Against = None,
    write_baseline: WriteBaseline = None,
    show_waived: ShowWaived = False,
    plan: WithPlan = False,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    dynamic: model_options.Dynamic = None,
    format: GateFormats = None,
    output: options.OutputFile = None,
    report: KeptReport = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    only: model_options.Only = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    from opcheck.commands.gate import answer
    from opcheck.commands.gate.files import is_report, policy_at
    from opcheck.commands.scan.command import is_project
    from opcheck.views.project.document import is_document

    detail = Detail(verbose, quiet, explain, top, show_waived)
    if is_project(source) or (is_report(source) and is_document(source)):
        model_options.require_plain(
            source, inputs=inputs, input_sets=input_sets, decode=decode, train=train, step=step,
            dynamic=dynamic,
        )  # fmt: skip
        project = ProjectRequest(
            source, tuple(target or ()), policy or "", tuple(only or ()),
            model_options.limits(timeout, memory), tuple(database or ()), tuple(schemas or ()),
            max_age, trust, explain, plan,
        )  # fmt: skip
        files = GateRequest(
            ScanRequest(ModelSpec(source), ()), policy or "", baseline or "",
            str(write_baseline or ""), against or "", plan,
        )  # fmt: skip
        gate_folder(
            ProjectGateRequest(project, files, kept=not is_project(source)),
            Outputs(format, output, detail, FORMATS), report, verbose=verbose, quiet=quiet,
        )  # fmt: skip
    model_options.refuse_only(source, only)
    out = Outputs(format, output, detail, "gate")
    kept = None if write_baseline is None else Output(write_baseline)
    judged = None if report is None else Output(report)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, dynamic=dynamic, schemas=schemas,
    )  # fmt: skip
    if not target:
        meant(policy_at(policy or "").targets, database or (), quiet=quiet)
    scan = ScanRequest(
        model,
        tuple(target or ()),
        databases=tuple(database or ()),
        max_age=max_age,
        explained=explain,
    )
    request = GateRequest(
        scan, policy or "", baseline or "", str(write_baseline or ""), against or "", plan
    )
    try:
        with Progress(quiet) as progress:
            found = answer.gate(request, progress, forward_output if verbose else discard_output)
    except PartialGateError as error:
        out.write(error.result)
        raise
    if kept is not None and found.accepted is not None:
        kept.write(baseline_text(found.accepted))
    if judged is not None:
        judged.write(report_view("json").render(found.report))
    out.write(found)
    raise typer.Exit(ExitCode.PASS if found.passed else ExitCode.GATE)


def gate_folder(
    asked: ProjectGateRequest, out: Outputs, report: Path | None, *, verbose: bool, quiet: bool
) -> NoReturn:
    """Compare a whole project with its policy.

    Raises:
        Exit: always, with what the gate comes to.
    """
    from opcheck.commands.gate.project.answer import gate_project
    from opcheck.views.document.parts import as_text
    from opcheck.views.project.document import project_document

    kept = None if report is None else Output(report)
    command_line.current().disarm()
    with Progress(quiet) as progress:
        found = gate_project(asked, progress, forward_output if verbose else discard_output)
    if kept is not None:
        kept.write(as_text(project_document(found.report)))
    out.write(found)
    raise typer.Exit(found.exit_code)
