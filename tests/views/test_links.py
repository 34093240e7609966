"""Where lines and facts lead, on pages that may have links."""

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from opcheck.model.verdict import Evidence, Method
from opcheck.views.formats import Page, command_view, report_view
from opcheck.views.terminal.evidence import web_address
from tests.views.emulations import EMULATIONS
from tests.views.gates import GATES
from tests.views.lints import LINTS
from tests.views.plans import PLANS
from tests.views.samples import COMMIT, EXPLAINED, STANDARD

LINK = re.compile(r"\x1b\]8;;(?P<address>[^\x1b]*)\x1b\\(?P<text>[^\x1b]*)\x1b\]8;;\x1b\\")


def fact(source: str, path: str, commit: str = COMMIT, line: int | None = 7) -> Evidence:
    return Evidence(Method.REGISTERED, source, path, line, commit)


@pytest.mark.parametrize(
    ("seen", "address"),
    [
        (fact("a/b", "c/d.cpp"), f"https://github.com/a/b/blob/{COMMIT}/c/d.cpp#L7"),
        (fact("a/b", "算.md", line=None), f"https://github.com/a/b/blob/{COMMIT}/%E7%AE%97.md"),
        (
            fact("pytorch/pytorch", "torchgen/packaged/ATen/native/native_functions.yaml"),
            f"https://github.com/pytorch/pytorch/blob/{COMMIT}/"
            "aten/src/ATen/native/native_functions.yaml#L7",
        ),
        (fact("a/b", "issues/12", "", None), "https://github.com/a/b/issues/12"),
        (fact("docs.nvidia.com", "cuda/x.html", "", None), "https://docs.nvidia.com/cuda/x.html"),
        (fact("a/b", "some/file.md", ""), ""),
        (fact("pytorch/pytorch", "dispatcher", "v2.13.0", None), ""),
        (fact("a/b", "README.md, csrc/ops"), ""),
        (fact("a/b", "py/{one,two}.py"), ""),
        (fact("a/b", ""), ""),
        (fact("the vendor's word", "x.md"), ""),
        (fact("a/b\x1b]8;;evil", "x.md"), ""),
    ],
)
def test_a_fact_has_the_address_of_its_line(seen: Evidence, address: str) -> None:
    assert web_address(seen) == address


def here(file: str, line: int) -> str:
    return f"file:///net/{file}#{line}"


def nowhere(file: str, line: int) -> str:
    return ""


PAGES: dict[str, Callable[[Page], str]] = {
    "scan": lambda page: report_view("text").render(STANDARD["mixed"], page),
    "alike": lambda page: report_view("text").render(STANDARD["alike"], page),
    "dynamic": lambda page: report_view("text").render(STANDARD["dynamic"], page),
    "plan": lambda page: report_view("text").render(PLANS["swap"], page),
    "gate": lambda page: command_view("gate", "text").render(GATES["failing"], page),
    "emulate": lambda page: command_view("emulate", "text").render(EMULATIONS["mixed"], page),
    "lint": lambda page: command_view("lint", "text").render(LINTS["src"], page),
    "explain": lambda page: command_view("explain", "text").render(EXPLAINED, page),
}


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_links_change_nothing_that_is_read(name: str, explain: bool, color: bool) -> None:
    page = Page(explain=explain, color=color)
    linked = PAGES[name](replace(page, locate=here))
    found = [(link["text"], link["address"]) for link in LINK.finditer(linked)]
    assert found
    assert LINK.sub(lambda link: link["text"], linked) == PAGES[name](page)
    assert "\x1b]8" not in PAGES[name](page)
    for text, address in found:
        if address.startswith("file:"):
            assert address == f"file:///net/{text.replace(chr(58), chr(35))}"
        else:
            assert address.startswith("https://")


def test_lines_that_are_not_on_this_machine_lead_nowhere() -> None:
    page = Page(locate=nowhere)
    addresses = [link["address"] for link in LINK.finditer(PAGES["scan"](page))]
    assert addresses
    assert all(address.startswith("https://") for address in addresses)


def test_every_place_of_a_page_leads_to_its_line() -> None:
    text = PAGES["scan"](Page(explain=True, locate=here))
    wanted = {
        f"{use.file}:{use.line}"
        for finding in STANDARD["mixed"].targets[0].findings
        for use in finding.uses
        if use.file and not finding.verdict.on_device
    }
    assert wanted
    assert wanted <= {link["text"] for link in LINK.finditer(text)}
