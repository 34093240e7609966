"""Where an answer goes: in one format or in several at once, to stdout and to files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.views.formats import View, command_view, report_view

_HINT = Sentence(
    "write --format FORMAT=FILE for each but one, as in --format text --format json=a.json"
)


class Outputs:
    """What ``--format`` and ``--output`` ask for, known to be possible before any work starts."""

    def __init__(
        self,
        formats: Sequence[str] | None,
        output: Path | None,
        detail: Detail,
        command: str = "",
    ) -> None:
        """``command`` is the one whose own answer is written; "" where that is a report.

        Raises:
            UsageError: a format is not known, or cannot write that; or there is no place for it.
        """
        asked = [_read(text, command) for text in formats or ("text",)]
        bare = [name for name, _, path in asked if path is None]
        if len(bare) > 1:
            place = "stdout" if output is None else str(output)
            raise UsageError(
                Sentence(
                    "{count} formats for {place}: {list}",
                    count=len(bare),
                    place=place,
                    list=", ".join(bare),
                ),
                _HINT,
            )
        if output is not None and not bare:
            raise UsageError(
                Sentence("no format is left for {text}", text=output),
                Sentence("leave -o out, or =FILE"),
            )
        paths = [path or output for _, _, path in asked]
        _check_once([path for path in paths if path is not None])
        views = [view for _, view, _ in asked]
        self._places = [(view, Output(path)) for view, path in zip(views, paths, strict=True)]
        self._detail = detail

    def write(self, answer: Any) -> None:
        """Write it all; nothing is written where one format fails."""
        texts = [view.render(answer, out.page(self._detail)) for view, out in self._places]
        for (_, out), text in zip(self._places, texts, strict=True):
            out.write(text)


def _read(text: str, command: str) -> tuple[str, View, Path | None]:
    name, separator, path = text.partition("=")
    view = command_view(command, name) if command else report_view(name)
    if separator and not path:
        raise UsageError(Sentence("--format {text}: there is no file after =", text=text), _HINT)
    return name, view, Path(path) if path else None


def _check_once(paths: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for path in paths:
        if (whole := path.resolve()) in seen:
            raise UsageError(
                Sentence("two formats for {text}", text=path),
                Sentence("give each a file of its own"),
            )
        seen.add(whole)
