"""The policy that a project starts from."""

from collections.abc import Sequence
from pathlib import Path

from opcheck.model.target import TargetSpec

_TEMPLATE = Path(__file__).parent / "opcheck.yaml"
_NO_TARGETS = "targets: []\n"


def starting_policy(targets: Sequence[TargetSpec] = ()) -> str:
    """The text of a policy with comments, for these targets."""
    text = _TEMPLATE.read_text("utf-8")
    if not targets:
        return text
    listed = "".join(f'  - "{target}"\n' for target in targets)
    return text.replace(_NO_TARGETS, f"targets:\n{listed}")
