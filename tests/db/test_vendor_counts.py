"""The importer against figures that others took from the same vendor files."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from opcheck.db.importers.ascend import read_lists, served_torch
from opcheck.db.importers.ascend.lists import (
    AUTOGRAD,
    DENSE,
    filtered,
    read_native_list,
    registrations,
)
from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import IMPLICIT

RELEASES = ("5.0.0", "6.0.0", "7.1.0", "7.2.0", "7.3.0", "26.0.0", "26.1.0")


@pytest.fixture(scope="module")
def facts(sources: Path) -> dict[str, Any]:
    text = (sources / "ascend" / "facts-ascend.yaml").read_bytes()
    loaded: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return loaded


def _span(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """``v2.3-v2.6`` as versions of a list; none where the list does not have them."""
    first, _, last = text.replace("v", "").partition("-")
    if first not in known or (last or first) not in known:
        return ()
    return known[known.index(first) : known.index(last or first) + 1]


@pytest.mark.parametrize("release", RELEASES)
def test_entries_for_each_torch_version(release: str, sources: Path, facts: dict[str, Any]) -> None:
    plugin = read_lists(sources / "ascend", release).plugin
    expected = {
        torch: [int(number) for number in re.findall(r"\d+", said.partition(" ")[0])]
        for span, said in facts["counts_official_per_torch_version"]["table"][release].items()
        for torch in _span(span, plugin.torch)
    }
    assert expected
    for torch, figures in expected.items():
        assert list(plugin.count("official", torch))[: len(figures)] == figures, torch


def test_the_oldest_complete_list_parses(sources: Path) -> None:
    read = read_native_list(sources / "ascend" / "npu_native_functions@v1.8.1.yaml")
    counts = {name: len(entries) for name, entries in read.sections.items()}
    assert counts == {"supported": 1848, "autograd": 10, "custom": 108, "custom_autograd": 37}


def test_composite_overrides_of_26_1_0(sources: Path, facts: dict[str, Any]) -> None:
    lists = read_lists(sources / "ascend", "26.1.0")
    found = registrations(lists, "2.7", sources / "pytorch")
    known = operator_list.functions(sources / "pytorch", "2.7")
    overrides = {
        op
        for op, kernel in found.items()
        if DENSE in kernel.keys
        and op.startswith("aten::")
        and known[op.removeprefix("aten::")].kind == IMPLICIT
    }
    listed = {item["op"] for item in facts["composite_overrides"]["ops"]}
    assert overrides == listed
    assert len(overrides) == 72
    below = {op for op in overrides if AUTOGRAD not in found[op].keys}
    exempt, differentiated = {"aten::isclose", "aten::isfinite"}, _KERNEL_AT_AUTOGRAD
    assert below == exempt | (differentiated - {"aten::matmul", "aten::matmul.out"})


_KERNEL_AT_AUTOGRAD = {
    "aten::matmul",
    "aten::matmul.out",
    "aten::mish_backward",
    "aten::silu_backward",
}
"""Composites that PyTorch itself has a kernel for at the Autograd key."""


@pytest.mark.parametrize("release", RELEASES)
def test_composites_with_an_autograd_kernel_of_pytorch_keep_it(release: str, sources: Path) -> None:
    """The vendor's generator skips them, but where it has a derivative of its own."""
    lists = read_lists(sources / "ascend", release)
    for torch in served_torch(lists.plugin, operator_list.versions(sources / "pytorch")):
        known = operator_list.functions(sources / "pytorch", torch)
        own = {f"aten::{n}" for n, f in known.items() if f.kind == IMPLICIT and f.autograd}
        found = registrations(lists, torch, sources / "pytorch")
        assert own & set(found) == _KERNEL_AT_AUTOGRAD
        at_autograd = {op for op in own & set(found) if AUTOGRAD in found[op].keys}
        derived = {"aten::matmul", "aten::matmul.out"} if release == "26.1.0" else set()
        assert at_autograd == derived


@pytest.mark.parametrize("release", RELEASES)
def test_isclose_and_isfinite_are_below_autograd_in_every_release(
    release: str, sources: Path
) -> None:
    lists = read_lists(sources / "ascend", release)
    for torch in served_torch(lists.plugin, operator_list.versions(sources / "pytorch")):
        found = registrations(lists, torch, sources / "pytorch")
        assert found["aten::isclose"].keys == found["aten::isfinite"].keys == (DENSE,)


def test_structured_overloads_served_through_out(sources: Path, facts: dict[str, Any]) -> None:
    lists = read_lists(sources / "ascend", "26.1.0")
    found = registrations(lists, "2.7", sources / "pytorch")
    unlisted = {
        name: f"aten::{function.delegate}" in found
        for name, function in operator_list.functions(sources / "pytorch", "2.7").items()
        if function.delegate and f"aten::{name}" not in found
    }
    said = facts["dispatch_model"]
    native = {name for name, served in unlisted.items() if served}
    assert native == set(said["unlisted_but_native_via_structured_out"])
    assert set(unlisted) - native == set(said["unlisted_cpu_fallback_via_structured_out"])


def test_names_that_are_no_overload_are_left_out(sources: Path, facts: dict[str, Any]) -> None:
    lists = read_lists(sources / "ascend", "26.1.0")
    missing = facts["dispatch_model"]["counts"]["listed but not in native_functions"]
    assert len(filtered(lists, "2.7", sources / "pytorch")) == missing == 3


@pytest.mark.parametrize("release", RELEASES)
def test_no_registration_is_of_an_unknown_overload(release: str, sources: Path) -> None:
    lists = read_lists(sources / "ascend", release)
    for torch in served_torch(lists.plugin, operator_list.versions(sources / "pytorch")):
        known = operator_list.functions(sources / "pytorch", torch)
        found = registrations(lists, torch, sources / "pytorch")
        aten = {op.removeprefix("aten::") for op in found if op.startswith("aten::")}
        assert aten
        assert aten <= set(known)
