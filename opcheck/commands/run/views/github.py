"""A script's run as workflow commands of GitHub Actions, at the lines of the pull request."""

from collections.abc import Iterator

from opcheck.commands.run import parting_words, sentences
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.script import ScriptRun
from opcheck.pipeline.script_report import report_of_script, without_end
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import command, on_disk
from opcheck.views.order import arranged
from opcheck.views.report.github import annotations


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """The outcome, the script's own error, errors that it caught, then what breaks."""
    lines = [_summary(found), *_failure(found), *_caught(found), *_parting(found)]
    report = arranged(report_of_script(found))
    lines += annotations(without_end(report) if found.frames else report)
    return "".join(f"{line}\n" for line in lines)


def _summary(found: ScriptRun) -> str:
    return command("notice", {"title": "opcheck run"}, tell(sentences.headline(found)))


def _failure(found: ScriptRun) -> Iterator[str]:
    for frame in found.frames[-1:]:
        place = _place(frame.file, frame.line)
        title = f"opcheck run: {tell(sentences.outcome(found))}"
        yield command("error", {**place, "title": title}, found.emulation.error)


def _caught(found: ScriptRun) -> Iterator[str]:
    for (file, line), said in sentences.caught(found).items():
        place = _place(file, line) if file else {}
        yield command("warning", {**place, "title": "opcheck run"}, tell(said))


def _parting(found: ScriptRun) -> Iterator[str]:
    """Where the numbers part first, or that they do not."""
    if found.comparison is None:
        return
    first = found.comparison.first
    place = _place(first.file, first.line) if first is not None and first.file else {}
    title = tell(Sentence(parting_words.HEADING[0]))
    yield command(
        "notice" if first is None else "warning",
        {**place, "title": f"opcheck run: {title}"},
        tell(parting_words.headline(found.comparison)),
    )


def _place(file: str, line: int) -> dict[str, str]:
    there, first = on_disk(file, line)
    return {"file": there, "line": str(first)}
