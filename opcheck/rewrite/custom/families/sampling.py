"""Parts of images: windows side by side, samples at places of a grid, and regions."""

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


def _windows() -> dict[str, str]:
    return {
        **listed(2, "window", "kernel_size"), **listed(2, "step", "stride"),
        **listed(2, "before", "padding", "0"), **listed(2, "apart", "dilation"),
    }  # fmt: skip


def _many(tensor: str, prefix: str) -> dict[str, str]:
    """How often a window is put along each dimension of an image."""
    found = {}
    for i, a in enumerate(axes(2)):
        size = f"size_of(self, {i - 2})" if tensor == "self" else f"item_of({tensor}, {i}, 1)"
        reach = f"item_of(dilation, {i}, 1) * (item_of(kernel_size, {i}, 1) - 1)"
        most = f"{size} + 2 * item_of(padding, {i}, 0) - {reach} - 1"
        found[f"{prefix}_{a}"] = f"quotient_of({most}, item_of(stride, {i}, 1)) + 1"
    return found


_UNFOLDED = f"""\
at_width = place % out_width
at_height = place // out_width % out_height
k_width = place // out_width // out_height % window_width
k_height = place // out_width // out_height // window_width % window_height
plane = place // out_width // out_height // window_width // window_height
from_height = at_height * step_height + k_height * apart_height - before_height
from_width = at_width * step_width + k_width * apart_width - before_width
v = 0.0
if {inside(2, "from_{0}")}:
    v = self[{index_of(2, "from_{0}")}]
result0 = v"""


def _folded() -> Loops:
    levels = list[str]()
    for a in axes(2):
        levels += [
            f"for k_{a} in range(window_{a}):\n"
            f"    top_{a} = at_{a} + before_{a} - k_{a} * apart_{a}\n"
            f"    to_{a} = top_{a} // step_{a}",
            f"if (top_{a} >= 0) & (top_{a} % step_{a} == 0) & (to_{a} < in_{a}):",
        ]
    row = "(plane * window_height + k_height) * window_width + k_width"
    taken = f"total += self[{index_of(2, 'to_{0}', first=row)}]"
    return Loops(
        f"{places_of(2)}\ntotal = 0.0\n{nested(levels, taken)}\nresult0 = total",
        sizes={**sizes_of("shape0", 2, "out"), **_many("output_size", "in"), **_windows()},
    )


def _placed(a: str, place: int, rank: int) -> list[str]:
    """Lines for where a sample is along a dimension: in the image, beside it, or brought back."""
    return [
        f"given_{a} = grid[(batch * spots + spot) * {rank} + {place}]",
        f"size_{a} = number(in_{a})",
        f"wide_{a} = (given_{a} + 1.0) * 0.5 * (size_{a} - 1.0)",
        f"plain_{a} = ((given_{a} + 1.0) * size_{a} - 1.0) * 0.5",
        f"center_{a} = where(corners != 0, wide_{a}, plain_{a})",
        "if beside == 2:",
        f"    low_{a} = where(corners != 0, 0.0, -0.5)",
        f"    span_{a} = where(corners != 0, size_{a} - 1.0, size_{a})",
        f"    away_{a} = abs(center_{a} - low_{a})",
        f"    turns_{a} = floor(away_{a} / most(span_{a}, 1.0))",
        f"    rest_{a} = away_{a} - turns_{a} * span_{a}",
        f"    odd_{a} = turns_{a} - 2.0 * floor(turns_{a} * 0.5)",
        f"    center_{a} = where(odd_{a} == 0.0, rest_{a}, span_{a} - rest_{a}) + low_{a}",
        f"    center_{a} = where(span_{a} == 0.0, 0.0, center_{a})",
        "if beside != 0:",
        f"    center_{a} = least(most(center_{a}, 0.0), size_{a} - 1.0)",
    ]


def _sampled(rank: int) -> Loops:
    lines = [
        "spots = " + " * ".join(f"out_{a}" for a in axes(rank)),
        "spot = place % spots",
        "plane = place // spots",
        "batch = plane // channels",
    ]
    for i, a in enumerate(axes(rank)):
        lines += _placed(a, rank - 1 - i, rank)
    lines += ["total = 0.0"]
    linear = [
        "\n    ".join(
            [
                f"for k_{a} in range(2):",
                f"from_{a} = whole(floor(center_{a})) + k_{a}",
                f"share_{a} = 1.0 - abs(center_{a} - number(from_{a}))",
            ]
        )
        for a in axes(rank)
    ]
    shares = " * ".join(f"share_{a}" for a in axes(rank))
    at, within = index_of(rank, "from_{0}"), f"if {inside(rank, 'from_{0}')}:"
    lines.append(nested(["if how == 0:", *linear, within], f"total += input[{at}] * {shares}"))
    nearest = "\n".join(f"from_{a} = whole(rint(center_{a}))" for a in axes(rank))
    lines.append(nested([f"if how == 1:\n    {nearest.replace(chr(10), chr(10) + '    ')}", within],
                        f"total = input[{at}]"))  # fmt: skip
    sizes = {
        **sizes_of("input", rank, "in"),
        **sizes_of("shape0", rank, "out"),
        "channels": "size_of(input, 1)", "how": "interpolation_mode", "beside": "padding_mode",
        "corners": "align_corners",
    }  # fmt: skip
    return Loops(
        "\n".join([*lines, "result0 = total"]),
        ("input", "grid"),
        sizes,
        refused={"interpolation_mode == 2": "bicubic samples are not computed by this kernel"},
    )


_REGION = """\
at_width = place % out_width
at_height = place // out_width % out_height
channel = place // out_width // out_height % channels
region = place // out_width // out_height // channels
batch = whole(rois[region * 5])
left = rois[region * 5 + 1] * by - off
top = rois[region * 5 + 2] * by - off
wide = rois[region * 5 + 3] * by - off - left
high = rois[region * 5 + 4] * by - off - top
wide = where(exact != 0, wide, most(wide, 1.0))
high = where(exact != 0, high, most(high, 1.0))
bin_width = wide / number(out_width)
bin_height = high / number(out_height)
rows = where(asked > 0, asked, -whole(floor(-bin_height)))
columns = where(asked > 0, asked, -whole(floor(-bin_width)))
total = 0.0
for a in range(0, rows):
    for b in range(0, columns):
        y = top + number(at_height) * bin_height + (number(a) + 0.5) * bin_height / number(rows)
        x = left + number(at_width) * bin_width + (number(b) + 0.5) * bin_width / number(columns)
        if (y >= -1.0) & (y <= number(in_height)) & (x >= -1.0) & (x <= number(in_width)):
            y_in = least(most(y, 0.0), number(in_height - 1))
            x_in = least(most(x, 0.0), number(in_width - 1))
            low_y = whole(floor(y_in))
            low_x = whole(floor(x_in))
            for c in range(2):
                for d in range(2):
                    from_height = least(low_y + c, in_height - 1)
                    from_width = least(low_x + d, in_width - 1)
                    part_y = y_in - number(low_y)
                    part_x = x_in - number(low_x)
                    share_y = where(c == 0, 1.0 - part_y, part_y)
                    share_x = where(d == 0, 1.0 - part_x, part_x)
                    line = (batch * channels + channel) * in_height + from_height
                    total += input[line * in_width + from_width] * share_y * share_x
result0 = total / number(most(rows * columns, 1))"""


def _all() -> Iterator[tuple[str, Loops]]:
    yield (
        "aten::im2col",
        Loops(_UNFOLDED, sizes={**sizes_of("self", 2, "in"), **_many("self", "out"), **_windows()}),
    )
    yield "aten::col2im", _folded()
    yield "aten::grid_sampler_2d", _sampled(2)
    yield "aten::grid_sampler_3d", _sampled(3)
    yield "torchvision::roi_align", Loops(
        _REGION,
        ("input", "rois"),
        {
            "in_height": "size_of(input, -2)", "in_width": "size_of(input, -1)",
            "out_height": "pooled_height", "out_width": "pooled_width",
            "channels": "size_of(input, 1)", "asked": "sampling_ratio", "exact": "aligned",
        },
        {"by": "number_of(spatial_scale, 1)", "off": "either_of(aligned, 0.5, 0.0)"},
    )  # fmt: skip


TABLE = dict(_all())
"""Functional overload -> the loops that compute it."""
