"""Where a policy is looked for."""

from pathlib import Path

import pytest

from opcheck.errors import UsageError
from opcheck.settings.policy_file import find_policy

TABLE = "[tool.opcheck]\nmax-age = 90\n"


def test_the_nearest_policy_holds(tmp_path: Path) -> None:
    inner = tmp_path / "models" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert find_policy(inner) is None
    (tmp_path / "pyproject.toml").write_text(TABLE)
    assert find_policy(inner) == tmp_path / "pyproject.toml"
    (tmp_path / "models" / "pyproject.toml").write_text("[tool.ruff]\n")
    assert find_policy(inner) == tmp_path / "pyproject.toml"
    (tmp_path / "models" / "opcheck.yaml").write_text("max-age: 90\n")
    assert find_policy(inner) == tmp_path / "models" / "opcheck.yaml"


def test_what_lies_above_the_repository_is_another_s(tmp_path: Path) -> None:
    (tmp_path / "opcheck.yaml").write_text("max-age: 90\n")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    assert find_policy(tmp_path / "project") is None


def test_two_in_one_folder_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE)
    (tmp_path / "opcheck.yaml").write_text("max-age: 90\n")
    with pytest.raises(UsageError, match="has two policies"):
        find_policy(tmp_path)


def test_a_broken_project_file_on_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool")
    with pytest.raises(UsageError, match="expected valid TOML"):
        find_policy(tmp_path)
