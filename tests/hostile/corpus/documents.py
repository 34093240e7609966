"""Documents that opcheck writes and reads again: reports, emulations, baselines, stores."""

import copy
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made, write
from tests.hostile.place import Place
from tests.hostile.valid import store

_SNAPSHOTS = Path(__file__).resolve().parents[2] / "snapshots" / "json"
ESCAPES = (
    "\x1b]0;title\x07\u202e<script>hostile()</script><img src=hostile onerror=x>\r\n::hostile::x"
)
"""What a terminal, a page, Markdown and a workflow would obey."""
Change = Callable[[Any, Place], object]


def _snapshot(name: str) -> Any:
    return json.loads((_SNAPSHOTS / name).read_text())


def _everywhere(value: Any, text: str) -> Any:
    """A document with a text in the place of every text that may be anything."""
    if isinstance(value, dict):
        kept = ("schema", "verdict", "confidence", "method", "code", "id", "target", "phase",
                "mode", "tier", "label", "op", "rule", "date")  # fmt: skip
        return {
            key: inner if key in kept else _everywhere(inner, text) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_everywhere(inner, text) for inner in value]
    return text if isinstance(value, str) else value


def _texts(value: Any, text: str) -> Any:
    """A document with a text behind every text, whatever it is."""
    if isinstance(value, dict):
        return {k: inner if k == "schema" else _texts(inner, text) for k, inner in value.items()}
    if isinstance(value, list):
        return [_texts(inner, text) for inner in value]
    return value + text if isinstance(value, str) else value


def _numbers(value: Any, number: Any) -> Any:
    """A document with a number in the place of every number."""
    if isinstance(value, dict):
        return {key: _numbers(inner, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner, number) for inner in value]
    return number if isinstance(value, int | float) and not isinstance(value, bool) else value


def _register(corpus: Corpus, seed: str, cases: Any, near: bool = True) -> None:
    for name, about, change in cases:

        def one(place: Place, change: Change = change) -> str | bytes:
            document = copy.deepcopy(_snapshot(seed))
            found = change(document, place)
            if isinstance(found, bytes):
                return found
            return json.dumps(document if found is None or isinstance(found, int) else found)

        one.__name__, one.__doc__ = name, about
        corpus.case(runnable=True, near=near)(one)


def _set(*path: Any) -> Change:
    """Put the last one where the others lead."""

    def change(document: Any, place: Place) -> None:
        holder = document
        for step in path[:-2]:
            holder = holder[step]
        holder[path[-2]] = path[-1](place) if callable(path[-1]) else path[-1]

    return change


def _findings(**changes: Any) -> Change:
    """Change every finding of every target."""

    def change(document: Any, place: Place) -> None:
        for target in document["targets"]:
            for finding in target["findings"]:
                finding.update(changes)

    return change


REPORT = Corpus("report", "report.json", Family.REPORT)
_ANY: tuple[tuple[str, str, Change], ...] = (
    ("texts_with_escapes", "Every text that may be anything is obeyed by whoever shows it.",
     lambda document, place: _everywhere(document, ESCAPES)),
    ("texts_behind_texts", "The same behind every text, ids and targets too.",
     lambda document, place: _texts(document, ESCAPES)),
    ("texts_that_are_long", "A hundred thousand letters for every text.",
     lambda document, place: _everywhere(document, "a" * 100_000)),
    ("texts_that_are_code", "Expressions for every text.",
     lambda document, place: _everywhere(document, payloads.expression(place))),
    ("texts_of_templates", "Templates for every text.",
     lambda document, place: _everywhere(document, "{{7*7}}{0.__class__}%(a)s${HOME}%n")),
    ("texts_that_are_paths", "Paths for every text.",
     lambda document, place: _everywhere(document, str(place.secret))),
    ("texts_of_halves", "Halves of surrogate pairs for every text.",
     lambda document, place: json.dumps(_everywhere(document, "\ud800")).encode()),
    ("numbers_beyond_all_measure", "1e400 for every number.",
     lambda document, place: json.dumps(_numbers(document, 1e308)).replace("1e+308", "1e400")
     .encode()),
    ("numbers_of_many_digits", "Five thousand digits for every number.",
     lambda document, place: json.dumps(_numbers(document, 7)).replace(": 7", f": {'7' * 5000}")
     .encode()),
    ("numbers_below_nothing", "-1 for every number.",
     lambda document, place: _numbers(document, -1)),
    ("no_numbers", "NaN for every number.",
     lambda document, place: _numbers(document, float("nan"))),
    ("nested", "Brackets, a hundred thousand deep.",
     lambda document, place: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    ("another_schema", "A document of another kind.",
     _set("schema", "opcheck.report/999999999999999999999")),
    ("keys_of_nobody", "Keys that no schema has.",
     lambda document, place: document.update({"__class__": 1, "constructor": {}, "": None})),
)  # fmt: skip
_register(REPORT, "mixed.txt", _ANY)
_register(REPORT, "mixed.txt", (
    ("a_target_of_nobody", "A target that cannot be read.",
     _set("targets", 0, "target", "@@+torch")),
    ("a_target_that_is_a_path", "A target that leads out.",
     _set("targets", 0, "target", "../../home/.ssh/id_rsa")),
    ("a_target_with_line_breaks", "A target with what a script would run.",
     _set("targets", 0, "target", 'ascend-910b"""\nimport os; os.system("false")\n"""')),
    ("targets_twice", "One target twice.",
     lambda document, place: document["targets"].append(document["targets"][0])),
    ("targets_by_the_thousand", "A thousand targets.",
     lambda document, place: document.update(targets=document["targets"] * 1000)),
    ("no_targets", "No target.", _set("targets", [])),
    ("operators_of_nobody", "Operators that cannot be read.", _findings(op="::::")),
    ("operators_that_are_code", "Operators become calls in a script.",
     _findings(op='aten::relu(x); __import__("os").system("sh bait/payload.sh")#')),
    ("operators_with_line_breaks", "Operators with a line of a script's own.",
     _findings(op='aten::relu\n__import__("os").system("sh bait/payload.sh")\n')),
    ("inputs_that_are_code", "Inputs of a use become a script's tensors.",
     _findings(uses=[{"module": "a", "file": "b.py", "line": 1, "count": 1,
                      "inputs": ['self: float32[__import__("os").system("sh bait/payload.sh")]'],
                      "decomposed_into": []}])),
    ("inputs_without_bounds", "Tensors of 2**62 elements.",
     _findings(uses=[{"module": "a", "file": "b.py", "line": 1, "count": 1,
                      "inputs": [f"self: float32[{2**62},{2**62}]"], "decomposed_into": []}])),
    ("inputs_that_nest", "Lists, ten thousand deep.",
     _findings(uses=[{"module": "a", "file": "b.py", "line": 1, "count": 1,
                      "inputs": [f"self={'[' * 10_000}{']' * 10_000}"], "decomposed_into": []}])),
    ("files_that_are_read", "Files of uses: their lines may be shown.",
     _findings(uses=[{"module": "a", "file": "../home/.ssh/id_rsa", "line": 2, "count": 1,
                      "inputs": ["self: float32[2]"], "decomposed_into": []}])),
    ("files_that_never_end", "The same with a device.",
     _findings(uses=[{"module": "a", "file": "/dev/zero", "line": 1, "count": 1,
                      "inputs": ["self: float32[2]"], "decomposed_into": []}])),
    ("ids_that_are_paths", "Ids become names of files.", _findings(id="../../checkpoint")),
    ("verdicts_of_nobody", "A verdict that is none.", _findings(verdict="os.system")),
    ("reasons_of_nobody", "Reasons with fields of another kind.",
     _findings(reason={"code": ESCAPES, "text": ["a"], "arguments": {"a": {}}})),
    ("suggestions_that_are_code", "Code of suggestions is shown, or carried out.",
     _findings(suggestions=[{"rule": "x", "tier": 1, "label": "exact", "summary": ESCAPES,
                             "patch": f"--- a/{'../' * 9}x\n+++ b\n{ESCAPES}"}])),
    ("links_that_are_code", "Sources of evidence become links.",
     _findings(evidence=[{"method": "registered", "source": "javascript:hostile()",
                          "commit": '"><script>hostile()</script>', "path": "javascript:hostile()",
                          "line": 1, "date": ""}])),
    ("costs_of_nobody", "Cost keys that no format knows.",
     lambda document, place: [target.update(costs={"nobody": 1, ESCAPES: {}}, cost={"a": "b"})
                              for target in document["targets"]] and document),
    ("advisories_of_another_kind", "Advisories that are no mappings.",
     lambda document, place: [target.update(advisories=[[], 1, {"code": ESCAPES, "text": 1}])
                              for target in document["targets"]] and document),
))  # fmt: skip


@REPORT.case(runnable=True, near=False)
def a_report_of_a_gigabyte(place: Place) -> Made:
    """A file with holes, as large as a report may never be."""
    with (place.project / "report.json").open("wb") as file:
        file.write(b'{"schema": "opcheck.report/1", "x": "')
        file.truncate(2**30)
    return Made("report.json")


def odd(corpus: Corpus) -> None:
    """Files of other kinds under the name of the corpus."""

    def a_pipe(place: Place) -> Made:
        """A named pipe: whoever opens it waits."""
        write(place.project / corpus.file, "").unlink()
        os.mkfifo(place.project / corpus.file)
        return Made(corpus.file)

    def a_link_to_zeros(place: Place) -> Made:
        """A link to a device that has no end."""
        write(place.project / corpus.file, "").unlink()
        (place.project / corpus.file).symlink_to("/dev/zero")
        return Made(corpus.file)

    def a_link_to_the_key(place: Place) -> Made:
        """A link to the private key: a message may not quote it."""
        write(place.project / corpus.file, "").unlink()
        (place.project / corpus.file).symlink_to(place.secret)
        return Made(corpus.file)

    def a_folder(place: Place) -> Made:
        """A folder of that name."""
        (place.project / corpus.file).mkdir(parents=True)
        return Made(corpus.file)

    def bytes_of_no_text(place: Place) -> bytes:
        """Bytes that are no text."""
        return bytes(range(256)) * 16

    for make in (a_pipe, a_link_to_zeros, a_link_to_the_key, a_folder, bytes_of_no_text):
        corpus.case(runnable=True, near=False, opens_key=make is a_link_to_the_key, limit=30)(make)


odd(REPORT)
EMULATION = Corpus("emulation report", "run.json", Family.EMULATION)
_register(EMULATION, "emulation/mixed.txt", _ANY)
odd(EMULATION)
BASELINE = Corpus("baseline", "baseline.json", Family.BASELINE)


@BASELINE.case(runnable=True)
def a_baseline_of_everything(place: Place) -> str:
    """A baseline whose ids and reasons are patterns or escapes."""
    finding = {"id": "*", "op": "aten::*", "verdict": "native", "reason": ESCAPES, "modules": ["*"]}
    return json.dumps({"schema": "opcheck.baseline/1", "opcheck_version": ESCAPES, "targets": [
        {"target": "ascend-910b", "support_rate": 1e308, "islands": -1, "fallback_bytes": 10**400,
         "findings": [finding]}]})  # fmt: skip


_BASELINES: tuple[tuple[str, str, Any], ...] = (
    ("a_target_of_nobody", "A target that cannot be read.", {"target": "@@"}),
    ("a_target_that_is_a_path", "A target that leads out.", {"target": "../../x"}),
    ("a_rate_of_no_number", "A rate that is a text.", {"support_rate": "1"}),
    ("a_rate_beyond_all_measure", "A rate of 1e308.", {"support_rate": 1e308}),
    ("a_rate_of_many_digits", "A count of five thousand digits.", {"islands": int("7" * 4000)}),
    ("findings_of_another_kind", "Findings that are a mapping.", {"findings": {"a": 1}}),
    ("findings_without_ids", "Findings without what makes them.", {"findings": [{}]}),
    ("modules_that_backtrack", "Globs that a reader turns into regular expressions.",
     {"findings": [{"id": "a", "op": "aten::relu", "verdict": "native", "reason": "a",
                    "modules": ["*a" * 50 + "b"]}]}),
)  # fmt: skip
for _name, _about, _values in _BASELINES:

    def _accepted(place: Place, values: Any = _values) -> str:
        target = {"target": "ascend-910b", "support_rate": 1.0, "islands": 1, "fallback_bytes": 0,
                  "findings": [], **values}  # fmt: skip
        whole = {"schema": "opcheck.baseline/1", "opcheck_version": "0.1.0", "targets": [target]}
        return json.dumps(whole)

    _accepted.__name__, _accepted.__doc__ = _name, _about
    BASELINE.case(runnable=True)(_accepted)


@BASELINE.case(runnable=True, near=False)
def nested(place: Place) -> str:
    """Brackets, a hundred thousand deep."""
    return "[" * 100_000 + "]" * 100_000


odd(BASELINE)
STORE = Corpus("fleet store", "fleet.db", Family.STORE)


def _stored(place: Place, *statements: str) -> bytes:
    path = write(place.root / "made.db", store())
    with sqlite3.connect(path) as opened:
        for statement in statements:
            opened.execute(statement)
    opened.close()
    content = path.read_bytes()
    path.unlink()
    return content


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_STATEMENTS: tuple[tuple[str, str, Any], ...] = (
    ("a_view_that_loads_a_library", "A view is code of the file: here one that loads a library.",
     lambda place: ("DROP VIEW problems", "DROP VIEW answers",
                    "CREATE VIEW answers AS SELECT *, load_extension("
                    f"'{place.bait}/payload.so') FROM models")),
    ("a_view_that_writes", "A view whose function writes a file, where there is one.",
     lambda place: ("DROP VIEW problems", "DROP VIEW answers",
                    "CREATE VIEW answers AS SELECT *, "
                    f"writefile('{place.fresh}', 'x') FROM models")),
    ("a_view_without_end", "A view that never ends.",
     lambda place: ("DROP VIEW problems", "DROP VIEW answers",
                    "CREATE VIEW answers AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL "
                    "SELECT n + 1 FROM c) SELECT models.*, n FROM models, c")),
    ("a_table_that_is_a_view", "A view in the place of a table.",
     lambda place: ("ALTER TABLE meta RENAME TO other",
                    "CREATE VIEW meta AS SELECT name, zeroblob(1000000000) AS value FROM other")),
    ("a_trigger", "A trigger is run when the store is written to.",
     lambda place: ("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM models; END",
                    "CREATE TRIGGER worse AFTER INSERT ON models BEGIN DELETE FROM runs; END")),
    ("an_index_with_an_expression", "An index may have an expression.",
     lambda place: ("CREATE INDEX evil ON models (abs(id + 0 * length(zeroblob(100000000))))",)),
    ("texts_with_escapes", "Every text of every model is obeyed by whoever shows it.",
     lambda place: (f"UPDATE models SET source = {_sql(ESCAPES)}, reason = {_sql(ESCAPES)}, "
                    f"hint = {_sql(ESCAPES)}, kind = {_sql(ESCAPES)}, ending = 'failed'",
                    f"UPDATE run_models SET name = {_sql(ESCAPES)}, source = {_sql(ESCAPES)}",
                    f"UPDATE runs SET manifest = {_sql(ESCAPES)}, torch = {_sql(ESCAPES)}")),
    ("models_that_are_paths", "Names of models become names of pages.",
     lambda place: ("UPDATE run_models SET name = '../../../checkpoint'",)),
    ("traces_of_no_json", "Stored traces are documents in the document.",
     lambda place: ("UPDATE traces SET data = '{'",)),
    ("traces_that_nest", "The same, a hundred thousand deep.",
     lambda place: (f"UPDATE traces SET data = '{'[' * 100_000}'",)),
    ("traces_of_bytes", "The same of bytes.",
     lambda place: ("UPDATE traces SET data = x'00ff'",)),
    ("traces_of_a_gigabyte", "The same, larger than memory.",
     lambda place: ("UPDATE traces SET data = zeroblob(200000000)",)),
    ("numbers_of_other_kinds", "Columns may hold values of any kind.",
     lambda place: ("UPDATE results SET native = 'x', support_rate = 9e999, islands = x'00'",)),
    ("targets_of_nobody", "Targets that cannot be read.",
     lambda place: ("UPDATE targets SET target = '@@', vendor = '../..', chip = ''",)),
    ("references_to_nobody", "Rows that refer to rows that are not there.",
     lambda place: ("DELETE FROM models", "DELETE FROM targets")),
    ("a_version_of_the_future", "A store of a later release.",
     lambda place: ("UPDATE meta SET value = '99999999999999999999'",
                    "PRAGMA user_version = 2147483647")),
    ("runs_without_end", "Numbers of runs beyond 64 bits.",
     lambda place: ("UPDATE runs SET id = 9223372036854775807",)),
)  # fmt: skip
for _name, _about, _make in _STATEMENTS:

    def _changed(place: Place, make: Any = _make) -> bytes:
        return _stored(place, *make(place))

    _changed.__name__, _changed.__doc__ = _name, _about
    STORE.case(runnable=True)(_changed)
for _offset in (16, 18, 28, 44, 100, 103, 105, 1000, 4096, 5000, 9000):

    def _spoiled(place: Place, offset: int = _offset) -> bytes:
        content = bytearray(store())
        content[offset : offset + 8] = b"\xff\x00\xfe\x01\xfd\x02\xfc\x03"
        return bytes(content)

    _spoiled.__name__ = f"bytes_at_{_offset}"
    _spoiled.__doc__ = "Bytes of a page were changed: sqlite finds out when it gets there."
    STORE.case(runnable=True)(_spoiled)


@STORE.case(runnable=True)
def half_a_store(place: Place) -> bytes:
    """The file was cut."""
    return store()[: len(store()) // 2]


@STORE.case(runnable=True)
def a_journal_beside(place: Place) -> Made:
    """A hot journal beside the store has pages that sqlite writes back into it."""
    write(place.project / "fleet.db", store())
    journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 4 + b"\0" * 504 + b"\0" * 4104
    write(place.project / "fleet.db-journal", journal)
    return Made("fleet.db")


odd(STORE)
