"""The types that tensors and metadata of GGUF files have, by the numbers that stand for them.

As gguf-py of llama.cpp has them (release 0.19.0 of the package, gguf/constants.py:
``GGUFValueType``, ``GGMLQuantizationType`` and ``GGML_QUANT_SIZES``).
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

STRING, ARRAY = 8, 9
NUMBERS: Mapping[int, str] = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
"""Type of a metadata value -> how ``struct`` reads it; all but texts and arrays."""


class TensorType(Struct, frozen=True):
    """How the numbers of a tensor are stored."""

    name: str
    block: int
    """Numbers that are packed together."""
    size: int
    """Bytes of such a block."""


TENSORS: Mapping[int, TensorType] = {
    number: TensorType(name, block, size)
    for number, name, block, size in (
        (0, "F32", 1, 4), (1, "F16", 1, 2), (2, "Q4_0", 32, 18), (3, "Q4_1", 32, 20),
        (6, "Q5_0", 32, 22), (7, "Q5_1", 32, 24), (8, "Q8_0", 32, 34), (9, "Q8_1", 32, 40),
        (10, "Q2_K", 256, 84), (11, "Q3_K", 256, 110), (12, "Q4_K", 256, 144),
        (13, "Q5_K", 256, 176), (14, "Q6_K", 256, 210), (15, "Q8_K", 256, 292),
        (16, "IQ2_XXS", 256, 66), (17, "IQ2_XS", 256, 74), (18, "IQ3_XXS", 256, 98),
        (19, "IQ1_S", 256, 50), (20, "IQ4_NL", 32, 18), (21, "IQ3_S", 256, 110),
        (22, "IQ2_S", 256, 82), (23, "IQ4_XS", 256, 136), (24, "I8", 1, 1), (25, "I16", 1, 2),
        (26, "I32", 1, 4), (27, "I64", 1, 8), (28, "F64", 1, 8), (29, "IQ1_M", 256, 56),
        (30, "BF16", 1, 2), (34, "TQ1_0", 256, 54), (35, "TQ2_0", 256, 66),
        (39, "MXFP4", 32, 17), (40, "NVFP4", 64, 36), (41, "Q1_0", 128, 18),
    )
}  # fmt: skip
"""Number of a type -> the type."""
PLAIN = frozenset(("F32", "F16", "BF16"))
"""Types that are no blocks."""
MADE_WHOLE = frozenset(
    ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K",
     "Q6_K", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S",
     "IQ1_S", "IQ1_M", "IQ4_NL", "IQ4_XS")
)  # fmt: skip
"""Types that ``dequantize`` of gguf 0.19.0 takes (gguf/quants.py); it raises for others."""
READ_IN_BLOCKS = frozenset(
    ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
     "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S", "IQ1_M", "IQ4_NL", "IQ4_XS")
)  # fmt: skip
"""Types that transformers 5.23 reads without gguf, for some architectures (integrations/gguf/
dequant.py, ``GGML_BLOCK``); it raises for others."""


def names_of(kinds: Iterable[int]) -> tuple[str, ...]:
    """The names of types, sorted; the number of one that has none here."""
    return tuple(
        sorted({TENSORS[kind].name if kind in TENSORS else f"type {kind}" for kind in kinds})
    )
