"""Every text that an operator of a file may be passed, by operator and argument."""

import re
from collections.abc import Mapping
from typing import Any

from opcheck.lang.sentence import Sentence

_MESSAGE = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f]*")
"""Printed with an error and nowhere else."""
_LONGEST = 20_000
_EQUATION = re.compile(r"[A-Za-z ,.>-]*")

Words = frozenset[str] | re.Pattern[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NORM = _words("backward ortho forward")
_ROUNDING = _words("trunc floor")
_PADDING = _words("same valid")
_TRIANGLE = _words("L U l u")
_GELU = _words("none tanh")
_QUANTILE = _words("linear lower higher midpoint nearest")
_REDUCE = _words("sum prod mean amax amin")
_SEGMENT = _words("sum prod mean max min")
_SVD = _words("gesvd gesvdj gesvda")
_FRO = _words("fro nuc")
_ACTIVATION = _words("none relu silu")

TABLE: Mapping[str, Mapping[str, Words]] = {
    "_assert_async": {"assert_msg": _MESSAGE},
    "_assert_scalar": {"assert_msg": _MESSAGE},
    "_convolution_mode": {"padding": _PADDING},
    "_functional_assert_async": {"assert_msg": _MESSAGE},
    "_functional_assert_scalar": {"assert_msg": _MESSAGE},
    "_linalg_check_errors": {"api_name": _MESSAGE},
    "_linalg_eigh": {"UPLO": _TRIANGLE},
    "_linalg_svd": {"driver": _SVD},
    "_mixed_dtypes_linear": {"activation": _ACTIVATION},
    "_segment_reduce_backward": {"reduce": _SEGMENT},
    "_sparse_mm": {"reduce": _REDUCE},
    "_sparse_mm_reduce_impl": {"reduce": _REDUCE},
    "_sparse_mm_reduce_impl_backward": {"reduce": _REDUCE},
    "_sparse_semi_structured_linear": {"activation": _ACTIVATION},
    "_sparse_semi_structured_tile": {"algorithm": frozenset(("", "largest_abs_values_greedy"))},
    "conv1d": {"padding": _PADDING},
    "conv2d": {"padding": _PADDING},
    "conv3d": {"padding": _PADDING},
    "div": {"rounding_mode": _ROUNDING},
    "div_": {"rounding_mode": _ROUNDING},
    "divide": {"rounding_mode": _ROUNDING},
    "divide_": {"rounding_mode": _ROUNDING},
    "einsum": {"equation": _EQUATION},
    **{
        f"fft_{kind}{rank}": {"norm": _NORM}
        for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for rank in ("", "2", "n")
    },
    "gelu": {"approximate": _GELU},
    "gelu_": {"approximate": _GELU},
    "gelu_backward": {"approximate": _GELU},
    "index_reduce": {"reduce": _REDUCE},
    "index_reduce_": {"reduce": _REDUCE},
    "linalg_cond": {"p": _FRO},
    "linalg_eigh": {"UPLO": _TRIANGLE},
    "linalg_eigvalsh": {"UPLO": _TRIANGLE},
    "linalg_lstsq": {"driver": _words("gels gelsy gelsd gelss")},
    "linalg_matrix_norm": {"ord": _FRO},
    "linalg_norm": {"ord": _FRO},
    "linalg_qr": {"mode": _words("reduced complete r")},
    "linalg_svd": {"driver": _SVD},
    "linalg_svdvals": {"driver": _SVD},
    "meshgrid": {"indexing": _words("ij xy")},
    "nanquantile": {"interpolation": _QUANTILE},
    "pad": {"mode": _words("constant reflect replicate circular")},
    "pad_sequence": {"padding_side": _words("left right")},
    "quantile": {"interpolation": _QUANTILE},
    "scatter": {"reduce": _words("add multiply")},
    "scatter_": {"reduce": _words("add multiply")},
    "scatter_reduce": {"reduce": _REDUCE},
    "scatter_reduce_": {"reduce": _REDUCE},
    "searchsorted": {"side": _words("left right")},
    "segment_reduce": {"reduce": _SEGMENT},
    "stft": {"pad_mode": _words("constant reflect replicate circular")},
}  # fmt: skip
"""Base name of an aten operator -> argument -> what it may say (torch 2.13)."""

_GROUP = re.compile(r"[\w.:+-]{1,200}", re.ASCII)
"""torch numbers process groups, or names them by what their ranks hash to; never an address."""
_REDUCTION = _words("sum avg mean product prod min max band bor bxor premul_sum unused")
COLLECTIVES: Mapping[str, Words] = {
    "reduce_op": _REDUCTION, "reduceOp": _REDUCTION, "group_name": _GROUP, "tag": re.compile(""),
}  # fmt: skip
"""Argument of a collective -> what it may say (torch 2.3 to 2.13)."""
_OF_COLLECTIVES = frozenset({"_c10d_functional", "_c10d_functional_autograd", "c10d_functional"})


def words_of(operator: str) -> Mapping[str, Words]:
    """Give the texts that ``aten::gelu`` takes, by argument; empty for one that takes none."""
    namespace, _, base = operator.partition("::")
    if namespace in _OF_COLLECTIVES:
        return COLLECTIVES
    return TABLE.get(base, {}) if namespace == "aten" else {}


def text_refusal(operator: str, argument: str, text: Any) -> str:
    """Say why an operator must not be passed this text as an argument; empty where it may be."""
    allowed = words_of(operator).get(argument)
    if allowed is None:
        return Sentence("{text} takes no text as {text_b}", text=operator, text_b=repr(argument))
    if isinstance(text, str) and len(text) <= _LONGEST:
        fits = text in allowed if isinstance(allowed, frozenset) else allowed.fullmatch(text)
        if fits:
            return ""
    return Sentence(
        "{text} does not know {text_b} as {text_c}",
        text=operator,
        text_b=repr(str(text)[:60]),
        text_c=repr(argument),
    )
