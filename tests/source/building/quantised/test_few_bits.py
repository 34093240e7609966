"""Linear layers of three values, of codebooks and of few bits: what they hold and compute."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.aqlm import AQLM
from opcheck.source.building.quantised.bitnet import AutoBitLinear, BitLinear
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.gemma import QuantizedEmbedding, QuantizedLinear
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.asked import Asked

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
BITNET: dict[str, Any] = {"quant_method": "bitnet"}
AUTO: dict[str, Any] = {**BITNET, "linear_class": "autobitlinear"}
AQLM_1X16: dict[str, Any] = {
    "quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1, "num_codebooks": 1,
    "nbits_per_codebook": 16,
}  # fmt: skip
AQLM_2X8 = {**AQLM_1X16, "num_codebooks": 2, "nbits_per_codebook": 8}
WAY = {
    "group_num": 1, "group_size": 64, "outlier_size": 0, "indices_as_float": False,
    "enable_norm": True, "enable_perm": True, "vector_lens": [-1, 8], "num_centroids": [-1, 4096],
    "num_res_centroids": [-1, 256],
}  # fmt: skip
VPTQ: dict[str, Any] = {"quant_method": "vptq", "config_for_layers": {"0": WAY}}
SPQR: dict[str, Any] = {
    "quant_method": "spqr",
    "shapes": {
        "0.dense_weights.shape": 128, "0.row_offsets.shape": 33, "0.col_vals.shape": 9,
        "0.in_perm.shape": 0,
    },
}  # fmt: skip
HIGGS: dict[str, Any] = {"quant_method": "higgs", "group_size": 64, "hadamard_size": 64}
METAL: dict[str, Any] = {"quant_method": "metal"}
GEMMA: dict[str, Any] = {"quant_method": "gemma"}


@pytest.fixture(autouse=True)
def _as_written(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have nothing compiled: what BitNet compiles is called as it is written."""
    monkeypatch.setattr(torch, "compile", lambda function: function)
    yield


def net(dtype: torch.dtype = torch.float32) -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 16, bias=False)).to(dtype)


def packed(section: Mapping[str, Any], dtype: torch.dtype = torch.float32) -> Any:
    made = net(dtype)
    assert pack(made, "quantization_config", section, SCHEMAS, valued=2**24)
    return made[0]


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


@pytest.mark.parametrize(
    ("section", "dtype", "expected"),
    [
        (BITNET, torch.float32, {
            "weight": ("uint8", (8, 64)), "weight_scale": ("float32", (1,)),
            "bias": ("float32", (32,)),
        }),
        ({**BITNET, "use_rms_norm": True}, torch.bfloat16, {
            "weight": ("uint8", (8, 64)), "weight_scale": ("bfloat16", (1,)),
            "bias": ("bfloat16", (32,)), "rms_norm.weight": ("bfloat16", (64,)),
        }),
        (AUTO, torch.float32, {
            "weight": ("float32", (32, 64)), "weight_scale": ("float32", (1,)),
            "bias": ("float32", (32,)),
        }),
        ({**AUTO, "quantization_mode": "online"}, torch.float32, {
            "weight": ("float32", (32, 64)), "bias": ("float32", (32,)),
        }),
        (AQLM_1X16, torch.float16, {
            "codebooks": ("float16", (1, 65536, 1, 8)), "codes": ("int16", (32, 8, 1)),
            "scales": ("float16", (32, 1, 1, 1)), "bias": ("float16", (32,)),
        }),
        (AQLM_2X8, torch.float16, {
            "codebooks": ("float16", (2, 256, 1, 8)), "codes": ("int8", (32, 8, 2)),
            "scales": ("float16", (32, 1, 1, 1)), "bias": ("float16", (32,)),
        }),
        (VPTQ, torch.float16, {
            "centroids": ("float16", (1, 32768)), "res_centroids": ("float16", (1, 2048)),
            "indices": ("int32", (1, 4, 40)), "perm": ("int16", (64,)),
            "weight_scale": ("float16", (64,)), "weight_bias": ("float16", (64,)),
            "bias": ("float16", (32,)),
        }),
        (SPQR, torch.float16, {
            "dense_weights": ("int64", (128,)), "row_offsets": ("int32", (33,)),
            "col_vals": ("int32", (9,)), "in_perm": ("int32", (0,)),
        }),
        (HIGGS, torch.float16, {
            "weight": ("int16", (8, 64)), "scales": ("float16", (32, 1)),
            "tables": ("float16", (16,)), "tables2": ("float16", (16, 16, 2)),
            "bias": ("float16", (32,)), "workspace": ("uint8", (1,)),
        }),
        (METAL, torch.float16, {
            "weight": ("uint32", (32, 8)), "scales": ("float32", (32, 1)),
            "qbiases": ("float32", (32, 1)), "bias": ("float16", (32,)),
        }),
        (GEMMA, torch.float32, {
            "weight": ("uint8", (32, 32)), "weight_scale": ("float32", (32, 1)),
            "input_activation_scale": ("float32", ()), "output_activation_scale": ("float32", ()),
            "bias": ("float32", (32,)),
        }),
    ],
)  # fmt: skip
def test_layers_hold_packed_weights(
    section: dict[str, Any], dtype: torch.dtype, expected: dict[str, Any]
) -> None:
    assert held(packed(section, dtype)) == expected


def test_the_last_layer_stays_but_with_aqlm() -> None:
    for section in (BITNET, GEMMA, METAL):
        made = net()
        assert pack(made, "", section, SCHEMAS)
        assert type(made[1]) is nn.Linear
    made = net()
    assert pack(made, "", AQLM_2X8, SCHEMAS)
    assert type(made[1]) is not nn.Linear


def _filled(module: nn.Module) -> None:
    """Give what is packed values, the same in each module that holds the same."""
    torch.manual_seed(0)
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.dtype.is_floating_point:
            tensor.data = torch.rand(tensor.shape, dtype=tensor.dtype) + 0.5
        else:
            top = 2 if tensor.dtype == torch.uint8 else 100
            tensor.data = torch.randint(0, top, tensor.shape).to(tensor.dtype)


def _compared(own: nn.Module, made: nn.Module, x: Tensor) -> None:
    """Hold both beside each other: what they hold, what they give, and what they ask for."""
    assert held(made) == held(own)
    asked = []
    for module in (own, made):
        _filled(module)
    made.load_state_dict(own.state_dict())
    for module in (own, made):
        with Asked() as modes, torch.no_grad():
            asked.append((module(x), modes.seen))
    (first, calls), (second, ours) = asked
    assert torch.equal(first, second)
    assert ours == calls


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("kind", ["bitlinear", "offline", "online"])
def test_bitnet_computes_what_the_librarys_own_compute(
    kind: str, norm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("transformers.integrations.bitnet")
    linear = nn.Linear(64, 32)
    eps = 1e-6 if norm else None
    given: dict[str, Any] = {"use_rms_norm": norm, "dtype": torch.float32}
    own: nn.Module
    made: nn.Module
    if kind == "bitlinear":
        own = library.BitLinear(64, 32, True, **given)
        made = BitLinear(linear, 32, 64, eps=eps)
    else:
        own = library.AutoBitLinear(64, 32, online_quant=kind == "online", **given)
        made = AutoBitLinear(linear, online=kind == "online", eps=eps)
    with torch.compiler.set_stance("force_eager"):
        _compared(own, made, torch.rand(2, 3, 64))


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_gemma_computes_what_the_librarys_own_compute(bits: int) -> None:
    library = pytest.importorskip("transformers.integrations.gemma_quant")
    own = library.QuantizedLinear(64, 32, bias=True, num_bits=bits)
    _compared(own, QuantizedLinear(32, 64, nn.Linear(64, 32).bias, bits), torch.rand(2, 3, 64))
    table = library.QuantizedEmbedding(10, 64, torch.float32, num_bits=bits)
    made = QuantizedEmbedding(nn.Embedding(10, 64), bits)
    _compared(table, made, torch.tensor([[1, 2, 3]]))
    assert torch.equal(made.weight, table.weight)


def test_gemma_has_bits_by_the_first_pattern_of_a_path() -> None:
    ways = {r"^0$": {"num_bits": 2}, r"\d": {"num_bits": 8}}
    made = net()
    section = {**GEMMA, "module_quant_configs": ways, "modules_to_not_convert": []}
    assert pack(made, "", section, SCHEMAS)
    assert [getattr(layer, "bits", None) for layer in made] == [2, 8]
    made = nn.Sequential(nn.Embedding(10, 64), nn.Linear(64, 8))
    assert pack(made, "", {**GEMMA, "quantize_embeddings": True}, SCHEMAS)
    assert held(made[0]) == {
        "embedding_quantized": ("uint8", (10, 32)), "embedding_scale": ("float32", (10, 1)),
    }  # fmt: skip


def test_aqlm_makes_weights_whole_where_it_has_no_kernel() -> None:
    layer = packed(AQLM_2X8)
    _filled(layer)
    with Asked() as asked, torch.no_grad():
        out = layer(torch.ones(2, 3, 64))
    codes = layer.codes.long() % 256
    rows = sum(layer.codebooks[book, codes[..., book], 0] for book in range(2))
    whole = (rows * layer.scales[:, 0]).reshape(32, 64)
    assert torch.allclose(out, nn.functional.linear(torch.ones(2, 3, 64), whole, layer.bias))
    assert [name for name, _, _ in asked.seen if "bag" in name or "mm" in name]


@pytest.mark.library
@pytest.mark.parametrize(("books", "bits"), [(1, 12), (2, 10)])
def test_aqlm_computes_what_the_librarys_own_compute(books: int, bits: int) -> None:
    library = pytest.importorskip("aqlm")
    own = library.QuantizedLinear(64, 32, 8, 1, books, bits)
    section = {**AQLM_1X16, "num_codebooks": books, "nbits_per_codebook": bits}
    made = packed(section)
    assert held(made) == held(own)
    _filled(own)
    made.load_state_dict(own.state_dict())
    x = torch.rand(2, 3, 64)
    with torch.no_grad():
        assert torch.equal(own(x), made(x))


def test_layers_that_aqlm_names_by_their_weights_begin_at_random() -> None:
    method = AQLM({**AQLM_2X8, "linear_weights_not_to_quantize": ["lm_head.weight"]})
    why = method.unseen(net(), {"lm_head.weight"})
    assert why is not None and "begins them at random" in why
    assert method.unseen(net(), {"lm_head.codes"}) is None


def test_packed_experts_that_a_model_keeps_together_begin_at_random() -> None:
    made = net()
    made.add_module("experts", nn.Module())
    made.get_submodule("experts").register_parameter("up", nn.Parameter(torch.zeros(2, 4, 4)))
    method = pack(made, "", AQLM_2X8, SCHEMAS)
    assert method is not None and STAY in method.notes
    why = method.unseen(made, {"0.codes", "0.experts.1.w1.codes", "0.experts.1.w1.scales"})
    assert why is not None and "begins these experts at random" in why
    assert method.unseen(made, {"0.codes", "0.experts.1.w1.weight"}) is None


@pytest.mark.parametrize(
    "section",
    [
        {**METAL, "dequantize": True}, {**GEMMA, "num_bits": 3}, HIGGS, SPQR,
        {**AQLM_1X16, "nbits_per_codebook": 65},
    ],
)  # fmt: skip
def test_what_is_not_modelled_stays_a_gap(section: dict[str, Any]) -> None:
    assert pack(net(), "", section, SCHEMAS) is None


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ({**BITNET, "linear_class": "x"}, "linear_class is x, want bitlinear, autobitlinear"),
        ({**AQLM_1X16, "in_group_size": "8"}, "in_group_size is 8, want a positive integer"),
        ({**AQLM_1X16, "in_group_size": 48},
         "in_group_size is 48, which does not divide 64 features"),
        ({**VPTQ, "config_for_layers": {}}, "config_for_layers has nothing for 0"),
        ({**VPTQ, "config_for_layers": {"0": {"group_num": 1}}},
         "config_for_layers is not complete for 0"),
        ({**VPTQ, "config_for_layers": [1]}, "config_for_layers is [1], want an object"),
        ({**SPQR, "shapes": {}}, "shapes has no size for 0.dense_weights.shape"),
        ({**SPQR, "bits": 4}, "bits is 4, want 3"),
        ({**HIGGS, "group_size": 32}, "group_size is 32, want 64, 128, 256"),
        ({**HIGGS, "hadamard_size": 96},
         "hadamard_size is 96, want a multiple of group_size"),
        ({**HIGGS, "group_size": 128, "hadamard_size": 128},
         "group_size is 128, which does not divide 64 features"),
        ({**METAL, "bits": 3}, "bits is 3, want 2, 4, 8"),
        ({**METAL, "group_size": 0}, "group_size is 0, want a positive integer"),
        ({**METAL, "group_size": 48}, "group_size is 48, which does not divide 64 features"),
        ({**GEMMA, "module_quant_configs": 1}, "module_quant_configs is 1, want an object"),
    ],
)  # fmt: skip
def test_a_section_that_contradicts_itself_is_an_error(section: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(section, torch.float16)
    assert caught.value.message == f"quantization_config: {why}"


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 1, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000, "torch_dtype": "float16",
}  # fmt: skip
LINEAR = {
    f"model.layers.0.{name}": (rows, columns)
    for name, rows, columns in (
        ("self_attn.q_proj", 256, 256), ("self_attn.k_proj", 256, 256),
        ("self_attn.v_proj", 256, 256), ("self_attn.o_proj", 256, 256),
        ("mlp.gate_proj", 512, 256), ("mlp.up_proj", 512, 256), ("mlp.down_proj", 256, 512),
    )
}  # fmt: skip
SHAPES = {
    f"{path}.{part}.shape": 64
    for path in LINEAR
    for part in ("dense_weights", "row_offsets", "col_vals", "in_perm")
}
REFUSED = False, "unsupported", "library-refuses-device"
NOT_BUILT = None, "unknown", "library-not-built"
RUNS = True, "native", "registered"
CUDA_ALONE = {
    "ascend-910b": REFUSED, "apple-mps": REFUSED, "google-tpu-v5e": REFUSED,
    "nvidia-h100": RUNS, "amd-mi300x": NOT_BUILT,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "name", "found"),
    [
        (AQLM_1X16, "aqlm::code1x16_matmat_dequant", {
            "nvidia-t4": RUNS, "nvidia-h100": RUNS, "amd-mi300x": NOT_BUILT,
            "ascend-910b": (True, "", ""), "apple-mps": (True, "", ""),
        }),
        ({**VPTQ, "config_for_layers": {
            path: {**WAY, "group_size": columns} for path, (_, columns) in LINEAR.items()
        }}, "vptq::dequant", CUDA_ALONE),
        ({**SPQR, "shapes": SHAPES}, "spqr_cuda::spqr_mul",
         {**CUDA_ALONE, "nvidia-h100": (None, *RUNS[1:])}),
        ({**HIGGS, "hadamard_size": 256}, "flute::qgemm_raw_simple_hadamard",
         {**CUDA_ALONE, "nvidia-t4": NOT_BUILT}),
        (METAL, "mlx_quantization_metal_kernels::affine_qmm_t", {
            "apple-mps": RUNS, "ascend-910b": (True, "", ""), "nvidia-h100": (True, "", ""),
        }),
        ({**METAL, "group_size": 16}, "mlx_quantization_metal_kernels::affine_qmm_t", {
            "apple-mps": (False, "unsupported", "value-not-supported"),
        }),
        (BITNET, "torch::compile", {
            "google-tpu-v5e": (False, "unsupported", "compile-backend-missing"),
            "nvidia-h100": (True, "native", "compile-backend"),
        }),
        (GEMMA, "aten::bitwise_right_shift", {"nvidia-h100": (True, "", "")}),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    section: dict[str, Any],
    name: str,
    found: dict[str, tuple[bool | None, str, str]],
    tmp_path: Path,
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": section}))
    targets = tuple(map(TargetSpec.parse, found))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    answers: dict[str, tuple[bool | None, str, str]] = {}
    for asked, target in zip(found, report.targets, strict=True):
        ones = [finding for finding in target.findings if finding.op == name]
        said = (ones[0].verdict.value, ones[0].reason.code) if ones else ("", "")
        answers[asked] = (target.summary.runs, *said)
    assert answers == found
