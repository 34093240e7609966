"""What pages say is what the command line says, asked for one at a time."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from opcheck.commands.explain.answer import explain
from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from tests.site.small import OPERATORS
from tools.site.compact import matrix_script
from tools.site.dtypes import DTYPES, Dtypes
from tools.site.histories import History, Tables, history
from tools.site.known import LETTERS, VERDICTS, Known

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def known() -> Known:
    return Known(frozenset(OPERATORS))


def _page(site: Path, base: str) -> Any:
    path = site / "json" / "operators" / f"{base.replace('::', '.')}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _said(page: Any, op: str, target: Target) -> tuple[str, str, str]:
    """Verdict, reason and first source of an overload on a target, as a page has them."""
    overload = next(one for one in page["overloads"] if one["op"] == op)
    names = {target.name, target.vendor}
    group = next(one for one in overload["groups"] if names & {*one["targets"]})
    places = group.get("evidence", [])
    fact = page["evidence"][places[0]] if places else {}
    return group["verdict"], group["reason"]["text"], str(fact.get("path", ""))


def test_cells_say_what_explain_says(site: Path, known: Known) -> None:
    cells = [(op, target) for target in known.targets
             for op in known.overloads if op in known.of_target[target.name]]  # fmt: skip
    for op, target in random.Random(7).sample(cells, 60):
        (found,) = explain(op, (TargetSpec.parse(str(target)),))
        page = _page(site, op.partition(".")[0])
        path = found.evidence[0].path if found.evidence else ""
        assert _said(page, op, target) == (found.verdict.value, str(found.reason.text), path)


def test_conditions_say_what_explain_says(site: Path, known: Known) -> None:
    for target in random.Random(7).sample(list(known.targets), 12):
        (found,) = explain("aten::topk.values", (TargetSpec.parse(str(target)),))
        page = _page(site, "aten::topk")
        stated = {
            one["code"]
            for one in page["conditions"]
            for held in one["holds"]
            if {target.name, target.vendor} & {*held["targets"]}
            and "aten::topk.values" in held["ops"]
        }
        of_all = known.matrix(target).conditions.get("*", ())
        own = [c for c in found.conditions if c not in of_all]
        assert stated == {c.code for c in own if c.predicates or c.code != found.reason.code}
        text = (site / "en" / "targets" / f"{target.name}.html").read_text(encoding="utf-8")
        assert text.count("<details open><summary>For every operator") == bool(of_all)


def test_releases_say_what_explain_says(known: Known) -> None:
    tables = Tables(known)
    for name in ("ascend-910b", "intel-arc"):
        found = history(name, known, tables)
        for place, release in random.Random(7).sample(list(enumerate(found.releases)), 3):
            for op in ("aten::_grouped_mm", "aten::gelu", "torchvision::nms"):
                (said,) = explain(op, (TargetSpec(name, release),))
                assert VERDICTS[found.verdicts[op][place]] is said.verdict, (name, release, op)


def test_a_verdict_that_changed_is_told_by_release() -> None:
    found = History("a", ("1", "2", "3", "4"), {"x": "kkun", "y": "nnnn"})
    assert found.changes("x") == (("1", "k"), ("3", "u"), ("4", "n"))
    assert found.changes("y") == (("1", "n"),)
    assert found.changes("z") == (("1", "."),)


def test_a_dtype_is_refused_where_a_condition_on_dtypes_alone_holds(known: Known) -> None:
    """The walk says unsupported for exactly the dtypes that such a condition of explain names."""
    dtypes = Dtypes(known)
    for target in (t for t in known.targets if t.name in ("nvidia-h100", "ascend-910b")):
        (found,) = explain("aten::gelu", (TargetSpec.parse(str(target)),))
        refused = {
            dtype
            for dtype in DTYPES
            for condition in found.conditions
            if condition.verdict is Verdict.UNSUPPORTED
            and all(p.kind == "dtype" for p in condition.predicates)
            and matches(condition, _call(dtype)) is not None
        }
        told = dtypes.differing("aten::gelu", target, found.verdict)
        assert refused
        assert {one for one, letter in told.items() if letter == "u"} == refused


def _call(dtype: str) -> Node:
    tensor = TensorMeta(dtype, (2, 2), (2, 1))
    return Node(OpName.parse("aten::gelu"), (("self", tensor),), (tensor,))


def test_the_compact_file_has_every_release(known: Known) -> None:
    some = {"a": History("a", ("1", "2"), dict.fromkeys(known.overloads, "kn"))}
    text = matrix_script(known, some)
    found = json.loads(text.partition("=")[2].rstrip(";\n"))
    newest, older = found["targets"]["a"]
    assert newest == "n" * len(known.overloads)
    assert older == {"1": "k" + "1k" * (len(known.overloads) - 1)}
    assert set(LETTERS.values()) == set(VERDICTS)
