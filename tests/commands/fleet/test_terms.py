"""What keeps a node of a cluster from the answers of the machine that a run is of."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fleet.cluster.terms import Terms, problem_here, problem_with, task, terms
from opcheck.commands.fleet.engine import Setup
from opcheck.commands.fleet.values import Job
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec

REQUEST = ScanRequest(ModelSpec("nets.py:made"), (TargetSpec.parse("ascend-910b@26.1.0"),))


@pytest.fixture(scope="module")
def wanted() -> Terms:
    return terms(Setup(), REQUEST)


def test_a_node_like_this_machine_has_no_problem(wanted: Terms) -> None:
    assert problem_here(wanted, "n1/7") is None


def test_other_versions_are_all_named(wanted: Terms) -> None:
    other = replace(wanted, versions={**wanted.versions, "opcheck": "0.0.1", "torch": "1.13"})
    found = problem_here(other, "n1/7")
    assert found is not None
    has = wanted.versions
    assert found.message == (
        f"node n1/7 has opcheck {has['opcheck']} instead of 0.0.1, "
        f"torch {has['torch']} instead of 1.13"
    )


def test_other_data_of_a_target_is_named(wanted: Terms) -> None:
    (target,) = wanted.targets
    found = problem_here(replace(wanted, targets={target: "0123456789abcdef"}), "n1/7")
    assert found is not None
    assert found.message.startswith(f"node n1/7 has other data of {target} ")


def test_an_overlay_that_is_not_there_is_named(wanted: Terms, tmp_path: Path) -> None:
    setup = replace(wanted.setup, databases=(str(tmp_path / "ours"),))
    found = problem_here(replace(wanted, setup=setup), "n1/7")
    assert found is not None
    assert found.message.endswith(" (on node n1/7)")
    assert str(tmp_path / "ours") in found.message


@pytest.mark.parametrize("here", ["made = 2\n", None], ids=["another file", "no file"])
def test_a_node_that_sees_another_model_is_named(
    here: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "nets.py"
    file.write_text("made = 1\n")
    monkeypatch.chdir(tmp_path)
    asked = task(Job(0, "made", REQUEST))
    assert problem_with(asked, "n1/7") is None
    if here is None:
        file.unlink()
    else:
        file.write_text(here)
    found = problem_with(asked, "n1/7")
    assert found is not None
    assert found.message == "node n1/7 does not see nets.py:made as it is where the run was started"
