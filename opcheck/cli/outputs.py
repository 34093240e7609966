"""Where a report goes: in one format or in several at once, to stdout and to files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.errors import UsageError
from opcheck.model.gate import GateResult
from opcheck.model.report import Report
from opcheck.report.base import Format, Page, format_named, gate_formats

_HINT = "write --format FORMAT=FILE for each but one, as in --format text --format json=a.json"


class Outputs:
    """What ``--format`` and ``--output`` ask for, known to be possible before any work starts."""

    def __init__(self, formats: Sequence[str] | None, output: Path | None, detail: Detail) -> None:
        asked = [_read(text) for text in formats or ("text",)]
        bare = [view.name for view, path in asked if path is None]
        if len(bare) > 1:
            place = "stdout" if output is None else str(output)
            raise UsageError(f"{len(bare)} formats for {place}: {', '.join(bare)}", _HINT)
        if output is not None and not bare:
            raise UsageError(f"no format is left for {output}", "leave -o out, or =FILE")
        paths = [path or output for _, path in asked]
        _check_once([path for path in paths if path is not None])
        views = [view for view, _ in asked]
        self._places = [(view, Output(path)) for view, path in zip(views, paths, strict=True)]
        self._detail = detail

    def write(self, report: Report) -> None:
        """Write it all; nothing is written where one format fails."""
        self._write(lambda view, page: _rendered(view, report, page))

    def require_gate(self) -> None:
        """Refuse formats that cannot write what a gate answers, before it does.

        Raises:
            UsageError: there is one of them.
        """
        able = gate_formats()
        for view, _ in self._places:
            if type(view) not in able:
                raise UsageError(
                    f"the format {view.name!r} is for reports; opcheck gate cannot write it",
                    f"it writes {', '.join(kind.name for kind in able)}",
                )

    def write_gate(self, found: GateResult, *, show_waived: bool) -> None:
        """Write what a gate answered, as :meth:`write` does a report."""
        self._write(lambda view, page: view.render_gate(found, page, show_waived=show_waived))

    def _write(self, render: Callable[[Format, Page], str]) -> None:
        texts = [render(view, out.page(self._detail)) for view, out in self._places]
        for (_, out), text in zip(self._places, texts, strict=True):
            out.write(text)


def _read(text: str) -> tuple[Format, Path | None]:
    name, separator, path = text.partition("=")
    view = format_named(name)
    if separator and not path:
        raise UsageError(f"--format {text}: there is no file after =", _HINT)
    return view, Path(path) if path else None


def _check_once(paths: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for path in paths:
        if (whole := path.resolve()) in seen:
            raise UsageError(f"two formats for {path}", "give each a file of its own")
        seen.add(whole)


def _rendered(view: Format, report: Report, page: Page) -> str:
    """A report that has a plan is shown with it."""
    planned = any(target.plan is not None for target in report.targets)
    return view.render_plan(report, page) if planned else view.render(report, page)
