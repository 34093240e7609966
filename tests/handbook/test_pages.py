"""The pages that are made from the code have all of it."""

import ast
import importlib
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from handbook.base import code, pages, table
from handbook.commands import commands
from handbook.pages.reasons import OWN
from handbook.schema import FILES
from opcheck.app.guide import EXIT_CODES
from opcheck.commands.targets.answer import targets
from opcheck.resolve import resolution
from tests.console import ROOT

PAGES = {page.name: page for page in pages()}


@cache
def text_of(name: str) -> str:
    return PAGES[name].text()


def _first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `+([^`]+)`+ \|", text, re.MULTILINE)


def test_a_cell_cannot_end_early() -> None:
    assert table(["a|b"], [[code("x|y")], ["two\nlines"]]) == (
        "| a\\|b |\n| --- |\n| `x|y` |\n| two lines |\n"
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_title_and_ends_in_a_newline(name: str) -> None:
    text = re.sub(r"```.*?```", "", text_of(name), flags=re.DOTALL)
    assert text.startswith("# ")
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert text_of(name).endswith("\n")


def test_every_command_has_all_its_parameters() -> None:
    sections = re.split(r"^## ", text_of("cli"), flags=re.MULTILINE)[1:]
    shown = {section.partition("\n")[0]: _first_cells(section) for section in sections}
    told = {one.name: [p.spelled for p in one.parameters] for one in commands()}
    assert {name: cells for name, cells in shown.items() if name in told} == told


def test_every_exit_code_is_there() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \| (.+) \|$", text_of("exit-codes"), re.MULTILINE)
    assert rows == [(str(c.value), c.name.lower(), text) for c, text in EXIT_CODES.items()]


@pytest.mark.slow
def test_every_target_is_there() -> None:
    assert _first_cells(text_of("targets")) == [row.target.name for row in targets()]


def test_every_key_of_every_schema_is_there() -> None:
    for path in FILES:
        schema = json.loads(path.read_text(encoding="utf-8"))
        section = text_of("schemas").partition(f"\n## {schema['title']} ")[2].partition("\n## ")[0]
        objects = [schema, *schema.get("$defs", {}).values()]
        wanted = {key for one in objects for key in one.get("properties", {})}
        assert wanted - set(_first_cells(section)) == set(), path.name


def test_every_key_of_the_policy_is_there() -> None:
    cells = set(_first_cells(text_of("policy")))
    assert {"targets", "fail-on.verdict", "baseline", "reason", "expires"} <= cells


def test_reasons_have_every_code_of_the_resolver() -> None:
    constants = {
        value for name, value in vars(resolution).items() if name.isupper() and type(value) is str
    }
    assert constants <= OWN.keys()


def test_reasons_have_every_code_that_is_given_by_name() -> None:
    given = {code for path in (ROOT / "opcheck" / "resolve").glob("*.py") for code in _codes(path)}
    assert given
    assert given - set(_first_cells(text_of("reasons"))) == set()


def _codes(path: Path) -> set[str]:
    """The first arguments of ``Reason("…", …)`` and ``Condition("…", …)``."""
    calls = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    )
    named = (
        c for c in calls if isinstance(c.func, ast.Name) and c.func.id in ("Reason", "Condition")
    )
    firsts = (call.args[0] for call in named if call.args)
    return {str(first.value) for first in firsts if isinstance(first, ast.Constant)}


def test_reasons_have_every_code_of_a_release() -> None:
    cells = set(_first_cells(text_of("reasons")))
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "compat_db").glob("*/*.yaml"))
    releases = [text for text in texts if "schema: opcheck.matrix/" in text[:2000]]
    codes = {found for text in releases for found in re.findall(r"[{ ]code: ([\w-]+)", text)}
    assert codes
    assert codes - cells == set()


def test_python_has_what_is_public_and_nothing_that_is_not_there() -> None:
    shown = re.findall(r"^::: (\S+)$", text_of("python"), re.MULTILINE)
    assert {"opcheck.scan", "opcheck.gate", "opcheck.testing.assert_compatible"} <= set(shown)
    assert {"opcheck.runtime.detect_device", "opcheck.runtime.Inferencer"} <= set(shown)
    for name in shown:
        module, _, attribute = name.rpartition(".")
        importlib.import_module(module)
        assert hasattr(sys.modules[module], attribute) or importlib.import_module(name), name
