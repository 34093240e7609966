"""Pools: the largest number or the mean of a window, and their gradients."""

import re
from collections.abc import Iterator

from opcheck.rewrite.custom.families.loops import (
    Loops,
    axes,
    index_of,
    inside,
    listed,
    nested,
    places_of,
    sizes_of,
)


def _windows(rank: int, dilated: bool) -> dict[str, str]:
    stride = "item_of(stride, #, item_of(kernel_size, #, 1))"
    return {
        **listed(rank, "window", "kernel_size"),
        **{f"step_{a}": stride.replace("#", str(i)) for i, a in enumerate(axes(rank))},
        **listed(rank, "before", "padding", "0"),
        **(listed(rank, "apart", "dilation") if dilated else {}),
    }


def _window(rank: int) -> list[str]:
    """Loops over a window."""
    return [
        f"for k_{a} in range(window_{a}):\n"
        f"    from_{a} = at_{a} * step_{a} + k_{a} * apart_{a} - before_{a}"
        for a in axes(rank)
    ]


_TAKE = """\
v = self[{0}]
if (v > best) | (v != v) | (best_at < 0):
    best = v
    best_at = {1}"""


def _max(rank: int, *, indices: bool) -> Loops:
    at, plain = index_of(rank, "from_{0}"), index_of(rank, "from_{0}", first="0")
    taken = nested([f"if {inside(rank, 'from_{0}')}:"], _TAKE.format(at, plain))
    loops = nested(_window(rank), taken)
    results = "result0 = best" + ("\nresult1 = best_at" if indices else "")
    return Loops(
        f"{places_of(rank)}\nbest = lowest\nbest_at = -1\n{loops}\n{results}",
        sizes={
            **sizes_of("self", rank, "in"), **sizes_of("shape0", rank, "out"),
            **_windows(rank, dilated=True),
        },
        whole_results=(1,) if indices else (),
    )  # fmt: skip


def _reaching(rank: int, apart: str = "") -> list[str]:
    """Loops over the windows that a number of the input is in."""
    found = list[str]()
    for a in axes(rank):
        found += [
            f"for k_{a} in range(window_{a}):\n"
            f"    top_{a} = at_{a} + before_{a} - k_{a}{apart.format(a)}\n"
            f"    to_{a} = top_{a} // step_{a}",
            f"if (top_{a} >= 0) & (top_{a} % step_{a} == 0) & (to_{a} < out_{a}):",
        ]
    return found


def _max_backward(rank: int) -> Loops:
    """Each number of the input takes what the windows give that found it the largest."""
    taken = f"""\
found = {index_of(rank, "to_{0}", "out")}
if indices[found] == own:
    total += grad_output[found]"""
    own = index_of(rank, "at_{0}", first="0")
    return Loops(
        f"{places_of(rank, 'in')}\nown = {own}\ntotal = 0.0\n"
        f"{nested(_reaching(rank, ' * apart_{0}'), taken)}\nresult0 = total",
        ("grad_output", "indices"),
        {
            **sizes_of("self", rank, "in"), **sizes_of("grad_output", rank, "out"),
            **_windows(rank, dilated=True),
        },
        wholes=("indices",),
    )  # fmt: skip


_MEANS = {"included": "number_of(count_include_pad, 0)", "shared": "number_of(divisor_override, 0)"}


def _share(rank: int, at: str) -> str:
    """Lines for how many numbers the window of a place is divided among."""
    found = list[str]()
    for a in axes(rank):
        place = at.format(a)
        found += [
            f"begin_{a} = {place} * step_{a} - before_{a}",
            f"end_{a} = least(begin_{a} + window_{a}, in_{a} + before_{a})",
            f"reach_{a} = end_{a} - begin_{a}",
            f"real_{a} = least(end_{a}, in_{a}) - most(begin_{a}, 0)",
        ]
    whole = " * ".join(f"reach_{a}" for a in axes(rank))
    real = " * ".join(f"real_{a}" for a in axes(rank))
    found.append(f"share = where(shared != 0, shared, where(included != 0, {whole}, {real}))")
    return "\n".join(found)


def _mean(rank: int) -> Loops:
    at = index_of(rank, "from_{0}")
    window = [re.sub(r" \* apart_\w+", "", level) for level in _window(rank)]
    taken = nested([f"if {inside(rank, 'from_{0}')}:"], f"total += self[{at}]")
    return Loops(
        f"{places_of(rank)}\ntotal = 0.0\n{nested(window, taken)}\n"
        f"{_share(rank, 'at_{0}')}\nresult0 = total / number(share)",
        sizes={
            **sizes_of("self", rank, "in"), **sizes_of("shape0", rank, "out"),
            **_windows(rank, dilated=False), **(_MEANS if rank > 1 else _LINE),
        },
    )  # fmt: skip


_LINE = {"included": "number_of(count_include_pad, 0)", "shared": "0"}


def _mean_backward(rank: int) -> Loops:
    at = index_of(rank, "to_{0}", "out")
    given = f"{_share(rank, 'to_{0}')}\ntotal += grad_output[{at}] / number(share)"
    return Loops(
        f"{places_of(rank, 'in')}\ntotal = 0.0\n{nested(_reaching(rank), given)}\nresult0 = total",
        ("grad_output",),
        {
            **sizes_of("self", rank, "in"), **sizes_of("grad_output", rank, "out"),
            **_windows(rank, dilated=False), **_MEANS,
        },
    )  # fmt: skip


def _adaptive(rank: int) -> list[str]:
    """Loops over the part of the input that a place of the result is of."""
    return [
        f"begin_{a} = at_{a} * in_{a} // out_{a}\n"
        f"end_{a} = ((at_{a} + 1) * in_{a} + out_{a} - 1) // out_{a}\n"
        f"for from_{a} in range(begin_{a}, end_{a}):"
        for a in axes(rank)
    ]


def _adaptive_mean(rank: int) -> Loops:
    at = index_of(rank, "from_{0}")
    share = " * ".join(f"(end_{a} - begin_{a})" for a in axes(rank))
    before = "\n".join(level.rpartition("\n")[0] for level in _adaptive(rank))
    loops = [level.rpartition("\n")[2] for level in _adaptive(rank)]
    return Loops(
        f"{places_of(rank)}\n{before}\ntotal = 0.0\n{nested(loops, f'total += self[{at}]')}\n"
        f"result0 = total / number({share})",
        sizes={**sizes_of("self", rank, "in"), **sizes_of("shape0", rank, "out")},
    )


def _adaptive_mean_backward(rank: int) -> Loops:
    """The places of the result whose part a number of the input is in."""
    before = [
        f"begin_{a} = at_{a} * out_{a} // in_{a}\n"
        f"end_{a} = ((at_{a} + 1) * out_{a} + in_{a} - 1) // in_{a}"
        for a in axes(rank)
    ]
    loops = [f"for to_{a} in range(begin_{a}, end_{a}):" for a in axes(rank)]
    share = " * ".join(
        f"(((to_{a} + 1) * in_{a} + out_{a} - 1) // out_{a} - to_{a} * in_{a} // out_{a})"
        for a in axes(rank)
    )
    at = index_of(rank, "to_{0}", "out")
    inner = nested(loops, f"total += grad_output[{at}] / number({share})")
    return Loops(
        "\n".join([places_of(rank, "in"), *before, "total = 0.0", inner, "result0 = total"]),
        ("grad_output",),
        {**sizes_of("self", rank, "in"), **sizes_of("grad_output", rank, "out")},
    )


def _adaptive_max(rank: int) -> Loops:
    at, plain = index_of(rank, "from_{0}"), index_of(rank, "from_{0}", first="0")
    before = "\n".join(level.rpartition("\n")[0] for level in _adaptive(rank))
    loops = [level.rpartition("\n")[2] for level in _adaptive(rank)]
    return Loops(
        f"{places_of(rank)}\n{before}\nbest = lowest\nbest_at = -1\n"
        f"{nested(loops, _TAKE.format(at, plain))}\nresult0 = best\nresult1 = best_at",
        sizes={**sizes_of("self", rank, "in"), **sizes_of("shape0", rank, "out")},
        whole_results=(1,),
    )


def _all() -> Iterator[tuple[str, Loops]]:
    for rank in (1, 2, 3):
        yield f"aten::max_pool{rank}d", _max(rank, indices=False)
        yield f"aten::avg_pool{rank}d", _mean(rank)
        yield f"aten::adaptive_avg_pool{rank}d", _adaptive_mean(rank)
        yield f"aten::adaptive_max_pool{rank}d", _adaptive_max(rank)
    yield "aten::max_pool1d_with_indices", _max(1, indices=True)
    for rank in (2, 3):
        yield f"aten::max_pool{rank}d_with_indices", _max(rank, indices=True)
        yield f"aten::max_pool{rank}d_with_indices_backward", _max_backward(rank)
        yield f"aten::avg_pool{rank}d_backward", _mean_backward(rank)
        yield f"aten::_adaptive_avg_pool{rank}d_backward", _adaptive_mean_backward(rank)


TABLE = dict(_all())
"""Functional overload -> the loops that compute it."""
