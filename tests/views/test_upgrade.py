"""What is said about upgrades: whole pages, and the published schema."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from rich.cells import cell_len

from opcheck.commands.upgrade.values import MoveKind
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking
from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema
from tests.views.upgrades import UPGRADES

SCHEMA = schema("upgrade")


def document(sample: str) -> Any:
    return json.loads(command_view("upgrade", "json").render(UPGRADES[sample]))


@pytest.mark.parametrize("sample", UPGRADES)
@pytest.mark.parametrize("name", LISTING)
def test_standard_upgrades(name: str, sample: str) -> None:
    text = command_view("upgrade", name).render(UPGRADES[sample])
    snapshots.check(f"{name}/upgrade/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_upgrade_pages(page: str) -> None:
    text = command_view("upgrade", "text").render(UPGRADES["moves"], PAGES[page])
    snapshots.check(f"text/upgrade/moves-{page}.txt", text)


def test_what_nobody_has_said_is_in_the_way_as_well() -> None:
    found = replace(UPGRADES["stuck"], runs=None)
    first = command_view("upgrade", "text").render(found).splitlines()[0]
    with speaking(Language.CHINESE):
        chinese = command_view("upgrade", "text").render(found).splitlines()[0]
    assert first.endswith("+torch2.7: cannot tell, 3 findings in the way")
    assert chinese.endswith("无法判断，3 项发现构成障碍")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", UPGRADES)
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    text = command_view("upgrade", "text").render(UPGRADES[sample], Page(width))
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("sample", UPGRADES)
def test_upgrades_follow_the_schema(sample: str) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document(sample))


def test_the_schema_takes_no_other_keys() -> None:
    changed = document("moves")
    for part in (
        changed,
        changed["blocked"][0],
        changed["blocked"][0]["gone"],
        changed["moves"][0],
    ):
        part["later"] = 1
        assert not Draft202012Validator(SCHEMA).is_valid(changed)
        del part["later"]
    assert Draft202012Validator(SCHEMA).is_valid(changed)


def test_the_schema_shares_its_parts_with_that_of_reports() -> None:
    shared = schema()["$defs"]
    own = SCHEMA["$defs"]
    assert {name: own[name] for name in own if name in shared} == {
        name: shared[name] for name in own if name in shared
    }
    assert own["move"]["properties"]["kind"]["enum"] == [kind.value for kind in MoveKind]


def test_a_format_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck upgrade cannot write it"):
        command_view("upgrade", "sarif")
