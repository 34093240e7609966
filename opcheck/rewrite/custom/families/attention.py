"""Attention whole: the softmax of a row is gathered while its values are added up.

No scores are kept. Each number of the result goes over the keys once, and what it has is made less
when a larger score comes, so that no exponential overflows. A row that sees no key has zeros, as
PyTorch's own has them.
"""

from opcheck.rewrite.custom.families.loops import Loops

_CODE = """\
d = place % wide
i = place // wide % rows
head = place // wide // rows % heads
batch = place // wide // rows // heads
query_row = (batch * heads + head) * rows + i
key_row = (batch * key_heads + head // (heads // key_heads)) * columns
value_row = (batch * value_heads + head // (heads // value_heads)) * columns
mask_head = where(mask_heads == 1, 0, head)
mask_row = where(mask_batches == 1, 0, batch) * mask_heads + mask_head
mask_row = mask_row * mask_rows + where(mask_rows == 1, 0, i)
top = lowest
total = 0.0
shares = 0.0
for j in range(columns):
    score = 0.0
    for e in range(deep):
        score += query[query_row * deep + e] * key[(key_row + j) * deep + e]
    score = score * by
    if masked != 0:
        seen = attn_mask[mask_row * mask_columns + where(mask_columns == 1, 0, j)]
        score = where(truths != 0, where(seen != 0.0, score, lowest), score + seen)
    score = where((causal != 0) & (j > i), lowest, score)
    reached = where(score < top, top, score)
    kept = where(top == lowest, 0.0, exp(top - reached))
    share = where(score == lowest, 0.0, exp(score - reached))
    total = total * kept + share * value[(value_row + j) * wide + d]
    shares = shares * kept + share
    top = reached
result0 = where(shares == 0.0, 0.0, total / shares)"""


def _extents() -> dict[str, str]:
    """The sizes of the mask; 1 where it is the same for all, or is not there."""
    names = ("columns", "rows", "heads", "batches")
    return {f"mask_{name}": f"extent_of(attn_mask, {-1 - i})" for i, name in enumerate(names)}


def _of_batches(tensor: str) -> str:
    """The condition that a tensor has other batches than the queries."""
    return f"size_of(query, -4) != size_of({tensor}, -4)"


TABLE = {
    "aten::scaled_dot_product_attention": Loops(
        _CODE,
        ("query", "key", "value", "attn_mask"),
        {
            "rows": "size_of(query, -2)", "deep": "size_of(query, -1)",
            "columns": "size_of(key, -2)", "wide": "size_of(value, -1)",
            "heads": "size_of(query, -3)", "key_heads": "size_of(key, -3)",
            "value_heads": "size_of(value, -3)", **_extents(),
            "masked": "given_of(attn_mask)", "truths": "truth_of(attn_mask)",
            "causal": "is_causal",
        },
        {"by": "number_of(scale, root_of(size_of(query, -1)))"},
        refused={
            "dropout_p > 0": "dropout is not computed by this kernel",
            "query.dim() > 4": "batches of more than one dimension are not computed by this kernel",
            "query.dim() != key.dim()": "it has no batch of keys for each of queries",
            "query.dim() != value.dim()": "it has no batch of values for each of queries",
            _of_batches("key"): "it has no batch of keys for each of queries",
            _of_batches("value"): "it has no batch of values for each of queries",
            "rank_of(attn_mask) > query.dim()": "a mask makes batches of one",
        },
        by_reference=True,
    )
}  # fmt: skip
"""Functional overload -> the loops that compute it."""
