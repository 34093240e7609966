"""Arguments for trying a rule, drawn piece by piece from whatever source of choices there is."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
NUMBERS = (*FLOATS, *INTEGERS)
ANY = (*NUMBERS, torch.bool, *COMPLEX)

_EDGES = (0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 0.5)


class Draw(ABC):
    """A source of choices: random, or one that shrinks what fails to the smallest such case."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """One number from ``low`` to ``high``, both possible."""

    def choose(self, options: Sequence[T]) -> T:
        """One of them, the simplest first."""
        return options[self.integer(0, len(options) - 1)]

    def flag(self) -> bool:
        """Either."""
        return self.choose((False, True))

    def shape(
        self, low: int = 0, high: int = 4, *, smallest: int = 0, largest: int = 5
    ) -> list[int]:
        """Sizes of ``low`` to ``high`` dimensions, 0-d, empty ones and size 1 among them."""
        return [self.integer(smallest, largest) for _ in range(self.integer(low, high))]

    def tensor(
        self,
        shape: Sequence[int] | None = None,
        dtypes: Sequence[torch.dtype] = FLOATS,
        *,
        edges: bool = True,
    ) -> Tensor:
        """A tensor on the host: contiguous, transposed, expanded or with gaps.

        Args:
            shape: sizes; None draws some.
            dtypes: what it may be of.
            edges: whether NaN, infinities and negative zero may be among floating-point values.
        """
        sizes = self.shape() if shape is None else list(shape)
        return self._laid_out(self._values(sizes, self.choose(dtypes), edges))

    def indices(self, shape: Sequence[int], size: int) -> Tensor:
        """An int64 tensor of places in a dimension of ``size``, which is not 0."""
        flat = [self.integer(0, size - 1) for _ in range(math.prod(shape))]
        return torch.tensor(flat, dtype=torch.int64).reshape(list(shape))

    def dim(self, tensor: Tensor) -> int:
        """A dimension of a tensor, counted from either end."""
        count = max(tensor.dim(), 1)
        return self.integer(-count, count - 1)

    def _values(self, sizes: Sequence[int], dtype: torch.dtype, edges: bool) -> Tensor:
        made = torch.empty(list(sizes), dtype=dtype)
        random = torch.Generator().manual_seed(self.integer(0, 2**16))
        if dtype is torch.bool:
            return torch.randint(0, 2, made.shape, generator=random).bool()
        if not (dtype.is_floating_point or dtype.is_complex):
            low = 0 if dtype is torch.uint8 else -9
            return torch.randint(low, 10, made.shape, generator=random).to(dtype)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        made = torch.randn(made.shape, generator=random, dtype=wide).to(dtype)
        if edges and made.numel() and not dtype.is_complex:
            flat = made.view(-1)
            for _ in range(self.integer(0, 3)):
                flat[self.integer(0, made.numel() - 1)] = self.choose(_EDGES)
        return made

    def _laid_out(self, made: Tensor) -> Tensor:
        """The same values in another layout."""
        if not made.dim():
            return made
        match self.choose(("contiguous", "transposed", "gaps", "expanded")):
            case "transposed":
                return made.transpose(0, -1).contiguous().transpose(0, -1)
            case "gaps":
                wide = made.new_zeros((*made.shape[:-1], made.shape[-1] * 2))
                wide[..., ::2] = made
                return wide[..., ::2]
            case "expanded" if made.shape[0]:
                return made[:1].expand_as(made)
        return made


class RandomDraw(Draw):
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = torch.Generator().manual_seed(seed)

    def integer(self, low: int, high: int) -> int:
        """Every number as likely."""
        return int(torch.randint(low, high + 1, (), generator=self._random))
