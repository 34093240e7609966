"""What users and vendors saw running on TPUs and by TensorRT."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import FALLS_BACK, Control
from tests.user_controls.models import IDS, IMAGE, MASK, Mnist, encoder, llama, vision

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
PICTURE = X.view(1, 2, 3, 4)
PLACES = torch.zeros(2, 3, 4, dtype=torch.int64)
OPINFO = "pytorch/xla:test/test_ops.py"
TPU = "google-tpu-v4@r2.10"


def _means(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    return x.scatter_reduce(1, at, x, "mean")


GOOGLE = (
    Control("TPU: ceil", TPU, OPINFO, torch.ceil, (X,)),
    Control("TPU: diag", TPU, OPINFO, torch.diag, (X[0],)),
    Control("TPU: i0e", TPU, OPINFO, torch.special.i0e, (X,)),
    Control("TPU: logaddexp2", TPU, OPINFO, torch.logaddexp2, (X, X)),
    Control("TPU: gelu", TPU, OPINFO, F.gelu, (X,)),
    Control("TPU: split", TPU, OPINFO, lambda x: torch.split(x, [1, 2], 1), (X,)),
    Control("TPU: reshape_as", TPU, OPINFO, lambda x, y: x.reshape_as(y), (X, X.view(4, 6))),
    Control("TPU: zeta", TPU, OPINFO, torch.special.zeta, (X + 3, X + 2)),
    Control("TPU: polygamma", TPU, OPINFO, lambda x: torch.polygamma(3, x), (X + 2,)),
    Control("TPU: acosh", TPU, OPINFO, torch.acosh, (X + 3,)),
    Control("TPU: kthvalue", TPU, OPINFO, lambda x: torch.kthvalue(x, 2, 1), (X,)),
    Control("TPU: prod", TPU, OPINFO, lambda x: torch.prod(x, 1), (IDS,)),
    Control("TPU: sort", TPU, OPINFO, lambda x: torch.sort(x, 1, True), (X,)),
    Control(
        "TPU: embedding_bag", TPU, OPINFO, nn.EmbeddingBag(96, 4), (IDS,), seen=FALLS_BACK
    ),
    Control("TPU: unique", TPU, OPINFO, torch.unique, (IDS,), seen=FALLS_BACK),
    Control(
        "TPU: repeat_interleave", TPU, OPINFO, lambda x, n: torch.repeat_interleave(x, n, 0),
        (X, torch.tensor([1, 2])), seen=FALLS_BACK,
    ),
    Control(
        "TPU: grid_sampler_2d", TPU, OPINFO,
        lambda x, grid: torch.grid_sampler_2d(x, grid, 0, 0, False), (PICTURE, X.view(1, 4, 3, 2)),
        seen=FALLS_BACK,
    ),
    Control("TPU: scatter_reduce to means", TPU, OPINFO, _means, (X, PLACES), seen=FALLS_BACK),
    Control("TPU: nonzero", TPU, OPINFO, torch.nonzero, (X,), seen=FALLS_BACK),
    Control(
        "TPU: digits, trained", TPU, "pytorch/xla:test/test_train_mp_mnist.py", Mnist(),
        (torch.ones(2, 1, 28, 28),), train=True,
    ),
    Control(
        "TPU: ResNet, trained", "google-tpu-v4@r1.13", "pytorch/xla#3460",
        lambda: vision("resnet50"), (IMAGE,), train=True, build=True,
    ),
    Control(
        "TPU: Llama 2", "google-tpu-v5e@r2.2", "pytorch/xla#6426", partial(llama, torch.bfloat16),
        (IDS,), build=True,
    ),
    Control(
        "TPU: Llama 2, one TPU v4", "google-tpu-v4@r2.0", "pytorch-tpu/llama#27", llama, (IDS,),
        build=True,
    ),
)  # fmt: skip

TESTS = "pytorch/TensorRT:tests/py/dynamo/conversion/test_"
MODELS = "pytorch/TensorRT:tests/py/dynamo/models/test_models.py"
TRT = "nvidia-tensorrt@2.13.0"

NVIDIA = (
    Control(
        "TensorRT: addmm", TRT, f"{TESTS}addmm_aten.py", torch.addmm,
        (torch.ones(2, 2), torch.ones(2, 3), torch.ones(3, 2)),
    ),
    Control("TensorRT: argmin", TRT, f"{TESTS}argmin_aten.py", lambda x: x.argmin(0, True), (X,)),
    Control(
        "TensorRT: bitwise_and", TRT, f"{TESTS}bitwise_and_aten.py", torch.bitwise_and,
        (X[0] > 0, X[:, :1] > 0),
    ),
    Control(
        "TensorRT: a cast to half", TRT, f"{TESTS}casts.py",
        lambda x: torch.ops.aten._to_copy.default(x, dtype=torch.half), (X,),
    ),
    Control("TensorRT: cosh of int32", TRT, f"{TESTS}cosh_aten.py", torch.cosh, (X.int(),)),
    Control(
        "TensorRT: native_dropout", TRT, f"{TESTS}dropout_aten.py",
        lambda x: torch.ops.aten.native_dropout.default(x, 0.3, False), (X,),
    ),
    Control("TensorRT: expm1", TRT, f"{TESTS}expm1_aten.py", torch.expm1, (X,)),
    Control(
        "TensorRT: gather", TRT, f"{TESTS}gather_aten.py",
        lambda x, at: torch.gather(x, 0, at),
        (torch.zeros(3, 5, dtype=torch.int32), torch.tensor([[0, 1, 2, 0]])),
    ),
    Control("TensorRT: hardsigmoid", TRT, f"{TESTS}hard_sigmoid_aten.py", F.hardsigmoid, (X,)),
    Control("TensorRT: isinf", TRT, f"{TESTS}isinf_aten.py", torch.isinf, (X,)),
    Control("TensorRT: linear", TRT, f"{TESTS}linear_aten.py", nn.Linear(4, 8), (X,)),
    Control("TensorRT: max", TRT, f"{TESTS}max_aten.py", lambda x: torch.max(x, 1, True), (X,)),
    Control(
        "TensorRT: permute", TRT, f"{TESTS}permutation_aten.py", lambda x: x.permute(0, -1, -2),
        (X,),
    ),
    Control("TensorRT: prod", TRT, f"{TESTS}prod_aten.py", lambda x: torch.prod(x, 1), (X,)),
    Control(
        "TensorRT: repeat", TRT, f"{TESTS}repeat_aten.py", lambda x: x.repeat(4, 2, 3), (X[0],)
    ),
    Control(
        "TensorRT: scalar_tensor", TRT, f"{TESTS}scalar_tensor_aten.py",
        lambda x: x + torch.ops.aten.scalar_tensor.default(2.99), (X,),
    ),
    Control("TensorRT: sort", TRT, f"{TESTS}sort_aten.py", lambda x: torch.sort(x, 1, True), (X,)),
    Control("TensorRT: tile", TRT, f"{TESTS}tile_aten.py", lambda x: torch.tile(x, (2, 2)), (X,)),
    Control(
        "TensorRT: ResNet", TRT, MODELS, lambda: vision("resnet18"), (IMAGE,), build=True
    ),
    Control(
        "TensorRT: MobileNet in half precision", TRT, MODELS,
        lambda: vision("mobilenet_v2", torch.float16), (IMAGE.half(),), build=True,
    ),
    Control(
        "TensorRT: EfficientNet in half precision", TRT, MODELS,
        lambda: vision("efficientnet_b0", torch.float16), (IMAGE.half(),), build=True,
    ),
    Control(
        "TensorRT: BERT in bfloat16", TRT, MODELS, lambda: encoder("BertModel").bfloat16(),
        (IDS.int(), MASK.int()), build=True,
    ),
)  # fmt: skip

COMPILERS = (*GOOGLE, *NVIDIA)
