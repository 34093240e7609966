"""The page on a model that was exported: how far it came, and what a scan says of it."""

from opcheck.commands.export.values import ExportAnswer
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import SiteTaken
from opcheck.model.exporting import Cause, ExportRun, Stage
from opcheck.model.report import Finding
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.notation import plural

SHOWN = 10
"""How many operators and blockers are listed unless all are asked for."""
STEPS = (
    (Stage.CAPTURE, "captured by torch.export"),
    (Stage.CONVERSION, "converted"),
    (Stage.RUNTIME, "run by the runtime"),
    (Stage.VALUES, "gives PyTorch's values"),
)
"""What ends a model's way -> what it had then not become."""
ENDED = {
    Stage.CAPTURE: "torch.export cannot capture it",
    Stage.CONVERSION: "it is not converted",
    Stage.RUNTIME: "the runtime refuses the file",
    Stage.VALUES: "it runs, and gives other values than PyTorch",
}
CAUSES = {
    Cause.VALUE: "Python decides by a value of a tensor, and the graph is made without values",
    Cause.NUMBER: (
        "Python needs a number that a tensor holds, and the graph is made without values"
    ),
    Cause.DATA_SIZE: (
        "code decides by a size that depends on values, as of what a mask or nonzero keeps; a"
        " fixed number of them, as topk gives, has a graph"
    ),
    Cause.CACHE: (
        "its forward gives a cache for the next token: use_cache=False in the call, or"
        ' "use_cache": false in config.json, leaves it out'
    ),
    Cause.CLASS: (
        "its forward takes or gives an object of a class that torch.export does not know as a"
        " container: give its tensors, or register it with torch.utils._pytree.register_pytree_node"
    ),
    Cause.SIZE: "the code holds for one size alone of what --dynamic marks",
}
"""Why nothing was captured, where torch.export's own words are about its insides."""
CAME = "it was exported, runs there, and gives what PyTorch gives"
RANDOM = "it was exported and runs there; PyTorch's own values are other ones each time"
UNRUN = {
    "coreml": "it is converted; only Apple's own systems run it, so no values were compared",
    "executorch": (
        "it is converted; the wheel's runtime lacks the delegate, so no values were compared"
    ),
}
"""Vendor, as names of targets begin with it -> what is said of a file that nothing here runs."""
WRITTEN = "it was exported; --prove would run it"
CAME_BY_CPU = "it was exported, and ONNX Runtime's CPU provider gives what PyTorch gives"
RANDOM_BY_CPU = (
    "it was exported, and ONNX Runtime's CPU provider runs it; PyTorch's own values are other ones"
    " each time"
)
REFUSED_BY_CPU = "it is converted, and ONNX Runtime's CPU provider refuses the file"
OF_CPU = {Stage.PROVED: CAME_BY_CPU, Stage.RUNTIME: REFUSED_BY_CPU}
"""What became of a file that another provider than the target's ran."""
BY_CPU = (
    "the target's own provider was not asked, only ONNX Runtime's CPU provider: where each operator"
    " is placed is what it registers or documents"
)
SAYS = {
    True: "the scan says that it runs",
    False: "the scan says that it does not run",
    None: "the scan could not tell whether it runs",
}


def render(answer: ExportAnswer, page: Page = PLAIN) -> str:
    """How far the model came, step by step; why it came no further; what the scan says."""
    canvas = Canvas(page)
    _write_head(canvas, answer)
    if page.quiet:
        return canvas.text()
    canvas.blank()
    _write_steps(canvas, answer)
    _write_values(canvas, answer)
    if answer.proved:
        _write_scan(canvas, answer)
    _write_footer(canvas, answer)
    return canvas.text()


def _write_head(canvas: Canvas, answer: ExportAnswer) -> None:
    come = answer.came_through
    mark, style = (canvas.marks.good, "green") if come else (canvas.marks.bad, "red")
    line = Sentence("{source} on {target}: {said}", source=answer.source, target=answer.target,
                    said=Sentence(_outcome(answer)))  # fmt: skip
    canvas.flow([(mark, style), *split(line)])
    _write_why(canvas, answer.run)
    if answer.by_cpu_provider and answer.run.stage.converted:
        canvas.flow(split(Sentence(BY_CPU)), 2)


def _write_why(canvas: Canvas, run: ExportRun) -> None:
    """Why it ended: at which line of the model, why in short, and in the library's own words."""
    if run.place:
        canvas.flow([(f"{run.place}:", "bold"), *((word, "") for word in run.code.split())], 2)
    if run.cause in CAUSES:
        canvas.flow(split(Sentence(CAUSES[run.cause])), 2)
    if run.error:
        style = "dim" if run.cause in CAUSES else ""
        canvas.flow([(word, style) for word in run.error.split()], 2)


def _outcome(answer: ExportAnswer) -> str:
    if answer.by_cpu_provider and answer.run.stage in OF_CPU:
        random = answer.run.random and answer.run.stage is Stage.PROVED
        return RANDOM_BY_CPU if random else OF_CPU[answer.run.stage]
    if answer.run.stage in ENDED:
        return ENDED[answer.run.stage]
    if answer.run.stage is Stage.CONVERTED:
        return UNRUN[answer.target.partition("-")[0]]
    if not answer.proved:
        return WRITTEN
    return RANDOM if answer.run.random else CAME


def _write_steps(canvas: Canvas, answer: ExportAnswer) -> None:
    unrun = answer.run.stage is Stage.CONVERTED
    steps = STEPS if answer.proved and not unrun else STEPS[:2]
    ended = False
    for stage, said in steps:
        failed = answer.run.stage is stage
        mark = canvas.marks.bad if failed else "" if ended else canvas.marks.good
        style = "red" if failed else "dim" if ended else "green"
        canvas.flow([(mark or "-", style), *split(said, "dim" if ended else "")], 2)
        ended = ended or failed


def _write_values(canvas: Canvas, answer: ExportAnswer) -> None:
    run = answer.run
    if run.operators:
        shown = run.operators if canvas.page.verbose else _most(answer)
        names = ", ".join(f"{name} ×{count}" for name, count in shown)
        more = len(run.operators) - len(shown)
        canvas.blank()
        calls = sum(count for _, count in run.operators)
        said, listed = plural(calls, "call"), f"{names}, …" if more else names
        line = Sentence("{said}: {list}", said=said, list=listed)
        if run.opset:
            line = Sentence(
                "opset {version}, {said}: {list}", version=run.opset, said=said, list=listed
            )
        canvas.flow(split(line))
    for each in run.differences:
        off = Sentence("other shapes or no numbers") if each.largest is None else Sentence(
            "at most {figure} off", figure=f"{each.largest:.2g}"
        )  # fmt: skip
        line = Sentence(
            "{name}, {dtype} {shape}: {said}", name=each.name, dtype=each.dtype,
            shape=str(list(each.shape)).replace(" ", ""), said=off,
        )  # fmt: skip
        canvas.flow(split(line), 2)
    if run.sizes:
        sizes = ", ".join(f"{name} = {size}" for name, size in run.sizes)
        line = Sentence("the same with {text}", text=sizes)
        if run.stage is not Stage.PROVED:
            line = Sentence("it ended with {text}", text=sizes)
        canvas.flow(split(line), 2)


def _most(answer: ExportAnswer) -> list[tuple[str, int]]:
    found = sorted(answer.run.operators, key=lambda each: (-each[1], each[0]))
    return found[:SHOWN]


def _write_scan(canvas: Canvas, answer: ExportAnswer) -> None:
    canvas.blank()
    agrees = answer.agrees
    mark, style = {
        True: (canvas.marks.good, "green"), False: (canvas.marks.bad, "red"), None: ("-", "dim"),
    }[agrees]  # fmt: skip
    says = Sentence(SAYS[answer.predicted])
    told = says if agrees is None else Sentence(
        "{said}, and that is what happened" if agrees else "{said}, and that is not what happened",
        said=says,
    )  # fmt: skip
    canvas.flow([(mark, style), *split(told)])
    for site in answer.sizes:
        _write_site(canvas, site)
    shown = answer.blockers if canvas.page.verbose else answer.blockers[:SHOWN]
    for each in shown:
        _write_blocker(canvas, each)
    left = len(answer.blockers) - len(shown)
    if left:
        more = Sentence("{count} more; --verbose lists all", count=f"{left:,}")
        canvas.flow(split(more, "dim"), 2)


def _write_blocker(canvas: Canvas, finding: Finding) -> None:
    canvas.flow([(f"{finding.op}:", "bold"), *split(finding.reason.text)], 2)


def _write_site(canvas: Canvas, taken: SiteTaken) -> None:
    site = taken.site
    place = f"{site.file}:{site.line}" if site.file else site.module or site.op
    said = Sentence("{text}; {text_b}", text=site.text, text_b=taken.text)
    canvas.flow([(f"{place}:", "bold"), *split(said)], 2)


def _write_footer(canvas: Canvas, answer: ExportAnswer) -> None:
    canvas.blank()
    if answer.output:
        canvas.flow(split(Sentence("written: {path}", path=answer.output)))
    versions = ", ".join(f"{name} {number}" for name, number in answer.run.versions)
    canvas.flow(split(Sentence("with {text}", text=versions), "dim"))
