"""Every YAML file that a user may give, with contents that are to harm its reader."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opcheck.db.audit.audit import audit
from opcheck.db.by_hand.libraries import users_file
from opcheck.db.files.content import MOST_BYTES
from opcheck.db.files.yaml_reader import DEEPEST, MOST_VALUES
from opcheck.db.store import Database
from opcheck.errors import OpcheckError
from opcheck.model.target import Target, TargetSpec
from opcheck.settings.policy_file import read_policy, starting_policy
from tests.db.overlays import OVERLAY, RELEASE, ROOT, VENDOR, acme
from tests.db.test_schemas import GOOD as SCHEMAS


def _grown(join: Callable[[str], str]) -> str:
    """Thirty parts, each of nine times the one before."""
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} {join(', '.join([f'*a{n - 1}'] * 9))}" for n in range(1, 31)]
    return "\n".join(lines)


NESTED = f"expected at most {DEEPEST} levels of nesting"
MANY = f"expected at most {MOST_VALUES:,} values, aliases counted in"
HOSTILE = {
    "larger than memory": ("#" * (MOST_BYTES + 1), 0, f"expected at most {MOST_BYTES:,} bytes"),
    "lists in lists": ("\na: " + "[" * 100_000, 2, NESTED),
    "mappings in mappings": ("\n\n" + "{a: " * 100_000, 3, NESTED),
    "dashes": ("- " * 100_000, 1, NESTED),
    "complex keys": ("? " * 100_000, 1, NESTED),
    "aliases of aliases": (_grown("[{}]".format), 7, MANY),
    "merged mappings": (_grown("{{<<: [{}]}}".format), 7, MANY),
    "nested through aliases": (
        "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 40)), 16, NESTED,
    ),
    "in itself": ("a: 1\nb: &b [[*b]]", 2, "expected *b outside of what it stands for"),
    "merged with itself": ("b: &b {<<: *b}", 1, "expected *b outside of what it stands for"),
    "an object": ("a: 1\nb: !!python/object/apply:os.abort []", 2,
                  "expected a value without a tag, found '!!python/object/apply:os.abort'"),
    "a number without digits": ("a: !!int ''", 1, "expected a value without a tag, found '!!int'"),
    "a day that is none": ("a: !!timestamp x", 1, "expected a value without a tag"),
    "a key twice": ("a: 1\nb: {c: 1,\n  c: 2}", 3, "expected the key 'c' once, found it again"),
    "a list for a key": ("a: 1\n[b, c]: 1", 2, "expected valid YAML"),
    "no such anchor": ("a: *b", 1, "expected valid YAML"),
    "a day that no month has": ("a: [2026-02-31]", 1, "expected UTF-8 YAML"),
    "a number of 60s": ("a: 1" + ":59" * 500 + ".5", 1, "expected UTF-8 YAML"),
    "thousands of digits": ("a: 1" + "0" * 5000, 1, "expected UTF-8 YAML"),
    "no text": ("a: \0", 1, "expected"),
}  # fmt: skip
"""Content -> the line at which it is refused, 0 where no line is told, and how the words begin."""


def _read(what: Callable[[Database], object], levels: int = 1) -> Callable[[Path], object]:
    """A reader of a file so many levels deep in a folder of overlays."""

    def read(path: Path) -> object:
        return what(Database.open(ROOT, overlays=(path.parents[levels],)))

    return read


def _ascend(database: Database) -> Target:
    return database.resolve(TargetSpec.parse("ascend-910b"))


def _shipped(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


ADVISORY = _shipped("advisories/ascend/npu-shift-by-scalar-tensor.yaml")
READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "overlay": ("team.yaml", OVERLAY, _read(lambda db: db.additions, 0)),
    "overlay, short name": ("team.yml", OVERLAY, _read(lambda db: db.additions, 0)),
    "vendor": ("acme/vendor.yaml", VENDOR, _read(lambda db: db.vendors)),
    "release": ("acme/1.0.yaml", RELEASE, _read(lambda db: db.releases("acme-one"))),
    "advisory": ("advisories/npu-shift-by-scalar-tensor.yaml", ADVISORY,
                 _read(lambda db: db.additions)),
    "advisory of a vendor": ("advisories/ascend/npu-shift-by-scalar-tensor.yaml", ADVISORY,
                             _read(lambda db: db.matrix(_ascend(db)), 2)),
    "remedy": ("remedies/npu-fused-sgd.yaml", _shipped("remedies/npu-fused-sgd.yaml"),
               _read(lambda db: db.remedies(_ascend(db)))),
    "size rules": ("dynamic/eager-plugins.yaml", _shipped("dynamic/eager-plugins.yaml"),
                   _read(lambda db: db.size_rules(_ascend(db)))),
    "kernels of libraries": ("schemas/mine.yaml", SCHEMAS, _read(lambda db: db.additions)),
    "schemas of a user": ("mine.yaml", SCHEMAS, users_file),
    "policy": ("opcheck.yaml", starting_policy(), read_policy),
}  # fmt: skip
"""What is read -> its file, what it holds where nobody means harm, and its reader."""


def _placed(folder: Path, name: str) -> Path:
    """Where a reader's file goes: beside what it needs."""
    if name.startswith("acme"):
        acme(folder)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("kind", READERS)
def test_what_means_no_harm_is_read(kind: str, tmp_path: Path) -> None:
    name, good, reader = READERS[kind]
    path = _placed(acme(tmp_path), name)
    path.write_text(good, encoding="utf-8")
    reader(path)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("harm", HOSTILE)
def test_what_means_harm_is_refused_with_its_place(harm: str, kind: str, tmp_path: Path) -> None:
    name, _, reader = READERS[kind]
    content, line, expected = HOSTILE[harm]
    path = _placed(acme(tmp_path), name)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(OpcheckError) as raised:
        reader(path)
    place = f"{path}:{line}: " if line else f"{path}: "
    assert raised.value.message.startswith(place + expected)
    assert raised.value.hint
    assert len(raised.value.message) < 1000


@pytest.mark.parametrize("kind", READERS)
def test_a_key_that_stands_twice_in_a_good_file_is_refused(kind: str, tmp_path: Path) -> None:
    name, good, reader = READERS[kind]
    path = _placed(acme(tmp_path), name)
    first = next(line for line in good.splitlines() if re.match(r"\w", line))
    path.write_text(f"{good}{first}\n", encoding="utf-8")
    key, line = first.partition(":")[0], good.count("\n") + 1
    with pytest.raises(OpcheckError) as raised:
        reader(path)
    told = f"{path}:{line}: expected the key {key!r} once, found it again"
    assert raised.value.message == told


@pytest.mark.slow
def test_a_check_of_the_database_tells_of_each_file(tmp_path: Path) -> None:
    folder, wanted = acme(tmp_path), set()
    for number, (content, line, expected) in enumerate(HOSTILE.values()):
        for place in (
            "",
            "acme/",
            "advisories/",
            "advisories/acme/",
            "remedies/",
            "dynamic/",
            "schemas/",
        ):
            path = _placed(folder, f"{place}{number}.yaml")
            path.write_text(content, encoding="utf-8")
            if "once" not in expected:
                wanted.add((f"{folder.as_posix()}/{place}{number}.yaml", line, "schema"))
            else:
                wanted.add((f"{folder.as_posix()}/{place}{number}.yaml", line, "duplicate"))
    found = audit(Database.open(ROOT, cached=False, overlays=(folder,)))
    told = {(problem.file, problem.line, problem.code) for problem in found.problems}
    assert told == wanted


def test_aliases_that_do_no_harm_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    alias = SCHEMAS.replace("{x: [rows, columns]}", "&sizes {x: [rows, columns]}").replace(
        "functions:", "  mine::once: {signature: \"(Tensor x) -> Tensor\", sizes: *sizes, "
        "returns: [{like: x}]}\nfunctions:",
    )  # fmt: skip
    path.write_text(alias)
    sizes = [operator.sizes for operator in users_file(path).operators.values()]
    assert sizes == [{"x": ("rows", "columns")}] * 2


@pytest.mark.parametrize("text", ["2.1.." * 300_000, "a" * 1_000_000, "1.2, " * 300_000])
def test_a_long_text_takes_no_long_time(text: str, tmp_path: Path) -> None:
    path = tmp_path / "team.yaml"
    path.write_text(OVERLAY.replace('releases: "26.0.0.."', f'releases: "{text}"'))
    with pytest.raises(OpcheckError) as raised:
        READERS["overlay"][2](path)
    expected = f"{path}:9: expected spans of versions such as ..2.4, 2.7, 2.9..2.11, 2.13.., found"
    assert raised.value.message.startswith(f"{expected} {text[:80]!r}…")
    assert len(raised.value.message) < 1000


def test_no_more_is_read_than_a_file_may_hold() -> None:
    with pytest.raises(OpcheckError, match="cannot read /dev/zero: it is not a regular file"):
        users_file(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" + ".a" * 50_000 + " = 1", "{path}:1: expected a key of at most 64 parts"),
        ("[x]\n[[" + "'a' . " * 5_000 + "b]]", "{path}:2: expected a key of at most 64 parts"),
        ("a = " + "[" * 50_000, "{path}: expected valid TOML"),
        ("a = 1\na = 2", "{path}: expected valid TOML"),
        ("a = 1" + "0" * 5000, "{path}: expected valid TOML"),
        ("#" * (MOST_BYTES + 1), f"{{path}}: expected at most {MOST_BYTES:,} bytes"),
    ],
)
def test_a_project_file_is_held_to_bounds_too(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    with pytest.raises(OpcheckError) as raised:
        read_policy(path)
    assert raised.value.message.startswith(expected.format(path=path))
