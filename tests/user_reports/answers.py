"""What the first scan said of each report: ``python -m tests.user_reports.document --first`` adds.

It adds reports that are not here yet, and changes none that is: by target, the operators of the
report with verdict and reason.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from tests.user_reports.judge import Answer

PATH = Path(__file__).with_name("first_answers.yaml")


@cache
def first() -> Mapping[str, Mapping[str, tuple[Answer, ...]]]:
    """Report -> target -> answers."""
    found = yaml.safe_load(PATH.read_text(encoding="utf-8")) if PATH.exists() else None
    return {
        name: {
            target: tuple(Answer(*answer) for answer in answers)
            for target, answers in targets.items()
        }
        for name, targets in (found or {}).items()
    }


def add(new: Mapping[str, Mapping[str, tuple[Answer, ...]]]) -> None:
    """Keep the first answers of reports that have none."""
    every = {**new, **first()}
    kept = {
        name: {
            target: [[each.verdict, each.code, each.op] for each in answers]
            for target, answers in targets.items()
        }
        for name, targets in sorted(every.items())
    }
    text = yaml.safe_dump(kept, sort_keys=False, width=100, default_flow_style=None)
    PATH.write_text(text, encoding="utf-8")
    first.cache_clear()
