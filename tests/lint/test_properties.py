"""Whatever a source holds, it is read or it is said why not."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcheck.errors import SourceError, UsageError
from opcheck.lint.reading import ReadSource, look
from opcheck.lint.sources import LARGEST, SUFFIXES, TextFile, find, read
from opcheck.model.porting import SkippedFile
from tests.lang.told import in_chinese
from tests.lint.helpers import lint

_NAMES = st.sampled_from(["x", "model", "torch", "device", "backend", "to", "load", "value"])
_LINES = st.one_of(
    st.builds("{}.{}({})".format, _NAMES, _NAMES, _NAMES),
    st.builds('{} = "{}"'.format, _NAMES, st.sampled_from(["cpu", "npu:0", "gloo", "text"])),
    st.builds("if {}.{}:\n    {} = f'{{{}}}'".format, _NAMES, _NAMES, _NAMES, _NAMES),
    st.builds("def {}({}='cpu'):\n    return {}".format, _NAMES, _NAMES, _NAMES),
    st.just("import torch"),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_LINES, max_size=8).map("\n".join))
def test_a_source_without_names_of_cuda_has_no_findings(source: str) -> None:
    shown = [line for line in lint(source).shown if not line.startswith("map-location")]
    assert shown == []
    assert lint(source).fixed == source


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.sampled_from([".py", *sorted(SUFFIXES)]))
def test_any_text_is_read_or_said_why_not(text: str, suffix: str) -> None:
    file = TextFile(f"f{suffix}", Path(f"f{suffix}"), text)
    assert isinstance(look(file, frozenset(), frozenset()), ReadSource | SkippedFile)


_PIECES = st.lists(
    st.sampled_from(
        ["import torch\n", "torch.cuda.", "synchronize()", "(", ")", '"cuda"', "f'{", "}'", "\n",
         "x.cuda()", "if ", ":", " ", "device=", "é", "# opcheck: ignore[", "]", "'''", "\\\n"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(_PIECES)
def test_pieces_of_sources_are_read_or_said_why_not(text: str) -> None:
    found = look(TextFile("f.py", Path("f.py"), text), frozenset(), frozenset())
    assert isinstance(found, ReadSource | SkippedFile)
    if isinstance(found, ReadSource):
        for _, sighting in found.seen:
            assert 1 <= sighting.span.line <= sighting.span.end_line
            assert sighting.spot is None or text[sighting.spot.start :].startswith(
                sighting.spot.written
            )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"def f(:\n", "it is not Python as this Python reads it: line 1: invalid syntax"),
        (b"x = '\xff'\n", "it is no text that Python reads: "),
        (b"# coding: nonsense\n", "it is no text that Python reads: "),
        (b"a\0b", "it is binary"),
        (b"x" * (LARGEST + 1), "it is larger than 4 MiB"),
        (b"(" * 3000 + b")" * 3000, "it is not Python as this Python reads it: "),
        (b"not " * 9000 + b"x", "it is not Python as this Python reads it: it nests too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_note(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.py"
    path.write_bytes(content)
    found = read(path)
    if isinstance(found, TextFile):
        looked = look(found, frozenset(), frozenset())
        assert isinstance(looked, SkippedFile)
        found = looked
    assert found.reason.startswith(reason)


def test_deep_expressions_are_read_or_said_why_not() -> None:
    text = "x = " + "+".join(["a"] * 20000) + "\nif x" + ".a" * 900 + ".is_cuda: pass\n"
    found = look(TextFile("f.py", Path("f.py"), text), frozenset(), frozenset())
    assert isinstance(found, ReadSource | SkippedFile)


def test_a_condition_that_cannot_be_written_out_is_said_to_nest_too_deeply() -> None:
    """It guards an import, of which it is looked for whether it names the package."""
    text = "if " + "1+" * 900 + "x:\n    import flash_attn\n"
    file = TextFile("f.py", Path("f.py"), text)
    found = look(file, frozenset(), frozenset({"flash_attn"}))
    assert found == SkippedFile("f.py", "it nests too deeply")
    assert in_chinese([found.reason]) == ["嵌套过深"]


def test_other_encodings_are_read_as_python_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\nä = 'é'; x.cuda()\n".encode("latin-1"))
    found = read(path)
    assert isinstance(found, TextFile)
    assert lint(found.text).shown == ["cuda-call@2 unsupported .npu()"]


def test_folders_of_tools_are_passed_over(tmp_path: Path) -> None:
    for name in ("a.py", "src/k.cu", ".git/b.py", "node_modules/c.py", "env/d.py", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert [p.relative_to(tmp_path).as_posix() for p in find(tmp_path)] == ["a.py", "src/k.cu"]


def test_a_path_without_sources_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no source to read"):
        find(tmp_path)
    with pytest.raises(UsageError, match="cannot read"):
        find(tmp_path / "missing")
    (tmp_path / "a.txt").touch()
    with pytest.raises(UsageError, match="is no source"):
        find(tmp_path / "a.txt")
    (tmp_path / "tool").write_text("#!/usr/bin/env python3\n")
    assert find(tmp_path / "tool") == (tmp_path / "tool",)
