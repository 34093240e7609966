"""What an ultralytics YAML may hold - the library's own grammar, its layers, within bounds."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from opcheck.db.schema.checks import Flag, ListOf, MapOf, Path, Shape, ShapeError, Text
from opcheck.lang.sentence import Sentence

OWN = frozenset(
    ("A2C2f", "AConv", "ADown", "AIFI", "Bottleneck", "BottleneckCSP", "C1", "C2", "C2PSA", "C2f",
     "C2fAttn", "C2fCIB", "C2fPSA", "C3", "C3Ghost", "C3TR", "C3k2", "C3x", "CBFuse", "CBLinear",
     "Classify", "Concat", "Conv", "Conv2", "ConvTranspose", "DWConv", "DWConvTranspose2d", "Depth",
     "Detect", "ELAN1", "Focus", "GhostBottleneck", "GhostConv", "HGBlock", "HGStem",
     "ImagePoolingAttn", "Index", "LRPCHead", "OBB", "OBB26", "PSA", "Pose", "Pose26",
     "RTDETRDecoder", "RepC3", "RepConv", "RepNCSPELAN4", "RepVGGDW", "ResNetLayer", "SCDown",
     "SPP", "SPPELAN", "SPPF", "Segment", "Segment26", "SemanticSegment", "TorchVision",
     "WorldDetect", "YOLOEDetect", "YOLOESegment", "YOLOESegment26", "v10Detect")
)  # fmt: skip
"""Layers of ``ultralytics.nn.modules`` that its reader of YAML knows. Of those in 8.4.190 none but
``TorchVision`` opens, imports or downloads anything, whatever its arguments."""

TORCHVISION_LAYER = "TorchVision"
"""Wraps a model of torchvision, by default with weights that are downloaded."""

ACTIVATIONS = frozenset(
    ("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity",
     "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU",
     "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign",
     "Tanh", "Tanhshrink", "Threshold")
)  # fmt: skip
"""Classes of ``torch.nn`` that compute each element, or a row of them, from itself."""

_OF_TORCH = ACTIVATIONS | frozenset(
    ("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
     "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AlphaDropout", "AvgPool1d", "AvgPool2d",
     "AvgPool3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "ChannelShuffle",
     "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
     "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
     "ConvTranspose3d", "CosineSimilarity", "CrossMapLRN2d", "Dropout", "Dropout1d", "Dropout2d",
     "Dropout3d", "Embedding", "EmbeddingBag", "FeatureAlphaDropout", "Flatten", "Fold",
     "FractionalMaxPool2d", "FractionalMaxPool3d", "GRU", "GRUCell", "GroupNorm", "InstanceNorm1d",
     "InstanceNorm2d", "InstanceNorm3d", "LPPool1d", "LPPool2d", "LPPool3d", "LSTM", "LSTMCell",
     "LayerNorm", "Linear", "LocalResponseNorm", "MaxPool1d", "MaxPool2d", "MaxPool3d",
     "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "MultiheadAttention", "PairwiseDistance",
     "PixelShuffle", "PixelUnshuffle", "RMSNorm", "RNN", "RNNCell", "ReflectionPad1d",
     "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
     "ReplicationPad3d", "Sequential", "SyncBatchNorm", "Transformer", "TransformerDecoderLayer",
     "TransformerEncoderLayer", "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d",
     "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d")
)  # fmt: skip
"""Layers of ``torch.nn`` that numbers alone can make."""

_OF_TORCHVISION = frozenset(
    ("Conv2dNormActivation", "Conv3dNormActivation", "DeformConv2d", "DropBlock2d", "DropBlock3d",
     "FrozenBatchNorm2d", "MLP", "Permute", "SqueezeExcitation", "StochasticDepth")
)  # fmt: skip
"""Layers of ``torchvision.ops`` that numbers alone can make."""

LAYERS = (
    OWN
    | {f"nn.{name}" for name in _OF_TORCH}
    | {f"torchvision.ops.{name}" for name in _OF_TORCHVISION}
)

TORCHVISION_MODELS = (
    r"(?:alexnet|convnext|densenet|efficientnet|googlenet|inception|maxvit|mnasnet|mobilenet|"
    r"regnet|resnet|resnext|shufflenet|squeezenet|swin|vgg|vit|wide_resnet)[a-z0-9_]{0,40}"
)
"""Models of torchvision that classify: those that detect download a backbone of their own."""

SETTINGS = frozenset(("nc", "kpt_shape", "reg_max", "end2end"))
"""Keys of the YAML that an argument may name instead of a value."""

WORDS = frozenset(
    ("None", "True", "False", "nearest", "nearest-exact", "linear", "bilinear", "bicubic",
     "trilinear", "area", "zeros", "reflect", "replicate", "circular", "same", "valid", "mean",
     "sum", "max", "none", "tanh", "relu", "gelu")
)  # fmt: skip
"""Texts that layers take as an argument."""

TEXT_MODELS = frozenset(("clip:ViT-B/32", "mobileclip:blt", "mobileclip2:b"))
"""Encoders of class names; none is loaded for a scan."""


_MOST_LAYERS = 4096
"""Layers that a model may have, repeated ones counted; the largest of ultralytics has some 300."""
_MOST_ROWS = 512
_MOST_ARGUMENTS = 32
_MOST_ITEMS = 64
"""Values in a list that is an argument, or layers that one reads from."""
_DEEPEST = 3
_LARGEST = 2**16
"""Channels, kernel sizes and the like."""
_NUMBER = r"[-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:e[-+]?\d{1,3})?"
_LITERAL = rf"(?:{_NUMBER}|True|False|None|'(?:none|tanh)')"
_ARGUMENT = rf"(?:[a-z_]{{1,20}} ?= ?)?{_LITERAL}"
_ACTIVATION = (
    rf"(?:torch\.)?nn\.(?:{'|'.join(sorted(ACTIVATIONS))})"
    rf"\((?:{_ARGUMENT}(?:, ?{_ARGUMENT}){{0,3}})?\)"
)


class Anything(Struct, frozen=True):
    """A mapping, whatever is in it."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no mapping."""
        MapOf(_Whatever()).check(value, path)


class _Whatever(Struct, frozen=True):
    def check(self, value: object, path: Path) -> None:
        """Take any value."""


class _Within(Struct, frozen=True):
    """A finite number between two, whole unless ``fraction``."""

    least: int
    most: int
    fraction: bool = False

    def check(self, value: object, path: Path) -> None:
        kinds = (int, float) if self.fraction else int
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if not (fits and self.least <= value <= self.most):  # type: ignore[operator]  # a number
            raise ShapeError(
                path,
                Sentence(
                    "expected a number from {least} to {most}"
                    if self.fraction
                    else "expected a whole number from {least} to {most}",
                    least=self.least,
                    most=self.most,
                ),
            )


class _Row(Struct, frozen=True):
    """A list of exactly so many values, each of its own shape."""

    items: tuple[Shape, ...]

    def check(self, value: object, path: Path) -> None:
        if not isinstance(value, list) or len(value) != len(self.items):
            raise ShapeError(
                path, Sentence("expected a list of {count} values", count=len(self.items))
            )
        for index, (shape, item) in enumerate(zip(self.items, value, strict=True)):
            shape.check(item, (*path, index))


class _From(Struct, frozen=True):
    """The layers that one reads from."""

    def check(self, value: object, path: Path) -> None:
        one = _Within(-_MOST_ROWS, _MOST_ROWS)
        if not isinstance(value, list):
            one.check(value, path)
            return
        if len(value) > _MOST_ITEMS:
            raise ShapeError(
                path, Sentence("expected at most {count} layers to read from", count=_MOST_ITEMS)
            )
        ListOf(one, least=1).check(value, path)


class _Argument(Struct, frozen=True):
    """A literal, a list of them, or the name of a setting."""

    depth: int = 0

    def check(self, value: object, path: Path) -> None:
        match value:
            case None | bool():
                return
            case int() | float():
                _Within(-_LARGEST, _LARGEST, fraction=True).check(value, path)
            case str() if value in WORDS or value in SETTINGS or re.fullmatch(_NUMBER, value):
                return
            case list() if self.depth < _DEEPEST and len(value) <= _MOST_ITEMS:
                ListOf(_Argument(self.depth + 1)).check(value, path)
            case _:
                shown = repr(value)[:80]
                raise ShapeError(
                    path,
                    Sentence("expected a number or a word of the layer, found {text}", text=shown),
                )


class _Layer(Struct, frozen=True):
    """``[from, repeats, layer, arguments]``."""

    known: bool

    def check(self, value: object, path: Path) -> None:
        name = Text(one_of=LAYERS) if self.known else Text(pattern=r"[\w.]{1,60}", form="a layer")
        _Row((_From(), _Within(0, 1024), _Name(name), _Whatever())).check(value, path)
        assert isinstance(value, list), "checked as a row"
        arguments, place = value[3], (*path, 3)
        if not isinstance(arguments, list) or len(arguments) > _MOST_ARGUMENTS:
            raise ShapeError(
                place,
                Sentence("expected a list of at most {count} arguments", count=_MOST_ARGUMENTS),
            )
        if value[2] != TORCHVISION_LAYER:
            ListOf(_Argument()).check(arguments, place)
            return
        wrapped = Text(pattern=TORCHVISION_MODELS, form="a model of torchvision that classifies")
        weights = Text(pattern=r"\w{1,60}", form="the name of weights")
        shapes = (_Within(1, _LARGEST), wrapped, _Maybe(weights), *(_Argument(),) * 3)
        _Row(shapes[: min(max(len(arguments), 2), len(shapes))]).check(arguments, place)


class _Name(Struct, frozen=True):
    """The name of a layer; the message does not list the hundred that there are."""

    shape: Text

    def check(self, value: object, path: Path) -> None:
        try:
            self.shape.check(value, path)
        except ShapeError as error:
            expected = Sentence(
                "expected a layer of ultralytics or torch.nn, found {text}",
                text=repr(str(value)[:60]),
            )
            raise ShapeError(path, expected) from error


class _Maybe(Struct, frozen=True):
    """A value of a shape, or nothing."""

    shape: Shape

    def check(self, value: object, path: Path) -> None:
        if value is not None and value != "None":
            self.shape.check(value, path)


_FACTOR = _Within(0, 64, fraction=True)
_CHANNELS = _Within(1, _LARGEST)
KEYS: Mapping[str, Shape] = {
    "nc": _Within(1, 100_000),
    "activation": Text(pattern=_ACTIVATION, form="an activation of torch.nn, as nn.SiLU()"),
    "scales": MapOf(_Row((_FACTOR, _FACTOR, _CHANNELS)), Text(pattern=r"\w{1,20}", form="a word")),
    "depth_multiple": _FACTOR,
    "width_multiple": _FACTOR,
    "kpt_shape": _Row((_Within(1, 4096), _Within(1, 16))),
    "reg_max": _Within(1, 1024),
    "end2end": Flag(),
    "inplace": Flag(),
    "channels": _CHANNELS,
    "ch": _CHANNELS,
    "text_model": Text(one_of=TEXT_MODELS),
}
"""What ultralytics reads besides the layers; keys that it does not know are left out."""
PARTS = ("backbone", "head")


class Model(Struct, frozen=True):
    """A whole model; a layer must be of the known ones unless that is off."""

    known_layers: bool

    def check(self, value: object, path: Path) -> None:
        """Raise where ultralytics would evaluate more than literals, or build without bounds."""
        MapOf(_Whatever()).check(value, path)
        assert isinstance(value, dict), "checked as a mapping"
        for key, shape in KEYS.items():
            if key in value:
                _Maybe(shape).check(value[key], (*path, key))
        for part in PARTS:
            if part not in value:
                raise ShapeError(
                    path, Sentence("expected the key {text}, which is missing", text=repr(part))
                )
            if isinstance(value[part], list) and len(value[part]) > _MOST_ROWS:
                raise ShapeError(
                    (*path, part), Sentence("expected at most {count} layers", count=_MOST_ROWS)
                )
            ListOf(_Layer(self.known_layers), least=1).check(value[part], (*path, part))
        self._check_count(value, path)

    def _check_count(self, value: Mapping[str, Any], path: Path) -> None:
        """Refuse a model of more layers than any has, repeated ones counted."""
        scales = value.get("scales")
        scales = scales.values() if isinstance(scales, dict) else ()
        depth = max((scale[0] for scale in scales), default=value.get("depth_multiple", 1.0))
        repeats = (row[1] for part in PARTS for row in value[part])
        if sum(max(1, count, count * depth) for count in repeats) > _MOST_LAYERS:
            raise ShapeError(
                path,
                Sentence(
                    "expected at most {count} layers, repeated ones counted", count=_MOST_LAYERS
                ),
            )
