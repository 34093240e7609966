"""What is said of lists of whole models: pages, the published schema, and reports."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import opcheck.views
from opcheck.model.model_lists import ModelEvidence
from opcheck.model.report import Report
from opcheck.views.document.report import from_json
from opcheck.views.formats import PLAIN, Page, command_view, report_view
from tests.views import snapshots
from tests.views.model_lists import AGREES, MODELS, OPPOSED, UNSURE
from tests.views.samples import STANDARD

SCHEMAS = Path(opcheck.views.__file__).parent / "schema"


def schema(name: str) -> Any:
    return Draft202012Validator(json.loads((SCHEMAS / f"opcheck.{name}-1.json").read_text("utf-8")))


def listed(*found: ModelEvidence | None) -> Report:
    """A report of as many targets, with what lists say on each."""
    several = STANDARD["three-targets" if len(found) > 1 else "mixed"]
    targets = zip(several.targets, found, strict=False)
    return replace(
        several, targets=tuple(replace(target, model=evidence) for target, evidence in targets)
    )


@pytest.mark.parametrize("sample", MODELS)
@pytest.mark.parametrize("name", ["text", "json"])
def test_answers(name: str, sample: str) -> None:
    text = command_view("models", name).render(MODELS[sample])
    snapshots.check(f"{name}/models/{sample}.txt", text)


@pytest.mark.parametrize("sample", MODELS)
def test_the_published_schema_holds(sample: str) -> None:
    document = json.loads(command_view("models", "json").render(MODELS[sample]))
    assert list(schema("models").iter_errors(document)) == []


@pytest.mark.parametrize("page", [Page(width=40), Page(width=120)], ids=["narrow", "wide"])
def test_a_page_of_any_width_has_every_row(page: Page) -> None:
    text = command_view("models", "text").render(MODELS["rows"], page)
    assert all(row.name in text for row in MODELS["rows"].rows)


@pytest.mark.parametrize("found", [AGREES, OPPOSED, UNSURE], ids=["agrees", "opposed", "unsure"])
def test_what_a_report_has_is_read_back(found: ModelEvidence) -> None:
    report = listed(found)
    text = report_view("json").render(report)
    assert list(schema("report").iter_errors(json.loads(text))) == []
    assert from_json(text).targets[0].model == found


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_a_report_shows_what_lists_say(name: str) -> None:
    one = report_view(name).render(listed(OPPOSED), PLAIN)
    several = report_view(name).render(listed(AGREES, OPPOSED, UNSURE), PLAIN)
    assert "Qwen3-Dense" in one
    assert all(model in several for model in ("Kimi-K2", "Qwen3-Dense", "BertForMaskedLM"))


def test_a_contradiction_stands_below_the_verdict() -> None:
    lines = report_view("text").render(listed(OPPOSED), Page(width=200)).splitlines()
    assert lines[2:4] == [
        "  vllm-ascend lists Qwen3-Dense, of its family, for vLLM: supported "
        "of/vllm-ascend@182b75e models.md:36",
        "  This contradicts the verdict: they run other code, or one of the two is wrong.",
    ]


def test_several_targets_are_told_together() -> None:
    text = report_view("text").render(listed(AGREES, OPPOSED, UNSURE), Page(width=200))
    _, _, part = text.partition("Lists of models · what others say runs\n")
    assert part.splitlines()[:4] == [
        "  ascend-910b: vllm-ascend lists Kimi-K2 for vLLM: supported as an experiment "
        "of/vllm-ascend@182b75e models.md:45 and 1 more row",
        "  ascend-910a: vllm-ascend lists Qwen3-Dense, of its family, for vLLM: supported "
        "of/vllm-ascend@182b75e models.md:36",
        "    This contradicts the verdict: they run other code, or one of the two is wrong.",
        "  ascend-310p: torch-xpu-ops lists BertForMaskedLM for torch.compile: inaccurate "
        "once compiled in bfloat16, amp_bf16 of/torch-xpu-ops@182b75e models.md:7",
    ]
    markdown = report_view("markdown").render(listed(AGREES, OPPOSED, UNSURE))
    assert markdown.count("This contradicts the verdict") == 1
