"""Every command in a language whose every message stands in brackets: nothing else is prose.

Pages for browsers are read by tests/views, and ``--verbose`` of a plan by nobody: it shows code.
"""

import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.app.main import run
from opcheck.db.store import Database
from opcheck.lang import speech
from opcheck.lang.catalogue import Catalogue, Entry, read_po
from opcheck.lang.sentence import Sentence, place_names
from opcheck.lang.speech import Language, speaking, tell
from tests.lang.messages import PACKAGE
from tests.lang.test_errors import WORDS, calls, errors, templates_of_sources

pytestmark = pytest.mark.slow
OPENS, CLOSES = "⟦⟧"
PROSE = re.compile(r"[A-Za-z][a-z']+(?: [a-z']{2,}){2,}")
"""Three English words in a row: names, dtypes and code are not that."""
CODE = re.compile(r"^(?:[·$] )?(?:opcheck|pip install) |: UserWarning: ")
"""Command lines, the same in every language, and what the vendor's runtime warns of."""
MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        places = torch.nonzero(y > 0)
        if y.sum() > 0:
            y = y + 1
        z = torch.fft.fft(y).real
        return torch.erfinv(torch.tanh(z)), places, torch.cdist(y, y)


def model():
    return Model(), (torch.randn(4, 8),)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return torch.frac(torch.special.log_ndtr(self.linear(x)).sigmoid())


def plain():
    return Plain(), (torch.randn(4, 8),)
"""
TRAIN = """\
import os

import torch

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    loss = torch.erfinv(torch.special.i0(model(torch.randn(4, 64).cuda()))).sum()
    loss.backward()
    optimizer.step()
open("kept.txt", "w").close()
if os.path.exists("report.json"):
    os.remove("report.json")
"""
CATCHES = """\
import torch

x = torch.ones(4).cuda()
try:
    x.to(torch.bfloat16)
except RuntimeError:
    print(x)
"""
ROOMS = (
    '__init__', 'app', 'commands', 'costs', 'db', 'emulate', 'errors', 'exporting', 'lint',
    'model', 'pipeline', 'pytest_plugin', 'rewrite', 'runtime', 'sandbox', 'settings', 'source',
    'trace', 'views',
)  # fmt: skip
"""Folders and modules whose code makes an error."""
FILES = {
    "m.py": MODEL,
    "models.yaml": "models:\n  - source: m.py:model\n  - source: m.py:plain\n",
    "broken.py": "def model(:\n",
    "broken.yaml": "models: [\n",
    "broken.pt2": "PK",
    "broken.json": "{",
    "raises.py": "def model():\n    raise KeyError('a key')\n",
    "exits.py": "def model():\n    raise SystemExit(3)\n",
    "ends.py": "import os\n\n\ndef model():\n    os._exit(3)\n",
    "bound.py": "from torch import nn\n\n\ndef model():\n    return nn.Linear(2, 2), (1,)\n",
    "rules/none.py": "x = 1\n",
    "train.py": TRAIN,
    "exits_itself.py": "import sys\nsys.exit(3)\n",
    "cpu.py": "import torch\ntorch.ones(2)\n",
    "cells.ipynb": "{}",
    "catches.py": CATCHES,
}
LINES = """\
--help
scan m.py:model -t all --verbose --explain
scan m.py:plain -t all --train --top 2
scan m.py:model -t google-tpu-v4 -t ascend-910b --dynamic x:0
scan m.py:model -t ascend-910a --format markdown
plan m.py:model -t google-tpu-v4 -t cambricon-mlu370 -t apple-mps
plan m.py:plain -t ascend-910b -t apple-mps --train
gate m.py:model -t ascend-310p -t apple-mps
emulate m.py:model -t ascend-910b --check
emulate m.py:plain -t ascend-910b --train --verbose
run -t ascend-910b train.py
run -t ascend-910b exits_itself.py
run -t ascend-910b cpu.py
run -t ascend-910b --steps 1 --verbose -- torchrun --nproc-per-node 2 train.py
upgrade m.py:model -t apple-mps@2.4.1
tune m.py:plain -t ascend-910b -t nvidia-h100 --train
choose m.py:model
lint m.py -t all
fix m.py:plain -t moorethreads-s4000@1.3.0 --diff
fix m.py:plain -t apple-mps --shim shim.py --allow tolerance
explain aten::nonzero -t apple-mps -t google-tpu-v4 --verbose
export m.py:plain -t onnxruntime-cpu --prove
mcp --help
rules
doctor
probe --device cpu --operators abs
init -t ascend-910b
targets
models
models whisper
models none-of-these
models -t nvidia-a100
convert report.json --format text
convert report.json --format markdown
repro report.json aten::fft_fft
db check
db status
db diff ascend@6.0.0 ascend@7.2.0
db show ascend-910b aten::gelu
fleet models.yaml -t ascend-910b -t apple-mps -t moorethreads-s4000
fleet report opcheck-fleet.db m.py:model
fleet missing opcheck-fleet.db
fleet query opcheck-fleet.db
"""
REFUSED = """\
scan
scan m.py:model --wrong
scan m.py:model -t nowhere
scan m.py:none -t ascend-910b
scan broken.py:model -t ascend-910b
scan broken.pt2 -t ascend-910b
scan torchvision:nothing -t ascend-910b
scan hf:nothing -t ascend-910b
scan m.py:model -t ascend-910b --input x=3xq
scan m.py:model -t ascend-910b --dynamic y:0
scan m.py:model -t ascend-910b --step optimizer=none
scan m.py:model -t ascend-910b --format nothing
explain nothing -t ascend-910b
export m.py:model -t ascend-910b
mcp --wrong
convert broken.json --format text
repro report.json aten::none
gate m.py:model --against broken.json
fleet broken.yaml -t ascend-910b
fleet report opcheck-fleet.db none
db show none
emulate m.py:model -t nvidia-h100
emulate m.py:none -t ascend-910b
run -t ascend-910b nowhere.py
run -t ascend-910b --steps 0 train.py
run -t ascend-910b -- torchrun
run -t ascend-910b cells.ipynb
run -t ascend-910a --stop catches.py
scan raises.py:model -t ascend-910b
scan exits.py:model -t ascend-910b
scan ends.py:model -t ascend-910b
scan bound.py:model -t ascend-910b
scan m.py:model -t ascend-910b --db nowhere
scan m.py:model -t ascend-910b --decode --train
scan m.py:model -t ascend-910b -o nowhere/report.txt
plan m.py:model -t nowhere
plan m.py:model -t ascend-910b --rules rules
gate m.py:model -t ascend-310p --policy nowhere.toml
upgrade m.py:model -t apple-mps@0.1
tune m.py:plain -t nowhere
choose m.py:none
lint nowhere.py -t all
fix m.py:plain -t nowhere
fix m.py:plain -t apple-mps --shim nowhere/shim.py
rules nothing
rules --check
doctor -t nowhere
probe --device nothing
init -t nowhere
targets --wrong
models -t nowhere
db diff ascend@6.0.0 nothing@1
db import nothing nowhere
db refresh nothing nowhere --from nowhere --release 1
repro nowhere.json aten::mm
fleet run nowhere.yaml -t ascend-910b
fleet models.yaml -t nowhere
fleet diff nowhere.db opcheck-fleet.db
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the lines name."""
    found = tmp_path_factory.mktemp("pseudo")
    for name, text in FILES.items():
        (found / name).parent.mkdir(exist_ok=True)
        (found / name).write_text(text, encoding="utf-8")
    return found


@pytest.fixture(autouse=True)
def pseudo_locale(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chinese, with each translation replaced by its English in brackets."""
    read = read_po((PACKAGE / "lang" / "zh.po").read_text(encoding="utf-8"), "zh.po")
    made = Catalogue([read[0], *map(_in_brackets, read[1:])])
    monkeypatch.setattr(speech, "catalogue", lambda _: made)
    monkeypatch.chdir(folder)
    if not (folder / "report.json").exists():
        said("scan m.py:model -t ascend-910a -t apple-mps --format json=report.json --quiet")


def _in_brackets(entry: Entry) -> Entry:
    form = f"{OPENS}{entry.english}{CLOSES}"
    return replace(entry, forms=(form,))


def said(line: str) -> str:
    """What a command line writes to both streams, one after the other."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        run(["--lang", "zh", *shlex.split(line)])
    return f"{out.getvalue()}\n{err.getvalue()}"


def outside(text: str) -> Iterator[str]:
    """The lines of a text without what is in brackets, which may be in one another."""
    depth, kept = 0, []
    for letter in text:
        depth += letter == OPENS
        kept.append(letter if depth == 0 or letter == "\n" else " ")
        depth -= letter == CLOSES
    yield from (line.strip() for line in "".join(kept).splitlines())


def prose(text: str) -> list[str]:
    """The lines with words that are no message."""
    found = (line for line in outside(text) if PROSE.search(line) and not CODE.search(line))
    return [line for line in found if not _names_alone(line)]


def _names_alone(line: str) -> bool:
    """Whether a line is a part of a list of what users call vendors and chips."""
    words = line.rpartition(": ")[2].removesuffix(",").split(", ")
    return {*words} <= _other_names()


@cache
def _other_names() -> frozenset[str]:
    names = Database.open().called
    called = map(names.called, names.vendors)
    return frozenset(
        word for one in called for word in (*one.also, *chain.from_iterable(one.chips.values()))
    )


def test_prose_is_seen() -> None:
    assert prose("⟦a message of two lines,\n⟦one⟧ in another⟧: nobody wrote these words") == [
        ": nobody wrote these words"
    ]
    assert prose("opcheck scan some file here; ⟦all well⟧ aten::mm") == []


def test_every_command_is_run() -> None:
    every = {path.parent.name for path in (PACKAGE / "commands").glob("*/__init__.py")}
    for lines in (LINES, REFUSED):
        assert {line.split()[0] for line in lines.splitlines()} - {"--help"} == every


@pytest.mark.parametrize("line", LINES.splitlines())
def test_what_a_command_says_is_in_the_catalogue(line: str) -> None:
    text = said(line)
    assert OPENS in text
    assert prose(text) == []


@pytest.mark.parametrize("line", REFUSED.splitlines())
def test_what_a_command_refuses_with_is_in_the_catalogue(line: str) -> None:
    text = said(line)
    assert OPENS in text.splitlines()[-1] or "：" in text
    assert prose(text) == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_sentence_of_a_room_is_one_message(room: str) -> None:
    """Also those of errors that no line above comes to, with a name in each place."""
    made = [
        Sentence(template, **dict.fromkeys(place_names(template), "x1"))
        for call, template in templates_of_sources()
        if call.where.split("/")[1].removesuffix(".py") == room
    ]
    with speaking(Language.CHINESE):
        left = {text: "".join(outside(tell(text))) for text in made}
    assert {text: words for text, words in left.items() if WORDS.search(words)} == {}


def test_the_rooms_are_those_that_refuse() -> None:
    """Each room whose code makes an error, and no room whose code never does."""
    named = {
        call.where.split("/")[1].partition(".py")[0] for call in calls() if call.name in errors()
    }
    assert named == set(ROOMS)
