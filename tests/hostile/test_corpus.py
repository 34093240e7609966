"""A share of the hostile files with every test run; ``python -m tests.hostile`` tries them all."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.hostile.corpus
from tests.hostile.canary import Canary
from tests.hostile.case import CASES, Case, Family
from tests.hostile.commands import COMMANDS, Command, commands_of, deepest, tried
from tests.hostile.place import Place
from tests.whole import WHOLE

assert tests.hostile.corpus
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify and /proc are Linux")
_OF_EACH = 4
"""How many files of each reader are tried with every test run, beside those of the issue."""
SEEN = {
    "program targets": ("eval_got_from_a_dict", "load_library_dressed_up", "os_of_torch"),
    "program arguments": ("a_file_mapped_and_filled", "wrap_of_builtins"),
    "program sizes": ("infinity", "remainder_of_nothing", "quotient_of_nothing", "many_signs",
                      "a_python_expression"),
    "program that cannot run": ("a_later_name", "its_own_name", "sizes_without_bounds",
                                "an_accessor_for_a_size", "sizes_that_overflow"),
    "TorchScript": ("saved_by_name", "mapped_and_filled", "written_when_loaded", "a_flood"),
    "ultralytics YAML": ("activation", "torch_safe_load", "load_checkpoint", "arguments"),
    "report": ("a_target_of_nobody", "costs_of_nobody", "a_pipe", "a_link_to_zeros"),
    "fleet store": ("bytes_at_100", "a_view_without_end"),
    "manifest": ("trust_of_its_own", "trust_by_default"),
    "names of models": ("three_hundred_letters", "a_pipe_without_an_ending"),
    "Python source": ("a_checkpoint_is_overwritten", "stdout_is_redirected", "a_process_is_left"),
}  # fmt: skip
"""What did harm once, by reader."""


def _share() -> Iterator[tuple[Case, Command]]:
    readers = dict.fromkeys(case.reader for case in CASES)
    for reader in readers:
        cases = [case for case in CASES if case.reader == reader]
        names = {case.name for case in cases[:: max(len(cases) // _OF_EACH, 1)]}
        names |= set(SEEN.get(reader, ()))
        for case in cases:
            if WHOLE or case.name in names:
                yield from ((case, command) for command in _commands(case))


def _commands(case: Case) -> tuple[Command, ...]:
    if WHOLE:
        return commands_of(case)
    return deepest(case) if case.name in SEEN.get(case.reader, ()) else deepest(case)[:1]


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with Canary.opened() as opened:
        opened.load()
        yield opened


SHARE = list(_share())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "command"), SHARE, ids=[f"{c.reader}/{c.name}-{command.name}" for c, command in SHARE]
)
def test_a_hostile_file_does_no_harm(canary: Canary, case: Case, command: Command) -> None:
    outcome = tried(canary, case, command)
    assert not outcome.harm, f"{outcome}\n{case.about}\n{outcome.effects.output[-2000:]}"


def test_every_reader_has_its_files() -> None:
    count = Counter(case.reader for case in CASES)
    assert min(count.values()) >= 10
    assert sum(count.values()) >= 200
    assert sum(case.near for case in CASES) * 2 >= len(CASES)
    assert all(name in {case.name for case in CASES if case.reader == reader}
               for reader, names in SEEN.items() for name in names)  # fmt: skip


@pytest.mark.skipif(not WHOLE, reason="most are made by the share, and all by tests.hostile")
def test_every_file_can_be_made(tmp_path: Path) -> None:
    place = Place.below(tmp_path / "place", 1)
    place.fill()
    for number, case in enumerate(CASES):
        if case.name not in LARGE:
            shutil.rmtree(place.project)
            place.bait.mkdir(parents=True)
            assert case.lay(place).source is not None, number


LARGE = ("a_document_of_a_gigabyte", "a_member_of_a_gigabyte", "a_bomb", "many_nodes")
"""Files that take seconds to make."""


def test_every_family_has_a_command() -> None:
    assert set(COMMANDS) == set(Family)
    assert {case.family for case in CASES} == set(Family)
    assert all(deepest(case) for case in CASES)


@pytest.mark.slow
def test_what_is_killed_leaves_nothing_behind(canary: Canary) -> None:
    """A person ends a command that never ends, in the hardest way."""
    (case,) = (c for c in CASES if (c.reader, c.name) == ("TorchScript", "a_loop_without_end"))

    def prepare(place: object) -> tuple[str, ...]:
        made = case.lay(canary.place)
        return ("scan", made.source, "--input", "2x3", "-t", "ascend-910b")

    effects = canary.run(prepare, limit=10)
    assert effects.hung
    assert effects.processes == ()
