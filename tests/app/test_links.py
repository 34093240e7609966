"""Which terminals get hyperlinks, and where they lead."""

import os
from pathlib import Path

import pytest

from opcheck.app.output import locate, takes_links
from tests.app.test_process import opcheck

KNOWN = {"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}


@pytest.mark.parametrize(
    ("environment", "on_terminal", "in_pipe"),
    [
        (KNOWN, True, False),
        ({**KNOWN, "NO_COLOR": "1"}, False, False),
        ({**KNOWN, "NO_COLOR": ""}, True, False),
        ({**KNOWN, "CI": "true"}, False, False),
        ({**KNOWN, "TERM": "dumb"}, False, False),
        ({**KNOWN, "FORCE_HYPERLINK": "0"}, False, False),
        ({**KNOWN, "NO_COLOR": "1", "FORCE_HYPERLINK": "1"}, True, True),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, True, True),
        ({"TERM": "xterm-256color"}, False, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False, False),
        ({"TERM": "xterm-kitty"}, True, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "6800"}, True, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4600"}, False, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "new"}, False, False),
        ({"WT_SESSION": "1"}, True, False),
        ({}, False, False),
    ],
)
def test_links_are_for_terminals_that_show_them(
    environment: dict[str, str], on_terminal: bool, in_pipe: bool
) -> None:
    assert takes_links(environment, True) is on_terminal
    assert takes_links(environment, False) is in_pipe


def test_a_line_is_found_from_here_and_among_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a net 网.py"
    odd.write_text("")
    monkeypatch.chdir(tmp_path)
    assert locate("a net 网.py", 3) == f"{odd.as_uri()}#3"
    assert odd.as_uri().isascii()
    import rich

    package = Path(rich.__file__).resolve()
    assert locate("rich/__init__.py", 12) == f"{package.as_uri()}#12"


@pytest.mark.parametrize("file", ["no/such/file.py", "a\0b", "x" * 5000, "."])
def test_what_is_no_file_leads_nowhere(file: str) -> None:
    assert locate(file, 1) == ""


@pytest.mark.slow
def test_pipes_and_files_get_no_links(tmp_path: Path) -> None:
    assert b"\x1b]8" not in opcheck("scan", "mixed", **KNOWN).stdout
    assert b"\x1b]8;;https://" in opcheck("scan", "mixed", FORCE_HYPERLINK="1").stdout
    path = tmp_path / "report.txt"
    opcheck("scan", "mixed", "-o", os.fspath(path), FORCE_HYPERLINK="1")
    assert "\x1b" not in path.read_text("utf-8")
