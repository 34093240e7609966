"""What PyTorch's CUDA code checks: each fact of that is said of a call, and not of another."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from opcheck.db.importers.shared import cuda
from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Constant, Node, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import node
from tests.db.cuda_check_uses import A100, ALWAYS, PAIRS, Pair

RELEASE = "2.9.1"
"""The release in whose code the checks were read."""
SHARED = Path(cuda.__file__)
FILES = {
    "cuda": SHARED.with_name("cuda_checks.yaml"),
    "nvidia": SHARED.parents[1] / "nvidia_checks.yaml",
    "amd": SHARED.parents[1] / "amd_checks.yaml",
}


def call(op: str, arguments: Mapping[str, Value]) -> Node:
    """A call, of which ``return`` is what it gives, and a dtype no text."""
    given = {
        name: Constant("dtype", value) if name == "out_dtype" and isinstance(value, str) else value
        for name, value in arguments.items()
    }
    result = given.pop("return", None)
    made = node(op, **given)
    return replace(made, outputs=(result,)) if isinstance(result, TensorMeta) else made


def said(target: SupportMatrix, made: Node) -> set[str]:
    """The texts of the conditions that a call breaks."""
    broken = (c for c in target.conditions_for(str(made.op)) if matches(c, made) is not None)
    return {str(c.text) for c in broken if c.verdict is Verdict.UNSUPPORTED}


def matrix(database: Database, chip: str, release: str = RELEASE) -> SupportMatrix:
    """Of that release, or of the one that a chip without it is given with."""
    text = chip if "@" in chip else f"{chip}@{release}"
    return database.matrix(database.resolve(TargetSpec.parse(text)))


def texts(name: str) -> set[str]:
    return {fact["text"] for fact in facts(name)}


@cache
def facts(name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = yaml.load(FILES[name].read_bytes(), yaml.CSafeLoader)["facts"]
    return read


NAMES = [f"{chip}-{op}-{number}" for number, (chip, op, *_) in enumerate(PAIRS)]


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_a_check_is_said_of_what_it_refuses_alone(pair: Pair, database: Database) -> None:
    chip, op, refused, let = pair
    target = matrix(database, chip)
    of_checks = texts("cuda") | texts(chip.partition("-")[0])
    assert said(target, call(op, refused)) & of_checks
    if let:
        assert said(target, call(op, let)) == set()


def test_each_fact_of_a_check_is_said_of_a_call(database: Database) -> None:
    calls = [(chip, call(op, refused)) for chip, op, refused, _ in PAIRS]
    calls += [(A100, node(op)) for op in ALWAYS]
    found = {
        (chip.partition("-")[0], text)
        for chip, made in calls
        for text in said(matrix(database, chip), made)
    }
    every = {text for _, text in found}
    left = {
        "cuda": texts("cuda") - every,
        **{name: {t for t in texts(name) if (name, t) not in found} for name in ("nvidia", "amd")},
    }
    assert left == {"cuda": set(), "nvidia": set(), "amd": set()}


@pytest.mark.parametrize("name", FILES)
def test_a_fact_holds_in_the_release_that_was_read_and_until_its_end(
    name: str, database: Database
) -> None:
    vendors = ("nvidia", "amd") if name == "cuda" else (name,)
    for vendor in vendors:
        files = database.vendors[vendor]
        has = {r: {c["text"] for c in files.release(r).data["conditions"]} for r in files.files}
        for fact in facts(name):
            assert fact["text"] in has[RELEASE]
            known = has["2.15.0"] if "until" not in fact else has[fact["until"]]
            assert fact["text"] in known
            assert fact["at"][0].startswith("v2.9:")
