"""The page of lists of whole models is of the lists that the database has."""

import re

from benchmarks.model_lists import PAGE
from benchmarks.model_lists_page import page
from opcheck.db.store import Database

ROWS = Database.open().model_rows
TEXT = PAGE.read_text(encoding="utf-8")


def test_its_lists_are_those_of_the_database() -> None:
    head, _, _ = page(ROWS, ()).partition("## Beside verdicts")
    assert TEXT.startswith(head)
    assert TEXT.endswith(page(ROWS, ()).partition("## Not yet")[2])


def test_each_contradiction_is_with_a_row_that_is_there() -> None:
    count = re.search(r"^### The contradictions: (\d+)$", TEXT, re.MULTILINE)
    assert count is not None
    cited = re.findall(r"/blob/(\w{40})/(\S+)#L(\d+)\) \|$", TEXT, re.MULTILINE)
    assert len(cited) == int(count[1]) > 0
    there = {(r.evidence.commit, r.evidence.path, str(r.evidence.line)) for r in ROWS}
    assert there.issuperset(cited)


def test_its_counts_add_up() -> None:
    rows = re.findall(r"^\| [\w-]+ \| (?:inference|train) \| (.*) \|$", TEXT, re.MULTILINE)
    counts = [list(map(int, row.split(" | "))) for row in rows]
    assert counts
    assert all(pairs == sum(rest) for pairs, *rest in counts)
