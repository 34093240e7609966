"""What runs of a changed and an unchanged model come to, by what the runs themselves give."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fix import running
from opcheck.commands.fix.files import find
from opcheck.commands.fix.running import Change, Runs, run_both
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.emulation import Difference, Emulation, EmulationRequest
from opcheck.model.jobs import HostRequest, HostRun
from opcheck.model.plan import Compared, Label, Suggestion, Tier
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from tests.resolve import made
from tests.views import emulations

TARGET = TargetSpec("ascend-910b")
WAY = Suggestion("isin-by-comparing", Tier.SWAP, Label.TOLERANCE, "aten::isin", "compare")
OUTPUT = Difference("output", (2,), "float32", 0.0)
GRADIENT = Difference("grad of weight", (2,), "float32", 0.0)
EXACT = HostRun((OUTPUT,), (GRADIENT,))


def change(step: TrainingSpec | None = None) -> Change:
    """A file that became another."""
    before, after = (
        ScanRequest(ModelSpec(f"{name}.py:net", step=step), (TARGET,)) for name in ("old", "new")
    )
    return Change(before, after, (("aten::isin", WAY),))


def off(difference: Difference, by: float) -> Difference:
    return replace(difference, largest=by)


def ended(error: str) -> Emulation:
    return emulations.run(finished=False, error=error)


@pytest.fixture
def came_to(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Runs, list[str]]]:
    """Runs whose results are given: on the host, then on the device, each in its order."""

    def ran(asked: Change, host: HostRun, *device: Emulation) -> tuple[Runs, list[str]]:
        hosts, devices, phases = iter((host, host)), iter(device), list[str]()

        def on_host(request: HostRequest, **_: object) -> HostRun:
            return next(hosts)

        def emulate(request: EmulationRequest, *_: object) -> Emulation:
            assert request.model.step is None or not request.model.step.wrap
            return next(devices)

        monkeypatch.setattr("opcheck.sandbox.parent.run.on_host", on_host)
        monkeypatch.setattr(running, "emulate", emulate)
        found = run_both(asked, made.matrix("aten::isin"), phases.append, print)
        assert [*devices] == []
        return found, phases

    return ran


def alike(*differences: Difference) -> Emulation:
    return emulations.run(values=True, differences=differences)


HOST_PHASES = [
    "running old.py:net on the host, as it is",
    "running new.py:net on the host, as it became",
]


def test_a_device_that_is_as_near_as_the_host_needs_no_other_run(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    found, phases = came_to(change(), EXACT, alike(OUTPUT), alike(GRADIENT))
    assert phases == HOST_PHASES
    assert (found.holds, found.note, found.no_backward) == (True, "", "")


def test_a_device_that_is_off_by_itself_is_run_unchanged_as_well(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    """What it is off without any change is allowed, and no more."""
    device = alike(off(OUTPUT, 0.5)), alike(off(OUTPUT, 0.5)), alike(GRADIENT)
    found, phases = came_to(change(), EXACT, *device)
    assert phases == [
        *HOST_PHASES,
        "running the unchanged model on the emulated device as well",
    ]
    assert found.note == "the device itself is off without any change, and that much is allowed"
    assert found.forward == Compared(1, "output", "float32", 0.5, 0.5)
    assert found.holds
    worse = alike(off(OUTPUT, 0.75)), alike(off(OUTPUT, 0.5)), alike(GRADIENT)
    assert not came_to(change(), EXACT, *worse)[0].holds


def test_an_old_torch_and_a_wrapped_step_are_noted(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    found, _ = came_to(
        change(TrainingSpec(wrap="ddp")), replace(EXACT, moved=None), alike(OUTPUT, GRADIENT)
    )
    assert found.note == (
        "what the tolerances come to in this model can be told with torch 2.9 or later; values "
        "are those of one process that trains alone: the others are not there to send any"
    )
    with speaking(Language.CHINESE):
        assert tell(found.note) == (
            "容差在此模型中合多少，需 torch 2.9 或更新才能得知；"
            "数值为单个进程独自训练所得：其他进程并不存在，不会发送数据"
        )


def test_a_backward_that_only_the_change_ends_fails_the_proof(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    found, _ = came_to(change(), EXACT, alike(OUTPUT), ended("no kernel"), alike(GRADIENT))
    assert found.backward == Compared(2, "gradients on the device", "", None, 0.0, holds=False)
    assert not found.holds


def test_a_gradient_that_the_device_loses_by_itself_is_not_held_against_the_change(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    """Results that are no numbers are, even so."""
    lost = replace(GRADIENT, largest=None)
    step = change(TrainingSpec())
    found, _ = came_to(step, EXACT, alike(OUTPUT, lost), alike(OUTPUT, lost))
    assert found.note == "the device itself is off without any change, and that much is allowed"
    assert found.backward == Compared(1, "grad of weight", "float32", 0.0, None)
    assert found.holds
    assert not came_to(step, EXACT, alike(OUTPUT, lost), alike(OUTPUT, GRADIENT))[0].holds
    nan = replace(OUTPUT, largest=None)
    assert not came_to(step, EXACT, alike(nan, GRADIENT), alike(nan, GRADIENT))[0].holds


def test_a_backward_that_ends_without_the_change_too_is_not_compared(
    came_to: Callable[..., tuple[Runs, list[str]]],
) -> None:
    host = replace(EXACT, backward=())
    found, _ = came_to(change(), host, alike(OUTPUT), ended("no kernel"), ended("no kernel"))
    assert (found.backward, found.no_backward) == (
        None,
        "on the emulated device, backward ends early: no kernel",
    )
    assert found.holds


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ("", "no line of yours is known for it; use --shim"),
        (
            "nowhere.py",
            "nowhere.py is not found from here; run it from the folder that holds the file",
        ),
    ],
)
def test_a_place_that_no_file_has_is_told(shown: str, why: str, tmp_path: Path) -> None:
    assert find(shown, (tmp_path,)) == why
