"""What a check of the whole database finds."""

import shutil
from pathlib import Path

import pytest

from opcheck.db.audit.audit import audit
from opcheck.db.files import digests
from opcheck.db.store import Database
from opcheck.model.database import Problem
from opcheck.model.target import TargetSpec
from tests.db.overlays import OVERLAY, ROOT, acme, written


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A database with one vendor, as its importer wrote it."""
    folder = tmp_path / "compat_db"
    for name in ("pytorch", "ascend"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (folder / "ascend").glob("[5-9]*.yaml"):
        path.unlink()
    for name in ("collectives", "compilers", "deterministic", "sparse", "triton"):  # tell of all
        (folder / "pytorch" / f"{name}.yaml").unlink()
    common = folder / "ascend" / "vendor.yaml"
    common.write_text(common.read_text().replace('since: "6.0.0"', 'since: "26.0.0"'))
    for part in ("ascend", "pytorch"):
        (folder / part / digests.NAME).write_text(_sums(folder / part))
    return folder


def _sums(folder: Path) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in digests.of_files(folder).items())


def problems(root: Path) -> list[Problem]:
    return list(audit(Database.open(root, cached=False)).problems)


def test_what_importers_wrote_is_sound(root: Path) -> None:
    assert problems(root) == []


def edit(root: Path, name: str, old: str, new: str, *, noted: bool = True) -> None:
    """Change a file; ``noted`` as if an importer had written it so."""
    path = root / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    if noted:
        (path.parent / digests.NAME).write_text(_sums(path.parent))


RELEASE = "ascend/26.1.0.yaml"
ABS = "  aten::abs: {"
EDITS = {
    "a value": (RELEASE, "impl: [acl_op, op_api]}", "impl: yes}", "schema", "found True"),
    "cut short": (RELEASE, "complete: true\n", "", "schema", "'complete', which is missing"),
    "a key twice": (RELEASE, ABS, f"{ABS}at: plugin:1}}\n{ABS}", "duplicate", "'aten::abs' stands"),
    "a stranger": (RELEASE, f"{ABS}at: plugin", f"{ABS}at: plug", "no-evidence", "'plug:"),
    "no source": (RELEASE, ABS, '  aten::x: {at: ""}\n' + ABS, "no-evidence", "cites no source"),
    "a name": (RELEASE, ABS, "  aten::abz: {", "unknown-name", "PyTorch never had aten::abz"),
    "a span": (RELEASE, 'torch: "2.3..2.13"', 'torch: "2.13..2.3"', "span", "ends before"),
    "a version": (RELEASE, 'torch: "2.3..2.13"', 'torch: "2.3..2.99"', "span", "is not among"),
    "a chip": (RELEASE, 'chips: ["310p", "910a"]', 'chips: ["310p", "910x"]', "unknown-name",
               "no chip of the vendor is 910x"),
    "its release": (RELEASE, 'release: "26.1.0"', 'release: "26.1.1"', "name", "names the release"),
    "its vendor": (RELEASE, "vendor: ascend", "vendor: other", "name", "names the vendor other"),
    "a source": (RELEASE, 'plugin: {repo: Ascend/op-plugin', 'plugin: {repo: ""', "no-evidence",
                 "the source 'plugin' names no file"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_what_is_wrong_is_told(name: str, root: Path) -> None:
    file, old, new, code, text = EDITS[name]
    edit(root, file, old, new)
    found = [p for p in problems(root) if p.file == file]
    assert code in {problem.code for problem in found}
    assert text in " ".join(problem.text for problem in found)


@pytest.mark.slow
def test_the_database_itself_is_sound() -> None:
    found = audit(Database.open(ROOT, cached=False))
    assert found.files > 100
    assert found.problems == ()


@pytest.mark.slow
def test_names_that_only_the_vendors_own_torch_has_may_be_listed(root: Path) -> None:
    edit(root, RELEASE, ABS, '  aten::abz: {at: "plugin:1"}\n' + ABS)
    assert "PyTorch never had aten::abz" in {p.text for p in problems(root)}
    edit(root, RELEASE, "operators:\n", "own_names: [aten::abz]\noperators:\n")
    assert problems(root) == []


@pytest.mark.slow
def test_two_entries_for_one_version_are_told(root: Path) -> None:
    text = (root / RELEASE).read_text()
    (line,) = [line for line in text.splitlines() if line.startswith(ABS)]
    name, entry = line.split(": ", 1)
    edit(root, RELEASE, line, f"{name}: [{{at: plugin:1}}, {entry}]")
    assert "aten::abs has two entries for torch 2.1" in {p.text for p in problems(root)}


def test_an_edited_file_is_noticed_by_everything_that_reads_it(root: Path) -> None:
    edit(root, RELEASE, "acl_op", "acl_op_", noted=False)
    text = "it is not what its importer wrote: SHA256SUMS has another digest"
    assert Problem(RELEASE, 0, "edited", text) in problems(root)
    database = Database.open(root, cached=False)
    matrices = [
        database.matrix(database.resolve(TargetSpec("ascend-910b", release)))
        for release in ("26.1.0", "26.0.0")
    ]
    told = [[a.text for a in m.advisories if a.code == "database-edited"] for m in matrices]
    assert told == [["ascend/26.1.0.yaml was edited: it is not what its importer wrote"], []]


@pytest.mark.slow
def test_missing_and_unnoted_files_are_told(root: Path) -> None:
    (root / "ascend" / "26.0.0.yaml").rename(root / "ascend" / "25.0.0.yaml")
    found = {(p.file, p.code) for p in problems(root)}
    assert ("ascend/26.0.0.yaml", "missing") in found
    assert ("ascend/25.0.0.yaml", "not-noted") in found


def test_every_damaged_file_is_told_at_once(root: Path) -> None:
    for name in ("ascend/26.0.0.yaml", "ascend/26.1.0.yaml", "pytorch/history.yaml"):
        (root / name).write_text("a: [")
    found = {p.file: p for p in problems(root) if p.code == "schema"}
    assert set(found) == {"ascend/26.0.0.yaml", "ascend/26.1.0.yaml", "pytorch/history.yaml"}
    assert all(p.line and p.text.startswith("expected valid YAML") for p in found.values())


def test_overlays_are_looked_at_as_well(root: Path, tmp_path: Path) -> None:
    odd = OVERLAY.replace("aten::lgamma", "aten::lgammaa")
    good = written(acme(tmp_path / "good"), team=OVERLAY)
    bad = written(tmp_path / "bad", team=odd, cut=OVERLAY[:40])
    found = audit(Database.open(root, cached=False, overlays=[good, bad])).problems
    origin = bad.as_posix()
    assert [(p.file, p.code) for p in found] == [
        (f"{origin}/cut.yaml", "schema"),
        (f"{origin}/team.yaml", "unknown-name"),
    ]
    assert not [p for p in found if p.file.startswith(good.as_posix())]
