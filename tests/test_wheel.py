"""The wheel works alone: installed into an empty environment, it finds its database and scans."""

import json
import os
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path

import pytest

from opcheck.db.files.kept import MARGIN
from opcheck.version import __version__

ROOT = Path(__file__).parent.parent
MODEL = """
import torch

def model():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()), torch.randn(2, 4)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # hatchling is installed with the test extra; isolation would fetch it once more
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel alone, that borrows torch and the like from this one.

    The path of what it borrows comes last and leads to no opcheck: an editable one hangs on the
    ``.pth`` files of its own folder, which are not read there.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder)]
    install = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    time.sleep(2 * MARGIN / 1e9)  # nothing is noted of a file that may yet change
    return folder


def run(environment: Path, program: str, *arguments: str, cwd: Path) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    clean["XDG_CACHE_HOME"] = str(cwd / "cache")
    command = [str(environment / "bin" / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=clean, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_carries_database_schemas_and_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    data = [path.relative_to(ROOT / "compat_db") for path in (ROOT / "compat_db").rglob("*.yaml")]
    assert data
    expected = {f"opcheck/_compat_db/{path.as_posix()}" for path in data}
    expected |= {"opcheck/py.typed", "opcheck/views/schema/opcheck.report-1.json"}
    expected |= {"opcheck/settings/opcheck.yaml"}
    templates = (ROOT / "opcheck" / "rewrite" / "custom" / "templates").rglob("*.j2")
    expected |= {path.relative_to(ROOT).as_posix() for path in templates}
    expected |= {"opcheck/lang/zh.po", f"opcheck-{__version__}.dist-info/licenses/LICENSE"}
    assert "opcheck/rewrite/custom/templates/gpu/kernel.j2" in expected
    assert expected <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]
    scripts = zipfile.ZipFile(wheel).read(f"opcheck-{__version__}.dist-info/entry_points.txt")
    assert scripts.decode() == (
        "[console_scripts]\nopcheck = opcheck.app.main:main\n\n"
        "[pytest11]\nopcheck = opcheck.pytest_plugin\n"
    )


def test_an_installed_wheel_scans(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    where = run(
        environment, "python", "-c", "import opcheck; print(opcheck.__file__)", cwd=tmp_path
    )
    assert Path(where.strip()).is_relative_to(environment)
    text = run(
        environment, "opcheck", "scan", "net.py:model", "-t", "ascend-910b", "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    report = json.loads(text)
    (target,) = report["targets"]
    assert {finding["op"] for finding in target["findings"]} == {"aten::linear", "aten::gelu"}
    assert target["summary"]["runs"] is True
    compiled = [kept.name for kept in (tmp_path / "cache" / "opcheck").iterdir()]
    assert compiled
    assert [name for name in compiled if ".noted-" not in name and ".files-" not in name] == []
