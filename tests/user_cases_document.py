"""What users met beside what a scan says: ``python -m tests.user_cases_document`` writes the page.

It scans some hundred small programs, in half a minute.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.user_cases import NOT_SEEN, PARTLY, RIGHT, Said, UserCase, said_of
from tests.user_cases_known import KNOWN
from tests.user_cases_later import LATER
from tests.user_controls.document import section

PATH = Path(__file__).parent.parent / "docs" / "user-cases.md"
COMMAND = "python -m tests.user_cases_document"
_MARKS = {RIGHT: "✔ right", PARTLY: "partly", NOT_SEEN: "not seen"}
_WRONG = "✘ wrong"


def page() -> str:
    """The whole page."""
    return _PAGE.format(
        command=COMMAND,
        counts=_counts({"of the list": KNOWN, "later": LATER}),
        known=_table(KNOWN),
        later=_table(LATER),
        controls=section(),
    )


def judged(case: UserCase) -> str:
    """How a case fares: as it claims, where every target says what is expected there."""
    wrong = any(said.code != case.expected[said.target] for said in said_of(case.name))
    return _WRONG if wrong else _MARKS[case.judgement]


def _counts(groups: dict[str, tuple[UserCase, ...]]) -> str:
    marks = [*_MARKS.values(), _WRONG]
    rows = []
    for name, cases in groups.items():
        found = Counter(judged(case) for case in cases)
        at_first = found[_MARKS[RIGHT]] - sum(bool(case.mended) for case in cases)
        counts = [len(cases), at_first, *(found[mark] for mark in marks)]
        rows.append([name, *map(str, counts)])
    return _lines(["cases", "number", "right when first tried", *marks], rows)


def _table(cases: Iterable[UserCase]) -> str:
    head = [
        "case",
        "what users met",
        "target",
        "what opcheck says",
        "judged",
        "what was, or is missing",
    ]
    return _lines(head, (row for case in cases for row in _rows(case)))


def _rows(case: UserCase) -> Iterable[list[str]]:
    """A row a target; what holds for the case stands in the first."""
    met = f"{case.met} ({', '.join(map(_link, case.threads))})"
    said = said_of(case.name)
    for number, (target, says) in enumerate([_told(one) for one in said] or [("—", "nothing")]):
        first = [case.name, met] if number == 0 else ["", ""]
        last = [judged(case), _added(case)] if number == 0 else ["", ""]
        yield [*first, target, says, *last]


def _added(case: UserCase) -> str:
    return f"Mended by {case.mended}. {case.lacking}".strip() if case.mended else case.lacking


def _told(said: Said) -> tuple[str, str]:
    return f"`{said.target}`", f"**{said.verdict}** `{said.code}`: {said.text}"


def _link(thread: str) -> str:
    """GitHub leads from an issue's address to a pull request of that number."""
    project, _, number = thread.partition("#")
    return f"[{thread}](https://github.com/{project}/issues/{number})"


def _lines(head: list[str], rows: Iterable[list[str]]) -> str:
    every = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in every)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_PAGE = """\
# What users met, and what a scan says

Written by `{command}`; do not edit. Every case is a small program, scanned for
the target and the release of its thread, and for one where it was mended. It is *right* where the
finding on the overload that users stumbled over has the verdict and the reason that they met;
*partly* where it tells a part; *not seen* where no scan of a model can tell it, or none does yet.

{counts}

## Cases of the list

{known}

## Cases looked for later

Public threads that the database was not made from. Where opcheck did not tell at first and does
now, it rests on what holds for the whole class: texts in every release's library, the vendor's
code, the thread itself. Counted as *right when first tried* is what needed nothing.

{later}

{controls}"""


def main() -> None:
    """Write the page, and say what is wrong."""
    PATH.write_text(page(), encoding="utf-8")
    wrong = [case.name for case in (*KNOWN, *LATER) if judged(case) == _WRONG]
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
