"""Bags of embeddings: rows of a table summed, averaged or compared, and the table's gradient."""

from opcheck.rewrite.custom.families.loops import Loops

_FORWARD = """\
column = place % wide
bag = place // wide
begin = offsets[bag]
end = many
if bag + 1 < begun:
    end = offsets[bag + 1]
total = 0.0
counted = 0
best = 0
for n in range(begin, end):
    row = indices[n]
    if row != left_out:
        v = weight[row * wide + column]
        if weighted != 0:
            v = v * per_sample_weights[n]
        if how == 2:
            if (counted == 0) | (v > total):
                total = v
                best = row
        if how != 2:
            total += v
        counted += 1
if how == 1:
    total = total / number(most(counted, 1))
result0[place] = total
if column == 0:
    result2[bag] = counted
    if told > 0:
        for n in range(begin, end):
            result1[n] = bag
if named > 0:
    result3[place] = best"""
_BACKWARD = """\
column = place % wide
row = place // wide
total = 0.0
if row != left_out:
    if how == 2:
        for b in range(bags):
            if bag_size[b] != 0:
                if maximum_indices[b * wide + column] == row:
                    total += grad[b * wide + column]
    if how != 2:
        times = 0
        if shared != 0:
            for n in range(many):
                if indices[n] == row:
                    times += 1
        for n in range(many):
            if indices[n] == row:
                bag = offset2bag[n]
                g = grad[bag * wide + column]
                if weighted != 0:
                    g = g * per_sample_weights[n]
                if how == 1:
                    g = g / number(bag_size[bag])
                if shared != 0:
                    g = g / number(times)
                total += g
result0 = total"""
_BOTH = {
    "many": "numel_of(indices)", "how": "mode", "left_out": "padding_idx",
    "weighted": "given_of(per_sample_weights)",
}  # fmt: skip
_BAG = Loops(
    _FORWARD,
    ("weight", "indices", "offsets", "per_sample_weights"),
    {
        "wide": "size_of(weight, 1)", "begun": "numel_of(offsets)", **_BOTH,
        "told": "numel_of(shape1)", "named": "numel_of(shape3)",
    },
    wholes=("indices", "offsets"),
    whole_results=(1, 2, 3),
    promised=1,
)  # fmt: skip
TABLE = {
    "aten::_embedding_bag": _BAG,
    "aten::_embedding_bag_forward_only": _BAG,
    "aten::_embedding_bag_dense_backward": Loops(
        _BACKWARD,
        ("grad", "indices", "offset2bag", "bag_size", "maximum_indices", "per_sample_weights"),
        {
            "wide": "size_of(grad, 1)", "bags": "size_of(grad, 0)", **_BOTH,
            "shared": "scale_grad_by_freq",
        },
        wholes=("indices", "offset2bag", "bag_size", "maximum_indices"),
    ),
}  # fmt: skip
"""Functional overload -> the loops that compute it."""
