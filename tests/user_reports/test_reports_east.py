"""Reports of users of these vendors run on the host and are named once."""

from collections import Counter

import pytest
import torch
import torchvision  # noqa: F401  # registers its operators
from torch import Tensor, nn

from tests.user_reports import ascend, cambricon, fifth_china, google, hygon, moorethreads
from tests.user_reports.report import Report

VENDORS = (ascend, google, moorethreads, cambricon, hygon, fifth_china)
REPORTS = tuple(report for vendor in VENDORS for report in vendor.REPORTS)
by_name = pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)


def _twice(names: list[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


@by_name
def test_a_program_runs_on_the_host(report: Report) -> None:
    torch.default_generator.manual_seed(0)
    found = report.program(*report.inputs)
    if report.training:
        assert isinstance(report.program, nn.Module)
        assert isinstance(found, Tensor)
        found.sum().backward()


@by_name
def test_operators_of_a_report_are_registered(report: Report) -> None:
    assert report.ops
    for name in report.ops:
        namespace, _, rest = name.partition("::")
        operator, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), operator)
        assert not overload or overload in packet.overloads()


def test_every_report_has_a_name_of_its_own() -> None:
    assert not _twice([report.name for report in REPORTS])


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.__name__)
def test_a_thread_is_listed_once(vendor: object) -> None:
    listed = [entry.thread for entry in (*vendor.REPORTS, *vendor.LEFT_OUT)]  # type: ignore[attr-defined]  # modules of one form
    assert not _twice(listed)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.__name__)
def test_reports_are_sorted_by_query(vendor: object) -> None:
    places = [report.query for report in vendor.REPORTS]  # type: ignore[attr-defined]  # modules of one form
    assert places == sorted(places)
    assert all(place < len(vendor.QUERIES) for place in places)  # type: ignore[attr-defined]  # modules of one form
