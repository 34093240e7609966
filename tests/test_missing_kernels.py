"""The page of missing kernels tells what a store holds, and promises no more than that."""

from pathlib import Path

from msgspec.structs import replace

from benchmarks import missing_kernels
from benchmarks.missing_kernels import kinds_of, page
from opcheck.commands.fleet.answers.queries import Wanted, missing_of, summary_of
from opcheck.commands.fleet.answers.values import Goal
from opcheck.commands.fleet.values import Blocker, Cause
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.fleet.made import filled, kernel, result, scanned, target

A, B = target("ascend-910b@26.1.0+torch2.12"), target("nvidia-h100@13.0+torch2.12")
DOUBLE = Blocker(
    "aten::mm", Cause.CONDITION, "dtype-not-supported", Verdict.UNSUPPORTED, "no float64",
    Confidence.HIGH, 1, ("aten::mm",),
)  # fmt: skip


def test_each_vendor_has_its_steps(tmp_path: Path) -> None:
    store = tmp_path / "fleet.db"
    erfcx, roll = kernel("aten::special_erfcx"), kernel("aten::roll")
    outcomes = {
        "one": scanned(result(A, erfcx, roll), result(B)),
        "two": scanned(result(A, erfcx, roll), result(B)),
        "three": scanned(result(A, erfcx, DOUBLE), result(B)),
    }
    filled(store, outcomes, [A, B])
    kernels = missing_of(store, "last", Wanted(causes=(Cause.KERNEL,)))
    summary = summary_of(store)
    kinds = kinds_of(store, summary.run)
    text = page(summary, kinds, {Goal.RUNS: (kernels, missing_of(store, "last", Wanted()))})
    assert "of 3 models (3 python) on 2 targets" in text
    assert text.partition("## To run at all")[2] == (
        """

Models that do not run, or of which nobody can tell, and would run.

### ascend

ascend-910b: 3 models blocked, 3 of 3 pairs. These 2 kernels would unblock 2 models, 2 pairs.

| step | kernels | models | in all | pairs |
| ---: | --- | ---: | ---: | ---: |
| 1 | `aten::special_erfcx`<br>`aten::roll` | +2 | 2 | +2 |

With conditions lifted and unknowns settled, 2 kernels, 1 condition would unblock 3 models, 3 pairs:

| step | needs | models | in all | pairs |
| ---: | --- | ---: | ---: | ---: |
| 1 | `aten::special_erfcx`<br>`aten::roll` | +2 | 2 | +2 |
| 2 | `aten::mm` dtype-not-supported | +1 | 3 | +1 |

### nvidia

nvidia-h100: nothing is blocked.
"""
    )


def test_what_one_sentence_says_is_told_once(tmp_path: Path) -> None:
    store = tmp_path / "fleet.db"
    lacks = [replace(DOUBLE, op=f"aten::{op}") for op in ("add", "cos", "div", "exp", "mm", "mul")]
    needed = [replace(DOUBLE, op=f"aten::{op}") for op in ("sin", "tan")]
    filled(store, {"one": scanned(result(A, kernel("aten::roll"), *lacks, *needed))}, [A])
    found = missing_of(store, "last", Wanted())
    text = page(summary_of(store), {}, {Goal.RUNS: (found, found), Goal.DEVICE: (found, found)})
    assert text.count("### ascend") == 1
    row = next(line for line in text.splitlines() if line.startswith("| 1 |"))
    assert row == (
        "| 1 | `aten::add`, `aten::cos`, `aten::div`, `aten::exp`, `aten::mm`, `aten::mul` "
        "and 2 more operators dtype-not-supported<br>`aten::roll` | +1 | 1 | +1 |"
    )


def test_the_page_that_is_there_is_one_of_these() -> None:
    text = missing_kernels.PAGE.read_text("utf-8")
    assert text.startswith("# Most valuable missing kernels\n")
    assert "make missing" in text
    assert all(f"\n## {title}\n" in text for title in ("To run at all",
                                                      "To run on the device alone"))  # fmt: skip


def test_a_store_has_to_be_named() -> None:
    assert missing_kernels.main([]) == 2
