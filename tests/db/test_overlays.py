"""What overlays add, correct and withdraw, where, and how that is told."""

import dataclasses
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.files import layers, noted
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, ExitCode
from opcheck.files import read_bytes
from opcheck.model.database import Statement
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence, Method, Verdict
from tests.db.overlays import OVERLAY, RELEASE, ROOT, VENDOR, acme, written


def matrix(database: Database, spec: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(spec)))


def test_entries_and_conditions_are_added_and_taken_away(tmp_path: Path) -> None:
    plain = matrix(Database.open(ROOT), "ascend-910b")
    found = matrix(Database.open(ROOT, overlays=[written(tmp_path, team=OVERLAY)]), "ascend-910b")
    origin = f"{tmp_path.as_posix()}/team.yaml"
    where = Evidence(
        Method.TESTED, "acme/lab", "report.md", 12, "0a1b2c3", "2026-10-01", origin
    )  # fmt: skip
    assert found.entries.keys() ^ plain.entries.keys() == {"aten::lgamma", "aten::gelu.out"}
    assert found.entries["aten::lgamma"].evidence == (where,)
    assert found.entries["aten::lgamma"].implementation == ("acme",)
    assert found.entries["aten::abs"].evidence == (replace(where, method=Method.INFERRED, line=15),)
    (added,) = [c for c in found.conditions["aten::lgamma"] if c.code == "dtype-not-supported"]
    assert (added.verdict, added.evidence) == (Verdict.UNSUPPORTED, (replace(where, line=13),))
    assert "dtype-not-supported" in {c.code for c in plain.conditions["aten::acos"]}
    assert "dtype-not-supported" not in {
        c.code for c in found.conditions.get("aten::acos", ())
    }  # fmt: skip
    assert "dtype-not-supported" in {c.code for c in found.conditions["aten::acos.out"]}
    assert found.database_digest != plain.database_digest


@pytest.mark.parametrize(
    ("spec", "concerned"),
    [
        ("ascend-910b@26.1.0+torch2.12", True),
        ("ascend-910b@26.0.0+torch2.9", True),
        ("ascend-910b@26.0.0+torch2.8", False),
        ("ascend-910b@7.3.0+torch2.9", False),
        ("ascend-910a@26.1.0+torch2.12", False),
    ],
)
def test_they_hold_where_they_say(spec: str, concerned: bool, tmp_path: Path) -> None:
    found = Database.open(ROOT, overlays=[written(tmp_path, team=OVERLAY)])
    assert ("aten::lgamma" in matrix(found, spec).entries) is concerned
    plain = matrix(Database.open(ROOT), spec).database_digest
    assert (matrix(found, spec).database_digest == plain) is not concerned


def test_an_entry_may_hold_for_some_torch_versions(tmp_path: Path) -> None:
    found = Database.open(ROOT, overlays=[written(tmp_path, team=OVERLAY)])
    methods = {
        torch: matrix(found, f"ascend-910b@26.1.0+torch{torch}").entries["aten::abs"]
        for torch in ("2.9", "2.10", "2.12")
    }
    assert {torch: entry.evidence[0].method for torch, entry in methods.items()} == {
        "2.9": Method.REGISTERED,
        "2.10": Method.INFERRED,
        "2.12": Method.INFERRED,
    }


@pytest.mark.slow
def test_the_last_one_holds(tmp_path: Path) -> None:
    again = OVERLAY.replace(
        'aten::lgamma: {at: "lab:12"', 'aten::lgamma: {registered: false, at: "lab:2"'
    )
    first, second = written(tmp_path / "a", t=OVERLAY), written(tmp_path / "b", t=again)
    assert again != OVERLAY
    one = Database.open(ROOT, overlays=[first, second])
    other = Database.open(ROOT, overlays=[second, first])
    assert "aten::lgamma" not in matrix(one, "ascend-910b").entries
    assert "aten::lgamma" in matrix(other, "ascend-910b").entries
    assert one.registered_in("ascend-910b", "aten::lgamma") == ()
    assert other.registered_in("ascend-910b", "aten::lgamma") == ("26.0.0", "26.1.0")


def test_every_layer_is_told_in_its_order(tmp_path: Path) -> None:
    database = Database.open(ROOT, overlays=[written(tmp_path, team=OVERLAY)])
    target = database.resolve(TargetSpec("ascend-910b"))
    origin, reason = f"{tmp_path.as_posix()}/team.yaml", "Measured in our laboratory."
    fact = Evidence(Method.TESTED, "acme/lab", "report.md", 12, "0a1b2c3", "2026-10-01", origin)
    assert database.statements(target, "aten::lgamma") == (
        Statement("", "registers no kernel", "", ()),
        Statement(origin, "registers a kernel", reason, (fact,)),
        Statement(origin, "adds dtype-not-supported", reason, (replace(fact, line=13),)),
    )
    assert [s.says for s in database.statements(target, "aten::acos")] == [
        "registers a kernel",
        "withdraws dtype-not-supported",
    ]
    assert database.statements(target, "aten::neg") == ()
    assert database.statements(replace(target, chip="910a"), "aten::lgamma") == ()


def test_a_folder_may_bring_a_vendor(tmp_path: Path) -> None:
    database = Database.open(ROOT, overlays=[acme(tmp_path)])
    assert set(database.names()) - set(Database.open(ROOT).names()) == {"acme-one"}
    found = matrix(database, "acme-one")
    assert str(found.target) == "acme-one@1.0+torch2.9"
    assert found.entries["aten::abs"].evidence[0].origin == f"{tmp_path.as_posix()}/acme/1.0.yaml"
    assert found.fallback.evidence[0].origin == f"{tmp_path.as_posix()}/acme/vendor.yaml"


def test_a_folder_may_bring_a_release_in_place_of_another(tmp_path: Path) -> None:
    newer = RELEASE.replace("vendor: acme", "vendor: ascend")
    files = {f"ascend__{r}": newer.replace('"1.0"', f'"{r}"') for r in ("26.1.0", "27.0.0")}
    database = Database.open(ROOT, overlays=[written(tmp_path, **files)])
    assert str(database.resolve(TargetSpec("ascend-910b"))) == "ascend-910b@27.0.0+torch2.9"
    of_torch = {op for op in matrix(database, "ascend-910b@26.1.0").entries if op[:5] == "aten:"}
    assert of_torch == {"aten::abs"}  # libraries bring theirs to any release
    assert len(matrix(database, "ascend-910b@26.0.0").entries) > 1000


DAMAGED = {
    "no reason": ("reason: >-\n  Measured in\n  our laboratory.\n", "", 1, "'reason', which is mi"),
    "blank": ("reason: >-\n  Measured in\n  our laboratory.", 'reason: " "', 3, "says why"),
    "no sources": ("sources:", "source:", 1, "'sources', which is missing"),
    "a stranger": ("lab:13", "labor:13", 18, "'labor:13' cites none of the file's sources"),
    "an operator": ("aten::lgamma: {", "lgamma: {", 14, "an overload as aten::add.Tensor"),
    "a span": ('"26.0.0.."', '"26.0.0...,"', 9, "spans of versions"),
    "no YAML": ("chips: [", "chips: [[", 9, "expected valid YAML"),
    "a verdict": ("verdict: unsupported", "verdict: bad", 20, "expected one of decomposed"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_overlay_is_one_clear_error(damage: str, tmp_path: Path) -> None:
    old, new, line, expected = DAMAGED[damage]
    assert old in OVERLAY
    folder = written(tmp_path, team=OVERLAY.replace(old, new, 1))
    with pytest.raises(DatabaseError) as caught:
        matrix(Database.open(ROOT, overlays=[folder]), "ascend-910b")
    assert caught.value.message.startswith(f"{folder / 'team.yaml'}:{line}: ")
    assert expected in caught.value.message
    assert caught.value.hint == "correct the overlay, or leave it out"
    assert caught.value.exit_code is ExitCode.DATABASE


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vendor: ascend", "vendor: ascent", "there is no vendor 'ascent'"),
        ('chips: ["910b"]', 'chips: ["910x"]', "there is no chip '910x' of ascend"),
        ("{registered: false, at:", "{chips: [x], at:", "there is no chip 'x' of ascend"),
    ],
)
def test_who_is_not_there_is_told(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = OVERLAY.replace('{at: "lab:14", registered: false}', '{registered: false, at: "lab:14"}')
    folder = written(tmp_path, team=text.replace(old, new))
    with pytest.raises(DatabaseError) as caught:
        matrix(Database.open(ROOT, overlays=[folder]), "ascend-910b")
    assert caught.value.message == f"{folder.as_posix()}/team.yaml: {message}"
    assert caught.value.hint.startswith("known: ")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"acme__1.0": RELEASE}, "has releases of a vendor that the database does not know"),
        ({"acme__vendor": VENDOR.replace("reason: Our own device.\n", "")}, "the key 'reason'"),
        ({"other__vendor": VENDOR}, "expected vendor other, found 'acme'"),
        ({"acme__vendor": "just words"}, "vendor.yaml:1: expected a mapping"),
    ],
)
def test_damaged_vendors_of_overlays(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=message):
        Database.open(ROOT, overlays=[written(tmp_path, **files)]).names()


def test_what_is_no_overlay_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for name, what in {"gone": "no such folder", "file": "a file", "empty": "nothing"}.items():
        with pytest.raises(DatabaseError, match=what):
            Database.open(ROOT, overlays=[tmp_path / name])


@pytest.mark.slow
def test_the_index_serves_overlays_of_one_name(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folders = [
        written(tmp_path / n, team=OVERLAY.replace("lab:12", f"lab:{n}")) for n in ("7", "8")
    ]
    for _ in range(2):
        for folder, line in zip(folders, (7, 8), strict=True):
            database = dataclasses.replace(Database.open(ROOT, overlays=[folder]), cache=cache)
            entry = matrix(database, "ascend-910b").entries["aten::lgamma"]
            assert entry.evidence[0].line == line
    assert len(list(cache.glob("team.yaml-*"))) == 2


def package(folder: Path, name: str, target: str, code: str = "") -> None:
    """An installed package with an entry point."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[opcheck.databases]\n{name} = {target}\n")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("acmedb", ""),
        ("acmedb:FOLDER", "from pathlib import Path\nFOLDER = Path(__file__).parent\n"),
        ("acmedb:where", "def where():\n    return __file__.rpartition('/')[0]\n"),
    ],
)
def test_installed_packages_bring_databases(
    target: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "acmedb", target, code)
    acme(tmp_path / "acmedb")
    written(tmp_path / "acmedb", team=OVERLAY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acmedb", raising=False)
    database = Database.open()
    assert "acme-one" in database.names()
    given = Database.open(overlays=[written(tmp_path / "over", again=OVERLAY)])
    target_ = given.resolve(TargetSpec("ascend-910b"))
    assert [s.origin for s in given.statements(target_, "aten::gelu.out")] == [
        "",
        "acmedb/team.yaml",
        f"{tmp_path.as_posix()}/over/again.yaml",
    ]


def test_a_package_that_is_installed_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache, opened = tmp_path / "path", tmp_path / "cache", list[object]()
    (path / "other-1.0.dist-info").mkdir(parents=True)
    (path / "other-1.0.dist-info" / "entry_points.txt").write_text("[console_scripts]\n")

    def counted(file: str, most: int) -> bytes:
        opened.append(file)
        return read_bytes(file, most)

    def installed() -> tuple[layers.Layer, ...]:
        opened.clear()
        return layers.installed(cache)

    monkeypatch.setattr(sys, "path", [str(path)])
    monkeypatch.setattr(layers, "read_bytes", counted)
    assert installed() == installed() == ()
    assert opened  # the folder is so new that what comes now may look the same
    monkeypatch.setattr(noted, "MARGIN", -(10**12))  # as if it had been there for long
    assert installed() == installed() == ()
    assert not opened
    package(path, "acmedb", "acmedb")
    assert [layer.origin for layer in installed()] == ["acmedb"]


def test_what_is_written_anew_in_place_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acmedb").mkdir()
    points = tmp_path / "acmedb.egg-info" / "entry_points.txt"
    points.parent.mkdir()
    points.write_text("")
    (points.parent / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acmedb\nVersion: 1\n")
    (tmp_path / "acmedb" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(noted, "MARGIN", -(10**12))
    assert layers.installed(tmp_path / "cache") == layers.installed(tmp_path / "cache") == ()
    points.write_text("[opcheck.databases]\nacmedb = acmedb\n")
    assert [layer.origin for layer in layers.installed(tmp_path / "cache")] == ["acmedb"]


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("brokendb:FOLDER", "", "has no attribute 'FOLDER'"),
        ("brokendb:FOLDER", "1 / 0\n", "division by zero"),
        ("nosuchdb", "", "no package 'nosuchdb'"),
        ("brokendb:N", "N = 3\n", "int"),
    ],
)
def test_a_broken_package_is_one_clear_error(
    target: str, code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "brokendb", target, code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "brokendb", raising=False)
    with pytest.raises(DatabaseError, match="cannot load the database 'brokendb'") as caught:
        Database.open()
    assert said in caught.value.message


def test_the_overlay_of_the_documentation_is_one(tmp_path: Path) -> None:
    page = (ROOT.parent / "docs" / "database.md").read_text(encoding="utf-8")
    (example,) = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]
    database = Database.open(ROOT, overlays=[written(tmp_path, example=example)])
    assert "aten::lgamma" in matrix(database, "ascend-910b").entries
    target = database.resolve(TargetSpec("ascend-910b"))
    assert [said.says for said in database.statements(target, "aten::sinc")][-1] == (
        "registers no kernel"
    )
