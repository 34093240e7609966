"""The page of scanned models tells all that was scanned, and what had no answer plainly."""

import json

from benchmarks.measure import Cost, Done
from benchmarks.scanned_models import DECODED, MODELS, PAGE, TRAINED, runs
from benchmarks.scanned_models_page import Scanned, page

REPORT = {
    "trace": {
        "calls": 1234,
        "operators": 5,
        "gaps": [{"where": "head", "reason": "it\nfailed"}],
        "notes": [],
    },
    "targets": [
        {"summary": {"runs": runs}, "findings": [{"phase": "forward"}]}
        for runs in (True, True, False, None)
    ],
}
TOOK = Cost(12.4, 3 * 2**30, 5.6)


def test_the_page_tells_figures_gaps_and_errors() -> None:
    found = [
        Scanned.of("timm", "one", "inference", Done(0, json.dumps(REPORT), "", TOOK)),
        Scanned.of("timm", "two", "inference", Done(3, "", "no\nsuch model\n", TOOK)),
        Scanned.of("timm", "one", "decode", Done(0, json.dumps(REPORT), "", TOOK)),
        Scanned.of("timm", "one", "train", Done(0, json.dumps(REPORT), "", TOOK)),
    ]
    text = page(found)
    assert "4 targets" in text.partition("## Inference")[0]
    section = text[text.index("## Inference") : text.index("## A token more")]
    assert (
        section
        == """\
## Inference

2 models, 1 without an answer. The median took 12 s (6 s of CPU) and 3.0 GiB, the largest 3.0 GiB.

| library | model | calls | operators | gaps | runs on | not on | s | CPU s | GiB |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| timm | one | 1,234 | 5 | 1 | 2 | 1 | 12 | 6 | 3.0 |
| timm | two | exit code 3, see below |  |  |  |  | 12 | 6 | 3.0 |

Without an answer:

* timm two: no such model

Gaps:

* timm one: head: it failed

"""
    )


def test_the_page_has_every_scan_that_is_listed() -> None:
    text = PAGE.read_text("utf-8")
    assert sum(map(len, MODELS.values())) >= 60
    assert sum(map(len, TRAINED.values())) >= 20
    assert DECODED
    for run in runs():
        assert f"| {run.library} | {run.model} |" in text
    assert all(set(TRAINED[library]) <= set(MODELS[library]) for library in MODELS)
    assert text.count("\n| t") + text.count("\n| u") == len(list(runs()))
