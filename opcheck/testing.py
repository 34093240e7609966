"""Checks for test suites: ``assert_compatible(model, inputs, "ascend-910b")``."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import tee
from typing import TYPE_CHECKING, Any, Unpack

from msgspec.structs import replace

import opcheck

if TYPE_CHECKING:
    from opcheck.commands.gate.values import GateResult
    from opcheck.model.policy import Policy
    from opcheck.model.report import Report
    from opcheck.model.scan_options import ScanOptions

__all__ = ["assert_compatible"]

_WIDTH = 100
_HERE = "what the test asks"
"""In place of the path of a policy file."""


def assert_compatible(
    model: Any,
    inputs: Any = None,
    *targets: str,
    policy: "Policy | Mapping[str, Any] | str | os.PathLike[str] | None" = None,
    allow: Sequence[str] = (),
    baseline: str | os.PathLike[str] = "",
    against: "Report | None" = None,
    databases: Sequence[str] = (),
    **scanning: "Unpack[ScanOptions]",
) -> "GateResult":
    """Fail unless ``model`` runs on every one of ``targets``, as the emptiest policy asks.

    The message of the failure says what fails, where, why, and the cheapest fix.

    Args:
        model: a ``torch.nn.Module``, or a source, as :func:`opcheck.scan` takes them.
        inputs: what the model is called with, as :func:`opcheck.scan` takes it.
        *targets: ``"ascend-910b"``, ``"ascend-910b@26.1.0+torch2.7"``; the policy's where none is
            given.
        policy: as :func:`opcheck.gate` takes it; but None asks for the defaults and looks for no
            file: what a test asks is in the test.
        allow: what need not run: operators, as globs (``"aten::view_as_*"``), and ids of findings.
        baseline: a file that ``opcheck gate --write-baseline`` wrote.
        against: the report of what a change is made to; only what is new since fails.
        databases: folders of overlays, as ``--db`` takes them.
        **scanning: further arguments of :func:`opcheck.scan`, such as ``train=True``.

    Returns:
        What the gate found, which passes.

    Raises:
        AssertionError: it does not run, or nobody knows.
        OpcheckError: there is no answer: the model, a target or the policy is not usable.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    from opcheck.commands.gate.views import text
    from opcheck.views.formats import Page

    asked = _policy(policy, allow)
    inputs, again = tee(inputs) if isinstance(inputs, Iterator) else (inputs, inputs)
    judged: dict[str, Any] = {"baseline": baseline, "against": against, "databases": databases}
    found = opcheck.gate(model, asked, inputs=inputs, targets=targets, **judged, **scanning)
    _warn(found, allow)
    if found.passed:
        return found
    failing = [target.target for target in found.targets if not target.passed]
    planned: dict[str, Any] = {**scanning, "targets": failing, "databases": databases, "plan": True}
    found = opcheck.gate(opcheck.scan(model, again, **planned), asked, targets=failing, **judged)
    raise AssertionError(text.render(found, Page(width=_WIDTH)).rstrip())


def _policy(given: Any, allow: Sequence[str]) -> "Policy":
    """The policy with a waiver that never ends for each thing that is allowed."""
    from opcheck.commands.gate.files import policy_from
    from opcheck.model.policy import Policy, Waiver

    asked = Policy() if given is None else policy_from(given)
    never, why = date.max, "the test allows it"
    waivers = tuple(
        Waiver(why, never, operator=text) if "::" in text else Waiver(why, never, finding=text)
        for text in allow
    )
    path = asked.path or _HERE
    return replace(asked, path=path, waivers=(*asked.waivers, *waivers))


def _warn(found: "GateResult", allow: Sequence[str]) -> None:
    """Tell of what is allowed for nothing: it would hide the next one."""
    own = found.waivers[len(found.waivers) - len(allow) :]
    for text, use in zip(allow, own, strict=True):
        if not use.matched:
            warnings.warn(f"nothing that fails matches allow={text!r}: take it out", stacklevel=3)
