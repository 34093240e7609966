"""The types that shapes stand for take nothing that the shapes refuse, and all that is written."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opcheck.db.files import document
from opcheck.db.schema.additions import ADVISORY_FILE, OVERLAY_FILE
from opcheck.db.schema.checks import ListOf, Number, Shape, ShapeError, Text
from opcheck.db.schema.forms import fits
from opcheck.db.schema.tables import CHOICES_FILE, HISTORY_FILE, TEST
from opcheck.db.schema.vendor import RELEASE, VENDOR_FILE
from tests.db.overlays import OVERLAY, ROOT

WRONG: list[Any] = [
    None, True, 0, -1, 1.0, "", "x", "a b", "aten::abs", "2.1..", [], {}, [1], ["x", None],
    {"x": 1}, {1: "x"}, 2**70, "x" * 20_000, "high", "native", "2.1\n",
]  # fmt: skip
"""Values, of which most stand nowhere."""


def checked(value: object, shape: Shape) -> bool:
    try:
        shape.check(value, ())
    except ShapeError:
        return False
    return True


def generated() -> list[Path]:
    return sorted(path for path in ROOT.glob("*/*.yaml") if (path.parent / "vendor.yaml").exists())


@pytest.mark.slow
@pytest.mark.parametrize("path", generated(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_file_of_a_vendor_fits_at_once(path: Path) -> None:
    shape = VENDOR_FILE if path.stem == "vendor" else RELEASE
    assert fits(document.read(path, shape).data, shape)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def mutated(data: Any, chance: random.Random) -> Any:
    """A copy in which one value is another, is gone, or has a neighbour."""
    data = copy.deepcopy(data)
    (*above, last) = chance.choice([path for path in places(data) if path])
    held = data
    for step in above:
        held = held[step]
    match chance.randrange(4):
        case 0:
            del held[last]
        case 1 if isinstance(held, dict):
            held[chance.choice(["x", "at", "torch", "minimum", "one_of", 1])] = chance.choice(WRONG)
        case 2 if isinstance(held, list):
            held.insert(last, chance.choice(WRONG))
        case _:
            held[last] = chance.choice(WRONG)
    return data


def small(name: str, shape: Shape, tmp_path: Path) -> Any:
    """A file of little, with some of everything that its kind may have."""
    path = tmp_path / "o.yaml"
    path.write_text(OVERLAY)
    data: Any = document.read(path if name == "overlay" else ROOT / name, shape).data
    data = json.loads(json.dumps(data))
    for key, value in data.items():
        if isinstance(value, list):
            data[key] = value[:3] + [said for said in value if "tests" in said][:2]
        elif isinstance(value, dict) and key != "fallback":
            data[key] = dict([*value.items()][:3])
    return data


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ascend/26.1.0.yaml", RELEASE),
        ("apple/2.13.0.yaml", RELEASE),
        ("ascend/vendor.yaml", VENDOR_FILE),
        ("advisories/apple/mps-scan-axis.yaml", ADVISORY_FILE),
        ("pytorch/choices@2.13.yaml", CHOICES_FILE),
        ("pytorch/history.yaml", HISTORY_FILE),
        ("overlay", OVERLAY_FILE),
    ],
)
def test_what_fits_is_what_the_check_lets_pass(name: str, shape: Shape, tmp_path: Path) -> None:
    whole = small(name, shape, tmp_path)
    assert fits(whole, shape)
    assert checked(whole, shape)
    chance = random.Random(name)
    refused = 0
    for _ in range(1500):
        data = mutated(whole, chance)
        assert fits(data, shape) == checked(data, shape), data
        refused += not fits(data, shape)
    assert 100 < refused < 1500


@pytest.mark.parametrize(
    "said",
    [
        {"subject": "rank", "argument": "self", "maximum": 6},
        {"subject": "rank", "argument": "self", "minimum": 1, "maximum": 6},
        {"subject": "rank", "argument": "self", "minimum": 1, "one_of": ["1"]},
        {"subject": "rank", "argument": "self"},
        {"subject": "size", "argument": "self", "dim": 1, "divisible_by": 8},
        {"subject": "rank", "argument": "self", "dim": 1, "maximum": 6},
        {"subject": "colour", "argument": "self", "maximum": 6},
        {"argument": "self", "maximum": 6},
        [],
        None,
    ],
)
def test_a_predicate_fits_with_one_bound(said: object) -> None:
    assert fits(said, TEST) == checked(said, TEST)


def test_a_shape_without_a_type_is_left_to_its_check() -> None:
    class Odd:
        def check(self, value: object, path: tuple[str | int, ...]) -> None:
            assert value

    assert not fits([1], ListOf(Odd()))
    assert fits([1], ListOf(Number()))
    assert not fits(["x\n"], ListOf(Text(pattern="x", form="x")))
