"""Calls that rules decline, each with its reason."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.rules.indexing.pad_repeat_roll import places_repeated
from opcheck.rewrite.rules.reductions.histc import histc
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.reasons import reads

torchvision_operators.prepare()
RULES = {rule.name: rule for rule in rules()}
HALF, DOUBLE, INT, BOOL = torch.float16, torch.float64, torch.int64, torch.bool
C64, C128 = torch.complex64, torch.complex128
SAMPLES = "in half precision the places of samples would be off"
ONE_MASK = "it is not indexed by one mask alone"
REAL = "the values are not real floating-point"


def t(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A tensor without values: shapes and dtypes are what a rule may decline by."""
    return torch.empty(shape, dtype=dtype, device="meta")


def out_of_order() -> Tensor:
    """One that does not lie in order."""
    return t(2, 3).mT


REFUSALS: tuple[tuple[str, tuple[Any, ...], dict[str, Any], str], ...] = (
    # --- complex numbers
    ("index-as-real", (t(3, dtype=C64), [t(3, dtype=BOOL)]), {}, "a mask picks"),
    ("index-as-real", (t(3), [t(2, dtype=INT)]), {}, "the numbers are not complex"),
    ("index-select-as-real", (t(3), 0, t(2, dtype=INT)), {}, "the numbers are not complex"),
    ("cat-as-real", ([t(3, dtype=C64), t(3, dtype=C128)],), {}, "the numbers are of two dtypes"),
    ("mul-as-real", (t(3, dtype=C64), t(3)), {}, "the numbers are not complex"),
    ("polar-as-real", (t(3, dtype=HALF), t(3)), {}, "the numbers are of half precision"),
    ("polar-of-parts", (t(3), t(3, dtype=DOUBLE)), {}, "the numbers are of two dtypes"),
    ("polar-by-complex", (t(3, dtype=HALF), t(3, dtype=HALF)), {},
     "the numbers are not of float32 or float64"),
    ("arcs-by-atan", (t(3, dtype=C64),), {}, "the numbers are complex"),
    ("stft-by-tables", (t(9, dtype=C64), 4), {}, "the signal is not of float32 or float64"),
    ("stft-by-tables", (t(9), 4), {"window": t(4, dtype=DOUBLE)}, "the window is of another dtype"),
    ("stft-by-tables", (t(9), 4), {"align_to_window": False}, "frames are aligned to the window"),
    ("istft-by-tables", (t(3, 2, dtype=C64), 4), {"return_complex": True}, "the signal is complex"),
    ("istft-by-tables", (t(3, 2, dtype=C64), 4), {"window": t(4, dtype=C64)},
     "the signal is complex"),
    ("istft-by-tables", (t(3, 0, dtype=C64), 4), {}, "there are no frames"),
    ("istft-by-tables", (t(3, 2, dtype=torch.complex32), 4), {},
     "the numbers are of half precision"),
    ("fft-by-tables", (t(0, 2, dtype=C64), [0], 0, True), {}, "a transform has no elements"),
    ("fft-by-tables", (t(2, dtype=torch.complex32), [0], 0, True), {},
     "the numbers are of half precision"),
    # --- losses
    ("ctc-loss-by-paths", (t(4, 2, 3), t(5, dtype=INT), [4, 4], [2, 3]), {},
     "targets are joined into one row, so their places depend on values"),
    ("ctc-loss-by-paths", (t(4, 2, 3), t(2, 0, dtype=INT), [4, 4], [0, 0]), {},
     "there are no labels"),
    # --- joining, and truth values
    ("cat-without-empty", ([t(2, 3), t(2, 3)],), {},
     "no empty tensor of one dimension is among others of more"),
    ("cat-without-empty", ([t(0), t(0)],), {},
     "no empty tensor of one dimension is among others of more"),
    ("cat-without-empty", ([t(0), t(2, 3, dtype=HALF)],), {},
     "the empty tensor has a say in the dtype"),
    ("bits-of-truth-by-logic", (t(3, dtype=BOOL), t(3, dtype=INT)), {},
     "they are no truth values"),
    # --- images
    ("avg-pool-by-adding", (t(1, 4, 4, dtype=INT), [2, 2]), {}, REAL),
    ("adaptive-avg-pool-by-windows", (t(1, 4, dtype=INT), [2]), {}, REAL),
    ("adaptive-avg-pool-by-windows", (t(1, 4), [0]), {}, "the output is empty"),
    ("adaptive-avg-pool-by-even-windows", (t(1, 4), [0]), {}, "the output is empty"),
    ("adaptive-avg-pool-by-even-windows", (t(1, 4), [5]), {},
     "the output is larger than the input"),
    ("grid-sample-by-gather", (t(1, 1, 2, 2, dtype=HALF), t(1, 2, 2, 2), 0, 0, True), {}, SAMPLES),
    ("grid-sample-by-gather", (t(1, 1, 2, 2), t(1, 0, 2, 2), 0, 0, True), {},
     "there is nothing to sample"),
    ("grid-sample-by-gather", (t(1, 1, 2, 2, 2), t(1, 2, 2, 2, 3), 2, 0, True), {},
     "bicubic sampling is for images"),
    ("max-pool-by-windows", (t(1, 4, dtype=BOOL), [2]), {},
     "the values have no order"),
    ("adaptive-max-pool-by-windows", (t(1, 4, dtype=C64), [2]), {}, "the values have no order"),
    ("max-pool-by-windows", (t(1, 4), [2], [1], [2]), {},
     "a window lies wholly in the padding"),
    ("roi-align-by-index", (t(1, 1, 4, 4), t(1, 5), 1.0, 2, 2, -1, False), {},
     "without a sampling_ratio, the number of samples depends on the regions"),
    ("roi-align-by-index", (t(1, 1, 4, 4, dtype=HALF), t(1, 5), 1.0, 2, 2, 2, False), {}, SAMPLES),
    ("deform-conv2d-by-gather", (t(1, 1, 4, 4, dtype=HALF), t(1, 1, 1, 1), t(1, 2, 4, 4)), {},
     "in half precision the moved places would be off"),
    ("deform-conv2d-by-gather", (t(1, 1, 4, 4), t(1, 1, 1, 1), t(0, 2, 4, 4)),
     {"offset_groups": 1}, "there is nothing to convolve"),
    ("upsample-aa-by-taps", (t(1, 1, 4, 4), [4, 1], False), {},
     "PyTorch's own kernel for the host mixes up rows where one column is left"),
    ("upsample-by-taps", (t(1, 1, 4, dtype=torch.uint8), [2], False), {},
     "integers are interpolated with weights of fixed precision"),
    # --- indexing
    ("index-put-by-where", (t(3), [t(2, dtype=INT)], t()), {}, ONE_MASK),
    ("index-put-rows-by-where", (t(3, 2), [t(3, dtype=BOOL), t(2, dtype=INT)], t()), {}, ONE_MASK),
    ("index-put-by-where", (t(3), [t(dtype=BOOL)], t()), {},
     "its mask is not of bool, or has no dimension"),
    ("index-put-by-where", (t(3), [t(3, dtype=torch.uint8)], t()), {},
     "its mask is not of bool, or has no dimension"),
    ("index-put-by-where", (t(3, 2), [t(3, dtype=BOOL), None], t()), {},
     "its mask comes before other dimensions"),
    ("index-put-by-where", (t(3), [t(3, dtype=BOOL)], t(2)), {},
     "values have a row for each place"),
    ("index-put-rows-by-where", (t(3), [t(3, dtype=BOOL)], t()), {},
     "values are the same for each place"),
    ("constant-pad-by-joining", (out_of_order(), [1, 1]), {},
     "the result would lose the layout of the input"),
    ("replication-pad-by-index", (t(1, 0), [1, 1]), {}, "there is nothing to repeat"),
    ("repeat-interleave-by-counting", (t(3, dtype=INT),), {},
     "the size of the result is not given, so it depends on values"),
    ("linspace-by-multiples", (t(), t(), 3), {"dtype": INT}, "its result is not floating point"),
    ("searchsorted-by-halving", (t(0), t(3)), {}, "there are no boundaries"),
    ("bucketize-by-halving", (t(3), t(0)), {}, "there are no boundaries"),
    # --- linear algebra
    ("eigh-by-rotations", (t(2, 2, dtype=C64),), {}, "the matrix is complex"),
    ("lu-by-elimination", (t(2, 2, dtype=C64),), {}, "the matrix is complex"),
    ("lu-by-elimination", (t(2, 2),), {"pivot": False},
     "it goes without pivots, which the host cannot do to compare"),
    ("lu-factor-by-elimination", (t(2, 2),), {"check_errors": True}, "it waits for a check"),
    ("matrix-exp-by-squaring", (t(2, 2, dtype=C64),), {},
     "the matrix is not of float32 or float64"),
    ("renorm-by-norm", (t(2, 2, dtype=C64), 2, 0, 1.0), {}, "it takes no complex numbers"),
    ("vector-norm-by-powers", (t(2, dtype=C64),), {}, "it takes no complex numbers"),
    ("vector-norm-by-powers", (t(2),), {"dtype": C64}, "it takes no complex numbers"),
    ("vector-norm-by-powers", (t(2), -1), {}, "its order is negative"),
    ("matrix-norm-by-singular-values", (t(2, 2), 1), {},
     "the norm is not made of singular values"),
    ("pdist-by-differences", (t(0, 2), 2.0), {}, "there is nothing to take distances of"),
    ("grouped-mm-by-masks", (t(2, 2), t(2, 2)), {},
     "only rows in groups, with a matrix each, are taken"),
    ("grouped-mm-in-float16", (t(2, 2, dtype=HALF), t(2, 2, 2, dtype=HALF)), {},
     "the values are not float32"),
    ("float16-after-scaling", (t(2, 2, dtype=HALF), t(2, 2, dtype=HALF)), {},
     "the values are not float32"),
    ("float16-after-scaling", (t(2, 0), t(0, 2)), {}, "nothing is multiplied"),
    ("grouped-mm-by-masks", (t(2, 2), t(2, 2, 2), t(2, dtype=torch.int32), t(2)), {},
     "a bias is not taken"),
    ("einsum-by-matmul", ("...i,ij->...j", [t(2, 2), t(2, 2)]), {},
     "dots stand for dimensions without a label"),
    ("mv-by-matmul", (t(2, 2, dtype=INT), t(2, dtype=INT)), {},
     "the numbers are not floating-point"),
    ("lstsq-by-reflections", (t(3, 2), t(3, 1)), {"driver": "gelsd"},
     "singular values are asked for"),
    # --- numbers one by one
    ("rrelu-by-where", (t(3), t(3), 0.1, 0.3, True), {}, "in training the slope is random"),
    ("rrelu-by-leaky-relu", (t(3), 0.1, 0.3, True), {}, "in training the slopes are random"),
    ("rrelu-by-uniform", (t(3), 0.1, 0.3, False), {}, "out of training nothing is drawn"),
    ("mul-of-truth-by-and", (t(3, dtype=BOOL), t(3)), {}, "they are no truth values"),
    ("div-of-truth-by-numbers", (t(3), t(3)), {}, "they are numbers already"),
    ("round-decimals-by-round", (t(3, dtype=HALF),), {"decimals": 1},
     "the numbers are in half precision"),
    ("polygamma-by-zeta", (-1, t(3)), {}, "the order is negative"),
    # --- reductions
    ("histc-by-counting", (t(3), 0), {}, "there are no bins"),
    ("histc-without-scatter", (t(3), 1 << 24), {},
     "it would compare 50,331,648 times, more than 16,777,216"),
    ("histogram-of-count-by-comparing", (t(3), 0), {}, "there are no bins"),
    ("histc-by-counting", (t(3, dtype=INT), 4, 0.5, 2), {},
     "it counts integers only in a range of integers that is given"),
    ("histc-by-counting", (t(3, dtype=INT), 4, 0, 1 << 40), {},
     "so many integers, or such large ones, are not exact in float32"),
    ("bincount-of-fixed-length", (t(3, dtype=INT),), {},
     "the size of its result depends on values; give a minlength above the largest"),
    ("median-by-sorting", (t(0),), {}, "there is nothing in it"),
    ("median-of-dim-by-sorting", (t(2, 0), 1), {},
     "there is nothing to choose from along the dimension"),
    ("unique-consecutive-by-comparing", (t(2, 2),), {"dim": 0},
     "it compares slices along a dimension"),
    ("unique-by-sorting", (t(3, dtype=BOOL),), {}, "its values are of bool or complex"),
    ("segment-reduce-by-table", (t(3), "sum"), {}, "it has neither lengths nor offsets"),
    ("embedding-bag-by-scatter-add", (t(3, 2), t(2, dtype=INT), t(1, dtype=INT), True), {},
     "its gradient is dense, and not scaled by how often a row is used"),
    ("embedding-bag-by-scatter-add", (t(3, 2), t(0, dtype=INT), t(1, dtype=INT)), {},
     "there is nothing to look up"),
    # --- kernels that one chip or release lacks
    ("max-pool-without-indices", (t(1, 4, 4, dtype=BOOL), [2]), {}, "the values have no order"),
    ("max-pool-without-indices", (t(1, 1), [2], [1], [1], [2]), {},
     "a window lies wholly in the padding"),
    ("gather-by-selecting", (t(3), 0, t(2, dtype=INT)), {"sparse_grad": True},
     "its gradient is sparse"),
    ("gather-by-selecting", (t(), 0, t(2, dtype=INT)), {},
     "the index has another number of dimensions"),
    ("remainder-by-dividing", (t(3), 2), {}, "the numbers are no integers"),
    ("remainder-by-dividing", (t(3, dtype=INT), 0), {}, "the divisor is 0"),
    ("scalar-tensor-by-filling", (1,), {"pin_memory": True}, "its memory is of another kind"),
    ("native-dropout-by-uniform", (t(0), 0.5, True), {}, "there are no numbers"),
    ("batch-norm-by-means", (t(3, 2), None, None, t(2), t(2), False, 0.1, 1e-3), {},
     "it is not in training: the running statistics are read"),
    ("batch-norm-by-means", (t(3, 2, dtype=INT), None, None, None, None, True, 0.1, 1e-3), {},
     "the numbers are no floating-point ones"),
    ("batch-norm-by-means", (t(1, 2), None, None, None, None, True, 0.1, 1e-3), {},
     "a channel has one number or none"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "reason"), REFUSALS, ids=[f"{r[0]}: {r[3]}" for r in REFUSALS]
)
def test_a_rule_declines_with_its_reason(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> None:
    rule: Rule = RULES[name]
    reads(rule.refuses(Call(overload_named(rule.replaces[0]), args, kwargs)), reason)


def _slope_of_a_bessel_function() -> None:
    x = torch.ones(1, requires_grad=True)
    rule = RULES["modified-bessel-k-by-series"]
    rule.function("aten::special_scaled_modified_bessel_k0")(x).backward()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: places_repeated(torch.tensor([1, 2])), "the number of results is not known"),
        (lambda: histc(torch.ones(3), 4, 2, 1), "torch.histc: max must be larger than min"),
        (_slope_of_a_bessel_function, "PyTorch has no derivative of this function"),
    ],
)
def test_a_function_that_has_no_answer_says_why(call: Callable[[], None], reason: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError)) as raised:
        call()
    reads(str(raised.value), reason)
