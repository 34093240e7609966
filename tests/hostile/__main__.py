"""The whole corpus: ``python -m tests.hostile [--share | --fresh] [READER | READER/CASE …]``.

Every file goes through every command that takes it; ``--share`` takes the one or two that reach
deepest, ``--fresh`` starts a Python for each command in place of copying one. What does harm is
listed on stderr as it is found, and the table at the end has the figures of each reader. The exit
code is 1 where anything did harm.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import tests.hostile.corpus
from tests.hostile.canary import Canary
from tests.hostile.case import CASES, Case
from tests.hostile.commands import Outcome, commands_of, deepest, tried

KINDS = ("executed", "wrote", "connected", "processes", "read", "leaked", "injected", "flooded",
         "hung", "crashed", "called runnable", "place not named")  # fmt: skip
_WORKERS = os.cpu_count() or 1


def main(arguments: Sequence[str]) -> int:
    """Try what is asked for; the exit code."""
    options = {word for word in arguments if word.startswith("--")}
    names = [word for word in arguments if word not in options]
    cases = [case for case in CASES if not names or _named(case, names)]
    pairs = [(CASES.index(case), command.name) for case in cases
             for command in (deepest if "--share" in options else commands_of)(case)]  # fmt: skip
    found: list[tuple[str, str, str, tuple[str, ...]]] = []
    parts = [pairs[start::_WORKERS] for start in range(_WORKERS)]
    with ProcessPoolExecutor(_WORKERS) as pool:
        for part in pool.map(_part, parts, ["--fresh" in options] * _WORKERS):
            found += part
    print(table(cases, found))
    return 1 if any(harm for *_, harm in found) else 0


def _named(case: Case, names: Sequence[str]) -> bool:
    return any(name in (case.reader, f"{case.reader}/{case.name}") for name in names)


def _part(
    pairs: Sequence[tuple[int, str]], fresh: bool
) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(outcome.case.reader, outcome.case.name, outcome.command, outcome.harm)
            for outcome in outcomes(pairs, fresh)]  # fmt: skip


def outcomes(pairs: Sequence[tuple[int, str]], fresh: bool) -> Iterator[Outcome]:
    """What became of each case and command; harm is told at once."""
    log = os.environ.get("HOSTILE_LOG")
    with Canary.opened() as canary:
        if not fresh:
            canary.load()
        for place, name in pairs:
            case = CASES[place]
            (command,) = (command for command in commands_of(case) if command.name == name)
            outcome = tried(canary, case, command)
            if outcome.harm:
                print(outcome, file=sys.stderr, flush=True)
            if log:
                with Path(f"{log}.{os.getpid()}").open("a") as file:
                    file.write(json.dumps([case.reader, case.name, name, outcome.harm,
                                           outcome.effects.exit_code, outcome.effects.evidence(),
                                           outcome.effects.output[-1500:]]) + "\n")  # fmt: skip
            yield outcome


def table(cases: Sequence[Case], found: Sequence[tuple[str, str, str, tuple[str, ...]]]) -> str:
    """The figures of each reader, in Markdown."""
    head = ("reader", "files", "near", "commands", *KINDS)
    lines = [head, ("---", *["---:"] * (len(head) - 1))]
    readers = list(dict.fromkeys(case.reader for case in cases))
    for reader in [*readers, "all"]:
        mine = [case for case in cases if reader in (case.reader, "all")]
        done = [harm for name, _, _, harm in found if reader in (name, "all")]
        counts = Counter(kind for harm in done for kind in harm)
        figures = (len(mine), sum(case.near for case in mine), len(done))
        lines.append((reader, *map(str, figures), *(str(counts[kind]) for kind in KINDS)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


assert tests.hostile.corpus  # registers the cases
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
