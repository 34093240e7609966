"""Mixtures of experts whose linear layers are packed: what becomes of the experts, and where."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import QUANTISED
from opcheck.source.base import LoadOptions
from opcheck.source.building.quantised.experts import ListedExperts
from opcheck.source.building.quantised.packed import pack, unseen_of
from tests.source.building.quantised.asked import Asked

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}
EETQ = {"quant_method": "eetq", "weights": "int8"}
FBGEMM = {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}
QUANTO = {"quant_method": "quanto", "weights": "int8"}
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True}
HQQ = {
    "quant_method": "hqq", "skip_modules": ["lm_head"],
    "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 32}},
}  # fmt: skip
TORCHAO = {
    "quant_method": "torchao",
    "quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_version": 2, "_data": {}}},
}
W8 = {"num_bits": 8, "type": "int", "strategy": "channel"}
TOKEN = {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True}
COMPRESSED = {
    "quant_method": "compressed-tensors", "format": "int-quantized",
    "quantization_status": "compressed", "ignore": ["lm_head", "re:.*router"],
    "config_groups": {"0": {"targets": ["Linear"], "weights": W8, "input_activations": TOKEN}},
}  # fmt: skip
MOE = {
    "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "moe_intermediate_size": 32, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 128,
    "num_experts": 4, "num_experts_per_tok": 2,
}  # fmt: skip
LLAMA_4 = {
    "model_type": "llama4_text", "architectures": ["Llama4ForCausalLM"], "hidden_size": 64,
    "intermediate_size": 32, "intermediate_size_mlp": 96, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 128,
    "num_local_experts": 8, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
}  # fmt: skip
SWITCH = {
    "model_type": "switch_transformers", "d_model": 64, "d_kv": 32, "d_ff": 96, "num_layers": 2,
    "num_sparse_encoder_layers": 1, "num_decoder_layers": 2, "num_sparse_decoder_layers": 1,
    "num_heads": 2, "num_experts": 8, "vocab_size": 128,
}  # fmt: skip
"""Experts that transformers keeps together, those of Llama 4, and a list of them."""
STAY = (
    "experts whose weights the model keeps together stay floats: transformers 5.23 packs linear "
    "layers alone, and loads no packed weights of such experts"
)
BEGIN = (
    "experts whose weights the model keeps together stay floats: transformers 5.23 has GPTQModel "
    "pack linear layers alone, and begins experts at random, with a warning, where the checkpoint "
    "has packed weights of them"
)


def model_of(config: dict[str, Any]) -> Any:
    transformers = pytest.importorskip("transformers")
    made = transformers.AutoConfig.for_model(**config)
    kind = getattr(transformers, config.get("architectures", ["SwitchTransformersModel"])[0])
    with torch.device("meta"):
        return kind(made).eval().to(torch.bfloat16)


def packed(config: dict[str, Any], section: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    model = model_of(config)
    method = pack(model, "quantization_config", section, SCHEMAS)
    assert method is not None
    return model, method.notes


def kinds(model: nn.Module, place: str) -> set[str]:
    return {type(m).__name__ for p, m in model.named_modules() if p.endswith(place)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "layer", "note"),
    [
        (GPTQ, "GPTQLinear", BEGIN), (AWQ, "AWQLinear", BEGIN), (EETQ, "EetqLinear", STAY),
        (FBGEMM, "FbgemmFp8Linear", STAY), (QUANTO, "QBytesLinear", STAY),
        (NF4, "Linear4bit", STAY), (TORCHAO, "Int8Linear", STAY),
    ],
)  # fmt: skip
def test_experts_that_are_kept_together_stay_and_the_report_says_so(
    section: dict[str, Any], layer: str, note: str
) -> None:
    model, notes = packed(MOE, section)
    assert kinds(model, ".q_proj") == {layer}
    assert kinds(model, ".experts") == {"Qwen3MoeExperts"}
    assert note in notes


@pytest.mark.slow
@pytest.mark.parametrize("section", [AWQ, EETQ, FBGEMM, QUANTO, NF4, HQQ])
def test_experts_that_are_linear_layers_are_packed(section: dict[str, Any]) -> None:
    model, notes = packed(SWITCH, section)
    assert STAY not in notes
    assert BEGIN not in notes
    assert "Linear" not in kinds(model, ".expert_0.wi")


@pytest.mark.slow
def test_gptq_packs_nothing_where_no_block_is_known() -> None:
    with pytest.raises(SourceError) as caught:
        pack(model_of(SWITCH), "c", GPTQ, SCHEMAS)
    assert caught.value.message == (
        "c: optimum knows no blocks of SwitchTransformersModel, and block_name_to_quantize names "
        "none"
    )


class Replaced(nn.Module):
    """Stands for the layer that a library puts in."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def to(self, *_: Any, **__: Any) -> "Replaced":
        return self


def awq_of(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    integration = pytest.importorskip("transformers.integrations.awq")
    quantization, importer = ModuleType("gptqmodel.quantization"), ModuleType("importer")
    quantization.METHOD = SimpleNamespace(AWQ="awq")  # type: ignore[attr-defined]  # made here
    importer.hf_select_quant_linear_v2 = lambda **_: Replaced  # type: ignore[attr-defined]  # the same
    for name, made in {
        "gptqmodel": ModuleType("gptqmodel"), "gptqmodel.quantization": quantization,
        "gptqmodel.utils": ModuleType("gptqmodel.utils"), "gptqmodel.utils.importer": importer,
    }.items():  # fmt: skip
        monkeypatch.setitem(sys.modules, name, made)
    names = ("bits", "group_size", "format", "backend", "zero_point", "sym", "desc_act")
    config = SimpleNamespace(**dict.fromkeys(names))
    integration.replace_with_awq_linear(model, [*usual(model)], config)


def eetq_of(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    integration = pytest.importorskip("transformers.integrations.eetq")
    hub = pytest.importorskip("transformers.integrations.hub_kernels")
    monkeypatch.setattr(hub, "get_kernel", lambda *_, **__: None)
    integration.replace_with_eetq_linear(model, [*usual(model)], pre_quantized=True)


def fbgemm_of(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    integration = pytest.importorskip("transformers.integrations.fbgemm_fp8")

    @contextmanager
    def on_meta(**_: Any) -> Iterator[None]:
        with torch.device("meta"):
            yield

    monkeypatch.setattr(integration, "init_empty_weights", on_meta, raising=False)
    monkeypatch.setattr(integration, "get_quantize_fp8_per_row", lambda: None)
    integration.replace_with_fbgemm_fp8_linear(model, [*usual(model)], pre_quantized=True)


def gptq_of(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quantizer = pytest.importorskip("optimum.gptq.quantizer").GPTQQuantizer
    names = ("bits", "group_size", "desc_act", "sym", "block_name_to_quantize",
             "modules_in_block_to_quantize")  # fmt: skip
    own = SimpleNamespace(**dict.fromkeys(names), quant_linear=Replaced)
    own.select_quant_linear = lambda **_: None
    own._replace_by_quant_layers = partial(quantizer._replace_by_quant_layers, own)
    quantizer.convert_model(own, model)


def usual(model: Any) -> Iterator[str]:
    base = pytest.importorskip("transformers.quantizers.base")
    yield from base.HfQuantizer.get_modules_to_not_convert(
        model, None, model._keep_in_fp32_modules, True
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "library", "config"),
    [
        (section, library, config)
        for section, library in ((AWQ, awq_of), (EETQ, eetq_of), (FBGEMM, fbgemm_of))
        for config in (MOE, LLAMA_4, SWITCH)
    ]
    + [pytest.param(GPTQ, gptq_of, one, marks=pytest.mark.library) for one in (MOE, LLAMA_4)],
)
def test_the_library_replaces_the_same_modules(
    config: dict[str, Any],
    section: dict[str, Any],
    library: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {path: type(module) for path, module in model_of(config).named_modules()}
    theirs = model_of(config)
    library(theirs, monkeypatch)
    ours, _ = packed(config, section)
    replaced = [
        sorted(p for p, kind in before.items() if type(dict(m.named_modules()).get(p)) is not kind)
        for m in (ours, theirs)
    ]
    assert replaced[0] == replaced[1]
    assert any(path.endswith(("q_proj", ".q")) for path in replaced[0])


def llama_4_experts() -> Any:
    llama4 = pytest.importorskip("transformers.models.llama4")
    config = llama4.Llama4TextConfig(**LLAMA_4)
    with torch.device("meta"):
        made = llama4.modeling_llama4.Llama4TextExperts(config).to(torch.bfloat16)
    return SimpleNamespace(config=config, experts=made)


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


@pytest.mark.slow
def test_fbgemm_packs_experts_of_llama_4_as_the_library_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    integration = pytest.importorskip("transformers.integrations.fbgemm_fp8")
    found = llama_4_experts()
    own = integration.FbgemmFp8Llama4TextExperts(found.config).to("meta")
    model, notes = packed(LLAMA_4, {**FBGEMM, "modules_to_not_convert": ["router", "lm_head"]})
    made = next(m for p, m in model.named_modules() if p.endswith(".experts"))
    assert STAY not in notes
    assert held(made) == held(own)
    quantise = torch.ops.fbgemm.quantize_fp8_per_row
    monkeypatch.setattr(integration, "quantize_fp8_per_row", quantise, raising=False)
    monkeypatch.setattr(integration, "on_device", lambda _: nullcontext())
    x = torch.empty(16, 64, dtype=torch.bfloat16, device="meta")
    with torch.no_grad(), Asked() as theirs:
        own(x)
    made.to("meta")
    with torch.no_grad(), Asked() as here:
        made(x)
    assert here.seen == theirs.seen
    assert here.seen[-1][1:] == ("torch.bfloat16", (16, 64))


@pytest.mark.slow
def test_experts_of_llama_4_are_listed_as_the_library_lists_them() -> None:
    base = pytest.importorskip("transformers.quantizers.base")
    found = llama_4_experts()
    own = base.SequentialLlama4TextExperts(found.config)
    made = ListedExperts(found.experts, found.config).to("cpu").float()
    made.load_state_dict(own.state_dict(), assign=True)
    x = torch.randn(8, 64)
    with torch.no_grad(), Asked() as theirs:
        wanted = own(x)
    with torch.no_grad(), Asked() as here:
        assert made(x).equal(wanted)
    assert here.seen == theirs.seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "kind"), [(NF4, "Linear4bit"), (COMPRESSED, "CompressedLinear")]
)
def test_experts_of_llama_4_are_packed_one_by_one(section: dict[str, Any], kind: str) -> None:
    model, notes = packed(LLAMA_4, section)
    assert kinds(model, ".experts.3.up_proj") == {kind}
    assert STAY not in notes


@pytest.mark.slow
@pytest.mark.parametrize("section", [GPTQ, AWQ])
def test_a_checkpoint_with_packed_experts_is_a_gap(section: dict[str, Any], tmp_path: Path) -> None:
    config = {**MOE, "quantization_config": section}
    names = [
        "model.layers.0.self_attn.q_proj.qweight", "model.layers.0.mlp.experts.3.up_proj.qweight",
    ]  # fmt: skip
    found = []
    for count in (1, 2):
        index = {"weight_map": dict.fromkeys(names[:count], "model-00001-of-00001.safetensors")}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
        model = model_of(MOE)
        path = tmp_path / "config.json"
        gaps, _ = unseen_of(model, path, config, LoadOptions(libraries=SCHEMAS))
        found.append([gap.reason for gap in gaps])
        assert kinds(model, ".q_proj") != {"Linear"}
    assert found == [[], [
        "the checkpoint has packed weights of experts, which transformers 5.23 does not load: "
        "it begins these experts at random, in floats"
    ]]  # fmt: skip


@pytest.mark.slow
def test_hqq_has_no_weights_of_experts_that_are_kept_together(tmp_path: Path) -> None:
    path, config = tmp_path / "config.json", {**MOE, "quantization_config": HQQ}
    gaps, _ = unseen_of(model_of(MOE), path, config, LoadOptions(libraries=SCHEMAS))
    assert [gap.reason for gap in gaps] == [
        "hqq saves and loads no weights of experts that a model keeps together: they have no values"
    ]


@pytest.mark.slow
@pytest.mark.library
def test_hqq_itself_leaves_such_experts_without_values(tmp_path: Path) -> None:
    base = pytest.importorskip("hqq.models.hf.base").AutoHQQHFModel
    way = pytest.importorskip("hqq.core.quantize").BaseQuantizeConfig(nbits=4, group_size=32)
    model = model_of(MOE).to_empty(device="cpu")
    base.quantize_model(model, way, compute_dtype=torch.bfloat16, device="cpu")
    base.save_quantized(model, str(tmp_path))
    own = base.from_quantized(str(tmp_path), compute_dtype=torch.bfloat16, device="cpu")
    assert {n.rpartition(".")[0] for n, p in own.named_parameters() if p.is_meta} == {
        "model.layers.0.mlp.experts"
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "section", "op", "runs"),
    [
        (MOE, GPTQ, "gptqmodel::gptq_linear",
         {"nvidia-h100": True, "moorethreads-s4000": False}),
        (MOE, FBGEMM, "fbgemm::f8f8bf16_rowwise", {"nvidia-h100": True, "ascend-910b": False}),
        (LLAMA_4, {**FBGEMM, "modules_to_not_convert": ["router", "lm_head"]},
         "fbgemm::f8f8bf16_rowwise", {"nvidia-h100": True, "ascend-910b": False}),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    config: dict[str, Any],
    section: dict[str, Any],
    op: str,
    runs: dict[str, bool],
    tmp_path: Path,
) -> None:
    written = {**config, "dtype": "bfloat16", "quantization_config": section}
    (tmp_path / "config.json").write_text(json.dumps(written))
    targets = tuple(map(TargetSpec.parse, runs))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert QUANTISED not in {gap.code for gap in report.trace.gaps}
    assert op in {finding.op for finding in report.targets[0].findings}
    assert [target.summary.runs for target in report.targets] == [*runs.values()]
