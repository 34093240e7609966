"""The heat map: how each target fares with each kind of operator, known by the operator's name."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.html import words
from opcheck.views.targets import short_names

OTHER = "other"
_OWN = ("aten", "prims", "prim")
"""Namespaces of PyTorch's own; any other is a family of itself."""

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("read by Python", r"^(item|_local_scalar_dense|is_nonzero|equal|allclose|_assert\w*)$"),
    ("attention", r"attention|_sdp_|mem_eff|flash_attn"),
    ("convolution", r"conv|im2col|col2im|unfold"),
    ("normalization", r"(batch|layer|group|instance|rms|weight)_norm|renorm|local_response"),
    ("recurrent", r"lstm|gru|rnn"),
    ("loss", r"loss|cross_entropy|kl_div"),
    ("pooling and resizing", r"pool|upsample|grid_sample|interpolate|pixel_"),
    ("matrix product", r"^(mm|bmm|addmm|addbmm|baddbmm|matmul|linear|dot|mv|addmv|einsum|outer)$"),
    (
        "matrix product",
        r"^_?(grouped|scaled|int|chain)_?mm|matmul|^linear_|bilinear|tensordot|vdot",
    ),
    ("linear algebra", r"^_?linalg(?!_vector)|cholesky|^svd|^qr|inverse|^det$|^trace$"),
    ("spectral", r"fft|stft|complex|^(real|imag|polar|conj)"),
    ("random", r"dropout|(^|_)rand|bernoulli|multinomial|normal_?$|uniform|exponential_"),
    ("sort and search", r"sort|topk|unique|nonzero|search|kthvalue|histc|bincount|median|mode$"),
    ("indexing", r"index|gather|scatter|select|take|masked|embedding|^where|slice|narrow|one_hot"),
    ("activation", r"relu|gelu|silu|sigmoid|tanh|softmax|softplus|swish|elu|mish|^glu|logsigmoid"),
    ("reduction", r"^_?(sum|mean|prod|max|min|amax|amin|aminmax|any|all|std|var|norm|cum\w*)(_|$)"),
    ("reduction", r"argmax|argmin|logsumexp|logcumsumexp|count_nonzero|vector_norm|var_mean"),
    (
        "creation",
        r"^(new_)?(empty|zeros?|ones|full|eye|tri[lu]|scalar_tensor)(_|$)|arange|linspace",
    ),
    ("shape", r"view|reshape|transpose|permute|expand|squeeze|flatten|^t_?$|numpy_T|movedim|swap"),
    (
        "shape",
        r"^(cat|stack|hstack|vstack|concat\w*|split\w*|chunk|tensor_split|unbind|repeat\w*)$",
    ),
    ("shape", r"^(roll|flip|pad|constant_pad\w*|unflatten|tile|broadcast\w*|as_strided|meshgrid)$"),
    ("copy and convert", r"^_?to(_copy)?$|copy|clone|contiguous|detach|alias|^lift|type_as|^fill"),
    ("optimizer", r"^_?foreach|fused_(adam|sgd)|^addc(mul|div)"),
    ("elementwise", r"^_*(add|sub|rsub|mul|div|pow|neg|abs|exp\d?|expm1|sqrt|rsqrt|square)_*$"),
    ("elementwise", r"^_*(log\w*|sin|cos|tan|erf\w*|floor\w*|ceil|round|trunc|frac|sign\w*)_*$"),
    ("elementwise", r"^_*(eq|ne|le|lt|ge|gt|logical\w*|bitwise\w*|and|or|xor|not|isnan|isinf)_*$"),
    ("elementwise", r"clamp|maximum|minimum|lerp|atan|acos|asin|sinc|fmod|remainder|nan_to_num"),
    ("elementwise", r"reciprocal|isfinite|shift|hypot|special_|diff$|true_divide|heaviside"),
)
_KNOWN = tuple((name, re.compile(pattern)) for name, pattern in _FAMILIES)


def family(op: str) -> str:
    """The family of an overload: the first whose pattern its base name has."""
    namespace, _, rest = op.partition("::")
    if namespace not in _OWN:
        return namespace or OTHER
    base = rest.partition(".")[0]
    return next((name for name, pattern in _KNOWN if pattern.search(base)), OTHER)


class Cell(Struct, frozen=True):
    """One target and one kind."""

    family: str
    verdict: Verdict | None
    """The worst; None where the target was asked for none of the kind."""
    text: str
    label: str
    """The same in words."""


class Row(Struct, frozen=True):
    """One target."""

    index: int
    name: str
    cells: tuple[Cell, ...]


class HeatMap(Struct, frozen=True):
    """Kinds across, those in most trouble first; targets down, as they were asked for."""

    families: tuple[str, ...]
    rows: tuple[Row, ...]


def heat_map(targets: Sequence[TargetReport]) -> HeatMap:
    """Each operator counts once, at its worst on the target."""
    fares = [_worst(target) for target in targets]
    families = _ordered(fares)
    names = short_names(targets)
    rows = tuple(
        Row(index, name, tuple(_cell(name, kind, found.get(kind, {})) for kind in families))
        for index, (name, found) in enumerate(
            (names[target.target], found) for target, found in zip(targets, fares, strict=True)
        )
    )
    return HeatMap(families, rows)


_Fares = Mapping[str, Mapping[str, Verdict]]
"""Kind -> operator -> its worst verdict."""


def _worst(target: TargetReport) -> _Fares:
    found: dict[str, dict[str, Verdict]] = {}
    for finding in target.findings:
        of_kind = found.setdefault(family(finding.op), {})
        before = of_kind.get(finding.op, finding.verdict)
        of_kind[finding.op] = max(before, finding.verdict, key=lambda verdict: verdict.rank)
    return found


def _ordered(fares: Sequence[_Fares]) -> tuple[str, ...]:
    """Kinds by what is worst in them, by how many operators are off, then by name."""
    badness: dict[str, tuple[int, int]] = {}
    for found in fares:
        for kind, verdicts in found.items():
            worst, off = badness.get(kind, (0, 0))
            badness[kind] = (
                max(worst, *(verdict.rank for verdict in verdicts.values())),
                off + _off(verdicts),
            )
    return tuple(sorted(badness, key=lambda kind: (*(-n for n in badness[kind]), kind)))


def _off(verdicts: Mapping[str, Verdict]) -> int:
    return sum(not verdict.on_device for verdict in verdicts.values())


def _cell(name: str, kind: str, verdicts: Mapping[str, Verdict]) -> Cell:
    if not verdicts:
        return Cell(kind, None, "", "")
    worst = max(verdicts.values(), key=lambda verdict: verdict.rank)
    off = _off(verdicts)
    label = words.cell(off, len(verdicts), name, kind, worst)
    return Cell(kind, worst, f"{off or len(verdicts):,}", label)
