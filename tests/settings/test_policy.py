"""Policy files: what they say, what is refused and how, and the published schema."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from opcheck.db.schema.checks import ShapeError
from opcheck.errors import UsageError
from opcheck.model.policy import Limits, Policy, TargetRange, Waiver
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict
from opcheck.settings.policy_file import read_policy, starting_policy
from opcheck.settings.policy_schema import POLICY
from tests.views.test_json import schema

SCHEMA = schema("policy")
VALIDATOR = Draft202012Validator(SCHEMA)

FULL = """\
schema: opcheck.policy/1
targets: [ascend-910b, "ascend-910a@26.1.0+torch2.7"]
fail-on:
  verdict: [unsupported, fallback]
  reason: [dtype-not-supported, "npu-*"]
allow-unknown: true
allow-advisories: true
confidence: medium
min-support-rate: 0.95
max-islands: 1
max-fallback-bytes: 1048576
max-age: 180
baseline: gates/accepted.json
waivers:
  - operator: "aten::view_as_*"
    module: "layers.*.attention"
    target: "ascend-910*@..26.1, 27+torch2.1..2.7"
    reason: >-
      rotary embedding
      is rewritten
    expires: 2027-03-31
  - finding: 0a1b2c3d4e5f
    reason: "it is the loss alone"
    expires: "2027-01-01"
"""
TOML = """\
[project]
name = "model"

[tool.opcheck]
targets = ["ascend-910b", "ascend-910a@26.1.0+torch2.7"]
allow-unknown = true
allow-advisories = true
confidence = "medium"
min-support-rate = 0.95
max-islands = 1
max-fallback-bytes = 1048576
max-age = 180
baseline = "gates/accepted.json"

[tool.opcheck.fail-on]
verdict = ["unsupported", "fallback"]
reason = ["dtype-not-supported", "npu-*"]

[[tool.opcheck.waivers]]
operator = "aten::view_as_*"
module = "layers.*.attention"
target = "ascend-910*@..26.1, 27+torch2.1..2.7"
reason = "rotary embedding is rewritten"
expires = 2027-03-31

[[tool.opcheck.waivers]]
finding = "0a1b2c3d4e5f"
reason = "it is the loss alone"
expires = "2027-01-01"
"""


def written(folder: Path, text: str, name: str = "opcheck.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "text"), [("opcheck.yaml", FULL), ("pyproject.toml", TOML)])
def test_everything_that_a_policy_may_say(name: str, text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text, name)
    assert read_policy(path) == Policy(
        path=str(path),
        targets=(TargetSpec("ascend-910b"), TargetSpec("ascend-910a", "26.1.0", "2.7")),
        fail_verdicts=frozenset({Verdict.UNSUPPORTED, Verdict.FALLBACK}),
        fail_reasons=("dtype-not-supported", "npu-*"),
        allow_unknown=True,
        allow_advisories=True,
        confidence=Confidence.MEDIUM,
        limits=Limits(0.95, 1, 1048576),
        max_age=180,
        baseline=str(tmp_path / "gates/accepted.json"),
        waivers=(
            Waiver(
                reason="rotary embedding is rewritten",
                expires=date(2027, 3, 31),
                operator="aten::view_as_*",
                module="layers.*.attention",
                target=TargetRange("ascend-910*", "..26.1, 27", "2.1..2.7"),
            ),
            Waiver("it is the loss alone", date(2027, 1, 1), finding="0a1b2c3d4e5f"),
        ),
    )


def test_a_policy_to_start_from_is_the_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, starting_policy())
    assert read_policy(path) == Policy(path=str(path))
    targets = (TargetSpec("ascend-910b"), TargetSpec("nvidia-a100", "2.13.0"))
    path = written(tmp_path, starting_policy(targets))
    assert read_policy(path) == Policy(path=str(path), targets=targets)


KEYS = ("# m", "# b", "# sources")
"""How examples of keys begin in it."""


def test_what_a_policy_to_start_from_shows_is_understood(tmp_path: Path) -> None:
    """Its examples too: each line behind a comment sign that holds a key."""
    said = starting_policy().replace("waivers: []\n", "waivers:\n")
    shown = [
        line.removeprefix("# ") if line.startswith(KEYS) else line.replace("#  ", "  ", 1)
        for line in said.splitlines()
    ]
    policy = read_policy(written(tmp_path, "\n".join(shown) + "\n"))
    assert policy.limits == Limits(0.95, 1, 1048576)
    assert (policy.max_age, policy.baseline != "") == (180, True)
    assert [waiver.operator for waiver in policy.waivers] == ["aten::view_as_*"]
    said_keys = set(yaml.safe_load("\n".join(shown)))
    assert said_keys == set(SCHEMA["properties"])


WRONG = {
    "max-age: soon": "{path}:1: expected a whole number from 0 on, found 'soon' (at max-age)",
    "max-age: -1": "{path}:1: expected a whole number from 0 on, found -1 (at max-age)",
    "max-islands: true": "{path}:1: expected a whole number from 0 on, found true (at max-islands)",
    "min-support-rate: 95": "{path}:1: expected a number from 0 to 1, as 0.95, found 95 "
    "(at min-support-rate)",
    "allow-unknown: maybe": "{path}:1: expected true or false, found 'maybe' (at allow-unknown)",
    "confidence: sure": "{path}:1: expected one of high, low, medium, found 'sure' (at confidence)",
    "fail-on: [unsupported]": "{path}:1: expected a mapping, found a list (at fail-on)",
    "fail-on:\n  verdict: [native]": "{path}:2: expected one of decomposed, fallback, unknown, "
    "unsupported, found 'native' (at fail-on > verdict > 0)",
    "targets: [Ascend!]": "{path}:1: expected another value: not a target: 'Ascend!' (want "
    "VENDOR-CHIP[:MODE][@SDK][+torchX.Y][+LIBRARYX.Y]) (at targets > 0)",
    "waivers:\n  - operator: aten::gelu\n    expires: 2027-01-01": "{path}:2: expected the key "
    "'reason', which is missing (at waivers > 0)",
    "waivers:\n  - operator: aten::gelu\n    reason: why": "{path}:2: expected the key 'expires', "
    "which is missing (at waivers > 0)",
    "waivers:\n  - reason: why\n    expires: 2027-01-01": "{path}:2: expected one of the keys "
    "'operator' and 'finding' (at waivers > 0)",
    "waivers:\n  - operator: aten::gelu\n    reason: ' '\n    expires: 2027-01-01": "{path}:3: "
    "expected some text, found ' ' (at waivers > 0 > reason)",
    "waivers:\n  - operator: aten::gelu\n    reason: why\n    expires: 2027-02-30": "{path}:4: "
    "expected a date, as 2027-03-31, found '2027-02-30'",
    "waivers:\n  - operator: aten::gelu\n    reason: why\n    expires: '2027-02-30'": "{path}:4: "
    "expected a date, as 2027-03-31, found '2027-02-30' (at waivers > 0 > expires)",
    "waivers:\n  - operator: gelu\n    reason: why\n    expires: 2027-01-01": "{path}:2: expected "
    "an operator or a glob on it, as aten::view_as_*, found 'gelu' (at waivers > 0 > operator)",
    "waivers:\n  - operator: a::b\n    reason: w\n    expires: 2027-01-01\n    target: a@new": ""
    "{path}:5: expected another value: not a range of targets: 'a@new' (want "
    "NAME[@A..B][+torchX..Y]) (at waivers > 0 > target)",
    "max_age: 90": "{path}:1: expected no key 'max_age' here (known: allow-advisories, "
    "allow-unknown, baseline, confidence, fail-on, max-age, max-fallback-bytes, max-islands, "
    "min-support-rate, schema, sources, targets, waivers) (at max_age)",
    "max-age: 90\nmax-age: 30": "{path}:2: expected the key 'max-age' once, found it again",
    "allow-unknown: true\nfail-on: {verdict: [unknown]}": "{path}: expected allow-unknown or "
    "unknown in fail-on > verdict, found both",
    "schema: opcheck.policy/2": "{path}:1: expected one of opcheck.policy/1, found "
    "'opcheck.policy/2' (at schema)",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_with_file_and_key(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{text}\n")
    with pytest.raises(UsageError) as raised:
        read_policy(path)
    assert raised.value.message == WRONG[text].format(path=path)
    assert "opcheck init" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.opcheck]\nmax-age = 'soon'\n", "(at tool > opcheck > max-age)"),
        ("[tool.opcheck\n", "expected valid TOML"),
        ("[tool.ruff]\n", "expected the table [tool.opcheck], found none"),
        ("[tool]\nopcheck = 1\n", "expected a mapping, found 1 (at tool > opcheck)"),
        ("[[tool.opcheck.waivers]]\nreason = 'x'\n", "(at tool > opcheck > waivers > 0)"),
    ],
)
def test_the_same_of_toml(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text, "pyproject.toml")
    with pytest.raises(UsageError) as raised:
        read_policy(path)
    assert raised.value.message.startswith(f"{path}: ")
    assert message in raised.value.message


@pytest.mark.parametrize("text", ["[" * 100, "a: &a [*a]\n", "- 1\n", "", "\x00", "a: b: c\n"])
def test_what_is_no_policy_at_all(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_policy(written(tmp_path, text))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*No such file"):
        read_policy(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match=r"cannot read .*directory"):
        read_policy(tmp_path)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(_plain(yaml.safe_load(FULL)))
    VALIDATOR.validate(_plain(yaml.safe_load(starting_policy())))


PARTS: dict[str, list[Any]] = {
    "schema": ["opcheck.policy/1", "opcheck.policy/2"],
    "targets": [[], ["ascend-910b"], ["all"], ["Ascend!"], [1], "ascend-910b"],
    "fail-on": [{}, {"verdict": ["unknown"]}, {"verdict": ["native"]}, {"reason": ["a b"]}, []],
    "allow-unknown": [True, False, "yes", 1],
    "confidence": ["low", "sure", None],
    "min-support-rate": [0, 1, 0.5, 1.1, -0.1, True, "1"],
    "max-islands": [0, 3, -1, 1.5, True, 2**70],
    "max-age": [0, 365, "90"],
    "baseline": ["a.json", "", " ", 1],
    "later": [1],
}
WAIVER: dict[str, list[Any]] = {
    "reason": ["why", " ", ""],
    "expires": ["2027-01-01", "soon", 2027],
    "operator": ["aten::gelu", "gelu", "aten::a b"],
    "finding": ["0a1b", "a b"],
    "module": ["layers.*", "", "a b"],
    "target": ["*", "ascend-910*@..26.1, 27..+torch2.1..2.7", "a@", "a@b", "a@1...2", "A"],
    "until": ["2027-01-01"],
}


def some(of: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in of.items()})


@settings(max_examples=300, deadline=None)
@given(some(PARTS), st.none() | st.lists(some(WAIVER), max_size=2))
def test_the_schema_takes_what_the_reader_takes(data: dict[str, Any], waivers: Any) -> None:
    data = data if waivers is None else {**data, "waivers": waivers}
    both = data.get("allow-unknown") is True and data.get("fail-on") == {"verdict": ["unknown"]}
    try:
        POLICY.check(data, ())
        taken = not both  # the reader says so once it has read everything
    except ShapeError:
        taken = False
    assert VALIDATOR.is_valid(data) is taken


def test_the_page_on_gates_tells_every_key_and_shows_what_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "gate.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+)(?:: \w+)?` \|", page, re.MULTILINE)
    assert set(rows) == set(SCHEMA["properties"]) - {"schema"}
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    policy = read_policy(written(tmp_path, shown))
    assert [waiver.operator or waiver.finding for waiver in policy.waivers] == [
        "aten::view_as_*",
        "0a1b2c3d4e5f",
    ]


def _plain(data: Any) -> Any:
    """YAML's dates as text, as JSON has them."""
    return json.loads(json.dumps(data, default=str))
