"""The quick reader gives what the YAML library gives, or leaves the text to it."""

import random
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from opcheck.db.files import yaml_reader, yaml_writer
from tests.db.overlays import ROOT

FILES = sorted(ROOT.glob("*/*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_file_of_the_database_reads_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    try:
        found = yaml_reader.read_quickly(text)
    except yaml_reader.OtherStyleError:
        by_hand = path.parent.name in BY_HAND or path.name.startswith(
            ("choices@", "collectives", "earlier")
        )
        assert by_hand or path.name == "vendor.yaml"
    else:
        assert found == yaml.load(text, yaml.CSafeLoader)


BY_HAND = (
    "advisories", "chips", "dynamic", "environment", "lint", "names", "remedies", "schemas",
)  # fmt: skip
SIGNS = [*":#-\"'\\&*>|,[]{}!%@`~? \t", ": ", " #", "- ", ">-", "null", "no", "\u00e9", "\u2028"]
_SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.text(max_size=12),
    st.from_regex(r"[a-z0-9_:.@+=<>/-]{1,10}", fullmatch=True),
    st.sampled_from(["yes", "null", "~", "on", "true", "2.10", "a: b", "- a", "# a", "", "1e3"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), _VALUES, max_size=4),
    st.lists(_VALUES, max_size=3),
)
def test_whatever_importers_write_reads_the_same(
    said: dict[str, object], items: list[object]
) -> None:
    section = yaml_writer.section("said", said, 'A comment: of "words"')
    lines = [*section, *yaml_writer.listing("items", items)]
    text = "\n".join([*lines, *yaml_writer.end()]) + "\n"
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError:  # control characters, which no vendor's file has
        return
    try:
        found = yaml_reader.read_quickly(text)
    except yaml_reader.OtherStyleError:
        return
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        "just words",
        "a: yes",
        "a: No",
        "a: ~",
        "a: Null",
        "a:",
        "a: {b: NULL}",
        "a: 2026-08-22",
        "a: 1:30",
        "a: 010",
        "a: !!str b",
        "a: 'b'",
        "a: >\n  b",
        "a: >-\n  b\n\n  c",
        "a: >-\n  b\n    c",
        "a: >-\n b",
        "a: >-",
        "a: b c\n  d",
        "a: b: c d",
        "a: b c # d",
        "a:\n  - b: 1\n    - c",
        "a:\n  - - b",
        "a:\n  - b c",
        "a:\n  - b,c",
        "a:\n  - 1,2",
        "a: 1\n  b: 2",
        " a: 1",
        "  - 1",
        "a: {b c: 1}",
        "a: [1, 2",
        "a: b # c",
        "- a",
        "a: \0",
        'a: "b',
    ],
)
def test_other_styles_are_left_to_the_library(text: str) -> None:
    with pytest.raises(yaml_reader.OtherStyleError):
        yaml_reader.read_quickly(text)


def changed(text: str, chance: random.Random) -> str:
    """The text with one or two slips of the hand in it."""
    lines = text.splitlines()
    for _ in range(chance.randrange(1, 3)):
        place = chance.randrange(len(lines))
        line = lines[place]
        at = chance.randrange(len(line) + 1)
        match chance.randrange(6):
            case 0:
                lines[place] = line[:at] + chance.choice(SIGNS) + line[at:]
            case 1:
                lines[place] = line[:at] + line[at + 1 :]
            case 2:
                lines[place] = chance.choice([" ", "  ", "- ", "# "]) + line
            case 3:
                lines[place] = line.removeprefix("  ")
            case 4:
                lines.insert(place, chance.choice(["", "  ", line, "# a comment", "  a: b c"]))
            case _:
                lines[place : place + 2] = [" ".join(lines[place : place + 2])]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["advisories", "remedies", "dynamic", "schemas", "lint"])
def test_what_is_read_after_a_slip_is_what_the_library_reads(folder: str) -> None:
    chance = random.Random(folder)
    paths = sorted((ROOT / folder).rglob("*.yaml"))
    accepted = 0
    for _ in range(1500):
        text = changed(chance.choice(paths).read_text(encoding="utf-8"), chance)
        try:
            found = yaml_reader.read_quickly(text)
        except yaml_reader.OtherStyleError:
            continue
        accepted += 1
        assert found == yaml.load(text, yaml.CSafeLoader), text
    assert accepted


def test_lists_may_hold_mappings_and_texts_several_lines() -> None:
    text = (
        "a:\n  - b: c\n  - b: one, two; (three)\n    d:\n      - e\n      - f: 1\n"
        'g: >-\n  is #1: "it"\n  goes on\nh: it\'s here\ni: {j: null}\n'
    )
    assert yaml_reader.read_quickly(text) == yaml.safe_load(text)
    assert yaml_reader.read_quickly(text)["g"] == 'is #1: "it" goes on'


def test_sections_may_hold_sections() -> None:
    text = "a:\n  at: [x]\n  b:\n    c: [1, 2]\n    d:\n      - e\n      - f\ncomplete: true\n"
    assert yaml_reader.read_quickly(text) == yaml.safe_load(text)


def test_titles_of_several_words_are_read() -> None:
    text = "name: Google TPU (torch_xla)\ncomplete: true\n"
    assert yaml_reader.read_quickly(text) == {"name": "Google TPU (torch_xla)", "complete": True}


@pytest.mark.parametrize("text", ["a: 1\na: 2", "s:\n  b: 1\n  b: 2", "s:\n  b: {c: 1, c: 2}"])
def test_a_key_that_stands_twice_is_noticed_when_asked(text: str) -> None:
    assert yaml_reader.read_quickly(text) == yaml.safe_load(text)
    with pytest.raises(yaml_reader.OtherStyleError, match="twice"):
        yaml_reader.read_quickly(text, distinct=True)


def test_values_may_have_names() -> None:
    text = (
        "a: &x [1, b]\nc:\n  - d: *x\n  - {e: *x, f: 2}\ng: &y\n  - h: i\n    j: 1\n"
        "k: *y\nx: &z 2\nl: *z\n"
    )
    assert yaml_reader.read_quickly(text, distinct=True) == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: *x",
        "a: *x\nb: &x 1",
        "a: &x [1]\nb: &y [*x]\nc: *y",
        "a: &x {b: &y 1}\nc: *y",
        "a: {b: &x 1}\nc: *x",
        "a: &x\nb: *x",
        "a: &x 1\n  b: 2",
        "a: &x 1\nb: &x 2",
    ],
)
def test_names_within_named_values_are_left_to_the_library(text: str) -> None:
    with pytest.raises(yaml_reader.OtherStyleError):
        yaml_reader.read_quickly(text)


def test_a_name_stands_for_little_altogether() -> None:
    named = ", ".join(["abcdefgh"] * 10_000)
    text = f"a: &x [{named}]\n" + "".join(f"b{n}: *x\n" for n in range(100))
    with pytest.raises(yaml_reader.OtherStyleError, match="more than is read quickly"):
        yaml_reader.read_quickly(text)


@pytest.mark.parametrize("folder", ["advisories", "schemas", "pytorch"])
def test_what_each_target_needs_is_read_without_the_library(folder: str) -> None:
    """Importing the library and reading by it took longer than all else of a first load."""
    for path in sorted((ROOT / folder).rglob("*.yaml")):
        yaml_reader.read_quickly(path.read_text(encoding="utf-8"), distinct=True)
