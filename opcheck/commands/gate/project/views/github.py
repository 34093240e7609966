"""A project's answer as workflow commands of GitHub Actions."""

from opcheck.commands.gate.project import sentences
from opcheck.commands.gate.project.values import ProjectGate
from opcheck.commands.gate.views import github
from opcheck.lang.speech import tell, wording
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import command
from opcheck.views.project.sentences import unanswered


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The answer, an error for each source without one, then what fails in the others."""
    name = "notice" if found.passed else "error"
    said = wording(sentences.headline(found)).replace("{folder}", found.report.folder)
    told = f"{said}: {tell(sentences.counted(found))}\n{tell(sentences.hidden(found))}"
    lines = [command(name, _TITLE, told)]
    for source, error, _ in unanswered(found.report):
        lines.append(command("error", _TITLE, f"{source}: {tell(error)}"))
    lines += [command("warning", _TITLE, tell(note)) for note in found.notes]
    answers = [github.render(one.result, page) for one in found.sources if one.result is not None]
    return "".join(f"{line}\n" for line in lines) + "".join(answers)


_TITLE = {"title": "opcheck gate"}
