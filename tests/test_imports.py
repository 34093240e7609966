"""How much of opcheck a command imports: counted, so that it is the same on every machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

HELP_MODULES = 60
SCAN_MODULES = 200
EVERY_TARGET_MODULES = 219
"""More than for one target: each vendor is stood in for, and the targets are compared."""
_COUNTED = """
import json, sys
from opcheck.app.main import run
out, sys.stdout = sys.stdout, sys.stderr
code = run(sys.argv[1:])
ours = [name for name in sys.modules if name.partition(".")[0] == "opcheck"]
json.dump([code, sorted(ours), sorted({"torch", "yaml", "pydantic"} & {*sys.modules})], out)
"""


class Net(torch.nn.Module):
    """What a residual network is made of: a stem with its pool, a block, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.pool = torch.nn.MaxPool2d(3, stride=2, padding=1)
        self.block = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.mean = torch.nn.AdaptiveAvgPool2d((1, 1))
        self.last = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stem: torch.Tensor = self.pool(torch.relu_(self.norm(self.conv(x))))
        block: torch.Tensor = torch.relu(self.block(stem) + stem)
        found: torch.Tensor = self.last(torch.flatten(self.mean(block), 1))
        return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "net.pt2"
    torch.export.save(torch.export.export(Net().eval(), (torch.ones(1, 3, 8, 8),)), path)
    return path


def imported(*arguments: str) -> tuple[list[str], list[str]]:
    """Modules of ours, and the heavy ones of others, once a command line has run."""
    command = [sys.executable, "-c", _COUNTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    code, ours, heavy = json.loads(done.stdout)
    assert code == 0, done.stderr
    return ours, heavy


def test_help_imports_no_command() -> None:
    ours, heavy = imported("--help")
    assert len(ours) <= HELP_MODULES
    assert not [
        name for name in ours if name.startswith("opcheck.commands.") and name.count(".") > 2
    ]
    assert heavy == []


@pytest.mark.slow
def test_a_saved_graph_is_scanned_with_few_modules(saved: Path) -> None:
    imported("scan", str(saved), "-t", "ascend-910b")  # the index is written on its first use
    ours, heavy = imported("scan", str(saved), "-t", "ascend-910b")
    assert len(ours) <= SCAN_MODULES
    assert {name.split(".")[2] for name in ours if name.startswith("opcheck.commands.")} == {"scan"}
    assert heavy == []


@pytest.mark.slow
def test_no_process_of_a_scan_loads_torch_where_tables_decide(saved: Path) -> None:
    """A convolution in float32, of which the target has something to tell, is no reason to."""
    command = [sys.executable, "-m", "opcheck", "scan", str(saved), "-t", "ascend-910b"]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, check=True)
    report = json.loads(done.stdout)
    assert report["trace"]["notes"] == [
        "read from the saved graph and tables; torch was not loaded"
    ]
    (found,) = [f for f in report["targets"][0]["findings"] if f["op"] == "aten::conv2d"]
    assert found["reason"]["code"] == "float32-computed-as-hf32"


@pytest.mark.slow
def test_every_target_needs_no_torch_where_tables_decide(saved: Path) -> None:
    imported("scan", str(saved))
    ours, heavy = imported("scan", str(saved), "-t", "all")
    assert len(ours) <= EVERY_TARGET_MODULES
    assert heavy == []
