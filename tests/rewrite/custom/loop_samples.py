"""Calls for every operator that is computed by loops: windows, edges, layouts, dtypes."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.torch_internals.dispatcher import overload_named

Call = dict[str, Any]
Draw = Callable[..., Tensor]
SHAPES = {1: (2, 3, 9), 2: (2, 3, 7, 9), 3: (2, 2, 5, 4, 6)}
_EDGES = torch.tensor([[[1.0, math.nan, 2.0, -math.inf], [3.0, 3.0, math.inf, 0.0],
                        [-math.inf, -math.inf, -1.0, 5.0]]])  # fmt: skip


def loop_calls(op: str, drawn: Draw) -> Iterator[Call]:
    """Arguments of an overload that loops compute, by name."""
    base = op.split("::")[1].split(".")[0]
    rank = next((int(c) for c in reversed(base) if c in "123"), 2)
    for part, made in _KINDS.items():
        if part in base:
            yield from made(op, rank, drawn)
            return
    raise AssertionError(op)


def _images(rank: int, drawn: Draw) -> Iterator[Tensor]:
    shape = SHAPES[rank]
    yield drawn(*shape)
    yield drawn(*shape, dtype=torch.float64)[:1]
    yield drawn(*shape).transpose(0, 1).contiguous().transpose(0, 1).half()
    yield drawn(*shape)[0]
    if rank == 2:
        yield _EDGES


def _max_pools(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for x in _images(rank, drawn):
        for size, step, before, apart, up in (
            (2, [], 0, 1, False), (3, [2], 1, 1, True), (2, [1], 1, 2, False),
        ):  # fmt: skip
            yield {
                "self": x, "kernel_size": [size], "stride": step, "padding": [before],
                "dilation": [apart], "ceil_mode": up,
            }  # fmt: skip


def _max_pools_back(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    forward = overload_named(op.removesuffix("_backward"))
    for call in _max_pools(op, rank, drawn):
        if call["self"].isfinite().all() and call["self"].dtype is not torch.float16:
            found, indices = forward(**call)
            yield {
                "grad_output": drawn(*found.shape, dtype=found.dtype),
                **call,
                "indices": indices,
            }


def _means(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for x in _images(rank, drawn):
        for size, step, before, up, counted, shared in (
            (2, [], 0, False, True, None), (3, [2], 1, True, True, None),
            (3, [2], 1, True, False, None), (2, [1], 1, False, False, 3),
        ):  # fmt: skip
            call: Call = {
                "self": x, "kernel_size": [size], "stride": step, "padding": [before],
                "ceil_mode": up, "count_include_pad": counted,
            }  # fmt: skip
            if rank > 1:
                call["divisor_override"] = shared
            yield call


def _means_back(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    forward = overload_named(op.removesuffix("_backward"))
    for call in _means(op, rank, drawn):
        if call["self"].dtype is not torch.float16:
            found = forward(**call)
            yield {"grad_output": drawn(*found.shape).to(found.dtype), **call}


def _adaptive(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for x, size in product(_images(rank, drawn), (1, 3, 4)):
        yield {"self": x, "output_size": [size, size + 1, 2][:rank]}


def _adaptive_back(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    forward = overload_named(op.removesuffix("_backward"))
    for call in _adaptive(op, rank, drawn):
        found = forward(**call)
        yield {"grad_output": drawn(*found.shape).to(found.dtype), "self": call["self"]}


def _resampled(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    names = ["scales"] if rank == 1 else ["scales_d", "scales_h", "scales_w"][3 - rank :]
    for x in _images(rank, drawn):
        if x.dim() != rank + 2:
            continue
        for times, corners in ((2.0, True), (0.6, False), (1.7, False)):
            call: Call = {"self": x, "output_size": [int(n * times) for n in x.shape[2:]]}
            if "nearest" not in op:
                call["align_corners"] = corners
            yield {**call, **dict.fromkeys(names, times)} if times < 1 else call


def _convolved(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    whole = op == "aten::convolution"
    for dims in (1, 2, 3) if whole else (rank,):
        for dtype, groups, step, before, apart, biased, turn in (
            (torch.float32, 1, 1, 0, 1, True, False), (torch.float32, 2, 2, 1, 1, False, True),
            (torch.float64, 2, 1, 1, 2, True, True), (torch.float16, 1, 2, 1, 2, True, False),
        ):  # fmt: skip
            if dims == 3 and dtype is not torch.float32:
                continue
            over = turn if whole else "transpose" in op
            sizes = [3, 2, 2][:dims]
            kernel = (4, 6 // groups, *sizes) if over else (6, 4 // groups, *sizes)
            x = drawn(2, 4, *((3, 4, 3) if dims == 3 else SHAPES[dims][2:]), dtype=dtype)
            call: Call = {
                "input": x, "weight": drawn(*kernel, dtype=dtype),
                "bias": drawn(6, dtype=dtype) if biased else None, "stride": [step] * dims,
                "padding": [before] * dims, "dilation": [apart] * dims, "groups": groups,
            }  # fmt: skip
            more = [step - 1] * dims if over else [0] * dims
            if whole:
                call |= {"transposed": over, "output_padding": more}
            elif over:
                call["output_padding"] = more
            yield call
            if not whole:
                yield {**call, "input": x[0]}


def _deformed(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for groups, parts, masked, dtype in (
        (1, 1, True, torch.float32), (2, 2, False, torch.float32), (1, 2, True, torch.float64),
    ):  # fmt: skip
        x, weight = drawn(2, 4, 6, 7, dtype=dtype), drawn(6, 4 // groups, 3, 2, dtype=dtype)
        high, wide = (6 + 2 - 2 - 1) // 2 + 1, 7 + 2 - 2
        offset = drawn(2, 2 * parts * 6, high, wide, dtype=dtype) * 2
        mask = drawn(2, parts * 6 * masked, high, wide, dtype=dtype)
        yield {
            "input": x, "weight": weight, "offset": offset, "mask": mask,
            "bias": drawn(6, dtype=dtype), "stride_h": 2, "stride_w": 1, "pad_h": 1, "pad_w": 1,
            "dilation_h": 1, "dilation_w": 2, "groups": groups, "offset_groups": parts,
            "use_mask": masked,
        }  # fmt: skip


def _ordered(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    base, _, overload = op.removeprefix("aten::").partition(".")
    spread = torch.arange(60).mul(37).remainder(61).reshape(3, 20) - 30
    for x in (
        spread, spread.float(), spread.double().t(), (spread.half() / 4).reshape(3, 4, 5),
        torch.tensor(1.5),
        torch.tensor([[2.0, math.nan, -1.0, math.inf], [0.0, 3.0, 1.0, -math.inf]]),
    ):  # fmt: skip
        for dim in sorted({-1, 0}):
            if base == "topk":
                most = x.shape[dim] if x.dim() else 1
                for largest in (True, False):
                    yield {"self": x, "k": min(3, most), "dim": dim, "largest": largest}
            elif base == "kthvalue":
                yield {"self": x, "k": min(2, x.shape[dim] if x.dim() else 1), "dim": dim}
                yield {"self": x, "k": 1, "dim": dim, "keepdim": True}
            elif base == "median":
                yield {"self": x, "dim": dim, "keepdim": False}
            else:
                for falling in (True, False):
                    call: Call = {"self": x, "dim": dim, "descending": falling}
                    yield {**call, "stable": True} if overload == "stable" else call
    if overload == "stable":
        for falling in (True, False):
            equal = torch.tensor([[1.0, 0.0, 1.0, 0.0, math.nan, 1.0, math.nan]])
            yield {"self": equal, "dim": 1, "descending": falling, "stable": True}


def _unfolded(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for x in _images(2, drawn):
        for size, apart, before, step in (((2, 2), 1, 0, 1), ((2, 3), 1, 1, 2), ((2, 2), 2, 1, 1)):
            call: Call = {
                "kernel_size": size, "dilation": [apart] * 2, "padding": [before] * 2,
                "stride": [step] * 2,
            }  # fmt: skip
            if op == "aten::im2col":
                yield {"self": x, **call}
            elif x.isfinite().all():
                shape = torch.ops.aten.im2col(x, *call.values()).shape
                given = drawn(*shape).to(x.dtype)
                yield {"self": given, "output_size": list(x.shape[-2:]), **call}


def _sampled(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for how, beside, corners in product((0, 1, 2), (0, 1, 2), (False, True)):
        dtype = torch.float64 if beside == 1 and corners else torch.float32
        x = drawn(*SHAPES[rank], dtype=dtype)
        grid = drawn(2, *[5, 4, 3][:rank], rank, dtype=dtype) * 1.3
        yield {
            "input": x, "grid": grid, "interpolation_mode": how, "padding_mode": beside,
            "align_corners": corners,
        }  # fmt: skip


def _regions(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    x = drawn(2, 3, 12, 10)
    rois = torch.tensor(
        [[0, 1.0, 2.0, 9.0, 8.0], [1, -2.0, 0.5, 4.0, 12.0], [1, 3.0, 3.0, 3.2, 3.1]]
    )
    for samples, exact in ((2, False), (-1, True), (0, False)):
        yield {
            "input": x, "rois": rois, "spatial_scale": 0.75, "pooled_height": 3,
            "pooled_width": 2, "sampling_ratio": samples, "aligned": exact,
        }  # fmt: skip


def _attended(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for dtype in (torch.float32, torch.float64, torch.float16):
        q, k, v = (drawn(2, 4, n, 8, dtype=dtype) for n in (5, 7, 7))
        seen = drawn(5, 7) > -0.5
        seen[2] = False
        away = drawn(2, 1, 5, 7, dtype=dtype).masked_fill(drawn(2, 1, 5, 7) > 1, -math.inf)
        plain: Call = {"query": q, "key": k, "value": v[..., :6]}
        yield plain
        yield {**plain, "is_causal": True, "scale": 0.3}
        yield {**plain, "attn_mask": seen, "query": q.transpose(1, 2).contiguous().transpose(1, 2)}
        yield {**plain, "attn_mask": away}
        yield {**plain, "attn_mask": drawn(2, 4, 1, 7) > -1, "query": q * 30}
        yield {**plain, "key": k[:, :2], "value": v[:, :2], "enable_gqa": True}
        yield {"query": q[0], "key": k[0], "value": v[0]}
        yield {"query": q[0, 0], "key": k[0, 0], "value": v[0, 0], "attn_mask": seen[:, :1]}
        yield {**plain, "key": k[:, :, :0], "value": v[:, :, :0]}


def _bagged(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    index, begins = torch.tensor([0, 2, 3, 3, 1, 2, 5]), torch.tensor([0, 2, 2, 5])
    for how in (0, 1, 2):
        for dtype in (torch.float32, torch.float64):
            call: Call = {
                "weight": drawn(6, 5, dtype=dtype), "indices": index, "offsets": begins,
                "mode": how,
            }  # fmt: skip
            yield call
            yield {**call, "padding_idx": 3}
            yield {
                **call, "indices": index.int(), "offsets": torch.tensor([0, 3, 3, 7]).int(),
                "include_last_offset": True,
            }  # fmt: skip
            yield {**call, "indices": index[:0], "offsets": begins * 0}
            if how == 0:
                yield {**call, "per_sample_weights": drawn(7, dtype=dtype), "padding_idx": 2}


def _bagged_back(op: str, rank: int, drawn: Draw) -> Iterator[Call]:
    for call in _bagged(op, rank, drawn):
        if call["indices"].numel() and not call.get("include_last_offset"):
            found, _, size, most = torch.ops.aten._embedding_bag(**call)
            ends = torch.arange(7)[:, None] >= call["offsets"][None]
            made: Call = {
                "grad": drawn(*found.shape, dtype=found.dtype), "indices": call["indices"],
                "offset2bag": ends.sum(1) - 1, "bag_size": size, "maximum_indices": most,
                "num_weights": 6, "mode": call["mode"],
                "per_sample_weights": call.get("per_sample_weights"),
                "padding_idx": call.get("padding_idx", -1),
            }  # fmt: skip
            yield {**made, "scale_grad_by_freq": False}
            if call["mode"] != 2:
                # the CPU's kernel takes how often another row came, torch 2.13: each comes as often
                twice = {"indices": torch.tensor([0, 2, 3, 3, 2, 0]), "bag_size": size + 1}
                twice |= {"offset2bag": made["offset2bag"][:6], "per_sample_weights": None}
                yield {**made, **twice, "scale_grad_by_freq": True}


_KINDS: dict[str, Callable[[str, int, Draw], Iterator[Call]]] = {
    "bag_dense_backward": _bagged_back, "bag": _bagged, "attention": _attended,
    "_with_indices_backward": _max_pools_back,
    "_adaptive_avg_pool2d_backward": _adaptive_back,
    "_adaptive_avg_pool3d_backward": _adaptive_back,
    "avg_pool2d_backward": _means_back, "avg_pool3d_backward": _means_back,
    "adaptive": _adaptive, "max_pool": _max_pools, "avg_pool": _means, "upsample": _resampled,
    "deform": _deformed, "conv": _convolved, "col": _unfolded, "grid": _sampled, "roi": _regions,
    "sort": _ordered, "topk": _ordered, "kthvalue": _ordered, "median": _ordered,
}  # fmt: skip
"""Part of an operator's name -> its calls; the first that fits."""


def deformed(
    input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, stride_h: int,
    stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int,
    offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    """What torchvision's own library computes, which is not here: by samples of a grid."""
    many, channels, high, wide = input.shape
    taps, (rows, columns) = weight[0, 0].numel(), offset.shape[-2:]
    away = offset.reshape(many, offset_groups, taps, 2, rows, columns)
    found = []
    for k in range(taps):
        down, across = divmod(k, weight.shape[3])
        y = torch.arange(rows)[:, None] * stride_h - pad_h + down * dilation_h + away[:, :, k, 0]
        x = torch.arange(columns) * stride_w - pad_w + across * dilation_w + away[:, :, k, 1]
        grid = torch.stack([2 * x / (wide - 1) - 1, 2 * y / (high - 1) - 1], -1)
        parts = torch.nn.functional.grid_sample(
            input.reshape(many * offset_groups, -1, high, wide),
            grid.flatten(0, 1).to(input.dtype), align_corners=True,
        )  # fmt: skip
        parts = parts.reshape(many, offset_groups, -1, rows, columns)
        if use_mask:
            parts = parts * mask.reshape(many, offset_groups, taps, 1, rows, columns)[:, :, k]
        found.append(parts.reshape(many, channels, rows, columns))
    samples = torch.stack(found, 2).reshape(many, groups, -1, rows * columns)
    weights = weight.reshape(groups, weight.shape[0] // groups, -1)
    sums = torch.einsum("ngcp,goc->ngop", samples, weights).reshape(many, -1, rows, columns)
    return sums + bias[:, None, None]


LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
"""Registrations live as long as it does."""
