"""The contract: the published schema, stable bytes, and reading back."""

import copy
import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import opcheck.views
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.emulation import Emulation
from opcheck.model.launches import KernelCode, Launch, Operation
from opcheck.model.report import Report
from opcheck.model.trace import Compilation, CompiledRegion, Phase
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.views.document.read_emulation import emulation_from_json
from opcheck.views.document.report import from_json
from opcheck.views.formats import Page, command_view, report_view
from opcheck.views.order import arranged, arranged_emulation
from tests.lang.told import in_chinese
from tests.views.databases import VIEWS
from tests.views.emulations import EMULATIONS
from tests.views.samples import EXPLAINED, ROWS, STANDARD
from tests.views.strategies import emulations, reports

SCHEMAS = Path(opcheck.views.__file__).parent / "schema"


def schema(name: str = "report") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((SCHEMAS / f"opcheck.{name}-1.json").read_text("utf-8"))
    return document


VALIDATOR = Draft202012Validator(schema())
OF_EMULATIONS = Draft202012Validator(schema("emulation"))


def document(report: Report) -> Any:
    return json.loads(report_view("json").render(report))


def emulation_document(sample: str) -> Any:
    return json.loads(command_view("emulate", "json").render(EMULATIONS[sample]))


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every object in a JSON value."""
    if isinstance(value, dict):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from objects(item, (*path, key))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("name", ["report", "targets", "explain", "emulation", "database"])
def test_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("sample", STANDARD)
def test_standard_reports_follow_the_schema(sample: str) -> None:
    VALIDATOR.validate(document(STANDARD[sample]))


def test_listings_follow_their_schemas() -> None:
    rows = json.loads(command_view("targets", "json").render(ROWS))
    Draft202012Validator(schema("targets")).validate(rows)
    explained = json.loads(command_view("explain", "json").render(EXPLAINED))
    Draft202012Validator(schema("explain")).validate(explained)


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_the_database_follow_the_schema(view: str) -> None:
    found = json.loads(command_view("db", "json").render(VIEWS[view]))
    validator = Draft202012Validator(schema("database"))
    validator.validate(found)
    for path in objects(found):
        changed = copy.deepcopy(found)
        at(changed, path)["surprise"] = 1
        assert not validator.is_valid(changed), path


def test_what_an_overlay_brought_in_names_it() -> None:
    report = STANDARD["mixed"]
    (target,) = report.targets
    first, *others = target.findings
    fact = replace(first.evidence[0], origin="team/gelu.yaml")
    finding = replace(first, evidence=(fact,))
    told = replace(report, targets=(replace(target, findings=(finding, *others)),))
    text = report_view("json").render(told)
    VALIDATOR.validate(json.loads(text))
    assert from_json(text) == arranged(told)
    assert text.count('"origin": "team/gelu.yaml"') == 1
    assert '"origin"' not in report_view("json").render(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_follows_the_schema_and_reads_back(report: Report) -> None:
    text = report_view("json").render(report)
    VALIDATOR.validate(json.loads(text))
    assert from_json(text) == arranged(report)
    assert report_view("json").render(from_json(text)) == text


@pytest.mark.parametrize("sample", EMULATIONS)
def test_standard_emulations_follow_the_schema_and_read_back(sample: str) -> None:
    OF_EMULATIONS.validate(emulation_document(sample))
    text = command_view("emulate", "json").render(EMULATIONS[sample])
    assert emulation_from_json(text) == arranged_emulation(EMULATIONS[sample])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(emulations)
def test_any_emulation_follows_the_schema_and_reads_back(found: Emulation) -> None:
    text = command_view("emulate", "json").render(found)
    OF_EMULATIONS.validate(json.loads(text))
    assert emulation_from_json(text) == arranged_emulation(found)
    assert command_view("emulate", "json").render(emulation_from_json(text)) == text


@pytest.mark.parametrize(
    ("validator", "known"),
    [
        (VALIDATOR, document(STANDARD["mixed"])),
        (OF_EMULATIONS, emulation_document("mixed")),
        (OF_EMULATIONS, emulation_document("disagreeing")),
        (OF_EMULATIONS, emulation_document("stopped")),
    ],
    ids=["report", "mixed", "disagreeing", "stopped"],
)
def test_schema_is_strict_everywhere(validator: Draft202012Validator, known: Any) -> None:
    for path in objects(known):
        changed = copy.deepcopy(known)
        at(changed, path)["surprise"] = 1
        assert not validator.is_valid(changed), path
        for key in at(known, path):
            changed = copy.deepcopy(known)
            del at(changed, path)[key]
            assert not validator.is_valid(changed), (path, key)


@pytest.mark.parametrize(
    ("kind", "enum"),
    [
        (Verdict, ("verdict", "enum")),
        (Phase, ("phase", "enum")),
        (Confidence, ("finding", "properties", "confidence", "enum")),
        (Method, ("evidence", "properties", "method", "enum")),
        (Verdict, ("counts", "required")),
    ],
)
def test_schema_knows_every_member(kind: type[StrEnum], enum: tuple[str, ...]) -> None:
    assert at(schema()["$defs"], enum) == [member.value for member in kind]


@pytest.mark.parametrize("name", ["targets", "explain", "emulation", "database"])
def test_listings_share_the_definitions_of_the_report(name: str) -> None:
    shared = schema(name)["$defs"].keys() & schema()["$defs"].keys()
    assert all(schema(name)["$defs"][key] == schema()["$defs"][key] for key in shared)


def test_bytes_are_ascii_and_do_not_depend_on_the_page() -> None:
    text = report_view("json").render(STANDARD["mixed"])
    assert text.isascii()
    assert text.endswith("}\n")
    assert (
        report_view("json").render(STANDARD["mixed"], Page(120, color=True, verbose=True)) == text
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "report is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"schema": NaN}', "report is not JSON: NaN is not a JSON number"),
        ("[1]", "report: expected an object, got an array"),
        ("null", "report: expected an object, got null"),
        ("{}", "report: the key 'schema' is missing"),
        (
            '{"schema": "opcheck.report/2"}',
            "report.schema: expected 'opcheck.report/1', got 'opcheck.report/2'",
        ),
        ('{"schema": 1}', "report.schema: expected a string, got 1"),
    ],
)
def test_what_is_no_report_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_json(text)
    assert caught.value.message == message
    assert caught.value.hint == "a report is what opcheck scan --format json writes"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema",), "opcheck.report/1",
         "emulation.schema: expected 'opcheck.emulation/1', got 'opcheck.report/1'"),
        (("error",), 1, "emulation.error: expected an object, got 1"),
        (("error", "site", "line"), "x",
         "emulation.error.site.line: expected a whole number from 0 on, got a string"),
        (("refusals", 0, "phase"), "later",
         "emulation.refusals[0].phase: expected one of forward, backward, optimizer, got 'later'"),
        (("differences",), [{"name": "output", "shape": [-1], "dtype": "float32", "largest": 0}],
         "emulation.differences[0].shape[0]: expected a whole number from 0 on, got -1"),
        (("differences",), [{"name": "output", "shape": [1], "dtype": "float32", "largest": -1}],
         "emulation.differences[0].largest: expected a number from 0 on, got -1"),
    ],
)  # fmt: skip
def test_a_damaged_emulation_is_refused_with_its_place(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    changed = emulation_document("stopped")
    at(changed, path[:-1])[path[-1]] = value
    with pytest.raises(UsageError) as caught:
        emulation_from_json(json.dumps(changed))
    assert caught.value.message == message
    assert caught.value.hint == "an emulation is what opcheck emulate --format json writes"


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(UsageError, match="is not JSON"):
        from_json("[" * 100_000)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("torch_version",), None, "old.json.torch_version: expected a string, got null"),
        (("targets",), {}, "old.json.targets: expected an array, got an object"),
        (
            ("targets", 0, "findings", 2, "verdict"),
            "fine",
            "old.json.targets[0].findings[2].verdict: expected one of native, decomposed, "
            "fallback, unsupported, unknown, got 'fine'",
        ),
        (
            ("targets", 0, "summary", "islands"),
            -1,
            "old.json.targets[0].summary.islands: expected a whole number from 0 on, got -1",
        ),
        (
            ("targets", 0, "summary", "calls", "native"),
            True,
            "old.json.targets[0].summary.calls.native: expected a whole number from 0 on, got true",
        ),
        (
            ("targets", 0, "summary", "support_rate"),
            1.5,
            "old.json.targets[0].summary.support_rate: expected a number from 0 to 1, got 1.5",
        ),
        (
            ("targets", 0, "summary", "runs"),
            "no",
            "old.json.targets[0].summary.runs: expected true or false, got a string",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    changed = document(STANDARD["mixed"])
    at(changed, path[:-1])[path[-1]] = value
    with pytest.raises(UsageError) as caught:
        from_json(json.dumps(changed), "old.json")
    assert caught.value.message == message


def test_keys_of_a_later_version_are_passed_over() -> None:
    changed = document(STANDARD["mixed"])
    for path in objects(document(STANDARD["mixed"])):
        at(changed, path)["later"] = {"than": "this"}
    assert from_json(json.dumps(changed)) == arranged(STANDARD["mixed"])


@pytest.mark.parametrize(
    ("known", "read"),
    [(document(STANDARD["mixed"]), from_json)]
    + [(emulation_document(name), emulation_from_json) for name in EMULATIONS],
    ids=["report", *EMULATIONS],
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_document_is_read_or_refused_never_a_crash(
    known: Any, read: Callable[[str, str], object], data: st.DataObject
) -> None:
    changed = copy.deepcopy(known)
    path = data.draw(st.sampled_from(list(objects(changed))))
    key = data.draw(st.sampled_from(list(at(changed, path))))
    numbers = [-1, 10**30, 10**400, 0.5]
    junk = st.sampled_from([None, True, *numbers, "", "x", [], [None], {}, {"a": 1}])
    at(changed, path)[key] = data.draw(junk)
    try:
        read(json.dumps(changed), "old.json")
    except UsageError as error:
        assert error.message.startswith("old.json")


def test_what_was_to_be_compiled_is_in_the_document() -> None:
    regions = (
        CompiledRegion("layers.*", Compilation("inductor", "reduce-overhead", True, "false")),
        CompiledRegion("net.py:7", Compilation("mine", options=("a=1", "b=2"), function=True)),
    )
    trace = replace(STANDARD["mixed"].trace, compiled=regions)
    written = report_view("json").render(replace(STANDARD["mixed"], trace=trace))
    VALIDATOR.validate(json.loads(written))
    assert from_json(written).trace.compiled == regions
    assert "compiled" not in document(STANDARD["mixed"])["trace"]


def test_kernels_of_a_model_s_own_are_in_the_document() -> None:
    code = KernelCode(
        "k", "net.py", 3, parameters=("x", "N"), constants=("N",), dtypes=("float16",),
        operations=(Operation("load", 4, ("x",), (("eviction_policy", "evict_first"),)),),
        unread=("helper",),
    )  # fmt: skip
    launches = (
        Launch(code, "net.py:9", "backward", (("x", "float16"),), (("N", "8"),), 12, 3),
        Launch(KernelCode("other", "", 0), "layers.*"),
    )
    trace = replace(STANDARD["mixed"].trace, launches=launches)
    written = report_view("json").render(replace(STANDARD["mixed"], trace=trace))
    VALIDATOR.validate(json.loads(written))
    assert from_json(written).trace.launches == launches
    assert "launches" not in document(STANDARD["mixed"])["trace"]


@pytest.mark.parametrize(
    ("value", "english", "chinese"),
    [
        (None, "null", " null"),
        (7, "7", " 7"),
        ("text", "a string", "字符串"),
        ([], "an array", "数组"),
    ],
)
def test_what_stands_in_place_of_an_object_is_told(
    value: object, english: str, chinese: str
) -> None:
    found = document(STANDARD["mixed"])
    found["trace"] = value
    with pytest.raises(UsageError) as raised:
        from_json(json.dumps(found), "r.json")
    assert raised.value.message == f"r.json.trace: expected an object, got {english}"
    with speaking(Language.CHINESE):
        assert tell(raised.value.message) == f"r.json.trace：应为对象，实为{chinese}"


def test_an_object_in_the_place_of_an_array_is_told() -> None:
    found = document(STANDARD["mixed"])
    found["targets"] = {}
    with pytest.raises(UsageError) as raised:
        from_json(json.dumps(found), "r.json")
    assert raised.value.message == "r.json.targets: expected an array, got an object"
    assert in_chinese([raised.value.message]) == ["r.json.targets：应为数组，实为对象"]
