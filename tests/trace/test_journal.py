"""What is written down while a model runs, read back, beside the trace that the run gives."""

import json
from pathlib import Path

import torch
from torch import nn

from opcheck.model.codec import from_json
from opcheck.model.trace import Trace
from opcheck.model.work import Recorded, WorkResult
from opcheck.trace import trace_model
from opcheck.trace.results import Journal


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            x = x.relu() + 1
        return x.sum()


def test_a_journal_adds_up_to_the_trace(tmp_path: Path) -> None:
    heard: list[int] = []
    journal = Journal(tmp_path / "0", lambda trace: WorkResult(trace, "test", "", ()), heard.append)
    trace = trace_model(Twice(), (torch.zeros(3),), {}, device_type="npu", journal=journal)
    first, *lines = (tmp_path / "0").read_text().splitlines()
    assert from_json(WorkResult, json.loads(first)).trace == Trace(
        trace.torch_version, "npu", "inference", (), (), ()
    )
    parts = [from_json(Recorded, json.loads(line)) for line in lines]
    assert tuple(call for part in parts for call in part.sequence) == trace.sequence
    assert tuple(node for part in parts for node in part.nodes) == trace.nodes
    assert len([use for part in parts for use in part.uses]) == len(trace.uses)
    assert [bool(part.uses) for part in parts] == [True] * 2 + [False] * 8 + [True]
    assert heard == list(range(1, 12))
