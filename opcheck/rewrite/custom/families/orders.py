"""Sorts: each number is put at the place of its rank, which it is compared with all others for."""

from opcheck.rewrite.custom.families.loops import Loops, nested

_RANK = """\
column = place % after
i = place // after % many
row = place // after // many
v = self[place]
rank = 0
missing = -1
for j in range(many):
    w = self[(row * many + j) * after + column]
    less = where((w < v) | ((v != v) & (w == w)), 1, 0)
    more = where((w > v) | ((w != w) & (v == v)), 1, 0)
    before = where(falling != 0, more, less)
    if (before == 1) | ((less + more == 0) & (j < i)):
        rank += 1
    if (w != w) & (missing < 0):
        missing = j"""
"""The rank of a number among those of its row: no numbers come behind all others, the first of
equals comes first."""


def _ranked(falling: str, kept: str, which: str, to: str, *results: str, rank: str = "0") -> Loops:
    """Put the numbers of some ranks.

    Args:
        falling: whether the largest comes first, as an expression of the host.
        kept: how many numbers of a row the result has, as one.
        which: the condition of a number that is put.
        to: its place in the row of the result.
        results: what is put into each.
        rank: ``asked`` in the condition, as an expression of the host.
    """
    put = [f"to = (row * kept + {to}) * after + column"]
    put += [f"result{n}[to] = {value}" for n, value in enumerate(results)]
    return Loops(
        f"{_RANK}\n{nested([f'if {which}:'], chr(10).join(put))}",
        sizes={
            "many": "length_of(self, dim)", "after": "after_of(self, dim)", "falling": falling,
            "kept": kept, "asked": rank,
        },
        places="numel_of(self)",
        whole_results=tuple(n for n, value in enumerate(results) if value == "i"),
        integers=True,
        number="self",
    )  # fmt: skip


_ALL, _ONE = ("rank < kept", "rank"), ("rank == asked", "0")
_MEDIAN = ("((missing < 0) & (rank == asked)) | (i == missing)", "0")
_WHOLE = "length_of(self, dim)"
TABLE = {
    "aten::sort": _ranked("descending", _WHOLE, *_ALL, "v", "i"),
    "aten::sort.stable": _ranked("descending", _WHOLE, *_ALL, "v", "i"),
    "aten::argsort": _ranked("descending", _WHOLE, *_ALL, "i"),
    "aten::argsort.stable": _ranked("descending", _WHOLE, *_ALL, "i"),
    "aten::topk": _ranked("largest", "k", *_ALL, "v", "i"),
    "aten::kthvalue": _ranked("0", "1", *_ONE, "v", "i", rank="k - 1"),
    "aten::median.dim": _ranked(
        "0", "1", *_MEDIAN, "v", "i", rank="quotient_of(length_of(self, dim) - 1, 2)"
    ),
}
"""Functional overload -> the loops that compute it."""
