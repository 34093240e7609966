"""A store of which something was changed is one error, whatever is asked of it."""

import contextlib
import resource
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from opcheck.app.main import run
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Ending
from opcheck.errors import ExitCode, UsageError
from opcheck.model.verdict import Verdict
from tests.commands.fleet.made import failed, filled, kernel, result, scanned, target

NPU, MLU = target("ascend-910b@26.1.0+torch2.12"), target("cambricon-mlu370@1.23.0+torch2.7")
COMMANDS = (
    "summary {}", "query {}", "query {} --operator gelu --format json", "missing {}",
    "missing {} --goal device --by target", "diff {} --before 1", "diff {} whole.db",
    "diff whole.db {}", "report {} first --format json", "page {} -o page.html",
    "export {} --parquet out",
)  # fmt: skip
READING = tuple(one for one in COMMANDS if "whole" not in one and "parquet" not in one)
ALLOWED = (ExitCode.PASS, ExitCode.USAGE, ExitCode.DATABASE)
FLIPS = 50


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = {
        "first": scanned(result(NPU, kernel("aten::gelu")), result(MLU)),
        "second": scanned(
            result(NPU, kernel("aten::gelu", Verdict.FALLBACK), kernel("aten::roll")),
            result(MLU, kernel("aten::mish", Verdict.UNKNOWN)),
        ),
        "third": failed(Ending.FAILED, "models.py: no such file"),
    }
    filled(Path("whole.db"), outcomes, [NPU, MLU])
    filled(Path("whole.db"), outcomes, [NPU, MLU], digest="asked again")


def answered(commands: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> list[int]:
    """What each command exits with; never as after a crash, and with one error where it fails."""
    codes = []
    for command in commands:
        code = run(["fleet", *command.format("store.db").split()])
        told = capsys.readouterr().err
        assert code in ALLOWED, (command, told)
        assert told.count("error: ") == (code != ExitCode.PASS), (command, told)
        codes.append(code)
    return codes


def test_nothing_is_wrong_with_a_store_as_it_was_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    commands = tuple(one for one in COMMANDS if "export" not in one and "report" not in one)
    assert answered(commands, capsys) == [ExitCode.PASS] * len(commands)


@pytest.mark.slow
def test_changed_bytes_are_no_crash(capsys: pytest.CaptureFixture[str]) -> None:
    whole, random = Path("whole.db").read_bytes(), Random(17)
    used = [at for at, byte in enumerate(whole) if byte]
    refused = 0
    for number in range(FLIPS):
        content = bytearray(whole)
        for _ in range(random.choice((1, 1, 4, 40))):
            content[random.choice(used)] = random.randrange(256)
        for leftover in Path().glob("store.db*"):
            leftover.unlink()
        Path("store.db").write_bytes(content)
        chosen = tuple(COMMANDS[(number + step) % len(COMMANDS)] for step in (0, 3, 7))
        refused += sum(code != ExitCode.PASS for code in answered(chosen, capsys))
    assert refused > FLIPS // 2, "the changes meet something that is read"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE models SET ending = 'won'",
        "UPDATE models SET gaps = '{'",
        "UPDATE models SET gaps = 7",
        "UPDATE models SET calls = 'many'",
        "UPDATE results SET verdict = 'fine'",
        "UPDATE results SET support_rate = 'all'",
        "UPDATE causes SET cause = 'x'",
        "UPDATE causes SET confidence = x'00ff'",
        "UPDATE causes SET op = cast(x'ff00fe' AS TEXT)",
        "UPDATE blockers SET cause = 77",
        "UPDATE blockers SET called = '[[['",
        "UPDATE blockers SET line = 'seven'",
        "UPDATE run_targets SET position = position + 5",
        "UPDATE targets SET target = id",
        "UPDATE targets SET vendor = 5.5",
        "UPDATE runs SET begun = x'80'",
        "DELETE FROM targets",
        "DELETE FROM causes",
        "DELETE FROM traces",
        "UPDATE traces SET data = 'AAAA'",
        "UPDATE run_models SET name = 3",
        "DROP TABLE causes",
    ],
)
def test_values_that_are_none_are_no_crash(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    connection = sqlite3.connect("store.db")
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("PRAGMA ignore_check_constraints=ON")
    connection.execute(change)
    connection.commit()
    connection.close()
    answered(READING, capsys)


@pytest.mark.parametrize(
    "change",
    [
        "DROP VIEW answers; CREATE VIEW answers AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS run FROM n",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM models; END",
    ],
)
def test_a_store_with_a_program_of_its_own_is_refused(
    change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    connection = sqlite3.connect("store.db")
    connection.executescript(change)
    connection.close()
    assert set(answered(COMMANDS, capsys)) == {ExitCode.USAGE}


def test_a_format_without_end_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    connection = sqlite3.connect("store.db")
    connection.executescript(
        "ALTER TABLE meta RENAME TO other;"
        "CREATE VIEW meta AS SELECT name, zeroblob(900000000) AS value FROM other"
    )
    connection.close()
    with most_memory(2**29):
        assert set(answered(COMMANDS, capsys)) == {ExitCode.USAGE}


def test_a_journal_beside_a_store_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """SQLite would play it back, and remove a file that it names."""
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    named = Path("checkpoint.pt")
    named.write_text("of the user's")
    Path("store.db-journal").write_bytes(_hot_journal(str(named.resolve())))
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert set(answered(COMMANDS, capsys)) == {ExitCode.USAGE}
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def _hot_journal(named: str) -> bytes:
    """A journal of no pages that names another file, as SQLite's file format has it."""
    name = named.encode()
    head = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(">IIIII", 0, 0, 1, 512, 4096)
    end = struct.pack(">II", len(name), sum(name) & 0xFFFFFFFF) + head[:8]
    return head.ljust(512, b"\0") + struct.pack(">I", 2**30 // 4096 + 1) + name + end


@contextlib.contextmanager
def most_memory(data: int) -> Iterator[None]:
    """Let this process allocate no more than so many bytes beside those it has."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    has = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines()
               if line.startswith("VmData:"))  # fmt: skip
    resource.setrlimit(resource.RLIMIT_DATA, (has * 1024 + data, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_a_refused_store_is_not_kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is left open holds its locks, and the next reader waits for them."""
    Path("store.db").write_bytes(Path("whole.db").read_bytes())
    with closing(sqlite3.connect("store.db")) as connection, connection:
        connection.execute("UPDATE meta SET value='0' WHERE name='format'")
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def kept(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", kept)
    with pytest.raises(UsageError):
        Store(Path("store.db"), create=False)
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
