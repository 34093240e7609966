"""``opcheck fix --diff`` on a user's own files: what is changed, printed, written, and left."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix import files as sources
from opcheck.commands.fix.files import SourceFile
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import ExitCode, UsageError
from opcheck.model.plan import Compared, Label, Proof
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.rewrite.text import standalone
from tests.app.stand_in import StandIn, run

TARGET = TargetSpec("moorethreads-s4000", "1.0.0")
NET = b"""\
from torch import nn, arange

from parts.steps import ends, spread


class Net(nn.Module):
    def forward(self, x):
        return ends(x), spread(x)


def model():
    return Net(), arange(12).reshape(3, 4)
"""
STEPS = (
    b"""\
# coding: latin-1\r
"""
    b'''"""Steps of a caf\xe9."""\r
import torch as t\r
\r
\r
def ends(x):\r
\tstops = t.tensor([1, 2], device=x.device)  # two\r
\treturn t.isin(\r
\t\tx,\r
\t\tstops,\r
\t)\r
\r
\r
def spread(x):\r
\treturn x.float().std(-1)'''
)
HELPER = b"""\
import torch\r
from torch import Tensor\r
from typing import Any\r
\r
\r
def isin(\r
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False\r
) -> Tensor:\r
    \"\"\"Compare every element with every candidate.\"\"\"\r
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)\r
    return ~found if invert else found\r
\r
\r
def isin_of(\r
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False\r
) -> Tensor:\r
    \"\"\"``isin`` of two tensors; where one is a number, torch compares with it itself.\"\"\"\r
    if isinstance(elements, Tensor) and isinstance(test_elements, Tensor):\r
        return isin(elements, test_elements, invert=invert)\r
    return torch.isin(elements, test_elements, assume_unique=assume_unique, invert=invert)\r
"""


def request(source: str = "net.py:model", write: bool = False) -> FixRequest:
    scan = ScanRequest(ModelSpec(source), (TARGET,))
    return FixRequest(scan, FixKind.DIFF, "", Label.EXACT, write)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_bytes(NET)
    Path("parts").mkdir()
    Path("parts/__init__.py").write_bytes(b"")
    Path("parts/steps.py").write_bytes(STEPS)
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.slow
def test_a_diff_is_proved_printed_and_applied(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "fix net.py:model -t moorethreads-s4000@1.0.0 --diff"
    before = everything(files)
    assert run(line.split()) == ExitCode.PASS
    said = capsys.readouterr()
    assert said.out.startswith("--- a/parts/steps.py\n+++ b/parts/steps.py\n")
    assert "followed, and" in said.err
    assert everything(files) == before

    written = fix_answer.fix(request(write=True))
    assert (written.files, written.text) == (("parts/steps.py",), "")
    assert [(way.replaces, way.places) for way in written.followed] == [
        ("aten::isin.Tensor_Tensor", ("parts/steps.py:8",))
    ]
    assert [rest.replaces for rest in written.left] == ["aten::std.correction"]
    assert written.proof is not None
    assert written.proof == Proof(
        how="emulated",
        target="moorethreads-s4000@1.0.0+torch2.0",
        holds=True,
        gone=("aten::isin.Tensor_Tensor",),
        remaining=("aten::std.correction",),
        newer=(),
        runs=False,
        forward=Compared(2, "output[0]", "bool"),
        no_backward="nothing in the model's results has a gradient",
    )
    head = b"import torch as t\r\n"
    after = STEPS.replace(head, head + HELPER)
    assert everything(files) == {**before, "parts/steps.py": after.replace(b"t.isin(", b"isin_of(")}

    changed = everything(files)
    again = fix_answer.fix(request(write=True))
    assert (again.files, again.followed, everything(files)) == ((), (), changed)


@pytest.mark.slow
def test_the_printed_diff_is_one_that_git_applies(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("parts/steps.py").write_bytes(STEPS.replace(b"caf\xe9", b"cafe"))
    report = files / "report.json"
    line = f"fix net.py:model -t moorethreads-s4000@1.0.0 --diff --format json -o {report}"
    assert run(line.split()) == ExitCode.PASS
    diff = capsys.readouterr().out
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply"], input=diff.encode(), check=True)
    assert b"\treturn isin_of(\r\n\t\tx,\r\n" in Path("parts/steps.py").read_bytes()
    assert report.read_text(encoding="utf-8").startswith("{")


@pytest.mark.slow
def test_helpers_go_beside_the_file_that_calls_them(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("parts/steps.py").write_bytes(STEPS.replace(b"caf\xe9", b"cafe"))
    line = "fix net.py:model -t moorethreads-s4000@1.0.0 --diff --helpers kernels.py"
    assert run(line.split()) == ExitCode.PASS
    diff = capsys.readouterr().out
    assert "\n--- /dev/null\n+++ b/parts/kernels.py\n" in diff
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply"], input=diff.encode(), check=True)
    assert "def isin_of(" in Path("parts/kernels.py").read_text(encoding="utf-8")
    assert b"\r\nfrom .kernels import isin_of\r\n" in Path("parts/steps.py").read_bytes()
    applied = everything(files)

    Path("parts/steps.py").write_bytes(STEPS.replace(b"caf\xe9", b"cafe"))
    written = fix_answer.fix(replace(request(write=True), helpers="kernels.py"))
    assert written.proof is not None
    assert written.proof.holds
    assert written.files == ("parts/steps.py", "parts/kernels.py")
    assert everything(files) == applied


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--shim s.py --helpers h.py", "--helpers goes with --diff"),
        ("--diff --helpers no/h.py", "no module is called so"),
        ("--diff --helpers class.py", "no module is called so"),
        ("--diff --helpers helpers", "no module is called so"),
    ],
)
def test_helpers_are_a_module_of_a_diff(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = f"fix net.py:model -t ascend-910b {line}"
    assert run(given.split(), StandIn()) == ExitCode.USAGE
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_a_wrong_replacement_changes_nothing(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoiled(function: Callable[..., Any]) -> str:
        return standalone(function).replace(".any(-1)", ".all(-1)")

    monkeypatch.setattr("opcheck.rewrite.source.layers.standalone", spoiled)
    before = everything(files)
    found = fix_answer.fix(request(write=True))
    assert not found.holds
    assert (found.files, found.text, everything(files)) == ((), "", before)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("fix a.pt2 -t ascend-910b --shim s.py --diff", "--shim, --diff at once"),
        ("fix a.pt2 -t ascend-910b --diff --graph b.pt2", "--diff, --graph at once"),
        ("fix a.pt2 -t ascend-910b", "nothing to write was asked for"),
    ],
)
def test_only_one_way_at_a_time(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == ExitCode.USAGE
    assert told in capsys.readouterr().err


def test_what_is_no_python_file_has_no_source_to_change() -> None:
    with pytest.raises(UsageError, match="--diff changes source files of yours"):
        fix_answer.fix(request("torchvision:resnet18"))


# --- files ---------------------------------------------------------------------------------------


def read(path: Path) -> SourceFile:
    found = SourceFile.read(path.name, path.resolve())
    assert isinstance(found, SourceFile)
    return found


def test_several_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a = 1\n")
    second.write_bytes(b"b = 1\n")
    first.chmod(0o750)
    files = {read(first): "a = 2\n", read(second): "b = 2\n"}
    second.write_bytes(b"b = 3\n")
    with pytest.raises(UsageError, match=r"b\.py has changed while it was worked on"):
        sources.write_all(files)
    assert everything(tmp_path) == {"a.py": b"a = 1\n", "b.py": b"b = 3\n"}
    sources.write_all({read(first): "a = 2\n", read(second): "b = 2\n"})
    assert everything(tmp_path) == {"a.py": b"a = 2\n", "b.py": b"b = 2\n"}
    assert first.stat().st_mode & 0o777 == 0o750


def test_a_new_file_is_made_with_the_others_or_not_at_all(tmp_path: Path) -> None:
    first, new = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a = 1\n")
    made = SourceFile("b.py", new.resolve(), b"", "", "utf-8", is_new=True)
    assert sources.unified(made, "b = 1\n") == (
        "--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+b = 1\n"
    )
    late = read(first)
    first.write_bytes(b"a = 3\n")
    with pytest.raises(UsageError, match=r"a\.py has changed while it was worked on"):
        sources.write_all({made: "b = 1\n", late: "a = 2\n"})
    assert everything(tmp_path) == {"a.py": b"a = 3\n"}
    sources.require_writable([made])
    sources.write_all({made: "b = 1\n", read(first): "a = 2\n"})
    assert everything(tmp_path) == {"a.py": b"a = 2\n", "b.py": b"b = 1\n"}
    with pytest.raises(UsageError, match=r"b\.py has changed while it was worked on"):
        sources.write_all({made: "b = 2\n"})
    assert new.read_bytes() == b"b = 1\n"


def test_what_cannot_be_drafted_leaves_every_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a = 1\n")
    second.write_bytes(b"b = 1\n")
    broken = SourceFile("b.py", second.resolve(), b"b = 1\n", "b = 1\n", "ascii")
    with pytest.raises(UnicodeEncodeError):
        sources.write_all({read(first): "a = 2\n", broken: "b = \N{SNOWMAN}\n"})
    assert everything(tmp_path) == {"a.py": b"a = 1\n", "b.py": b"b = 1\n"}


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.py", tmp_path / "link.py"
    real.write_bytes(b"a = 1\n")
    link.symlink_to(real)
    path = sources.find("link.py", [tmp_path])
    assert path == real.resolve()
    sources.write_all({read(link): "a = 2\n"})
    assert (link.is_symlink(), real.read_bytes()) == (True, b"a = 2\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"a = 1\n")
    file.chmod(0o444)
    with pytest.raises(UsageError, match="permission denied"):
        sources.require_writable([read(file)])


def test_places_that_are_no_file_of_the_users_are_told(tmp_path: Path) -> None:
    assert [sources.find(name, [tmp_path]) for name in ("", "gone.py", "torch/functional.py")] == [
        "no line of yours is known for it; use --shim",
        "gone.py is not found from here; run it from the folder that holds the file",
        "torch/functional.py is of an installed library, which stays as it is; "
        "use --patch or --shim",
    ]


@pytest.mark.parametrize("content", [b"# coding: none-such\n", b"a = '\xff'\n"])
def test_a_file_that_python_cannot_read_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.py").write_bytes(content)
    found = SourceFile.read("a.py", tmp_path / "a.py")
    assert isinstance(found, str)
    assert found.startswith("a.py is no text that Python reads: ")


class _Stop(BaseException):
    """What Ctrl-C is."""


@pytest.mark.parametrize("error", [_Stop, OSError])
def test_what_stops_between_two_files_changes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a = 1\n")
    second.write_bytes(b"b = 1\n")
    inode = first.stat().st_ino
    files = {read(first): "a = 2\n", read(second): "b = 2\n"}
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target == second and self.suffix == ".py":
            raise error
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(UsageError if error is OSError else error):
            sources.write_all(files)
    assert everything(tmp_path) == {"a.py": b"a = 1\n", "b.py": b"b = 1\n"}
    assert first.stat().st_ino == inode
    sources.write_all(files)
    assert everything(tmp_path) == {"a.py": b"a = 2\n", "b.py": b"b = 2\n"}
