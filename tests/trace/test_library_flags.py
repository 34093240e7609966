"""What libraries ask of the machine once: they know the device that a model is traced for."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import opcheck
from opcheck.db.by_hand.libraries import Schemas
from opcheck.source.building.stand_ins.finder import standing_in
from opcheck.trace import trace_model
from opcheck.trace.running.library_flags import libraries_know_device, libraries_know_torch
from tests.trace.look import calls

pytest.importorskip("transformers")
sdpa: Any = importlib.import_module("transformers.integrations.sdpa_attention")
SHIPPED = Path(__file__).parents[2] / "compat_db" / "schemas"
FLAGS = ("_is_torch_xpu_available", "_is_torch_npu_available", "_is_torch_mps_available")


def called_on(device_type: str, model: nn.Module, *given: torch.Tensor) -> set[str]:
    return {*calls(trace_model(model, given, {}, device_type=device_type))}


def flags() -> list[bool]:
    return [getattr(sdpa, name) for name in FLAGS]


@pytest.mark.parametrize(
    ("device_type", "told"),
    [
        ("xpu", [True, False, False]),
        ("npu", [False, True, False]),
        ("mps", [False, False, True]),
        ("cuda", [False, False, False]),
    ],
)
def test_transformers_knows_the_device_in_the_block_alone(
    device_type: str, told: list[bool]
) -> None:
    with libraries_know_device(device_type):
        assert flags() == told
        with libraries_know_device("mlu"):
            assert flags() == [False] * 3
            with libraries_know_device(device_type):
                assert flags() == told
        with libraries_know_device(device_type):
            assert flags() == told
        assert flags() == told
    assert flags() == [False] * 3


def test_an_older_torch_is_taken_for_the_one_that_is_here_and_a_newer_one_is_not() -> None:
    names = ("_is_torch_greater_or_equal_than_2_8", "_is_torch_greater_or_equal_than_2_13")
    here = [getattr(sdpa, name) for name in names]
    for version, told in (((2, 7), [False, False]), ((2, 9), [here[0], False]), ((9, 0), here)):
        with libraries_know_torch(version):
            assert [getattr(sdpa, name) for name in names] == told
    with libraries_know_torch(()):
        assert [getattr(sdpa, name) for name in names] == here


class Attention(nn.Module):
    """What transformers' attention with grouped heads calls, with a mask of floats."""

    num_key_value_groups = 2
    is_causal = False

    def forward(self, q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = sdpa.sdpa_attention_forward(self, q, k, k, mask)[0]
        return found


@pytest.mark.parametrize(
    ("device_type", "called", "left_out"),
    [
        ("cuda", "aten::expand", "aten::logical_not"),
        ("xpu", "aten::scaled_dot_product_attention", "aten::expand"),
        ("npu", "aten::logical_not", ""),
    ],
)
def test_attention_goes_the_way_that_it_goes_on_the_device(
    device_type: str, called: str, left_out: str
) -> None:
    """As ``use_gqa_in_sdpa`` and what stands below it say: the mask's heads, and its dtype."""
    given = (torch.ones(1, 4, 3, 8), torch.ones(1, 2, 3, 8), torch.zeros(1, 1, 3, 3))
    made = called_on(device_type, Attention(), *given)
    assert called in made
    assert left_out not in made


def test_diffusers_calls_the_kernels_of_torch_npu_on_ascend_alone() -> None:
    normalization: Any = pytest.importorskip("diffusers.models.normalization")
    activations: Any = pytest.importorskip("diffusers.models.activations")
    model = nn.Sequential(activations.GEGLU(4, 8), normalization.RMSNorm(8, eps=1e-6))
    own = {"npu::npu_geglu", "npu::npu_rms_norm"}
    with standing_in(Schemas(SHIPPED)):
        assert own <= called_on("npu", model, torch.ones(2, 4))
        assert not own & called_on("cuda", model, torch.ones(2, 4))
    assert not own & called_on("npu", model, torch.ones(2, 4))
    assert "torch_npu" not in vars(activations)


def test_the_emulated_device_tells_them_as_a_scan_does() -> None:
    with opcheck.emulate("ascend-910b@26.1.0+torch2.7", values=False):
        assert flags() == [False, True, False]
        assert not sdpa._is_torch_greater_or_equal_than_2_8
    assert flags() == [False] * 3
