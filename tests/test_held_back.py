"""What opcheck says of held-back operators is compared with tables that it has not seen."""

from pathlib import Path

import pytest
import yaml

from benchmarks.held_back import (
    REFUSED,
    RELEASE,
    SUPPORTED,
    TARGETS,
    Cell,
    base,
    held,
    held_back,
    of_a_table,
    opinfo_tests,
    row_held,
    without_rows,
)
from benchmarks.held_back_page import agreement, page
from opcheck.db.store import Database

SHARE = ("mm", "scatter", "trace", "where")


def test_a_third_is_held_back_whichever_form_is_named() -> None:
    ops = {base(op) for op in Database.open().operators("2.13") if op.startswith("aten::")}
    assert 0.3 < sum(map(held, ops)) / len(ops) < 0.37
    assert base("aten::add_.Tensor") == base("aten::add.out") == "add"


@pytest.mark.parametrize("vendor", TARGETS)
def test_no_row_of_a_held_back_operator_is_left(vendor: str, tmp_path: Path) -> None:
    root = Database.open().root
    without_rows(root, vendor, tmp_path)
    assert [path.stem for path in (tmp_path / vendor).glob("[0-9]*")] == [RELEASE]
    before, after = (
        yaml.load((each / vendor / f"{RELEASE}.yaml").read_text("utf-8"), yaml.CSafeLoader)
        for each in (root, tmp_path)
    )
    rows, left = (
        [
            op
            for condition in said["conditions"]
            if condition.get("method") == "tested" and condition["code"] == "dtype-not-supported"
            if of_a_table(condition, before)
            for op in condition["ops"]
            if op != "*"
        ]
        for said in (before, after)
    )
    assert any(held(base(op)) for op in rows)
    assert not any(held(base(op)) for op in left)
    assert [op for op in rows if not row_held(base(op))] == left
    assert after["operators"] == before["operators"]


def test_a_share_agrees_with_the_table() -> None:
    asked = [test for test in opinfo_tests() if test.name in SHARE]
    assert len(asked) == len(SHARE)
    cells = held_back("nvidia", asked)
    assert {cell.test for cell in cells} == set(SHARE)
    assert agreement(cells) > 0.8
    assert all(cell.said == SUPPORTED for cell in cells if cell.dtype == "float32")


def test_the_page_counts_and_lists_what_differs() -> None:
    cells = [
        Cell("mm", "mm", "float32", SUPPORTED, SUPPORTED, ""),
        Cell("mm", "mm", "int8", REFUSED, SUPPORTED, ""),
        Cell("mm", "mm", "int32", REFUSED, SUPPORTED, ""),
        Cell("mm", "mm", "float64", SUPPORTED, REFUSED, "dtype-not-supported of `aten::mm`"),
    ]
    text = page({"nvidia": cells})
    assert "| nvidia | `nvidia-h100@2.13.0` | 4 | 50.0% | 25.0% | 0 of 2 | 1 | 2 | 0 |" in text
    assert "not reached" in text
    assert "| `mm` | mm | int8, int32 | refused | supported |" in text
