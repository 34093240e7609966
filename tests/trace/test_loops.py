"""Loops that only values end, known or not: every one comes to its end."""

import pytest
import torch
from torch import Tensor, nn

from opcheck.trace import trace_model
from opcheck.trace.outputs.loops import ROUNDS


class Greedy(nn.Module):
    """Writes tokens until it happens to write one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(100, width), nn.Linear(width, 100)

    def forward(self, ids: Tensor) -> Tensor:
        done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
        while not done.all():
            token = self.head(self.embed(ids[:, -1])).argmax(-1)
            ids = torch.cat((ids, token[:, None]), 1)
            done = done | (token == 100)
        return ids


class Checked(Greedy):
    """Ends at a length, or at a token; whether it is to end is read before the loop's test."""

    def __init__(self, width: int, longest: int) -> None:
        super().__init__(width)
        self.longest = longest

    def ends(self, running: Tensor) -> bool:
        return bool(running.max() == 0)

    def forward(self, ids: Tensor) -> Tensor:
        rows = ids.shape[0]
        running, ended = torch.ones(rows, dtype=torch.int64, device=ids.device), False
        while not ended:
            token = self.head(self.embed(ids[:, -1])).argmax(-1)
            ids = torch.cat((ids, token[:, None]), 1)
            long = torch.full((rows,), ids.shape[1] >= self.longest, device=ids.device)
            running = running & ~(long | (token == 100))
            ended = self.ends(running)
        return ids


class Layer(nn.Module):
    """Looks at a mask that is known."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return x.relu() if mask.all() else x.sigmoid()


class Deep(nn.Module):
    """More layers than a loop may have rounds."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(ROUNDS + 8))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x


class EachBox(nn.Module):
    """Reads where each box lies, of more boxes than a loop may have rounds."""

    def forward(self, boxes: Tensor) -> Tensor:
        pasted = []
        for box in boxes:
            left = max(int(box.sum()), 0)
            pasted.append(box.new_zeros(left + 1))
        return torch.stack(pasted)


def told(model: nn.Module, *args: Tensor) -> tuple[dict[str, int], list[str]]:
    trace = trace_model(model, args, {}, device_type="npu")
    counts = {str(trace.nodes[use.node].op): 0 for use in trace.uses}
    for use in trace.uses:
        counts[str(trace.nodes[use.node].op)] += use.count
    return counts, [gap.reason for gap in trace.gaps]


def test_a_loop_over_known_values_ends() -> None:
    counts, gaps = told(Greedy(4), torch.zeros(1, 3, dtype=torch.int64))
    assert ROUNDS - 4 < counts["aten::argmax"] <= ROUNDS
    assert gaps == [
        "reads a value that depends on data; after 64 times, so that a loop ends, it is taken "
        "to be True here"
    ]


def test_a_loop_over_unknown_values_ends() -> None:
    counts, gaps = told(Greedy(4).to("meta"), torch.zeros(1, 3, dtype=torch.int64))
    assert ROUNDS - 4 < counts["aten::argmax"] <= ROUNDS
    assert any("so that a loop ends" in gap for gap in gaps)


def test_a_length_that_is_known_ends_a_loop_whatever_the_tokens_are() -> None:
    ids = torch.zeros(2, 3, dtype=torch.int64)
    counts, _ = told(Checked(4, longest=8).to("meta"), ids)
    assert counts["aten::argmax"] == 8 - 3


class Until(nn.Module):
    """Has loops that go on while something is true, or as long as it is not."""

    def forward(self, x: Tensor) -> Tensor:
        while x.sum() > 0:
            x = torch.special.i0(x)
        while not (x > 0).all():
            x = torch.special.i1(x)
        done = False
        while self.goes_on(done):
            x = torch.special.i0e(x)
            done = not self.open(x)
        for _ in range(9):
            x = torch.special.i1e(x)
            if not x.isnan().any() and not (x > 1).all():
                break
        return x

    def goes_on(self, done: bool) -> bool:
        return not done

    def open(self, x: Tensor) -> Tensor:
        return (x > 0).any()


def test_what_a_loop_does_is_seen_whose_end_is_not_known() -> None:
    counts, gaps = told(Until(), torch.ones(300, 300))
    for name in ("i0", "i1", "i0e"):
        assert ROUNDS - 4 < counts[f"aten::special_{name}"] <= ROUNDS + 1
    assert counts["aten::special_i1e"] == 9
    assert {gap.partition("; ")[2] for gap in gaps} == {
        "it is taken to be True here",
        "it is taken to be False here",
        "after 64 times, so that a loop ends, it is taken to be False here",
        "after 64 times, so that a loop ends, it is taken to be True here",
    }


def test_what_is_read_in_a_loop_for_its_test_ends_it() -> None:
    ids = torch.zeros(2, 3, dtype=torch.int64)
    counts, gaps = told(Checked(4, longest=100_000).to("meta"), ids)
    assert ROUNDS - 4 < counts["aten::argmax"] <= ROUNDS + 1
    assert any("so that a loop ends" in gap for gap in gaps)


@pytest.mark.slow
def test_layers_that_look_at_the_same_line_are_no_loop() -> None:
    counts, gaps = told(Deep(), torch.ones(2, 3), torch.ones(2, dtype=torch.bool))
    assert counts["aten::relu"] == ROUNDS + 8
    assert gaps == []


class Endless(nn.Module):
    """Goes on whatever it reads."""

    def forward(self, x: Tensor) -> Tensor:
        while True:
            x = x + x.sum().item()


@pytest.mark.slow
def test_a_loop_that_no_answer_ends_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcheck.trace.outputs.loops.MOST", 9)
    _, gaps = told(Endless(), torch.ones(300, 300))
    assert gaps == [
        "a loop that depends on data does not end within 9 rounds",
        "reads a value that depends on data; it is taken to be 1.0 here",
    ]


def test_a_loop_over_things_that_are_there_reads_the_same_of_each() -> None:
    _, gaps = told(EachBox(), torch.zeros(ROUNDS + 8, 4, device="meta"))
    assert len(gaps) == 1
    assert "so that a loop ends" not in gaps[0]
