"""Checks what a config says of quantised weights by the library's own rules for such a section."""

from collections.abc import Mapping
from typing import Any

from opcheck.lang.sentence import Sentence

_BITS = (2, 3, 4, 8)
_BLOCK = 2
"""Sides of a block: rows and columns of a weight."""
_SCHEMES = ("dynamic", "static")


def refused(method: str, section: Mapping[str, Any]) -> Sentence | None:
    """Why transformers 5.23 refuses the section of a method; None where no check here refuses it.

    The checks are those of src/transformers/utils/quantization_config.py. A key that the section
    leaves out has the library's default, which is valid.
    """
    match method:
        case "bitsandbytes":
            return _bitsandbytes(section)
        case "gptq":
            return _gptq(section)
        case "fp8" | "mxfp8":
            return _fp8(section)
        case "nvfp4":
            return Sentence("transformers 5.23 loads no checkpoints of nvfp4 (quant_method)")
        case _:
            return None


def _bitsandbytes(section: Mapping[str, Any]) -> Sentence | None:
    """Refuse both flags at once (line 457)."""
    if section.get("load_in_8bit") and section.get("load_in_4bit"):
        return Sentence("load_in_8bit and load_in_4bit are both set, and only one can be")
    return None


def _gptq(section: Mapping[str, Any]) -> Sentence | None:
    """Refuse a number of bits or a group size that no kernel packs (lines 743 and 745)."""
    bits = section.get("bits", _BITS[0])
    if bits not in _BITS:
        return Sentence("bits is {text_value}, want 2, 3, 4 or 8", text_value=bits)
    size = section.get("group_size", -1)
    if not isinstance(size, int) or (size != -1 and size <= 0):
        return Sentence(
            "group_size is {text_value}, want -1 or a positive integer", text_value=size
        )
    return None


def _fp8(section: Mapping[str, Any]) -> Sentence | None:
    """Refuse an activation scheme or a block that is none (lines 1735, 1737 and 1739)."""
    scheme = section.get("activation_scheme", _SCHEMES[0])
    if not isinstance(scheme, str) or scheme.lower() not in _SCHEMES:
        return Sentence(
            "activation_scheme is {text_value}, want dynamic or static", text_value=scheme
        )
    block = section.get("weight_block_size")
    if block is not None and not _is_block(block):
        return Sentence(
            "weight_block_size is {text_value}, want two positive integers", text_value=block
        )
    return None


def _is_block(block: Any) -> bool:
    return (
        isinstance(block, list | tuple)
        and len(block) == _BLOCK
        and all(isinstance(side, int) and side > 0 for side in block)
    )
