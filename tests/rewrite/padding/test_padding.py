"""Inputs padded to few sizes: what is chosen, what is written, and what is refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

from opcheck.errors import TraceError, UsageError
from opcheck.model.dynamic import dynamic_inputs
from opcheck.model.padding import PadRun, PadSpec, bucket_sizes
from opcheck.rewrite.padding.module import loaded
from opcheck.rewrite.padding.proving import padded

SMALL = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 50,
}  # fmt: skip


def tried(
    model: Any,
    *args: Any,
    dynamic: Sequence[str],
    buckets: Sequence[str] = (),
    **kwargs: Any,
) -> PadRun:
    spec = PadSpec(dynamic_inputs(dynamic), bucket_sizes(buckets), "google-tpu-v4")
    return padded(model, args, kwargs, spec, "net.py:net")


class Words(nn.Module):
    """Embeds, and looks at every other place that the mask shows."""

    def __init__(self, *, hidden: bool) -> None:
        super().__init__()
        self.hidden = hidden
        self.words = nn.Embedding(50, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden = mask if self.hidden else ~mask
        found: Tensor = self.block(self.words(ids), src_key_padding_mask=hidden)
        return found


class Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


class Twice(nn.Module):
    """Each frame becomes two, and the first is left out."""

    def forward(self, x: Tensor, scale: float = 1.0) -> tuple[Tensor, float]:
        return torch.repeat_interleave(x * scale, 2, dim=1)[:, 1:], scale


class Long(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] < 3:
            raise ValueError("too short")
        return x * 2


class Names(nn.Module):
    def forward(self, x: Tensor) -> dict[str, Any]:
        return {"sum": x.sum(2), "rest": {1, 2}}


IDS = torch.arange(32).view(2, 16)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_mask_is_padded_by_what_it_hides(hidden: bool) -> None:
    mask = torch.full((2, 16), not hidden)
    run = tried(Words(hidden=hidden), IDS, mask, dynamic=["ids:1"])
    assert run.holds
    assert [(axis.members, axis.buckets, axis.smallest) for axis in run.axes] == [
        (("ids:1", "mask:1"), (2, 4, 8, 16), 1)
    ]
    assert [(one.name, one.value) for one in run.inputs] == [
        ("ids:1", "0"),
        ("mask:1", str(hidden)),
    ]
    assert [(cut.name, cut.dim, cut.size) for cut in run.cuts] == [("output", 1, "ids:1")]
    assert run.dtype == "float64"
    assert [check.sizes for check in run.checks] == [
        f"ids:1 = {size}" for size in (1, 3, 5, 6, 7, 9, 12, 15)
    ]
    assert run.notes == (
        "mask:1 was changed along with what --dynamic marks: other sizes fail without it",
    )


def test_a_causal_model_needs_no_mask() -> None:
    model = LlamaForCausalLM(LlamaConfig(**SMALL)).eval()
    run = tried(model, input_ids=torch.zeros(1, 16, dtype=torch.int64), dynamic=["input_ids:1"])
    assert run.holds
    assert [(one.name, one.value, one.made) for one in run.inputs] == [("input_ids:1", "0", False)]
    assert run.notes == (
        "output.past_key_values is DynamicCache, which cannot be cut: "
        "the wrapper gives None for it",
    )


def test_a_model_that_looks_both_ways_is_given_a_mask() -> None:
    model = BertModel(BertConfig(**SMALL)).eval()
    ids = torch.zeros(1, 16, dtype=torch.int64)
    run = tried(model, input_ids=ids, dynamic=["input_ids:1"])
    assert run.holds
    assert [(one.name, one.value, one.made) for one in run.inputs] == [
        ("input_ids:1", "0", False), ("attention_mask:1", "0", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "example", "dynamic"),
    [
        (Mean(), torch.randn(2, 8), "x:1"),
        (nn.BatchNorm1d(4, track_running_stats=False), torch.randn(8, 4), "input:0"),
        (
            nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 4, 3, 2, 1)),
            torch.randn(1, 3, 16, 16), "input:2,3",
        ),
    ],
    ids=["mean", "batch norm", "two convolutions"],
)  # fmt: skip
def test_what_padding_changes_is_refused(model: nn.Module, example: Tensor, dynamic: str) -> None:
    run = tried(model, example, dynamic=[dynamic])
    assert not run.holds
    assert run.worst is not None
    assert run.worst.difference is not None
    assert run.worst.difference > 1e-3 > run.worst.allowed


def test_rows_of_a_batch_do_not_touch_each_other() -> None:
    run = tried(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), torch.randn(1, 4),
                dynamic=["0:0"], buckets=["4,8"])  # fmt: skip
    assert run.holds
    assert [(one.name, one.value) for one in run.inputs] == [("input:0", "")]


def test_results_of_other_sizes_are_cut_by_what_they_follow() -> None:
    run = tried(Twice(), torch.randn(2, 16, 3), dynamic=["x:1"])
    assert run.holds
    cuts = [(cut.name, cut.dim, cut.size) for cut in run.cuts]
    assert cuts == [("output[0]", 1, "x:1 * 2 - 1")]


def test_sizes_that_the_model_itself_refuses_are_told() -> None:
    run = tried(Long(), torch.randn(2, 8), dynamic=["x:1"], buckets=["4,8"])
    assert run.holds
    assert run.axes[0].smallest == 3
    assert run.notes == ("the model itself does not take x:1 = 1; x:1 = 2: ValueError: too short",)


def test_one_convolution_takes_zeros_at_its_border() -> None:
    run = tried(nn.Conv2d(3, 4, 3, 2, 1), torch.randn(1, 3, 16, 16), dynamic=["input:2,3"],
                buckets=["input:2=8,16", "input:3=16"])  # fmt: skip
    assert run.holds
    assert [axis.buckets for axis in run.axes] == [(8, 16), (16,)]
    assert [cut.size for cut in run.cuts] == ["(input:2 + 1) // 2", "(input:3 + 1) // 2"]


def test_what_is_no_tensor_is_left_out() -> None:
    run = tried(Names(), torch.randn(2, 8, 3), dynamic=["x:1"])
    assert run.holds
    assert run.notes == ("output.rest is set, which cannot be cut: the wrapper gives None for it",)


class Filtered(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0]


class Flat(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.squeeze(1)


class Multiple(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.view(2, -1, 8)


@pytest.mark.parametrize(
    ("model", "buckets", "reason"),
    [
        (
            Filtered(), [],
            "how large dimension 0 of output is does not follow from one of the sizes",
        ),
        (Flat(), [], "output has not always as many dimensions"),
        (
            Multiple(), ["8,16"],
            "the model itself takes no size that is padded to x:1 = 8, so that nothing can be "
            "compared there",
        ),
        (
            Mean(), ["1"],
            "no bucket has room for a size that is not its own; give larger --buckets",
        ),
    ],
)  # fmt: skip
def test_why_there_is_no_wrapper(model: nn.Module, buckets: list[str], reason: str) -> None:
    run = tried(model, torch.randn(2, 16), dynamic=["x:1"], buckets=buckets)
    assert (run.reason, run.text, run.holds) == (reason, "", False)


def test_the_module_that_is_written_takes_every_size() -> None:
    mask = torch.ones(2, 16, dtype=torch.bool)
    model = Words(hidden=False).eval()
    run = tried(model, IDS, mask, dynamic=["ids:1"])
    wrapped = loaded(run.text)(model)
    shapes: list[tuple[int, ...]] = []
    model.words.register_forward_pre_hook(lambda _, given: shapes.append(tuple(given[0].shape)))
    for size in range(1, 17):
        found = wrapped(IDS[:, :size], mask=mask[:, :size])
        torch.testing.assert_close(found, model(IDS[:, :size], mask[:, :size]), atol=1e-5, rtol=0)
    assert {shape[1] for shape in shapes[::2]} == {2, 4, 8, 16}
    with pytest.raises(ValueError, match="ids:1: 17 is more than the largest bucket, 16"):
        wrapped(torch.zeros(1, 17, dtype=torch.int64), torch.ones(1, 17, dtype=torch.bool))
    with pytest.raises(ValueError, match="ids:1: 3 and 4 at once"):
        wrapped(IDS[:, :4], mask[:, :3])


def test_the_module_is_formatted_and_needs_torch_alone(tmp_path: Path) -> None:
    run = tried(nn.Conv2d(3, 4, 3, 2, 1), torch.randn(1, 3, 8, 8), dynamic=["input:2,3"])
    imports = [line for line in run.text.splitlines() if line.startswith(("import", "from"))]
    assert imports == [
        "from bisect import bisect_left",
        "from collections.abc import Mapping",
        "from typing import Any, NamedTuple",
        "import torch",
        "from torch import Tensor, nn",
        "from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten",
    ]
    assert max(map(len, run.text.splitlines())) <= 100


def test_a_model_that_fails_by_itself_cannot_be_padded() -> None:
    with pytest.raises(TraceError) as caught:
        tried(nn.Linear(4, 4), torch.randn(2, 8), dynamic=["input:0"])
    assert "a run on the host fails: RuntimeError" in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "--buckets '': not a list of sizes"),
        ("8,x", "--buckets '8,x': not a list of sizes"),
        ("=8", "--buckets '=8': not a list of sizes"),
        ("x:1=0", "--buckets 'x:1=0': not a list of sizes"),
        ("x:1,2=8", "--buckets 'x:1,2=8': want one dimension"),
    ],
)
def test_buckets_are_lists_of_sizes(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        bucket_sizes([text])
    assert caught.value.message == said


def test_buckets_are_of_what_is_marked() -> None:
    with pytest.raises(UsageError) as caught:
        tried(Mean(), torch.randn(2, 8), dynamic=["x:1"], buckets=["x:0=8"])
    assert (caught.value.message, caught.value.hint) == (
        "--buckets: x:0 is not marked by --dynamic", "marked are: x:1",
    )  # fmt: skip


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


def _graphs(model: nn.Module, call: nn.Module, sizes: Sequence[int]) -> int:
    """How many graphs torch.compile makes of a model that is called with these sizes."""
    made = 0

    def backend(graph: Any, _: Any) -> Any:
        nonlocal made
        made += 1
        return graph.forward

    torch.compiler.reset()
    with torch._dynamo.config.patch(recompile_limit=64):
        model.compile(backend=backend, dynamic=False)
        for size in sizes:
            call(torch.ones(2, size, 4))
    return made


@pytest.mark.slow
def test_a_compiler_makes_as_many_graphs_as_there_are_buckets() -> None:
    run = tried(Doubled(), torch.randn(2, 16, 4), dynamic=["x:1"])
    assert run.holds
    (axis,) = run.axes
    sizes = range(axis.smallest, axis.buckets[-1] + 1)
    model = Doubled()
    assert _graphs(model, model, sizes) == axis.sizes == 16
    model = Doubled()
    assert _graphs(model, loaded(run.text)(model), sizes) == len(axis.buckets) == 4
