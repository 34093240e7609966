"""Convolutions, computed directly: with and without transposition, in groups, and deformed."""

from collections.abc import Iterator

from opcheck.rewrite.custom.families.loops import Loops, axes, index_of, nested, places_of

_AXES = axes(3)
_INSIDE = " & ".join(f"(from_{a} >= 0) & (from_{a} < in_{a})" for a in _AXES)


def _axis(a: str) -> str:
    """A loop over the kernel, with the place that it reads; -1 for none."""
    return "\n    ".join(
        [
            f"for k_{a} in range(kernel_{a}):",
            f"top_{a} = at_{a} + before_{a} - k_{a} * apart_{a}",
            f"whole_{a} = where((top_{a} >= 0) & (top_{a} % step_{a} == 0), 1, 0)",
            f"back_{a} = where(whole_{a} == 1, top_{a} // step_{a}, -1)",
            f"plain_{a} = at_{a} * step_{a} + k_{a} * apart_{a} - before_{a}",
            f"from_{a} = where(turned != 0, back_{a}, plain_{a})",
        ]
    )


_INNER = f"""\
row = where(turned != 0, (group * each + c) * some + channel % some, channel * each + c)
v = input[{index_of(3, "from_{0}", first="batch * channels + group * each + c")}]
total += v * weight[{index_of(3, "k_{0}", "kernel", "row")}]"""
_CODE = f"""\
{places_of(3)}
channel = plane % out_channels
batch = plane // out_channels
group = channel // some
total = 0.0
if biased != 0:
    total = bias[channel]
{nested([*map(_axis, _AXES), f"if {_INSIDE}:", "for c in range(each):"], _INNER)}
result0 = total"""


def _sizes(stride: str, padding: str, dilation: str, groups: str, turned: str) -> dict[str, str]:
    """What the kernel is handed; a dimension that there is not has one place."""
    found: dict[str, str] = {}
    for i, a in enumerate(_AXES):
        place = f"weight.dim() - 2, {3 - i}"
        found |= {
            f"in_{a}": f"along_of(input, {place})",
            f"out_{a}": f"along_of(shape0, {place})",
            f"kernel_{a}": f"along_of(weight, {place})",
        }
        for name, argument, other in (
            ("step", stride, 1), ("before", padding, 0), ("apart", dilation, 1),
        ):  # fmt: skip
            found[f"{name}_{a}"] = f"item_of({argument}, weight.dim() - 2 - {3 - i}, {other})"
    found |= {
        "channels": "size_of(input, 1 - weight.dim())",
        "out_channels": "size_of(shape0, 1 - weight.dim())",
        "each": f"quotient_of(size_of(input, 1 - weight.dim()), {groups})",
        "some": f"quotient_of(size_of(shape0, 1 - weight.dim()), {groups})",
        "turned": turned,
        "biased": "given_of(bias)",
    }
    return found


def _convolution(turned: str) -> Loops:
    return Loops(
        _CODE,
        ("input", "weight", "bias"),
        _sizes("stride", "padding", "dilation", "groups", turned),
    )


_DEFORMED = """\
at_width = place % out_width
at_height = place // out_width % out_height
channel = place // out_width // out_height % out_channels
batch = place // out_width // out_height // out_channels
group = channel // some
total = bias[channel]
for k_height in range(kernel_height):
    for k_width in range(kernel_width):
        k = k_height * kernel_width + k_width
        for c in range(each):
            source = group * each + c
            shared = batch * offsets + source // (channels // offsets)
            at = ((shared * 2 * taps + 2 * k) * out_height + at_height) * out_width + at_width
            y = number(at_height * step_height - before_height + k_height * apart_height)
            y += offset[at]
            x = number(at_width * step_width - before_width + k_width * apart_width)
            x += offset[at + out_height * out_width]
            by = 1.0
            if masked != 0:
                by = mask[((shared * taps + k) * out_height + at_height) * out_width + at_width]
            if (y > -1.0) & (x > -1.0) & (y < number(in_height)) & (x < number(in_width)):
                low_y = whole(floor(y))
                low_x = whole(floor(x))
                for a in range(2):
                    for b in range(2):
                        row = low_y + a
                        column = low_x + b
                        if (row >= 0) & (row < in_height) & (column >= 0) & (column < in_width):
                            share = (1.0 - abs(y - number(row))) * (1.0 - abs(x - number(column)))
                            line = (batch * channels + source) * in_height + row
                            v = input[line * in_width + column]
                            w = weight[(channel * each + c) * taps + k]
                            total += v * share * by * w
result0 = total"""


def _deformed() -> Loops:
    sizes = {f"in_{a}": f"size_of(input, {i - 2})" for i, a in enumerate(axes(2))}
    sizes |= {f"out_{a}": f"size_of(shape0, {i - 2})" for i, a in enumerate(axes(2))}
    sizes |= {f"kernel_{a}": f"size_of(weight, {i - 2})" for i, a in enumerate(axes(2))}
    for a in axes(2):
        letter = a[0]
        sizes |= {
            f"step_{a}": f"stride_{letter}", f"before_{a}": f"pad_{letter}",
            f"apart_{a}": f"dilation_{letter}",
        }  # fmt: skip
    sizes |= {
        "taps": "size_of(weight, -1) * size_of(weight, -2)",
        "channels": "size_of(input, 1)",
        "out_channels": "size_of(weight, 0)",
        "each": "size_of(weight, 1)",
        "some": "quotient_of(size_of(weight, 0), groups)",
        "offsets": "offset_groups",
        "masked": "use_mask",
    }
    return Loops(_DEFORMED, ("input", "weight", "offset", "mask", "bias"), sizes)


def _all() -> Iterator[tuple[str, Loops]]:
    yield "aten::convolution", _convolution("transposed")
    for rank in (1, 2, 3):
        yield f"aten::conv{rank}d", _convolution("0")
        name = f"aten::conv_transpose{rank}d{'' if rank == 1 else '.input'}"
        yield name, _convolution("1")
    yield "torchvision::deform_conv2d", _deformed()


TABLE = dict(_all())
"""Functional overload -> the loops that compute it."""
