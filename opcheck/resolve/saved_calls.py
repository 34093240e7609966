"""What a saved call of a composite runs as, with its arguments, where these decide it."""

from msgspec.structs import replace

from opcheck.model.trace import Node, OpName, TensorMeta


def runs_as(call: Node) -> tuple[Node, ...] | None:
    """The calls that a composite makes; () none at all; None where its arguments do not decide it.

    As ATen's code has it; what a device has a kernel of its own for is not asked here.
    """
    for made in (_convolved, _on_device, _pooled, _averaged, _normed):
        inner = made(call)
        if inner is not None:
            return (inner,)
    return () if _kept(call) else _looked_up(call) or _added(call)


_OF_VECTORS = frozenset(
    {"aten::dot", "aten::vdot", "aten::mv", "aten::addmv", "aten::addmv_", "aten::addmv.out"}
)
_PRODUCTS = {"aten::linear": ("input", "weight"), "aten::matmul": ("self", "other")}


def not_reached(call: Node) -> frozenset[str]:
    """Overloads that a call cannot come to, whatever branch it takes: products of vectors.

    A product of tensors of two dimensions and more is one of matrices (``_matmul_impl`` and
    ``linear`` of LinearAlgebra.cpp and Linear.cpp).
    """
    given = dict(call.arguments)
    factors = [given.get(name) for name in _PRODUCTS.get(str(call.op), ())]
    large = [one for one in factors if isinstance(one, TensorMeta) and len(one.shape) > 1]
    return _OF_VECTORS if factors and len(large) == len(factors) else frozenset()


_CONVOLUTIONS = {
    "aten::conv1d": 1, "aten::conv2d": 2, "aten::conv3d": 3, "aten::conv_transpose1d": 1,
    "aten::conv_transpose2d.input": 2, "aten::conv_transpose3d.input": 3,
}  # fmt: skip
"""Convolution without a string for its padding -> its spatial dimensions."""


def inner_product(call: Node) -> Node | None:
    """The product that ``linear`` takes where it takes one (Linear.cpp); None for other calls."""
    given = dict(call.arguments)
    x, weight = given.get("input"), given.get("weight")
    if str(call.op) != "aten::linear" or not not_reached(call):
        return None
    assert isinstance(x, TensorMeta)
    assert isinstance(weight, TensorMeta)
    arguments = (("self", x), ("other", _turned(weight)))
    return replace(call, op=OpName.parse("aten::matmul"), arguments=arguments)


def _convolved(call: Node) -> Node | None:
    """What a convolution of a batch runs as, with its arguments; None for any other call.

    ATen hands the arguments on as they are (``conv2d_symint``, ``conv_transpose2d_symint`` of its
    native/Convolution.cpp), but adds a dimension to an input without a batch, and makes three real
    calls of a complex one.
    """
    dims = _CONVOLUTIONS.get(str(call.op))
    given = dict(call.arguments)
    x = given.get("input")
    if dims is None or not isinstance(x, TensorMeta) or len(x.shape) != dims + 2:
        return None
    if call.dtype_class == "complex":
        return None
    arguments = (
        ("input", x),
        ("weight", given.get("weight")),
        ("bias", given.get("bias")),
        ("stride", given.get("stride", (1,) * dims)),
        ("padding", given.get("padding", (0,) * dims)),
        ("dilation", given.get("dilation", (1,) * dims)),
        ("transposed", "transpose" in call.op.base),
        ("output_padding", given.get("output_padding", (0,) * dims)),
        ("groups", given.get("groups", 1)),
    )
    return replace(call, op=OpName.parse("aten::convolution"), arguments=arguments)


_PLANE, _VOLUME = 4, 5
"""Dimensions of a batch of either."""


def _on_device(call: Node) -> Node | None:
    """What a convolution asks a device for, with its arguments; None for any other call.

    ``_convolution`` of Convolution.cpp; a line becomes a plane before, and nothing is asked for an
    input without elements.
    """
    x = dict(call.arguments).get("input")
    if str(call.op) != "aten::convolution" or not isinstance(x, TensorMeta):
        return None
    if len(x.shape) not in (_PLANE, _VOLUME) or 0 in x.shape or call.dtype_class == "complex":
        return None
    return replace(call, op=OpName.parse("aten::convolution_overrideable"))


_POOLS = {
    "aten::max_pool2d": "aten::max_pool2d_with_indices",
    "aten::max_pool3d": "aten::max_pool3d_with_indices",
}
"""Pool of maxima -> what it runs as, with the same arguments."""


def _pooled(call: Node) -> Node | None:
    """What a pool of maxima runs as (``Pooling.cpp``); None for any other call."""
    inner = _POOLS.get(str(call.op))
    if inner is None or len(call.outputs) != 1 or not isinstance(call.outputs[0], TensorMeta):
        return None
    found = call.outputs[0]
    outputs = (found, replace(found, dtype="int64"))
    return replace(call, op=OpName.parse(inner), outputs=outputs)


def _normed(call: Node) -> Node | None:
    """What a layer norm runs as (``layer_norm_symint`` of layer_norm.cpp); None for other calls."""
    if str(call.op) != "aten::layer_norm" or not call.arguments:
        return None
    arguments = tuple(each for each in call.arguments if each[0] != "cudnn_enable")
    return replace(call, op=OpName.parse("aten::native_layer_norm"), arguments=arguments)


def _averaged(call: Node) -> Node | None:
    """What an average over a whole plane runs as (AdaptiveAveragePooling.cpp); None for others.

    One in channels-last is given strides afterwards, and a quantized one is no mean.
    """
    given = dict(call.arguments)
    x = given.get("self")
    if str(call.op) != "aten::adaptive_avg_pool2d" or given.get("output_size") != (1, 1):
        return None
    if not isinstance(x, TensorMeta) or x.layout != "contiguous" or x.dtype.startswith("q"):
        return None
    arguments = (("self", x), ("dim", (-1, -2)), ("keepdim", True))
    return replace(call, op=OpName.parse("aten::mean.dim"), arguments=arguments)


def _kept(call: Node) -> bool:
    """Whether a call gives its input back (``dropout_impl`` of Dropout.cpp)."""
    return str(call.op) == "aten::dropout" and dict(call.arguments).get("train") is False


def _turned(matrix: TensorMeta) -> TensorMeta:
    return replace(matrix, shape=matrix.shape[::-1], stride=matrix.stride[::-1])


def _added(call: Node) -> tuple[Node, ...] | None:
    """What ``linear`` of a matrix with a bias runs as (Linear.cpp); None for other calls."""
    given = dict(call.arguments)
    x, weight, bias = (given.get(name) for name in ("input", "weight", "bias"))
    if not isinstance(x, TensorMeta) or not isinstance(weight, TensorMeta) or bias is None:
        return None
    if str(call.op) != "aten::linear" or len(x.shape) != 2 or len(weight.shape) != 2:
        return None
    turned = _turned(weight)
    turn = replace(
        call, op=OpName.parse("aten::t"), arguments=(("self", weight),), outputs=(turned,)
    )
    arguments = (("self", bias), ("mat1", x), ("mat2", turned))
    return turn, replace(call, op=OpName.parse("aten::addmm"), arguments=arguments)


def _looked_up(call: Node) -> tuple[Node, ...] | None:
    """What a table's rows are taken by (``embedding_symint`` of Embedding.cpp); None for others."""
    given = dict(call.arguments)
    weight, indices = given.get("weight"), given.get("indices")
    if str(call.op) != "aten::embedding" or len(call.outputs) != 1:
        return None
    if not isinstance(weight, TensorMeta) or not isinstance(indices, TensorMeta):
        return None
    if indices.layout != "contiguous" or 0 in indices.shape or len(weight.shape) != 2:
        return None
    line = replace(indices, shape=(indices.numel,), stride=(1,))
    rows = replace(weight, shape=(indices.numel, weight.shape[1]), stride=(weight.shape[1], 1))
    chosen = replace(
        call,
        op=OpName.parse("aten::index_select"),
        arguments=(("self", weight), ("dim", 0), ("index", line)),
        outputs=(rows,),
    )
    if len(indices.shape) == 1:
        return (chosen,)
    viewed = OpName.parse("aten::view")
    return (
        replace(call, op=viewed, arguments=(("self", indices), ("size", (-1,))), outputs=(line,)),
        chosen,
        replace(
            call,
            op=viewed,
            arguments=(("self", rows), ("size", (*indices.shape, weight.shape[1]))),
        ),
    )
