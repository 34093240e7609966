"""The names that an ultralytics YAML may write: layers, activations and words; no torch."""

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
