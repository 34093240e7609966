"""What is said of a project at the gate."""

from collections import Counter

from opcheck.commands.gate.project.values import ProjectGate
from opcheck.commands.gate.values import Standing
from opcheck.lang.sentence import Sentence

PASSED = {True: "{folder} passes the gate", False: "{folder} fails the gate"}
NOT_JUDGED = "{folder} cannot be judged as a whole"


def headline(found: ProjectGate) -> str:
    """The template of the first line: passes, fails, or cannot be judged."""
    standings = [one.passed for one in found.sources]
    return PASSED[found.passed] if found.passed or False in standings else NOT_JUDGED


def hidden(found: ProjectGate) -> Sentence:
    """How many findings of all sources do not fail and are no good news either."""
    counts = Counter[Standing]()
    for one in found.sources:
        counts.update({} if one.result is None else one.result.standings)
    return Sentence(
        "hidden: {count_waived} waived, {count_baseline} in the baseline, {count_same} unchanged, "
        "{count_unsure} less sure than the policy asks, {count_allowed} allowed",
        count_waived=f"{counts[Standing.WAIVED]:,}",
        count_baseline=f"{counts[Standing.BASELINED]:,}",
        count_same=f"{counts[Standing.UNCHANGED]:,}",
        count_unsure=f"{counts[Standing.UNSURE]:,}",
        count_allowed=f"{counts[Standing.ALLOWED]:,}",
    )


def counted(found: ProjectGate) -> Sentence:
    """How many sources pass, fail, and cannot be judged."""
    standings = [one.passed for one in found.sources]
    return Sentence(
        "{count_passed} pass, {count_failed} fail, {count_open} cannot be judged",
        count_passed=f"{standings.count(True):,}",
        count_failed=f"{standings.count(False):,}",
        count_open=f"{standings.count(None) + len(found.lacking):,}",
    )
