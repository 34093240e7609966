"""Blocks of output in the README and in docs: what they say, and what the commands say now.

``python -m tests.readme`` writes them anew (``make readme``), the README's table of targets and the
pictures too.
"""

import re
import tempfile
from pathlib import Path

from opcheck.db.store import Database
from opcheck.db.vendor import Vendor
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.target import target_name
from opcheck.model.verdict import Method
from tests.console import ROOT, printed, shown_now, steps
from tests.pictures import PAGE, PICTURE, page_picture, picture
from tests.stability_document import PATH as STABILITY
from tests.stability_document import page_now as stability

README = ROOT / "README.md"
TRANSLATED = ROOT / "README.zh-CN.md"
DOCS = ROOT / "docs"
TARGETS = re.compile(r"(?<=<!-- targets -->\n).*?(?=<!-- end of targets -->)", re.DOTALL)
_HEADINGS = {
    Language.ENGLISH: ("vendor", "targets", "releases", "newest data", "kernels are"),
    Language.CHINESE: ("厂商", "目标", "版本", "最新数据", "kernel 依据"),
}
_SHOWN = 4
"""Targets of a vendor that are named; of others there is the number."""
FENCED = re.compile(r"```.*?```", re.DOTALL)


def blocks() -> dict[str, str]:
    """Arguments of every command that the README shows -> the output shown."""
    shown = steps(README.read_text(encoding="utf-8"))
    return {step.command.removeprefix("opcheck "): step.output for step in shown}


def output_of(arguments: str) -> str:
    """What the command prints now, in a terminal of 80 columns without colour."""
    return printed(f"opcheck {arguments}", ROOT)


def pages() -> tuple[Path, ...]:
    """Every page of docs that shows what commands print."""
    every = sorted(DOCS.rglob("*.md"))
    return tuple(page for page in every if steps(page.read_text(encoding="utf-8")))


def page_now(page: Path) -> str:
    """A page of docs as it should be: its commands are run in a folder of its files alone."""
    with tempfile.TemporaryDirectory() as folder:
        return shown_now(page.read_text(encoding="utf-8"), Path(folder))


def in_step(translation: str, original: str) -> str:
    """A translation with the blocks that the original has, in the order that they have there."""
    blocks_there = iter(FENCED.findall(original))
    return FENCED.sub(lambda own: next(blocks_there, own[0]), translation)


def targets_now(page: str, language: Language) -> str:
    """A README with the table of targets as the database has them."""
    with speaking(language):
        rows = [
            _HEADINGS[language],
            ("---", "---", "---", "---", "---"),
            *map(_row, Database.open().vendors.values()),
        ]
        lines = ("| " + " | ".join(map(tell, row)) + " |\n" for row in rows)
        return TARGETS.sub(lambda _: "".join(lines), page)


def _row(vendor: Vendor) -> tuple[str, ...]:
    chips = sorted(vendor.chips)
    names = [f"`{target_name(vendor.name, chip)}`" for chip in chips]
    more = [f"+ {len(names) - _SHOWN}"] if len(names) > _SHOWN else []
    releases = list(vendor.files)
    newest = vendor.release(releases[-1]).data
    return (
        str(vendor.document.data["name"]),
        ", ".join([*names[:_SHOWN], *more]),
        " – ".join(dict.fromkeys((releases[0], releases[-1]))),
        str(newest["date"]),
        str(newest.get("method", Method.REGISTERED)),
    )


if __name__ == "__main__":
    now = targets_now(shown_now(README.read_text(encoding="utf-8"), ROOT), Language.ENGLISH)
    README.write_text(now, encoding="utf-8")
    told = in_step(TRANSLATED.read_text(encoding="utf-8"), now)
    TRANSLATED.write_text(targets_now(told, Language.CHINESE), encoding="utf-8")
    STABILITY.write_text(stability(STABILITY.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page_picture(), encoding="utf-8")
    for one in pages():
        one.write_text(page_now(one), encoding="utf-8")
