"""Integers of any bits in words of 32, as compressed-tensors 0.20.0 takes them apart.

``unpack_from_int32``, compressors/pack_quantized/helpers.py line 105: 32 numbers share as many
words as they have bits, and some are split between two. Which word and which bits each has, the
library computes on the device; here such tables are there from an earlier call.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

_WORD = 32


class Table(nn.Module):
    """Where the numbers of 32 are in their words."""

    word: Tensor
    shift: Tensor
    mask: Tensor
    split: Tensor
    next_word: Tensor
    next_mask: Tensor
    next_shift: Tensor

    def __init__(self, bits: int) -> None:
        super().__init__()
        starts = torch.arange(_WORD, dtype=torch.int32) * bits
        low = torch.clamp(_WORD - starts % _WORD, max=bits)
        split = torch.nonzero(low < bits).flatten()
        word = (starts // _WORD).long()
        tables = {
            "word": word,
            "shift": (starts % _WORD).unsqueeze(0),
            "mask": ((1 << low) - 1).unsqueeze(0),
            "split": split,
            "next_word": word[split] + 1,
            "next_mask": ((1 << (bits - low[split])) - 1).unsqueeze(0),
            "next_shift": low[split].unsqueeze(0),
        }
        for name, value in tables.items():
            self.register_buffer(name, value, persistent=False)


def table_of(module: nn.Module, bits: int) -> Table:
    """The table of a layer."""
    table = Table(bits)
    module.add_module("_table", table)
    return table


def unpacked_by_words(
    packed: Tensor, columns: int, bits: int, table: Table, *, turned: bool
) -> Tensor:
    """Numbers of a matrix, one a byte, with its rows and columns ``turned`` at the end."""
    rows, words = packed.shape
    if words % bits:
        packed = functional.pad(packed, (0, bits - words % bits))
        words = packed.shape[1]
    groups = packed.reshape(rows * (words // bits), bits)
    found = (groups[:, table.word] >> table.shift) & table.mask
    rest = (groups[:, table.next_word] & table.next_mask) << table.next_shift
    found[:, table.split] |= rest
    whole = found.view(rows, words // bits * _WORD)[:, :columns]
    whole = whole.transpose(0, 1) if turned else whole
    return (whole - (1 << (bits - 1))).to(torch.int8)
