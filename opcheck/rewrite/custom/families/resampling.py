"""Resampling of images: nearest, linear and cubic, of one to three dimensions."""

from collections.abc import Iterator

from opcheck.rewrite.custom.families.loops import (
    Loops,
    axes,
    index_of,
    nested,
    places_of,
    sizes_of,
)


def _scales(rank: int) -> list[str]:
    """The overload's arguments for the scales of the dimensions."""
    return ["scales"] if rank == 1 else [f"scales_{a[0]}" for a in axes(rank)]


def _sizes(rank: int) -> dict[str, str]:
    return {**sizes_of("self", rank, "in"), **sizes_of("shape0", rank, "out")}


def _nearest(rank: int, half: str) -> Loops:
    """Nearest: ``half`` is added to a place before it is scaled."""
    picked = "\n".join(
        f"from_{a} = least(whole(floor(number(at_{a}){half} * by_{a})), in_{a} - 1)"
        for a in axes(rank)
    )
    if half:
        picked = picked.replace("number(", "(number(").replace(f"{half} *", f"{half}) *")
    return Loops(
        f"{places_of(rank)}\n{picked}\nresult0 = self[{index_of(rank, 'from_{0}')}]",
        sizes=_sizes(rank),
        values={
            f"by_{a}": f"scale_of({scale}, size_of(self, {i - rank}), size_of(shape0, {i - rank}))"
            for i, (a, scale) in enumerate(zip(axes(rank), _scales(rank), strict=True))
        },
    )


def _steps(rank: int) -> dict[str, str]:
    """How far apart places of the result are in the input."""
    return {
        f"by_{a}": f"step_of({scale}, size_of(self, {i - rank}), size_of(shape0, {i - rank}), "
        "align_corners)"
        for i, (a, scale) in enumerate(zip(axes(rank), _scales(rank), strict=True))
    }


def _center(a: str) -> str:
    """Where a place of the result is in the input."""
    plain = f"number(at_{a}) * by_{a}"
    return f"where(corners != 0, {plain}, (number(at_{a}) + 0.5) * by_{a} - 0.5)"


def _linear(rank: int) -> Loops:
    lines = list[str]()
    for a in axes(rank):
        lines += [
            f"center_{a} = most({_center(a)}, 0.0)",
            f"low_{a} = least(whole(floor(center_{a})), in_{a} - 1)",
            f"part_{a} = center_{a} - number(low_{a})",
        ]
    loops = [
        f"for k_{a} in range(2):\n"
        f"    from_{a} = least(low_{a} + k_{a}, in_{a} - 1)\n"
        f"    share_{a} = where(k_{a} == 0, 1.0 - part_{a}, part_{a})"
        for a in axes(rank)
    ]
    shares = " * ".join(f"share_{a}" for a in axes(rank))
    inner = nested(loops, f"total += self[{index_of(rank, 'from_{0}')}] * {shares}")
    return Loops(
        "\n".join([places_of(rank), *lines, "total = 0.0", inner, "result0 = total"]),
        sizes={**_sizes(rank), "corners": "align_corners"},
        values=_steps(rank),
    )


def cubic(name: str, away: str) -> list[str]:
    """Lines for the share of a number that is so far away, a variable."""
    near = f"(1.25 * {away} - 2.25) * {away} * {away} + 1.0"
    far = f"((-0.75 * {away} + 3.75) * {away} - 6.0) * {away} + 3.0"
    return [f"{name} = where({away} <= 1.0, {near}, {far})"]


def _cubic() -> Loops:
    lines, loops = list[str](), list[str]()
    for a in axes(2):
        lines += [
            f"center_{a} = {_center(a)}",
            f"low_{a} = floor(center_{a})",
            f"part_{a} = center_{a} - low_{a}",
        ]
        loops.append(
            "\n    ".join(
                [
                    f"for k_{a} in range(4):",
                    f"from_{a} = least(most(whole(low_{a}) + k_{a} - 1, 0), in_{a} - 1)",
                    f"away_{a} = abs(part_{a} + 1.0 - number(k_{a}))",
                    *cubic(f"share_{a}", f"away_{a}"),
                ]
            )
        )
    at = index_of(2, "from_{0}")
    inner = nested(loops, f"total += self[{at}] * share_height * share_width")
    return Loops(
        "\n".join([places_of(2), *lines, "total = 0.0", inner, "result0 = total"]),
        sizes={**_sizes(2), "corners": "align_corners"},
        values=_steps(2),
    )


def _all() -> Iterator[tuple[str, Loops]]:
    for rank in (1, 2, 3):
        yield f"aten::upsample_nearest{rank}d", _nearest(rank, "")
        yield f"aten::_upsample_nearest_exact{rank}d", _nearest(rank, " + 0.5")
    for rank, name in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
        yield f"aten::upsample_{name}{rank}d", _linear(rank)
    yield "aten::upsample_bicubic2d", _cubic()


TABLE = dict(_all())
"""Functional overload -> the loops that compute it."""
