"""What users and the vendor's tests saw running on Cambricon MLUs."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Control, Learned
from tests.user_controls.models import IDS, IMAGE, MASK, encoder, vision

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
COMPLEX = torch.complex(X, X)
PICTURE = X.view(1, 2, 3, 4)
HALF = X.half()
PLACES = torch.zeros(2, 3, 4, dtype=torch.int64)
TESTS = "Cambricon/torch_mlu:test/torch_ops/test_"
OLD, NEW = "cambricon-mlu370@r1.22_pt2.1.0", "cambricon-mlu590@r1.22_pt2.1.0"

CAMBRICON = (
    Control("MLU: abs", OLD, f"{TESTS}abs.py", torch.abs, (COMPLEX,)),
    Control(
        "MLU: as_strided", OLD, f"{TESTS}as_strided.py",
        lambda x: torch.as_strided(x, (2, 2), (1, 2), 1), (X,),
    ),
    Control("MLU: bitwise_not", OLD, f"{TESTS}bitwise_not.py", torch.bitwise_not, (X > 0,)),
    Control("MLU: clamp_max", OLD, f"{TESTS}clamp_max.py", lambda x: x.clamp_max(0.5), (HALF,)),
    Control(
        "MLU: count_nonzero", OLD, f"{TESTS}count_nonzero.py",
        lambda x: torch.count_nonzero(x, 1), (X,),
    ),
    Control("MLU: diag", OLD, f"{TESTS}diag.py", lambda x: torch.diag(x, 1), (X[0].short(),)),
    Control(
        "MLU: exponential_", OLD, f"{TESTS}exponential.py", lambda x: x.clone().exponential_(),
        (HALF,),
    ),
    Control(
        "MLU: hardshrink, trained", OLD, f"{TESTS}hardshrink.py", Learned(F.hardshrink, HALF),
        train=True,
    ),
    Control(
        "MLU: index_select", OLD, f"{TESTS}index_select.py",
        lambda x, at: torch.index_select(x, 1, at), (X.short(), torch.tensor([0, 2, 1])),
    ),
    Control(
        "MLU: LayerNorm in bfloat16", NEW, f"{TESTS}layer_norm.py", nn.LayerNorm(64).bfloat16(),
        (torch.ones(4, 1, 1, 64, dtype=torch.bfloat16),),
    ),
    Control("MLU: logaddexp", OLD, f"{TESTS}logaddexp.py", torch.logaddexp, (X, X.double())),
    Control("MLU: lt", OLD, f"{TESTS}lt.py", torch.lt, (HALF, HALF)),
    Control("MLU: median", OLD, f"{TESTS}median.py", lambda x: torch.median(x, 1), (HALF,)),
    Control("MLU: polar", OLD, f"{TESTS}polar.py", torch.polar, (X.abs(), X)),
    Control(
        "MLU: scatter_add", OLD, f"{TESTS}scatter_add.py",
        lambda x, at: torch.scatter_add(x, 1, at, x), (X, PLACES),
    ),
    Control("MLU: silu, trained", OLD, f"{TESTS}silu.py", Learned(F.silu, HALF), train=True),
    Control("MLU: unbind", OLD, f"{TESTS}unbind.py", lambda x: torch.unbind(x, 1), (X.short(),)),
    Control(
        "MLU: upsample_nearest2d", OLD, f"{TESTS}upsample_nearest2d.py",
        lambda x: F.interpolate(x, scale_factor=2.5, mode="nearest"), (PICTURE.half(),),
    ),
    Control(
        "MLU: ResNet, trained", NEW, "Cambricon/torch_mlu:examples/training/single_card_demo.py",
        lambda: vision("resnet50"), (IMAGE,), train=True, build=True,
    ),
    Control(
        "MLU: BERT, trained", NEW, "huggingface/transformers#29627",
        lambda: encoder("BertForSequenceClassification"), (IDS, MASK), train=True, build=True,
    ),
)  # fmt: skip
