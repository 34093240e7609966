"""Scripts in the style of public projects run as they stand, and the page says how."""

from pathlib import Path

import pytest

from opcheck.model.script import Ending
from opcheck.model.trace import Phase
from tests.scripts.document import PATH, Seen, row
from tests.scripts.script import SCRIPTS, TARGETS, tried
from tests.whole import WHOLE

EVERY = tuple(SCRIPTS)
SAMPLED = EVERY if WHOLE else ("contrastive", "fsdp2", "reinforce")


def test_every_script_is_on_the_page() -> None:
    page = PATH.read_text(encoding="utf-8")
    assert not [name for name, script in SCRIPTS.items() if f"| `{script.words}` |" not in page]


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_a_script_is_trained_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    script, target = SCRIPTS[name], TARGETS[EVERY.index(name) % len(TARGETS)]
    found = tried(script, target, tmp_path)
    run = found.run
    assert (run.ending, run.emulation.error, found.left) == (Ending.RETURNED, "", ())
    asked = {kernel.phase for kernel in run.emulation.kernels}
    assert asked == {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    (line,) = (line for line in PATH.read_text(encoding="utf-8").splitlines()
               if f"| `{script.words}` |" in line)  # fmt: skip
    assert found.headline in line.split(" | ")


def test_a_row_has_a_headline_for_each_target() -> None:
    found = row(SCRIPTS["gan"], {TARGETS[1]: Seen("✔ runs", 3)})
    assert found.endswith("| not run | ✔ runs | not run |")
