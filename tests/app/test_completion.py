"""What shells offer while a command line is typed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from opcheck.app.completion.answers import answers, shell_lines
from opcheck.app.completion.install import install
from opcheck.app.completion.scripts import SCRIPTS, VARIABLE
from opcheck.app.main import application, run
from opcheck.db.releases import toolkit_names
from opcheck.db.store import Database
from opcheck.errors import ExitCode, UsageError
from opcheck.model.target import TargetSpec
from opcheck.views.formats import report_formats

ROOT = Path(__file__).parent.parent.parent
PROGRAM = application()


def offered(*words: str) -> list[str]:
    return [word for word, _ in answers(PROGRAM, words)]


FORMATS = list(report_formats())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["sca"], ["scan"]),
        (["db", "st"], ["status"]),
        (["scan", "--form"], ["--format"]),
        (["scan", "m.pt2", "--tru"], ["--trust"]),
        (["scan", "m.pt2", "-t", "ascend-31"], ["ascend-310b", "ascend-310p"]),
        (["scan", "-t", "ascend-910c"], ["ascend-910c", "ascend-910c:torchair"]),
        (["scan", "-t", "ascend-910c:torchair@7"], []),
        (["scan", "-t", "ascend-910c:torchair@2"], ["ascend-910c:torchair@26.0.0"]),
        (["scan", "-t", "ascend-910b", "--target", "al"], ["all"]),
        (["scan", "--target=ascend-910a"], ["--target=ascend-910a"]),
        (["scan", "m.pt2", "--format", ""], FORMATS),
        (["scan", "m.pt2", "--format", "sar"], ["sarif"]),
        (["explain", "x", "--format", ""], ["json", "text"]),
        (["scan", "m.pt2", "--step", "opt"], ["optimizer="]),
        (
            ["explain", "aten::hardswish_b"],
            ["aten::hardswish_backward", "aten::hardswish_backward.out"],
        ),
        (["explain", "hardsw"], ["hardswish", "hardswish_", "hardswish_backward"]),
        (["explain", "torchvision::nm"], ["torchvision::nms"]),
        (["db", "show", "ascend-950", "aten::gelu_backward.g"], ["aten::gelu_backward.grad_input"]),
        (["scan", "torchv"], ["torchvision:"]),
        (["--shell", "z"], ["zsh"]),
        (["scan", "--timeout", ""], []),
        (["nothing", "so"], []),
        (["scan", "--no-such", "-"], offered("scan", "-")),
        (["scan", "-t", "nowhere@2"], []),
        (["scan", "-t", "rtx409"], ["rtx4090", "rtx4090d"]),
        (["scan", "-t", "mi30"], ["mi300x", "mi300a", "mi308x"]),
        (["scan", "-t", "ascend-910b@cann8.3"], ["ascend-910b@cann8.3.RC1"]),
        (["scan", "-t", "orin@jetpack6"], [f"orin@jetpack6.{minor}" for minor in (2, 1, 0)]),
    ],
)
def test_what_may_come_is_offered(words: Sequence[str], wanted: Sequence[str]) -> None:
    assert offered(*words) == list(wanted)


def test_every_target_and_each_of_its_releases_is_offered() -> None:
    database = Database.open()
    assert offered("scan", "-t", "") == [*database.names(), "all"]
    target = database.resolve(TargetSpec("ascend-910b"))
    releases = {target.sdk for target in database.releases("ascend-910b")}
    releases.update(toolkit_names(database.toolkits(target)))
    found = offered("scan", "-t", "ascend-910b@")
    assert len(found) == len(releases)
    assert set(found) == {f"ascend-910b@{release}" for release in releases}
    assert (
        found[0] == f"ascend-910b@{database.targets()[database.names().index('ascend-910b')].sdk}"
    )


def test_every_command_and_option_is_offered() -> None:
    def walk(command: object, words: tuple[str, ...]) -> None:
        inner = getattr(command, "commands", {})
        if inner:
            assert set(offered(*words, "")) == set(inner)
        for name, found in inner.items():
            walk(found, (*words, name))
        options = [o for p in command.params for o in p.opts if o.startswith("--")]  # type: ignore[attr-defined]  # of the copy of click in typer
        everywhere = ["--lang"] if words else []
        assert offered(*words, "--") == [*options, *everywhere, "--help-all", "--help"]

    walk(PROGRAM, ())


def test_files_are_offered_as_they_are_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets").mkdir()
    for name in ("net.py", ".hidden.py", "net two.py", "net;rm.py", "nets/a.pt2"):
        (tmp_path / name).touch()
    assert offered("scan", "ne") == ["net.py", "nets/"]
    assert offered("scan", "nets/") == ["nets/a.pt2"]
    assert offered("scan", ".h") == [".hidden.py"]
    assert offered("scan", "net.py", "--db", "ne") == ["nets/"]
    assert offered("scan", "net.py", "--format", "json=ne") == ["json=net.py", "json=nets/"]
    assert offered("scan", "no/such/") == []


def test_meanings_are_for_the_shells_that_show_them() -> None:
    assert shell_lines(PROGRAM, ["sca"], "bash") == "scan\n"
    assert (
        shell_lines(PROGRAM, ["sca"], "zsh")
        == "scan\tCheck whether a model runs on an accelerator\n"
    )
    assert shell_lines(PROGRAM, ["sca"], "fish") == shell_lines(PROGRAM, ["sca"], "zsh")


@pytest.mark.parametrize(
    ("words", "said"),
    [(["scan", "-t", "ascend-910a"], "ascend-910a\n"), (["scan", "--no-such", "", "@"], "")],
)
def test_a_prompt_gets_answers_and_no_errors(words: Sequence[str], said: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: "bash"}
    command = [sys.executable, "-m", "opcheck", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


COMPLETES = """
import sys
from opcheck.app.completion.answers import shell_lines
import typer.main
from opcheck.app.main import application
for line in sys.argv[1:]:
    assert shell_lines(application(), line.split(","), "bash"), line
heavy = ("torch", "numpy", "pydantic", "rich", "transformers")
print([name for name in heavy if name in sys.modules])
"""


def test_completing_loads_nothing_heavy() -> None:
    lines = ["sc", "scan,-t,asc", "explain,aten::ge", "scan,x,--format,", "scan,torchv"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETES, *lines],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A folder with ``opcheck`` in it, as a shell finds it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "opcheck"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m opcheck \"$@\"\n")
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("breaks", [" \t\n\"'@><=;|&(:", " \t\n"])
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("opcheck sca", ["scan"]),
        ("opcheck db ", ["check", "diff", "import", "refresh", "show", "status"]),
        ("opcheck explain aten::gelu_backward.g", ["aten::gelu_backward.grad_input"]),
        ("opcheck scan x --format=sar", ["--format=sarif"]),
        ("opcheck scan x --step wr", ["wrap="]),
        ("opcheck scan x -t ascend-910a", ["ascend-910a"]),
        ("opcheck scan x -t ascend-910c:t", ["ascend-910c:torchair"]),
    ],
)
def test_bash_completes(program: str, line: str, wanted: list[str], breaks: str) -> None:
    script = f"""{SCRIPTS["bash"]}
COMP_WORDBREAKS=$BREAKS COMP_LINE=$LINE COMP_POINT=${{#LINE}}
_opcheck_completion
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "PATH": program, "LINE": line, "BREAKS": breaks,
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    cut = max((line.rsplit(" ", 1)[-1].rfind(sign) for sign in ":=@" if sign in breaks), default=-1)
    assert (done.stdout.splitlines(), done.stderr) == ([word[cut + 1 :] for word in wanted], "")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_shells_read_the_scripts(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n"], input=SCRIPTS[shell], text=True, check=True)


SETTINGS = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_installing_keeps_settings_and_is_done_once(shell: str, tmp_path: Path) -> None:
    settings = tmp_path / SETTINGS.get(shell, "none")
    settings.write_text("export MINE=1")
    path = install(shell, {}, tmp_path)
    assert path.read_text("utf-8") == SCRIPTS[shell]
    once = settings.read_text("utf-8")
    assert install(shell, {}, tmp_path) == path
    assert settings.read_text("utf-8") == once
    assert once.startswith("export MINE=1")
    assert once.count("\n") == (2 if shell in SETTINGS else 0)


def test_what_cannot_be_installed_is_one_error(tmp_path: Path) -> None:
    (tmp_path / ".config").touch()
    with pytest.raises(UsageError, match="cannot install completion for fish"):
        install("fish", {}, tmp_path)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_shown(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--show-completion", "--shell", shell]) == ExitCode.PASS
    assert capsys.readouterr().out == SCRIPTS[shell]


@pytest.mark.parametrize("line", ["--show-completion --shell tcsh", "--shell zsh"])
def test_what_is_not_understood_is_one_message(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("opcheck: error: no co")
