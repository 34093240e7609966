"""NVIDIA, AMD, Hygon and MetaX: their files against the sources, and cells read in those by eye."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from opcheck.db.importers.shared import cuda, in_tree
from opcheck.db.importers.shared import in_tree as in_tree_facts
from opcheck.db.importers.shared.cuda import bound_operators
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import dense

CUDA = ("nvidia", "amd", "hygon", "metax")
SPARSE = {"SparseCUDA", "SparseCsrCUDA"}
CHIPS = {
    "nvidia": {
        "a10", "a100", "a30", "a40", "a4000", "b200", "h100", "h20", "h200", "l4", "l40s", "orin",
        "p100", "rtx3090", "rtx4090", "rtx5090", "t4", "v100", "xavier",
    },
    "amd": {"mi210", "mi250", "mi300x", "mi325x", "mi355", "mi50", "rx7900xt", "rx9070", "w7900"},
    "hygon": {"k100", "z100"},
    "metax": {"c500", "c550"},
}  # fmt: skip


def matrix(database: Database, text: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(text)))


def use(op: str, **arguments: Value) -> Node:
    return Node(OpName.parse(op), tuple(arguments.items()))


def tensor(dtype: str, *shape: int) -> TensorMeta:
    return dense(*shape, dtype=dtype)


def bitten(target: SupportMatrix, node: Node) -> dict[str, Verdict]:
    """Code -> verdict of every condition that a use breaks."""
    stated = target.conditions_for(str(node.op))
    return {c.code: c.verdict for c in stated if matches(c, node) is not None}


@pytest.mark.parametrize("vendor", CUDA)
def test_chips_and_releases(vendor: str, database: Database) -> None:
    found = database.vendors[vendor]
    assert set(found.chips) == CHIPS[vendor]
    newest = "2.10.0" if vendor in ("hygon", "metax") else "2.15.0"
    assert tuple(found.files) == tuple(sorted(found.files, key=_numbers))
    assert (next(iter(found.files)), list(found.files)[-1]) == ("2.0.1", newest)


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


@pytest.mark.parametrize("vendor", CUDA)
def test_as_many_kernels_as_pytorch_registers(
    vendor: str, database: Database, sources: Path
) -> None:
    with (sources / "pytorch" / "version-summary.csv").open(encoding="utf-8") as file:
        figures = {row["torch"]: int(row["eff_CUDA"]) for row in csv.DictReader(file)}
    for release in database.vendors[vendor].files:
        listed = in_tree.declared(sources / "pytorch", release)
        written = database.vendors[vendor].release(release).data["operators"]
        sparse = {
            f"aten::{name}"
            for name, overload in listed.items()
            if in_tree.sparse_alone(overload)
            and {"SparseCUDA", "SparseCsrCUDA"} & set(overload.kernels)
        }
        assert sparse <= set(written)
        own = [op for op in written if op.startswith("aten::")]
        assert len(own) - len(sparse) == figures[release], release


CELLS = (
    ("2.15.0", "aten::gelu", 5146, "gelu_out_cuda"),
    ("2.15.0", "aten::mm", 4151, "mm_out_cuda"),
    ("2.15.0", "aten::_flash_attention_forward", 15330, "_flash_attention_forward"),
    ("2.13.0", "aten::add.Tensor", 564, "ufunc_add_CUDA"),
    ("2.13.0", "aten::cudnn_convolution", 1868, "cudnn_convolution"),
    ("2.13.0", "aten::_coalesce", 7301, "_coalesce_sparse_cuda"),
    ("2.13.0", "aten::native_layer_norm", 3234, "layer_norm_cuda"),
    ("2.13.0", "aten::topk", 10009, "topk_out_cuda"),
    ("2.7.1", "aten::miopen_convolution", 4100, "miopen_convolution"),
    ("2.0.1", "aten::add_.Tensor", 525, "ufunc_add_CUDA"),
)


@pytest.mark.parametrize(("release", "op", "line", "kernel"), CELLS)
def test_cells_read_by_eye(
    release: str, op: str, line: int, kernel: str, database: Database
) -> None:
    entry = matrix(database, f"nvidia-a100@{release}").entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.method, evidence.source, evidence.line) == (
        Method.REGISTERED,
        "pytorch/pytorch",
        line,
    )
    assert re.fullmatch(r"[0-9a-f]{40}", evidence.commit)


def test_not_literally_everything_has_a_cuda_kernel(database: Database, sources: Path) -> None:
    gaps = yaml.safe_load((sources / "pytorch" / "backend-gaps@2.15.0.yaml").read_text())
    entries = matrix(database, "nvidia-h200@2.15.0").entries
    assert len(gaps["cpu_but_no_cuda"]) == 40
    assert not {f"aten::{name}" for name in gaps["cpu_but_no_cuda"]} & set(entries)
    assert {f"aten::{name}" for name in gaps["cuda_but_no_cpu"]} <= set(entries)
    assert matrix(database, "nvidia-h200").fallback.to_cpu is False


@pytest.mark.parametrize("vendor", CUDA)
def test_every_condition_says_where_it_was_read(vendor: str, database: Database) -> None:
    for release in database.vendors[vendor].files:
        data = database.vendors[vendor].release(release).data
        for said in (*data["conditions"], *data.get("advisories", ())):
            assert said["at"]
            assert {at.partition(":")[0] for at in said["at"]} <= set(data["sources"])
        for op in data["operators"]:
            assert _known(op, database), op


def _known(op: str, database: Database) -> bool:
    """Whether PyTorch has it, or an extension library."""
    return database.history(op) is not None or op in database.tables.extensions


@pytest.mark.parametrize("vendor", CUDA)
def test_every_condition_is_of_chips_and_operators_that_there_are(
    vendor: str, database: Database
) -> None:
    for release in database.vendors[vendor].files:
        for said in database.vendors[vendor].release(release).data["conditions"]:
            assert set(said.get("chips", ())) <= CHIPS[vendor]
            assert all(op == "*" or _known(op, database) for op in said["ops"]), said["ops"]


QKV = tensor("bfloat16", 1, 8, 128, 64)
SMALLER, IMAGE = "aten::_upsample_bilinear2d_aa", tensor("float32", 1, 3, 224, 224)
WIDE = tensor("float16", 1, 8, 128, 512)
FLASH = "aten::_scaled_dot_product_flash_attention"
FP8, E5M2 = tensor("float8_e4m3fn", 16, 16), TensorMeta("float8_e5m2", (16, 16), (1, 16))
E5M2_ROWS = tensor("float8_e5m2", 16, 16)
FP8_WIDE = TensorMeta("float8_e4m3fn", (16, 24), (1, 16))
OFFSETS = tensor("int32", 2)
DRAWN: dict[str, Value] = {"self": tensor("bfloat16", 8), "replacement": True}
DTYPE = {"dtype-not-supported": Verdict.UNSUPPORTED}
DOUBTED = {"document-contradicts-registration": Verdict.UNKNOWN}
CHIP = {"not-supported-on-chip": Verdict.UNSUPPORTED}
SIZE = {"size-not-supported": Verdict.UNSUPPORTED}
SHAPE = {"shape-not-supported": Verdict.UNSUPPORTED}
VALUE = {"value-not-supported": Verdict.UNSUPPORTED}
ROCM = {"not-supported-on-rocm": Verdict.UNSUPPORTED}
EFFICIENT = "aten::_scaled_dot_product_efficient_attention"
ODD, ODD_HALF = tensor("float32", 1, 8, 128, 50), tensor("float16", 1, 8, 128, 50)
SHORT = tensor("bfloat16", 1, 8, 7, 64)
EXPERTS = use("aten::_grouped_mm", self=tensor("bfloat16", 8, 8), mat2=tensor("bfloat16", 2, 8, 8))
BUILD = {"library-not-built": Verdict.UNSUPPORTED}
EMULATED = {"bfloat16-is-emulated": Verdict.NATIVE}


@pytest.mark.parametrize(
    ("target", "node", "expected"),
    [
        ("nvidia-a100", use("aten::mm", self=tensor("float16", 4, 4)), {}),
        ("nvidia-a100", use("aten::mm", self=tensor("int64", 4, 4)), DTYPE),
        ("nvidia-a100", use("aten::mul.Tensor", self=tensor("int64", 4)), {}),
        ("nvidia-a100@2.13.0", use("aten::fft_fft", self=tensor("bfloat16", 4)), DTYPE),
        ("nvidia-a100@2.15.0", use("aten::fft_fft", self=tensor("bfloat16", 4)), {}),
        ("nvidia-a100", use(FLASH, query=QKV), {}),
        ("nvidia-a100", use(FLASH, query=tensor("float32", 1, 8, 128, 64)), DTYPE),
        ("nvidia-a100", use(FLASH, query=WIDE), {"size-not-supported": Verdict.UNSUPPORTED}),
        ("nvidia-t4", use(FLASH, query=QKV), CHIP),
        ("nvidia-t4", use("aten::mm", self=tensor("bfloat16", 4, 4)), EMULATED),
        ("nvidia-t4", use("aten::view", self=tensor("bfloat16", 4)), {}),
        ("nvidia-t4", use("aten::mm", self=tensor("float64", 4, 4)), {}),
        ("nvidia-a100", use("aten::_scaled_mm", self=FP8), CHIP),
        ("nvidia-orin", use("aten::_scaled_mm", self=FP8), CHIP),
        ("nvidia-rtx4090", use("aten::_scaled_mm", self=FP8), {}),
        ("nvidia-rtx4090", use("aten::_scaled_grouped_mm", self=FP8, offs=OFFSETS), CHIP),
        ("nvidia-h100", use("aten::_sparse_semi_structured_mm"), CHIP),
        ("nvidia-v100", use("aten::_sparse_semi_structured_mm"), CHIP),
        ("nvidia-v100", use(FLASH, query=QKV), CHIP),
        ("nvidia-v100", use(EFFICIENT, query=QKV, value=QKV), DTYPE),
        ("nvidia-v100", use(EFFICIENT, query=ODD, value=ODD), {}),
        ("nvidia-v100", use("aten::mm", self=tensor("bfloat16", 4, 4)), EMULATED),
        ("nvidia-v100", use("aten::_weight_int4pack_mm"), CHIP),
        ("nvidia-v100", use("aten::_scaled_mm", self=FP8), CHIP),
        ("nvidia-p100", use("aten::_sparse_semi_structured_mm"), CHIP),
        ("nvidia-p100", use(FLASH, query=QKV), CHIP),
        ("nvidia-p100", use(EFFICIENT, query=QKV, value=QKV), DTYPE),
        ("nvidia-p100", use(EFFICIENT, query=ODD, value=ODD), {}),
        ("nvidia-p100", use("aten::mm", self=tensor("bfloat16", 4, 4)), EMULATED),
        ("nvidia-p100", use("aten::mm", self=tensor("float16", 4, 4)), {}),
        ("nvidia-p100", use("aten::_weight_int4pack_mm"), CHIP),
        ("nvidia-xavier@2.1.2", use(FLASH, query=QKV), CHIP),
        ("nvidia-xavier", use("aten::mm", self=tensor("bfloat16", 4, 4)), EMULATED),
        ("nvidia-xavier", use("aten::_weight_int4pack_mm"), CHIP),
        ("nvidia-b200", use(FLASH, query=QKV), {}),
        ("nvidia-b200", use(EFFICIENT, query=ODD, value=ODD), SIZE),
        ("nvidia-b200", use("aten::_scaled_mm", self=FP8), {}),
        ("nvidia-b200", use("aten::_scaled_grouped_mm", self=FP8, offs=OFFSETS), CHIP),
        ("nvidia-b200", use("aten::_sparse_semi_structured_mm"), CHIP),
        ("nvidia-b200@2.8.0", EXPERTS, CHIP),
        ("nvidia-b200@2.9.1", EXPERTS, {}),
        ("nvidia-rtx5090", use("aten::mm", self=tensor("bfloat16", 4, 4)), {}),
        ("nvidia-rtx5090", use("aten::_weight_int4pack_mm"), {}),
        ("nvidia-rtx5090", use("aten::_scaled_grouped_mm", self=FP8, offs=OFFSETS), CHIP),
        ("nvidia-rtx5090@2.10.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), CHIP),
        ("nvidia-rtx5090@2.10.0", use("aten::_scaled_mm", scale_a=tensor("float32")), {}),
        ("nvidia-b200@2.10.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), {}),
        ("nvidia-rtx5090@2.7.1", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), CHIP),
        ("nvidia-h20", use("aten::_sparse_semi_structured_mm"), CHIP),
        ("nvidia-h20", use("aten::_scaled_grouped_mm", self=FP8, offs=OFFSETS), {}),
        ("nvidia-h20@2.8.0", EXPERTS, {}),
        ("nvidia-l4", use("aten::_scaled_mm", self=FP8), {}),
        ("nvidia-l40s", use("aten::_scaled_grouped_mm", self=FP8, offs=OFFSETS), CHIP),
        ("nvidia-l4@2.6.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), CHIP),
        ("nvidia-l4@2.7.1", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), {}),
        ("nvidia-a10", use("aten::_scaled_mm", self=FP8), CHIP),
        ("nvidia-a30@2.8.0", EXPERTS, CHIP),
        ("nvidia-a40", use(FLASH, query=QKV), {}),
        ("nvidia-a4000", use("aten::mm", self=tensor("bfloat16", 4, 4)), {}),
        ("nvidia-a4000", use("aten::_sparse_semi_structured_mm"), {}),
        ("nvidia-rtx3090", use("aten::_weight_int4pack_mm"), {}),
        ("nvidia-rtx3090@2.8.0", EXPERTS, CHIP),
        ("nvidia-rtx3090", use(EFFICIENT, query=ODD, value=ODD), SIZE),
        ("nvidia-a100", use("aten::miopen_convolution"), BUILD),
        ("amd-mi300x", use("aten::cudnn_convolution"), BUILD),
        ("amd-mi300x", use("aten::miopen_convolution"), {}),
        ("amd-mi300x", use(FLASH, query=QKV), {}),
        ("amd-rx7900xt", use(FLASH, query=QKV), {}),
        ("amd-rx7900xt@2.10.0", use(FLASH, query=QKV), CHIP),
        ("amd-mi250@2.2.2", use(FLASH, query=QKV), DOUBTED),
        ("amd-mi250", use("aten::_scaled_mm"), CHIP),
        ("amd-mi300x", use("aten::_scaled_mm", self=FP8), DTYPE),
        ("amd-mi300x", use("aten::_scaled_mm", self=tensor("float8_e4m3fnuz", 16, 16)), {}),
        ("amd-mi355", use("aten::_scaled_mm", self=FP8), {}),
        ("amd-mi325x", use("aten::_scaled_mm", self=FP8), DTYPE),
        ("amd-mi210", use("aten::_scaled_mm"), CHIP),
        ("amd-mi210", use("aten::_weight_int4pack_mm"), {}),
        ("amd-w7900", use("aten::_weight_int4pack_mm"), CHIP),
        ("amd-mi50", use("aten::_weight_int4pack_mm"), CHIP),
        ("amd-mi50", use("aten::_scaled_mm"), CHIP),
        ("amd-mi50", use(FLASH, query=QKV), CHIP),
        ("amd-mi50@2.7.1", use("aten::mm", self=tensor("float16", 4, 4)), {}),
        ("amd-mi50@2.8.0", use("aten::mm", self=tensor("float16", 4, 4)),
         {"depends-on-build": Verdict.NATIVE}),
        ("amd-mi50@2.10.0", use("aten::addmm", self=tensor("float16", 4, 4)), BUILD),
        ("amd-mi50", use("aten::relu", self=tensor("float16", 4, 4)), {}),
        ("amd-rx9070", use(FLASH, query=QKV), {}),
        ("amd-rx9070@2.7.1", use(FLASH, query=QKV), CHIP),
        ("amd-rx9070", use(FLASH, query=WIDE), {}),
        ("amd-rx9070", use("aten::_scaled_mm", self=FP8), {}),
        ("amd-rx9070", use("aten::_scaled_mm", self=tensor("float8_e4m3fnuz", 16, 16)), DTYPE),
        ("amd-rx9070", use("aten::_weight_int4pack_mm"), CHIP),
        ("amd-rx9070", use("aten::_cslt_sparse_mm"), CHIP),
        ("amd-rx9070", use("aten::mm", self=tensor("bfloat16", 4, 4)), {}),
        ("amd-w7900@2.10.0", use(FLASH, query=QKV), CHIP),
        ("amd-mi250@2.2.2", use("aten::fft_fft", self=tensor("float16", 4)), DTYPE),
        ("nvidia-a100@2.8.0", EXPERTS, CHIP),
        ("nvidia-h100@2.8.0", EXPERTS, {}),
        ("nvidia-a100@2.9.1", EXPERTS, {}),
        ("amd-mi300x@2.8.0", EXPERTS, ROCM),
        ("amd-mi355@2.9.1", EXPERTS, ROCM),
        ("amd-mi300x@2.10.0", EXPERTS, {}),
        ("amd-mi300x@2.3.1", use("aten::_int_mm", self=tensor("int8", 32, 32)), ROCM),
        ("amd-mi300x@2.4.1", use("aten::_int_mm", self=tensor("int8", 32, 32)), {}),
        ("amd-mi300x@2.13.0", use("aten::linalg_ldl_solve"), BUILD),
        ("amd-mi300x@2.14.1", use("aten::linalg_ldl_solve"), {}),
        ("amd-mi250@2.0.1", use("aten::ormqr"), BUILD),
        ("amd-mi250@2.1.2", use("aten::ormqr"), {}),
        ("amd-mi300x@2.6.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), SHAPE),
        ("amd-mi300x@2.11.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 1)), {}),
        ("amd-mi300x@2.10.0", use("aten::_scaled_mm", scale_a=tensor("float32", 16, 2)), SHAPE),
        ("amd-mi300x", use("aten::_efficient_attention_forward", custom_mask_type=2), {}),
        ("amd-mi300x@2.13.0", use("aten::_efficient_attention_forward", custom_mask_type=2), VALUE),
        ("amd-mi300x@2.13.0", use("aten::_efficient_attention_forward", custom_mask_type=1), {}),
        ("hygon-k100@2.9.1", EXPERTS, ROCM),
        ("hygon-k100@2.10.0", EXPERTS, {}),
        ("nvidia-h100", use(FLASH, query=QKV, key=QKV, value=QKV), {}),
        ("nvidia-h100", use(FLASH, query=QKV, key=SHORT, value=SHORT, is_causal=False), {}),
        ("nvidia-h100", use(FLASH, query=QKV, key=SHORT, value=SHORT, is_causal=True), SHAPE),
        ("nvidia-h100", use(FLASH, query=QKV, key=QKV, value=tensor("bfloat16", 1, 8, 128, 32)),
         SHAPE),
        ("nvidia-t4", use(EFFICIENT, query=ODD, value=ODD), {}),
        ("nvidia-t4", use(EFFICIENT, query=ODD_HALF, value=ODD_HALF), SIZE),
        ("nvidia-a100", use(EFFICIENT, query=ODD, value=ODD), SIZE),
        ("nvidia-a100", use(EFFICIENT, query=tensor("float32", 1, 8, 128, 52)), {}),
        ("amd-mi300x", use(EFFICIENT, query=ODD, key=ODD, value=ODD), SIZE),
        ("amd-mi300x", use(EFFICIENT, query=QKV, key=tensor("bfloat16", 1, 2, 128, 64)), SHAPE),
        ("nvidia-a100", use(EFFICIENT, query=QKV, key=tensor("bfloat16", 1, 2, 128, 64)), {}),
        ("nvidia-a100", use("aten::_fft_r2c", self=tensor("float16", 3, 64), dim=(1,)), {}),
        ("nvidia-a100", use("aten::_fft_r2c", self=tensor("float16", 3, 64), dim=(0, 1)), SIZE),
        ("nvidia-a100", use("aten::_fft_r2c", self=tensor("float32", 3, 64), dim=(0, 1)), {}),
        ("nvidia-a100", use("aten::_fft_c2r", self=tensor("complex32", 9), last_dim_size=17), SIZE),
        ("nvidia-a100", use("aten::_int_mm", self=tensor("int8", 16, 8)), SIZE),
        ("nvidia-a100", use("aten::_int_mm", self=tensor("int8", 17, 8)), {}),
        ("nvidia-a100", use("aten::_int_mm", self=tensor("int8", 17, 9)), SIZE),
        ("amd-mi300x", use("aten::_int_mm", self=tensor("int8", 1, 8)), SIZE),
        ("hygon-z100", use("aten::_int_mm", self=tensor("int8", 1, 8)), SIZE),
        ("nvidia-h100", use("aten::_scaled_mm", self=FP8, mat2=FP8_WIDE), SIZE),
        ("nvidia-h100", use("aten::_scaled_mm", self=E5M2_ROWS, mat2=E5M2), DTYPE),
        ("nvidia-h100", use("aten::_scaled_mm", self=FP8, mat2=E5M2), {}),
        ("hygon-z100", use(FLASH, query=QKV), {"not-published-for-chip": Verdict.UNKNOWN}),
        ("hygon-k100", use("aten::cudnn_convolution"), BUILD),
        ("nvidia-a100@2.9.1", use("aten::reflection_pad1d", self=tensor("float32", 65536, 2)),
         SIZE),
        ("nvidia-a100@2.9.1", use("aten::reflection_pad1d", self=tensor("float32", 65535, 2)), {}),
        ("nvidia-a100@2.10.0", use("aten::reflection_pad1d", self=tensor("float32", 65536, 2)), {}),
        ("amd-mi300x@2.9.1", use("aten::reflection_pad1d", self=tensor("float32", 65536, 2)), {}),
        ("amd-mi300x@2.9.1", use("aten::replication_pad2d", self=tensor("float16", 2**10, 2**21)),
         SIZE),
        ("nvidia-h100", use("aten::_conv_depthwise2d", self=tensor("float16", 2**10, 2**21)), SIZE),
        ("nvidia-h100", use("aten::multinomial", self=tensor("float32", 2**24 + 1)), SIZE),
        ("amd-mi300x", use("aten::multinomial", self=tensor("float32", 2**24)), {}),
        ("nvidia-t4@2.4.1", use("aten::fractional_max_pool2d", self=tensor("float32", 2**16, 8, 8)),
         SIZE),
        ("nvidia-t4@2.4.1", use(SMALLER, self=IMAGE, output_size=(1, 1), align_corners=False),
         SIZE),
        ("nvidia-t4@2.4.1", use(SMALLER, self=IMAGE, output_size=(4, 4), align_corners=False), {}),
        ("nvidia-h100", use("aten::_conv_depthwise2d", self=tensor("float16", 2**10, 2**20)), {}),
        ("nvidia-a100@2.1.2", use("aten::_weight_norm", v=tensor("bfloat16", 8, 8)), DTYPE),
        ("nvidia-a100@2.2.2", use("aten::_weight_norm", v=tensor("bfloat16", 8, 8)), {}),
        ("amd-mi250@2.2.2", use("aten::binomial", count=tensor("bfloat16", 8)), DTYPE),
        ("nvidia-a100@2.3.1", use("aten::binomial", count=tensor("bfloat16", 8)), {}),
        ("nvidia-a100@2.2.2", use("aten::multinomial", **DRAWN, num_samples=2), DTYPE),
        ("nvidia-a100@2.2.2", use("aten::multinomial", **DRAWN, num_samples=1), {}),
        ("nvidia-a100@2.0.1", use("aten::conv_depthwise3d", self=tensor("bfloat16", 8)), DTYPE),
        ("nvidia-a100@2.0.1", use("aten::median", self=tensor("bfloat16", 8)), DTYPE),
        ("nvidia-a100@2.0.1", use("aten::median", self=tensor("float16", 8)), {}),
    ],
)  # fmt: skip
def test_conditions_bite_where_the_sources_say_so(
    target: str, node: Node, expected: dict[str, Verdict], database: Database
) -> None:
    assert bitten(matrix(database, target), node) == expected


def test_a_text_names_the_architecture_of_each_chip(database: Database) -> None:
    told = {
        chip: [
            c.text
            for c in matrix(database, f"nvidia-{chip}").conditions_for("aten::_weight_int4pack_mm")
            if c.code == "not-supported-on-chip"
        ]
        for chip in ("t4", "v100", "a100")
    }
    text = (
        "PyTorch compiles its kernels of int4 weights for sm_80 and newer, and {chip} is ARCH: "
        '"named symbol not found"'
    )
    assert told == {
        "t4": [text.replace("ARCH", "sm_75")],
        "v100": [text.replace("ARCH", "sm_70")],
        "a100": [],
    }


@pytest.mark.parametrize(
    ("target", "last"),
    [
        ("nvidia-v100@2.10.0", None),
        ("nvidia-v100@2.11.0", "build for CUDA 12.6 has kernels for it"),
        ("nvidia-v100@2.14.1", "build for CUDA 12.6 has kernels for it"),
        ("nvidia-p100@2.7.1", None),
        ("nvidia-p100@2.8.0", "build for CUDA 12.6 has"),
        ("nvidia-p100@2.14.1", "build for CUDA 12.6 has"),
        ("nvidia-rtx5090@2.7.1", "build for CUDA 12.8 has"),
        ("nvidia-b200@2.7.1", "build for CUDA 12.8 has"),
        ("nvidia-rtx5090@2.8.0", None),
        ("nvidia-t4@2.15.0", None),
    ],
)
def test_wheels_that_leave_a_chip_out_are_told(
    target: str, last: str | None, database: Database
) -> None:
    found = [
        advisory.text
        for advisory in matrix(database, target).advisories
        if advisory.code == "wheel-without-chip"
    ]
    assert len(found) == (0 if last is None else 1)
    assert all(text.endswith(str(last)) for text in found)


@pytest.mark.parametrize("name", ["nvidia-v100", "nvidia-p100"])
def test_chips_end_with_the_last_release_of_which_a_build_has_kernels_for_them(
    name: str, database: Database
) -> None:
    assert database.resolve(TargetSpec(name)).sdk == "2.14.1"
    with pytest.raises(UsageError, match=r"unknown release '2\.15\.0'"):
        database.resolve(TargetSpec.parse(f"{name}@2.15.0"))


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("nvidia-rtx5090@2.6.0", "torch 2.7 is the first with kernels for sm_120"),
        ("nvidia-b200@2.0.1", "torch 2.7 is the first with kernels for sm_100"),
        ("amd-rx9070@2.6.0", "torch 2.7 is the first whose wheels have kernels for gfx1201"),
        ("nvidia-xavier@2.4.1", "builds of torch by NVIDIA end with 2.1"),
    ],
)
def test_releases_that_a_chip_has_not_say_why(target: str, why: str, database: Database) -> None:
    name, _, release = target.partition("@")
    with pytest.raises(UsageError, match=f"unknown release '{release}' of {name}: .*{why}"):
        database.resolve(TargetSpec.parse(target))


OWN = {"flute::qgemm_raw_simple_hadamard"}
"""Operators of which a library names single chips, and not their architecture."""


@pytest.mark.parametrize("release", ["2.3.1", "2.8.0", "2.13.0", "2.15.0"])
@pytest.mark.parametrize(
    "chips",
    [
        ("a100", "a30"),
        ("a10", "a40", "a4000", "rtx3090"),
        ("rtx4090", "l4", "l40s"),
        ("h200", "h20"),
        ("mi250", "mi210"),
        ("mi300x", "mi325x"),
        ("rx7900xt", "w7900"),
    ],
    ids="-".join,
)
def test_chips_of_one_architecture_have_the_same_kernels_and_conditions(
    chips: tuple[str, ...], release: str, database: Database
) -> None:
    """But for what was reported of one of them, which stands in advisories."""
    vendor = "amd" if chips[0] in CHIPS["amd"] else "nvidia"
    first, *others = [matrix(database, f"{vendor}-{chip}@{release}") for chip in chips]
    assert len({database.vendors[vendor].chips[chip]["arch"] for chip in chips}) == 1
    for other in others:
        assert set(other.entries) == set(first.entries)
        for op in {*first.conditions, *other.conditions} - OWN:
            assert _stated(other, op) == _stated(first, op), op


def _stated(target: SupportMatrix, op: str) -> set[tuple[str, str]]:
    found = target.conditions.get(op, ())
    return {(c.code, c.text) for c in found if not c.code.startswith("cuda-")}


def test_a_promoting_operator_breaks_only_where_every_argument_does(database: Database) -> None:
    target = matrix(database, "nvidia-a100@2.13.0")
    half, single = tensor("float16", 4), tensor("float32", 4)
    assert bitten(target, use("aten::igamma", self=half, other=half))
    assert not bitten(target, use("aten::igamma", self=half, other=single))


@pytest.mark.parametrize("target", ["hygon-z100", "hygon-k100@2.0.1"])
def test_every_cell_of_hygon_is_inferred(target: str, database: Database) -> None:
    """But for what a library's own code says of it."""
    found = matrix(database, target)
    evidence = [e for entry in found.entries.values() for e in entry.evidence]
    torchs = [op for op in found.conditions if op.startswith("aten::")]
    conditions = [c for op in torchs for c in found.conditions[op]]
    assert {e.method for e in evidence} == {Method.INFERRED}
    assert {e.method for c in conditions for e in c.evidence} == {Method.INFERRED}
    assert {c.confidence for c in conditions} == {Confidence.LOW}
    assert {e.method for e in found.fallback.evidence} == {Method.INFERRED}
    assert "inferred-from-rocm" in {advisory.code for advisory in found.advisories}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nvidia-orin@2.6.0", ["vendor-builds-differ", "wheel-without-kernels"]),
        ("nvidia-xavier", ["vendor-builds-differ"]),
        ("nvidia-a100", []),
    ],
)
def test_a_jetson_runs_builds_of_its_own(
    target: str, expected: list[str], database: Database
) -> None:
    builds = {"vendor-builds-differ", "wheel-without-kernels"}
    found = {advisory.code for advisory in matrix(database, target).advisories}
    assert sorted(found & builds) == expected


def test_only_the_torch_that_a_source_pairs_with_dtk_is_paired(database: Database) -> None:
    unpaired = {
        target.sdk
        for target in database.releases("hygon-k100")
        if "torch-not-paired" in {a.code for a in database.matrix(target).advisories}
    }
    paired = {target.sdk for target in database.releases("hygon-k100")} - unpaired
    assert paired == {"2.6.0", "2.9.1", "2.10.0"}


def test_every_release_of_nvidia_has_the_libraries_of_its_wheel(database: Database) -> None:
    rows = {row["release"]: row for row in database.vendors["nvidia"].document.data["pairing"]}
    assert set(rows) == set(database.vendors["nvidia"].files)
    assert rows["2.0.1"]["packages"]["cuda"] == "11.7.99"
    assert rows["2.15.0"]["packages"]["cudnn"] == "9.26.0.51"


def test_a_fact_is_inferred_where_another_release_says_it() -> None:
    fact = {
        "ops": ["aten::mm"],
        "code": "c",
        "verdict": "unsupported",
        "text": "t",
        "elsewhere": "inferred",
        "seen": {"torch/x.py": {"2.5.1": 7, "2.7.1": 9}},
    }
    read = list(in_tree_facts.conditions([fact], "2.7.1", {"aten::mm"}, {}))
    assert [(c["at"], c["confidence"], c["method"]) for c in read] == [
        (["torch:torch/x.py:9"], "high", "registered")
    ]
    older = list(in_tree_facts.conditions([fact], "2.0.1", {"aten::mm"}, {}))
    assert [(c["at"], c["confidence"], c["method"]) for c in older] == [
        (["torch-2.5.1:torch/x.py:7"], "low", "inferred")
    ]
    silent = {**fact, "elsewhere": "silent"}
    assert not list(in_tree_facts.conditions([silent], "2.0.1", {"aten::mm"}, {}))
    assert not list(in_tree_facts.conditions([fact], "2.7.1", {"aten::bmm"}, {}))


def test_dtypes_that_only_the_cpu_takes(sources: Path) -> None:
    gaps = cuda.gaps(cuda.listed(sources, cuda.TESTED))
    assert gaps["mm"].denied == {"int8", "int16", "int32", "int64", "uint8"}
    assert gaps["special_zeta"].denied == {"float16", "bfloat16"}
    assert gaps["avg_pool2d"].denied == {"int64"}
    assert "einsum" not in gaps
    assert not gaps["relu"].denied


@pytest.mark.parametrize(
    ("op", "argument", "dtype", "refusing", "running"),
    [
        ("aten::tril", "self", "bfloat16", "2.0.1", "2.1.2"),
        ("aten::upsample_nearest2d", "self", "bfloat16", "2.0.1", "2.1.2"),
        ("aten::replication_pad2d", "self", "bfloat16", "2.1.2", "2.2.2"),
        ("aten::grid_sampler_2d", "input", "bfloat16", "2.1.2", "2.2.2"),
        ("aten::lgamma", "self", "bfloat16", "2.2.2", "2.3.1"),
        ("aten::kthvalue", "self", "bfloat16", "2.2.2", "2.3.1"),
        ("aten::max_unpool2d", "self", "bfloat16", "2.4.1", "2.5.1"),
        ("aten::sort", "self", "bool", "2.5.1", "2.6.0"),
        ("aten::upsample_bilinear2d", "self", "uint8", "2.15.0", ""),
        ("aten::_cdist_forward", "x1", "float16", "2.15.0", ""),
        ("aten::fft_fft", "self", "bfloat16", "2.13.0", "2.14.1"),
    ],
)
def test_dtypes_are_those_of_each_releases_own_tests(
    op: str, argument: str, dtype: str, refusing: str, running: str, database: Database
) -> None:
    node = use(op, **{argument: tensor(dtype, 4, 4)})
    for release in filter(None, (refusing, running)):
        found = bitten(matrix(database, f"nvidia-h100@{release}"), node)
        said = found.get("dtype-not-supported") is Verdict.UNSUPPORTED
        assert said is (release == refusing), release


def test_a_distance_of_many_rows_is_judged_by_what_it_runs_as(database: Database) -> None:
    rows = tensor("float16", 64, 4)
    assert not bitten(matrix(database, "nvidia-h100@2.15.0"), use("aten::cdist", x1=rows, x2=rows))


def test_operators_bound_to_a_library(sources: Path) -> None:
    bound = bound_operators(sources / "amd" / "library_bound_ops@torch-2.13.0.yaml")
    counts = {library: len(ops) for library, ops in bound.items()}
    assert counts["miopen"] == 13
    assert counts["cudnn"] == 24  # of 26; two have no kernel in the list
    assert "aten::miopen_convolution" in bound["miopen"]
