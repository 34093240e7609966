"""What users met who converted models for OpenVINO, by searches of threads about exports.

Most threads are of OpenVINO's other way, by TorchScript, or of older releases: as in
``exports_onnx``, ``met`` is what became of the program with ``torch.export`` and the target's
release, converted and run before any scan.
"""

from typing import Any

import torch
from torch import Tensor, nn

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "OpenVINO PyTorch frontend torch.export convert_model No conversion rule found for operations "
    "aten exported program",
    "openvino torch.compile backend openvino or torch.export FX unsupported operator aten error "
    "2025 2026",
    "OpenVINO wrong result pytorch frontend conversion CPU plugin mismatch aten 2025 2026 bug",
    "OpenVINO [Good First Issue]: Support aten:: operation pytorch models open",
    "[Bug] OpenVINO convert_model PyTorch model conversion failed Check failed op float64 complex "
    "bool TorchScript or torch.export 2025",
    "OpenVINO PT FE FX add support for aten op torch.export scatter index_put var_mean grid_sample "
    "pull request",
)
OV = "openvino-cpu@2026.4.1"
X = torch.linspace(-1, 1, 32).view(8, 4)
PLACES = torch.tensor([0, 2])


def _between(x: Tensor) -> Tensor:
    return ((x > 0.01) * (x < 0.99)).all(-1)


def _cleared(x: Tensor) -> Any:
    return torch.ops.aten.zero.default(x) + x


REPORTS = (
    Report(
        "OpenVINO: RReLU", "openvinotoolkit/openvino#23746", 0,
        "`aten::rrelu` is to be supported, which is a LeakyReLU in inference",
        OV, Met.WORKS, Because.NO_KERNEL, nn.RReLU(), (X,), ("aten::rrelu",),
    ),
    Report(
        "OpenVINO: mT", "openvinotoolkit/openvino#29707", 0,
        "no conversion rule for `aten::mT`",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x: x.mT + 1, (X,),
        ("aten::mT", "aten::numpy_T", "aten::transpose.int"),
    ),
    Report(
        "OpenVINO: zero of Swin", "openvinotoolkit/openvino#30329", 1,
        "`aten.zero.default` ends the graph of Swin with torch 2.7, as it is not supported",
        OV, Met.WORKS, Because.NO_KERNEL, _cleared, (X,), ("aten::zero",),
    ),
    Report(
        "OpenVINO: dot", "openvinotoolkit/openvino#22074", 2,
        "`aten::dot` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, torch.dot, (X[0], X[1]), ("aten::dot",),
    ),
    Report(
        "OpenVINO: atan2", "openvinotoolkit/openvino#20575", 3,
        "`aten::atan2` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, torch.atan2, (X, X + 2), ("aten::atan2",),
    ),
    Report(
        "OpenVINO: mv", "openvinotoolkit/openvino#22073", 3,
        "`aten::mv` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, torch.mv, (X, X[0]), ("aten::mv",),
    ),
    Report(
        "OpenVINO: nan_to_num", "openvinotoolkit/openvino#28689", 3,
        "`aten::nan_to_num` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, torch.nan_to_num, (X,), ("aten::nan_to_num",),
    ),
    Report(
        "OpenVINO: aminmax", "openvinotoolkit/openvino#23327", 3,
        "`aten::aminmax` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x: torch.aminmax(x, dim=1), (X,),
        ("aten::aminmax",),
    ),
    Report(
        "OpenVINO: isin", "openvinotoolkit/openvino#29700", 3,
        "`aten::isin` is to be supported, and still is in January 2026",
        OV, Met.WORKS, Because.NO_KERNEL, torch.isin, (torch.arange(8), PLACES), ("aten::isin",),
    ),
    Report(
        "OpenVINO: log10", "openvinotoolkit/openvino#20581", 3,
        "`aten::log10` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, torch.log10, (X + 2,), ("aten::log10",),
    ),
    Report(
        "OpenVINO: index_fill_", "openvinotoolkit/openvino#23326", 3,
        "`aten::index_fill_` is to be supported",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x, at: x.clone().index_fill_(0, at, -1.0),
        (X, PLACES), ("aten::index_fill_", "aten::index_fill"),
    ),
    Report(
        "OpenVINO: RT-DETR's anchors", "ultralytics/ultralytics#8927", 4,
        "a product of two comparisons is refused: no booleans in Multiply, in 2024.0",
        OV, Met.WORKS, Because.DTYPE, _between, (X,), ("aten::mul.Tensor",),
    ),
    Report(
        "OpenVINO: ReLU6 of int16", "openvinotoolkit/openvino#20731", 4,
        "an input of int16 is refused, in 2023.1",
        OV, Met.WORKS, Because.DTYPE, nn.ReLU6(),
        (torch.arange(1, 33, dtype=torch.int16).view(8, 4),), ("aten::relu6", "aten::hardtanh"),
    ),
    Report(
        "OpenVINO: masked_scatter", "openvinotoolkit/openvino#19038", 5,
        "`aten::masked_scatter` is supported, for fastcomposer",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x, y: x.masked_scatter(x > 0, y), (X, X + 3),
        ("aten::masked_scatter",),
    ),
    Report(
        "OpenVINO: index_copy_", "openvinotoolkit/openvino#30405", 5,
        "`torch.index_copy_` is supported for torch.export, for tiny-llama",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x, at, y: x.clone().index_copy_(0, at, y),
        (X, PLACES, X[:2] + 1), ("aten::index_copy_", "aten::index_copy"),
    ),
    Report(
        "OpenVINO: scatter_add", "openvinotoolkit/openvino#21633", 5,
        "`aten::scatter_add` is supported, for graphs of torchbench",
        OV, Met.WORKS, Because.NO_KERNEL, lambda x, at, y: x.scatter_add(0, at, y),
        (X, torch.zeros(2, 4, dtype=torch.int64), X[:2]), ("aten::scatter_add",),
    ),
    Report(
        "OpenVINO: inverse", "openvinotoolkit/openvino#22908", 5,
        "`aten::inverse` is supported, in TorchScript",
        OV, Met.REFUSED, Because.NO_KERNEL, torch.inverse, (torch.eye(4) * 2 + 0.1,),
        ("aten::inverse", "aten::linalg_inv", "aten::linalg_inv_ex"),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: "openvinotoolkit/openvino#26116",
    Why.NO_PROGRAM: """
        openvinotoolkit/openvino#29942 openvinotoolkit/openvino#24609
        ultralytics/ultralytics#13185 openvinotoolkit/openvino#31763 openvinotoolkit/openvino#6137
        openvinotoolkit/openvino#25744 openvinotoolkit/openvino#21255
        openvinotoolkit/openvino#21606
    """,
    Why.NO_CALL: """
        openvinotoolkit/openvino#24206 openvinotoolkit/openvino#4972
        openvinotoolkit/openvino#26877 saifhaq/alma#104 openvinotoolkit/openvino#24803
        openvinotoolkit/openvino#28879 openvinotoolkit/openvino#22745
        openvinotoolkit/stable-diffusion-webui#53 linhaoqi027/yolov5_openvino_sdk#3
        openvinotoolkit/nncf#1038 openvinotoolkit/openvino.genai#254
        OpenVINO-dev-contest/llama2.openvino#10 openvinotoolkit/openvino_notebooks#1514
    """,
    Why.OTHERS: """
        openvinotoolkit/openvino#30557 openvinotoolkit/openvino#29718
        openvinotoolkit/openvino#29697 openvinotoolkit/openvino#29701
        openvinotoolkit/openvino#29341 openvinotoolkit/openvino#30354
        openvinotoolkit/openvino#29778
    """,
    Why.NO_TARGET: """
        pytorch/executorch#8573 pytorch/pytorch#114188 pytorch/pytorch#131635
        openvinotoolkit/openvino#37989 openvinotoolkit/openvino#16872
        openvinotoolkit/openvino#30666 openvinotoolkit/openvino#37576
        openvinotoolkit/openvino#30996 openvinotoolkit/openvino#22851 microsoft/onnxruntime#20357
        openvinotoolkit/openvino_contrib#356 openvinotoolkit/openvino#18903
        openvinotoolkit/openvino#19645 openvinotoolkit/openvino#19158
        openvinotoolkit/openvino#18899
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
