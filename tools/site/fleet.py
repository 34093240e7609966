"""What a store of ``opcheck fleet`` has of models: its last run, for the pages of models."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from opcheck.commands.fleet.answers.queries import query_of
from opcheck.commands.fleet.values import Answer, Blocker
from opcheck.model.target import TargetSpec


class Outcome(Struct, frozen=True):
    """Targets on which a model comes to the same."""

    targets: tuple[str, ...]
    """By the names that have pages."""
    runs: bool | None
    reason: str
    """Why there is no answer; "" where there is one."""
    blockers: tuple[Blocker, ...]


def outcomes(store: Path | None) -> Mapping[str, Sequence[Outcome]]:
    """Model -> what the last run of a store says of it; nothing without a store."""
    if store is None:
        return {}
    by_model: dict[str, list[Answer]] = {}
    for answer in query_of(store).answers:
        by_model.setdefault(answer.model, []).append(answer)
    return {model: _together(answers) for model, answers in by_model.items()}


def _together(answers: Sequence[Answer]) -> Sequence[Outcome]:
    alike: dict[tuple[object, ...], list[Answer]] = {}
    for one in answers:
        key = (one.runs, one.reason, tuple((b.op, b.verdict) for b in one.blockers))
        alike.setdefault(key, []).append(one)
    return [
        Outcome(
            tuple(TargetSpec.parse(one.target).name for one in some if one.target),
            some[0].runs,
            some[0].reason,
            some[0].blockers,
        )
        for some in alike.values()
    ]
