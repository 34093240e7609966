"""Which targets there are, and how a user's spelling finds one."""

import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcheck.db.store import Database
from opcheck.db.versions import nearest, nearest_not_newer, version_key
from opcheck.errors import DatabaseError, ExitCode, UsageError
from opcheck.model.target import Target, TargetSpec

_ROOT = Path(__file__).resolve().parent.parent.parent / "compat_db"
_DATABASE = Database(_ROOT)


@cache
def _targets() -> tuple[Target, ...]:
    return tuple(t for name in _DATABASE.names() for t in _DATABASE.releases(name))


def test_targets_are_the_newest_of_every_chip(database: Database) -> None:
    newest = [str(target) for target in database.targets() if target.vendor == "ascend"]
    assert newest == [
        f"ascend-{chip}@26.1.0+torch2.12"
        for chip in ("310b", "310p", "910a", "910b", "910c", "950")
    ]


def test_releases_oldest_first(database: Database) -> None:
    found = [str(target) for target in database.releases("ascend-950")]
    assert found == [
        *(f"ascend-950@26.0.0+torch{torch}" for torch in ("2.7", "2.8", "2.9")),
        *(f"ascend-950@26.1.0+torch{torch}" for torch in ("2.7", "2.9", "2.10", "2.11", "2.12")),
    ]
    assert str(database.releases("ascend-910b")[0]) == "ascend-910b@5.0.0+torch2.1"
    assert str(database.releases("ascend-910c")[0]) == "ascend-910c@6.0.0+torch2.1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ascend-910b", "ascend-910b@26.1.0+torch2.12"),
        ("ascend-910b@26.1.0", "ascend-910b@26.1.0+torch2.12"),
        ("ascend-910b+torch2.7", "ascend-910b@26.1.0+torch2.7"),
        ("ascend-910b@26.1.0+torch2.7.1", "ascend-910b@26.1.0+torch2.7"),
        ("ascend-910b@6.0.0", "ascend-910b@6.0.0+torch2.4"),
        ("ascend-910b@6.0", "ascend-910b@6.0.0+torch2.4"),
        ("ascend-910b@6", "ascend-910b@6.0.0+torch2.4"),
        ("ascend-950", "ascend-950@26.1.0+torch2.12"),
    ],
)
def test_resolve(database: Database, text: str, expected: str) -> None:
    target = database.resolve(TargetSpec.parse(text))
    assert str(target) == expected
    assert target.device_type == "npu"
    assert database.resolve(TargetSpec.parse(str(target))) == target


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("ascend-910x", "unknown target 'ascend-910x'", "ascend-910b"),
        ("zqxv-7", "unknown target 'zqxv-7'", "ascend-310b"),
        ("ascend", "'ascend' may be ascend-910b", "-t ascend is all"),
        ("ascend-910b@7", "unknown release '7' of ascend-910b", "7.3.0, 7.2.0, 7.1.0"),
        ("ascend-910b@99.0", "unknown release '99.0' of ascend-910b", "26.1.0, 26.0.0, 7.3.0"),
        ("ascend-950@7.3.0", "unknown release '7.3.0' of ascend-950", "26.1.0, 26.0.0"),
        (
            "ascend-910b@7.2.0+torch2.12",
            "ascend-910b@7.2.0 does not serve torch 2.12",
            "2.10, 2.9, 2.8",
        ),
    ],
)
def test_what_is_not_there(database: Database, text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        database.resolve(TargetSpec.parse(text))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.exit_code is ExitCode.USAGE


@given(st.deferred(lambda: st.sampled_from([*_targets()])))
def test_every_target_is_named_exactly(target: Target) -> None:
    assert _DATABASE.resolve(TargetSpec.parse(str(target))) == target


@given(
    st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,11}[a-z0-9])?", fullmatch=True),
    st.one_of(st.just(""), st.from_regex(r"[^+\s@]{1,8}", fullmatch=True)),
    st.one_of(st.just(""), st.from_regex(r"\d{1,2}\.\d{1,2}(\.\d)?", fullmatch=True)),
)
def test_any_spec_is_a_target_or_a_usage_error(name: str, sdk: str, torch: str) -> None:
    spec = TargetSpec(name, sdk, torch)
    assert TargetSpec.parse(str(spec)) == spec
    try:
        target = _DATABASE.resolve(spec)
    except UsageError as error:
        assert error.hint
    else:
        assert target.name in _DATABASE.names()  # chips have other names as well


def test_an_unpaired_torch_is_an_advisory(database: Database) -> None:
    paired = database.matrix(database.resolve(TargetSpec.parse("ascend-910b+torch2.9")))
    unpaired = database.matrix(database.resolve(TargetSpec.parse("ascend-910b+torch2.8")))
    assert paired.advisories == ()
    assert [advisory.code for advisory in unpaired.advisories] == ["torch-not-paired"]
    assert "torch 2.8" in unpaired.advisories[0].text


def test_advisories_are_about_their_chips(database: Database) -> None:
    found = {
        name: [a.code for a in database.matrix(database.resolve(TargetSpec(name))).advisories]
        for name in database.names()
        if name.startswith("ascend-")
    }
    off, half = "inf-nan-mode-off", "float32-may-run-as-float16"
    assert found == {
        "ascend-310b": [off],
        "ascend-310p": [half, off],
        "ascend-910a": [half, off],
        "ascend-910b": [],
        "ascend-910b:torchair": ["verdicts-of-a-graph-mode"],
        "ascend-910c": [],
        "ascend-910c:torchair": ["verdicts-of-a-graph-mode"],
        "ascend-950": [],
    }


def test_fallback_in_the_vendors_words(database: Database) -> None:
    fallback = database.matrix(database.resolve(TargetSpec("ascend-910b"))).fallback
    assert fallback.to_cpu
    assert fallback.text == (
        "CAUTION: The operator '{op}' is not currently supported on the NPU backend and will fall "
        "back to run on the CPU. This may have performance implications."
    )
    assert "TORCH_NPU_FALLBACK_CPU_DISABLE=1" in fallback.disable
    assert fallback.evidence


def test_digest_and_date_belong_to_the_release(database: Database) -> None:
    newest, older = (
        database.resolve(TargetSpec.parse(f"ascend-910b@{release}"))
        for release in ("26.1.0", "7.2.0")
    )
    assert database.digest(newest) != database.digest(older)
    assert len(database.digest(newest)) == 16
    assert database.matrix(newest).database_date == "2026-08-22"


def test_history(database: Database) -> None:
    assert database.history("aten::softmax.Dimname") == ("1.12", "2.12")
    assert database.history("aten::cholesky") == ("1.12", "2.13")
    assert database.history("aten::no_such") is None


def test_releases_that_register(database: Database) -> None:
    every = ("5.0.0", "6.0.0", "7.1.0", "7.2.0", "7.3.0", "26.0.0", "26.1.0")
    assert database.registered_in("ascend-910b", "aten::matmul") == every
    assert database.registered_in("ascend-950", "aten::matmul") == ("26.0.0", "26.1.0")
    assert database.registered_in("ascend-910b", "aten::isin.Tensor_Tensor") == every[1:]
    assert database.registered_in("ascend-910b", "aten::lgamma") == ()


def test_chip_names(database: Database) -> None:
    assert database.chip_name(database.resolve(TargetSpec("ascend-310p"))) == "Ascend 310P"


def test_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no database of operators"):
        Database.open(tmp_path / "absent")
    with pytest.raises(DatabaseError, match="holds no vendor"):
        Database.open(tmp_path).names()


@pytest.mark.slow
def test_a_damaged_release_is_told_when_it_is_read(tmp_path: Path) -> None:
    root = tmp_path / "compat_db"
    shutil.copytree(_ROOT, root)
    path = root / "ascend" / "26.1.0.yaml"
    path.write_text(path.read_text().replace("impl: [acl_op, op_api]}", "impl: yes}", 1))
    database = Database.open(root, cached=False)
    with pytest.raises(DatabaseError, match=r"26\.1\.0\.yaml:\d+: expected a list, found True"):
        database.targets()
    assert database.resolve(TargetSpec.parse("ascend-910b@7.2.0"))


def test_a_missing_table_is_told(tmp_path: Path) -> None:
    root = tmp_path / "compat_db"
    shutil.copytree(_ROOT, root)
    (root / "pytorch" / "history.yaml").unlink()
    database = Database.open(root, cached=False)
    with pytest.raises(DatabaseError, match=r"cannot read .*history\.yaml"):
        database.matrix(database.resolve(TargetSpec("ascend-910b")))


def test_versions_are_ordered_as_vendors_count() -> None:
    mixed = ["26.1.0", "6.0.0", "5.0.0", "26.0.0", "6.0.rc1", "7.2.0", "5.0.rc3"]
    ordered = ["5.0.rc3", "5.0.0", "6.0.rc1", "6.0.0", "7.2.0", "26.0.0", "26.1.0"]
    assert sorted(mixed, key=version_key) == ordered
    assert sorted(["2.10", "2.9", "2.1"], key=version_key) == ["2.1", "2.9", "2.10"]


def test_nearest_versions() -> None:
    assert nearest("26.0.0", ("7.3.0", "26.1.0")) == "26.1.0"
    assert nearest("7.1.0", ("6.0.0", "7.2.0", "26.1.0")) == "7.2.0"
    assert nearest_not_newer("2.11", ("2.7", "2.12")) == "2.7"
    assert nearest_not_newer("2.1", ("2.7", "2.12")) == "2.7"
