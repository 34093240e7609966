"""How much of the database is read and decoded: counted, the same on every machine."""

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opcheck.db import collectives, triton
from opcheck.db import matrix as matrix_file
from opcheck.db.by_hand import additions
from opcheck.db.files import document, parts
from opcheck.db.files.document import Document
from opcheck.db.files.kept import MARGIN
from opcheck.db.files.parts import Changed, Entries, StoredLines
from opcheck.db.schema.additions import LIBRARY_FILE
from opcheck.db.schema.vendor import RELEASE
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from tests.db.overlays import ROOT

ASKED = ("aten::add.Tensor", "aten::convolution", "aten::mm", "aten::roll")
_OPENED = """
import json, os, sys
from collections import Counter
opened = Counter()
def note(event, arguments):
    if event == "open" and str(arguments[0]).endswith((".yaml", ".json", "SUMS")):
        if not arguments[2] & os.O_APPEND:  # which reads nothing
            opened[str(arguments[0])] += 1
sys.addaudithook(note)
from opcheck.db.files import index
index.SHIPPED = index.Path("nowhere")
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
database = Database.open()
named = [database.resolve(TargetSpec.parse(name)) for name in sys.argv[1:]]
for target in named or database.targets():
    matrix = database.matrix(target)
    assert len(matrix.entries) and matrix.conditions_for("aten::add.Tensor") is not None
print(json.dumps([opened, "yaml" in sys.modules]))
"""


def decoded(said: Any) -> list[Any]:
    """What of a section was decoded so far."""
    return [*said._held.values()] if isinstance(said, Entries | StoredLines) else []


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """One whose index is there."""
    for _ in range(2):
        found = Database(ROOT, tmp_path)
        found.matrix(found.resolve(TargetSpec("ascend-910b")))
    fresh = Database(ROOT, tmp_path)
    assert fresh.targets()
    return fresh


def newest(database: Database) -> Iterator[Document]:
    for target in database.targets():
        yield database.vendors[target.vendor].release(target.sdk)


def test_naming_all_targets_decodes_no_entry(tmp_path: Path) -> None:
    assert Database(ROOT, tmp_path).targets()  # writes the index
    for found in newest(Database(ROOT, tmp_path)):
        assert isinstance(found.data["operators"], Entries)
        assert isinstance(found.data["conditions"], StoredLines)
        assert not any(decoded(said) for said in found.data.values())


def test_a_matrix_decodes_what_is_asked_of_it(database: Database) -> None:
    target = database.resolve(TargetSpec("ascend-910b"))
    release = database.vendors["ascend"].release(target.sdk)
    matrix = database.matrix(target)
    assert [op for op in ASKED if op in matrix.entries] == list(ASKED)
    given = sum(len(matrix.conditions_for(op)) for op in ASKED)
    assert given
    for section in ("conditions", "documented", "refusals", "second_sources"):
        found = decoded(release.data[section])
        assert len(found) < len(release.data[section]) / 20
        assert all({"*", *ASKED} & {*said["ops"]} for said in found)
    assert matrix.gradients[next(iter(release.data["gradients"]))].kernels
    assert len(decoded(release.data["gradients"])) == 1 < len(release.data["gradients"])


def test_additions_and_collectives_are_made_when_they_are_asked_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[str] = Counter()

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            made[function.__name__] += 1
            return function(*arguments, **named)

        return call

    for module, name in (
        (additions, "Condition"), (collectives, "Collective"), (matrix_file, "compilers_of"),
        (triton, "_operation"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    advised = "aten::scaled_dot_product_attention"
    matrices = [database.matrix(target) for target in database.targets()]
    assert not made
    told = {one for matrix in matrices for one in matrix.conditions_for(advised)}
    assert 0 < made.pop("Condition") <= len(told) * len(matrices)
    assert not made
    (ascend,) = (one for one in matrices if one.target.chip == "910b")
    assert ascend.collectives["c10d::allreduce_"].has
    assert ascend.compilers
    assert made == {"Collective": 1, "compilers_of": 1}


def test_counting_decodes_only_what_may_not_hold(database: Database) -> None:
    for found in newest(database):
        section = found.data["operators"]
        vendor = found.path.parent.name
        (matrix, *_) = [database.matrix(t) for t in database.targets() if t.vendor == vendor]
        limited = sum(len(names) for _, names in section.limits)
        assert len(matrix.entries) >= len(section) - limited
        assert decoded(section) == []
        assert limited < len(section) / 4


@pytest.mark.slow
@pytest.mark.parametrize("names", [(), ("ascend-910b",)], ids=["all", "one"])
def test_no_file_is_opened_twice(names: tuple[str, ...], tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT.parent)}
    command = [sys.executable, "-c", _OPENED, *names]

    def run() -> Any:
        ended = subprocess.run(command, env=environment, capture_output=True, check=True)
        return json.loads(ended.stdout)

    cold = run()
    time.sleep(MARGIN / 1e9)  # compiled forms are noted once they are as old
    warm, noted = run(), run()
    opened, yaml = warm
    assert not yaml
    again = noted[0]
    assert [path for path in again if path.endswith(".yaml")] == []
    assert {re.sub(r".*/|-.*", "", path) for path in again.keys() - opened.keys()} == {"all.noted"}
    assert {path: times for path, times in opened.items() if times > 1} == {}
    kinds = Counter(Path(path).suffix for path in opened)
    small = {
        path.parent for path in map(Path, cold[0]) if {"advisories", "schemas"} & {*path.parts}
    }
    # of each folder of small files the index has how the system told of them; what those of a
    # vendor add is in one file
    assert not any(Path(path).parent in small for path in opened)
    added = [path for path in opened if ".added-" in path]
    beside = [path for path in opened if re.search(r"/(all\.noted|entry_points\.files)-", path)]
    assert kinds[".json"] == kinds[".yaml"] + len(small) + len(added) + len(beside)
    advised = {folder.name for folder in small} - {"advisories", "schemas"}
    assert advised == {"ascend"} if names else advised > {"ascend", "apple"}
    releases = [p for p in opened if Path(p).stem[:1] in "0123456789r" and p.startswith(str(ROOT))]
    releases = [p for p in releases if (Path(p).parent / "vendor.yaml").exists()]
    known = Database(ROOT)
    targets = [known.resolve(TargetSpec(name)) for name in names] or known.targets()
    read = [(p.parent.name, p.stem) for p in map(Path, releases) if p.parents[1].samefile(ROOT)]
    assert sorted(read) == sorted({(target.vendor, target.sdk) for target in targets})
    vendors = {target.vendor for target in targets}
    assert {Path(path).name.partition(".added-")[0] for path in added} == vendors
    # without an index small files are opened for their digests, which may be all that is needed
    for path, times in cold[0].items():
        assert not path.endswith(".yaml") or times <= (2 if Path(path).parent in small else 1)
    assert not cold[1]


@pytest.mark.slow
def test_every_matrix_is_the_same_with_an_index_and_without(tmp_path: Path) -> None:
    plain, *indexed = Database(ROOT), Database(ROOT, tmp_path), Database(ROOT, tmp_path)
    for target in plain.targets():
        expected = plain.matrix(target)
        for database in indexed:
            matrix = database.matrix(target)
            for name in ("entries", "conditions", "gradients", "choices", "messages"):
                found, wanted = getattr(matrix, name), getattr(expected, name)
                assert list(found) == list(wanted)
                assert len(found) == len(wanted)
                assert dict(found) == dict(wanted)
            assert matrix.database_digest == expected.database_digest


def test_sections_are_what_they_hold(tmp_path: Path) -> None:
    path = ROOT / "ascend" / "26.1.0.yaml"
    plain = document.read(path, RELEASE).data
    for _ in range(2):
        found = document.read(path, RELEASE, tmp_path).data
        assert found == plain
        assert list(found["operators"]) == list(plain["operators"])
        assert list(found["conditions"]) == plain["conditions"]
        changes = {"aten::new": {"at": "x"}, "acme::new": {"at": "y"}, "aten::abs": None}
        for operators in (found["operators"], plain["operators"]):
            changed = Changed(operators, changes)
            expected = {**plain["operators"], **changes}
            del expected["aten::abs"]
            assert dict(changed) == expected
            assert len(changed) == len(expected)
            assert "aten::abs" not in changed
            assert "aten::new" in changed
            with pytest.raises(KeyError):
                changed["aten::abs"]
            assert found["operators"] == plain["operators"]
        more = found["conditions"] + [{"ops": ["aten::new"]}]
        assert len(more) == len(plain["conditions"]) + 1
        assert list(more.of("aten::new")) == [{"ops": ["aten::new"]}] == [more[-1]]
        op = plain["conditions"][0]["ops"][0]
        wanted = [said for said in plain["conditions"] if op in said["ops"]]
        assert list(more.of(op)) == list(parts.lines(plain["conditions"]).of(op)) == wanted


LIBRARY = """\
schema: opcheck.schemas/1
library: acme
answers: {acme.version: VALUE, acme.other: null}
"""


@pytest.mark.parametrize("value", ["1.5", ".inf", "'2'", "null", str(2**70)])
def test_the_index_keeps_every_constant(value: str, tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(LIBRARY.replace("VALUE", value))
    plain = document.read(path, LIBRARY_FILE).data
    for _ in range(2):
        assert document.read(path, LIBRARY_FILE, tmp_path / "cache").data == plain
    assert (tmp_path / "cache").exists() == (value != ".inf")
