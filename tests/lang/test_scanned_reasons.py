"""What a report says of real models is made of messages that the Chinese catalogue has."""

from collections.abc import Iterator

import pytest

import opcheck
from opcheck.lang.sentence import Sentence, sentences
from opcheck.lang.speech import Language, catalogue, speaking, tell
from opcheck.model.report import Report
from tests.lang.test_mixed import CHINESE, mixed
from tests.zoo import ZOO

TARGETS = (
    "ascend-910b", "ascend-310p", "nvidia-h100", "nvidia-tensorrt", "apple-mps",
    "cambricon-mlu370", "google-tpu-v5e", "moorethreads-s4000", "intel-max",
)  # fmt: skip
MODELS = ("vision-mask-rcnn", "vision-yolov8n", "language-llama")
OF_DATABASE = frozenset({"argument", "actual", "chip"})
"""Places in sentences of the database, of which several messages may make up one."""


def said_in(report: Report) -> Iterator[str]:
    """Every reason, gap and advisory, each once."""
    found = [gap.reason for gap in report.trace.gaps]
    for target in report.targets:
        found += [finding.reason.text for finding in target.findings]
        found += [advisory.text for advisory in target.advisories]
    yield from dict.fromkeys(found)


@pytest.fixture(scope="module", params=MODELS)
def report(request: pytest.FixtureRequest) -> Report:
    pytest.importorskip("transformers")
    model, args, kwargs = ZOO[request.param]()
    return opcheck.scan(model, (args, kwargs), targets=TARGETS)


@pytest.mark.slow
def test_every_reason_is_a_message_of_the_catalogue(report: Report) -> None:
    known = catalogue(Language.CHINESE)
    for text in said_in(report):
        for part in sentences(text):
            whole = part.template in known.templates
            assert whole or part.arguments.keys() <= OF_DATABASE, part.template
        assert isinstance(text, Sentence) or text in known.templates, text


@pytest.mark.slow
def test_no_reason_stays_english(report: Report) -> None:
    with speaking(Language.CHINESE):
        told = {text: tell(text) for text in said_in(report)}
    assert told
    assert [text for text in told.values() if not CHINESE.search(text) or mixed(text)] == []
