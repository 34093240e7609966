"""The quick reader gives what the YAML library gives, or leaves the text to it."""

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
        by_hand = path.parent.name in (
            "advisories", "chips", "dynamic", "environment", "lint", "remedies", "schemas",
        ) or path.name.startswith(("choices@", "collectives", "earlier"))  # fmt: skip
        assert by_hand or path.name == "vendor.yaml"
    else:
        assert found == yaml.load(text, yaml.CSafeLoader)


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
        "a: null",
        "a:",
        "a: {b: null}",
        "a: 2026-08-22",
        "a: 1:30",
        "a: 010",
        "a: &x [1]",
        "a: !!str b",
        "a: 'b'",
        "a: >-\n  b",
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
