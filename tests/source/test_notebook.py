"""Notebooks as they are read: their code cells, and files that are none."""

import json
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.source import notebook as room
from opcheck.source.notebook import Cell, read
from tests.notebooks import notebook


def test_code_cells_are_numbered_as_jupyter_does(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "x = 1\n", " \n", "!ls\nx")
    made = "get_ipython().system('ls')\nx"
    assert read(str(path)) == (Cell(1, "x = 1\n", "x = 1\n"), Cell(2, "!ls\nx", made))
    assert Cell(3, "", "").file("a/b.ipynb") == "a/b.ipynb#In[3]"


def test_tags_say_what_becomes_of_a_cell(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "1/0", tags=["raises-exception"])
    assert read(str(path)) == (Cell(1, "1/0", "1/0", may_raise=True),)
    assert read(str(notebook(path, "1/0", tags=["skip-execution"]))) == ()


def test_format_3_is_read(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "input": ["x = 1\n", "x"], "language": "python", "outputs": []}
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}]}))
    assert read(str(path)) == (Cell(1, "x = 1\nx", "x = 1\nx"),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"a\.ipynb is not a notebook: Input data was truncated"),
        (b"[1]", r"a\.ipynb is not a notebook: Expected `object`"),
        (b"{}", r"a\.ipynb is not a notebook: Object missing required field `nbformat`"),
        (b"\xff\xfe", r"a\.ipynb is not a notebook: JSON is malformed"),
        (
            b'{"nbformat":4,"x":' + b"[" * 1_000_000,
            r"a\.ipynb is not a notebook: maximum recursion",
        ),
        (b'{"nbformat":4,"cells":[{"cell_type":"code","source":5}]}', r"not a notebook: Expected"),
        (b'{"nbformat":2}', r"a\.ipynb is a notebook of format 2, and 3 and 4 can be read"),
        (b'{"nbformat":4,"cells":[]}', r"a\.ipynb is a notebook without code"),
        (
            b'{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":"x","language":'
            b'"ruby"}]}]}',
            r"a\.ipynb is a notebook in ruby, not in Python",
        ),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=said) as caught:
        read(str(path))
    assert caught.value.hint


def test_notebooks_of_other_languages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"a\.ipynb is a notebook in R, not in Python"):
        read(str(notebook(tmp_path / "a.ipynb", "x <- 1", language="R")))


def test_no_more_is_read_than_a_notebook_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = notebook(tmp_path / "a.ipynb", "x = 1")
    monkeypatch.setattr(room, "MOST_SOURCE_BYTES", 4)
    with pytest.raises(SourceError, match="has more code than can be read"):
        read(str(path))
    monkeypatch.setattr(room, "MOST_NOTEBOOK_BYTES", 4)
    with pytest.raises(SourceError, match=r"cannot read .*: it is larger than 4 bytes"):
        read(str(path))
