"""Files are written whole or not at all, and never over another one unasked."""

from pathlib import Path

import pytest

from opcheck.commands.fix.files import require_output_path
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import UsageError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.pipeline.writing import drafted


def request(path: Path, source: str = "net.py:model", *, write: bool = False) -> FixRequest:
    return FixRequest(ScanRequest(ModelSpec(source), ()), FixKind.SHIM, str(path), write=write)


def test_a_draft_that_is_not_kept_is_gone(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), drafted(tmp_path / "a.py", "a = 1\n") as draft:
        assert draft.path.read_text(encoding="utf-8") == "a = 1\n"
        raise KeyboardInterrupt
    assert not [*tmp_path.iterdir()]


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    final = tmp_path / "a.py"
    with drafted(final, "a = 1\n") as draft:
        final.write_text("mine\n", encoding="utf-8")
        with pytest.raises(UsageError, match="is there already"):
            draft.keep()
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [
        ("a.py", "mine\n")
    ]


def test_what_is_replaced_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.py", tmp_path / "link.py"
    real.write_text("old\n", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    with drafted(link, "new\n", over=True) as draft:
        draft.keep()
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "link.py", "real.py"]


def test_a_link_to_nothing_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(tmp_path / "none" / "real.py")
    with pytest.raises(UsageError, match="is there already"):
        require_output_path(request(tmp_path / "link.py"))
    with pytest.raises(UsageError, match="there is no folder"):
        require_output_path(request(tmp_path / "link.py", write=True))


def test_the_model_itself_is_never_written_over(tmp_path: Path) -> None:
    model = tmp_path / "net.py"
    model.write_text("mine\n", encoding="utf-8")
    for source in (f"{model}:model", str(model), f"{tmp_path}/../{tmp_path.name}/net.py:model"):
        with pytest.raises(UsageError, match="it is the model itself"):
            require_output_path(request(model, source, write=True))
    require_output_path(request(tmp_path / "shim.py", f"{model}:model"))


def test_a_file_system_without_links_is_written_to_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr("os.link", link)
    with drafted(tmp_path / "a.py", "a = 1\n") as draft:
        draft.keep()
    assert [p.read_text(encoding="utf-8") for p in tmp_path.iterdir()] == ["a = 1\n"]
    with drafted(tmp_path / "a.py", "a = 2\n") as draft, pytest.raises(UsageError):
        draft.keep()
