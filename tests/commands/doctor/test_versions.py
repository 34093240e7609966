"""Versions that were found, and those that tables say."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from opcheck.commands.doctor.pairing import Fit, at_least, fit, local, older, public, readable

quickly = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # a busy machine is no fault of the strategy
NUMBERS = st.lists(st.integers(0, 99), min_size=1, max_size=4)
PLAIN = NUMBERS.map(lambda numbers: ".".join(map(str, numbers)))


@quickly
@given(PLAIN, PLAIN)
def test_plain_versions_are_the_same_where_packaging_says_so(found: str, said: str) -> None:
    if found.count(".") >= said.count("."):
        inside = Version(found) in SpecifierSet(f"=={said}.*")
        assert (fit(found, said) is Fit.SAME) == inside


@quickly
@given(PLAIN, PLAIN)
def test_order_is_packagings(one: str, other: str) -> None:
    assert at_least(one, other) == (Version(one) >= Version(other))
    if one.count(".") == other.count("."):
        assert older(one, other) == (Version(one) < Version(other))


@quickly
@given(PLAIN, st.sampled_from(["cpu", "cu126", "rocm6.4", "cpu.cxx11.abi"]))
def test_a_local_part_changes_nothing(version: str, part: str) -> None:
    assert fit(f"{version}+{part}", version) is Fit.SAME
    assert (public(f"{version}+{part}"), local(f"{version}+{part}")) == (version, part)


@quickly
@given(PLAIN, st.integers(1, 99))
def test_a_later_build_of_a_release_is_another_release(version: str, number: int) -> None:
    assert fit(f"{version}.post{number}", version) is not Fit.SAME
    assert fit(f"{version}.rc{number}", version) is not Fit.SAME
    assert fit(f"{version}.post{number}", f"{version}.post{number}") is Fit.SAME


@quickly
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_compared(found: str, said: str) -> None:
    assert fit(found, said) in Fit
    if not readable(found):
        assert fit(found, said) is Fit.UNREADABLE


@pytest.mark.parametrize(
    ("found", "said", "expected"),
    [
        ("8.3.RC1", "8.3.RC1", Fit.SAME),
        ("8.3.rc1", "8.3.RC1", Fit.SAME),
        ("8.3.RC2", "8.3.RC1", Fit.NEAR),
        ("8.3.0", "8.3.RC1", Fit.NEAR),
        ("8.2.RC1", "8.3.RC1", Fit.DIFFERENT),
        ("2.7.1", "2.7.1.post8", Fit.NEAR),
        ("6.2.8", "6.2.8-1", Fit.SAME),
        ("6.3.2", "6.2, 6.3", Fit.SAME),
        ("6.1.0", "6.2, 6.3", Fit.DIFFERENT),
        ("25.04", "25.04 or newer", Fit.SAME),
        ("24.10", "25.04 or newer", Fit.DIFFERENT),
        ("26.04", "25.04 or newer", Fit.SAME),
        ("4.3.0", "docker rc4.2.0", Fit.UNREADABLE),
        ("", "8.0", Fit.UNREADABLE),
    ],
)
def test_what_vendors_write(found: str, said: str, expected: Fit) -> None:
    assert fit(found, said) is expected
