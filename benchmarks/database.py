"""Figures of the database: how soon every target is loaded, and how large it may grow."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import ROOT, RUNS, Figure
from opcheck.db.prebuilt import prebuild

COLD, WARM = 0.25, 0.05
"""Seconds of work until the newest matrix of every target has answered what it has of an operator,
the first time after an installation and once the index is there: what else the machine does
meanwhile is no part of it."""
BARE = 2.0
"""The same where nothing was compiled: in a checkout that nobody installed."""
LARGEST = 28.4 * 10**6
"""Bytes that the database may take in the repository: 25 MB, and beside it Intel Gaudi (0.7 MB),
MetaX (0.8), Biren (0.7), Rebellions (0.1), ONNX Runtime (0.3), ExecuTorch (0.2), TorchAir (0.3),
OpenVINO (0.2), Core ML (0.2) and LiteRT (0.2)."""
_LOAD = """
import gc, sys, time
from pathlib import Path
from opcheck.app.main import COLLECTED_EVERY
from opcheck.db.files import index
from opcheck.db.files.document import uncollected
from opcheck.db.store import Database
index.SHIPPED = Path(sys.argv[1])
gc.set_threshold(COLLECTED_EVERY)  # as every command does
started = time.process_time()
database = Database.open()
with uncollected():  # as a scan loads them
    matrices = [database.matrix(target) for target in database.targets()]
count = sum(len(matrix.entries) > 0 for matrix in matrices)
for matrix in matrices:
    matrix.entries.get("aten::add.Tensor"), matrix.conditions_for("aten::add.Tensor")
print(time.process_time() - started, count)
"""


def loading() -> Iterator[Figure]:
    """The newest matrix of every target, in processes of their own."""
    with tempfile.TemporaryDirectory() as made:
        shipped, warm = Path(made) / "shipped", Path(made) / "warm"
        prebuild(ROOT / "compat_db", shipped)
        nothing = Path(made) / "nothing"
        _seconds(warm, shipped)
        from_index = [_seconds(warm, shipped) for _ in range(RUNS)]
        first = [_seconds(Path(made) / f"first{run}", shipped) for run in range(RUNS)]
        bare = [_seconds(Path(made) / f"bare{run}", nothing) for run in range(RUNS)]
    for name, limit, found in (
        ("first after an installation", COLD, first),
        ("from the index", WARM, from_index),
        ("in a bare checkout", BARE, bare),
    ):
        seconds = min(seconds for seconds, _ in found)  # a busy machine only adds to it
        detail = f"{seconds * 1e3:.0f} ms for {found[0][1]} targets"
        yield Figure(f"every target, {name} / s", seconds, limit, detail)


def size() -> Iterator[Figure]:
    """What the files of the database take."""
    taken = sum(path.stat().st_size for path in (ROOT / "compat_db").rglob("*") if path.is_file())
    most = f"compat_db / {LARGEST / 1e6:.1f} MB"
    yield Figure(most, taken / LARGEST, 1.0, f"{taken / 1e6:.1f} MB")


def _seconds(cache: Path, shipped: Path) -> tuple[float, int]:
    """How long it takes with these folders of compiled files, and how many targets there are."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(shipped)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    seconds, count = done.stdout.split()
    return float(seconds), int(count)
