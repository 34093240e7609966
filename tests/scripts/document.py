"""``python -m tests.scripts.document`` runs every script on every target, or those that are named,
and writes ``docs/scripts.md`` from what was seen.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from tests.scripts.script import SCRIPTS, TARGETS, Script, tried

PATH = Path(__file__).parents[2] / "docs" / "scripts.md"
COMMAND = "python -m tests.scripts.document"
_SEEN = Path(__file__).with_name("seen.json")
_PUBLIC = Path(__file__).with_name("public.md")


class Seen(msgspec.Struct, frozen=True):
    """What was seen of a script on a target."""

    headline: str
    seconds: int


def page(seen: Mapping[str, Mapping[str, Seen]]) -> str:
    """The whole page."""
    head = ["in the style of", "`opcheck run -t TARGET …`", *TARGETS, "seconds"]
    lines = [_line(head), _line(["---"] * len(head))]
    lines += (f"{row(SCRIPTS[name], found)} {_seconds(found)} |" for name, found in seen.items())
    return _PAGE.format(
        command=COMMAND,
        number=len(seen),
        table="\n".join(lines),
        public=_PUBLIC.read_text(encoding="utf-8").rstrip(),
    )


def row(script: Script, found: Mapping[str, Seen]) -> str:
    """The line of a script but for the time that it took."""
    cells = (found[target].headline if target in found else "not run" for target in TARGETS)
    return _line([script.style, f"`{script.words}`", *cells])


def _seconds(found: Mapping[str, Seen]) -> str:
    times = [one.seconds for one in found.values()]
    return f"{min(times)} to {max(times)}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_PAGE = """\
# Scripts, as they stand

Written by `{command}`; do not edit. {number} training scripts of our own, each in
the style of a public project and none changed for opcheck (`tests/scripts/programs`), are run by
[`opcheck run`](run.md) on three vendors. The headline is the report's own; the time is that of the
whole command on one of two cores, with torch's imports. What a script wrote was seen by itself
alone: its folder is afterwards as it was. *not run*: not yet seen on that vendor.

{table}

run_clm on Cambricon: this release of Transformers needs torch 2.6, and hands attention an argument
that torch 2.4 there lacks.

{public}
"""


def main(names: Iterable[str]) -> None:
    """Run the scripts of these names, or all, and write the page."""
    kept: dict[str, dict[str, Seen]] = {}
    if _SEEN.exists():
        kept = msgspec.json.decode(_SEEN.read_bytes(), type=dict[str, dict[str, Seen]])
    for name in names:
        for target in TARGETS:
            with TemporaryDirectory() as folder:
                found = tried(SCRIPTS[name], target, Path(folder))
            kept.setdefault(name, {})[target] = Seen(found.headline, round(found.seconds))
            sys.stdout.write(f"{target} {name}: {found.headline} {found.run.emulation.error}\n")
        _SEEN.write_bytes(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
    seen = {name: kept[name] for name in SCRIPTS if name in kept}
    _SEEN.write_bytes(msgspec.json.format(msgspec.json.encode(seen)) + b"\n")
    PATH.write_text(page(seen), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(SCRIPTS))
