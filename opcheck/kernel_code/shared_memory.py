"""Whether what a kernel loads in a loop fits the shared memory of a chip.

Triton overlaps rounds of a loop: it keeps each block that a product in the loop reads as many times
as there are stages, less the one that is computed with.
"""

import math
from collections import Counter
from collections.abc import Iterator

from opcheck.kernel_code.judged import Judged
from opcheck.kernel_code.limits import BYTES
from opcheck.lang.sentence import Sentence
from opcheck.model.launches import ANY_STAGES, Block, Launch, TritonCompiler
from opcheck.model.verdict import Confidence, Verdict

TOO_LARGE = "kernel-blocks-too-large"


def too_large(launch: Launch, compiler: TritonCompiler, chip: str) -> Iterator[Judged]:
    """That the blocks need more than the chip has; nothing where they may fit."""
    if launch.stages == ANY_STAGES:
        return
    stages = launch.stages or compiler.stages
    loops: Counter[int] = Counter()
    for each in launch.kernel.blocks:
        size = _size(each, launch)
        # without overlap a block may take the place of the one before
        loops[each.loop] = loops[each.loop] + size if stages > 1 else max(loops[each.loop], size)
    needed = max(stages - 1, 1) * max(loops.values(), default=0)
    if not compiler.shared_memory or needed <= compiler.shared_memory:
        return
    text = Sentence(
        "the kernel keeps blocks of {size} bytes or more in shared memory, for num_stages={count}, "
        "and {chip} has {size_most} for a block of threads",
        size=needed, count=stages, chip=chip, size_most=compiler.shared_memory,
    )  # fmt: skip
    yield Judged(Verdict.UNSUPPORTED, TOO_LARGE, text, Confidence.MEDIUM, compiler.kept_in_shared)


def _size(block: Block, launch: Launch) -> int:
    """Bytes of a block; 0 where a size or the dtype is not known."""
    constants, dtypes = dict(launch.constants), dict(launch.dtypes)
    sizes = [constants.get(size, size) for size in block.sizes]
    if not all(size.isdecimal() for size in sizes):
        return 0
    return math.prod(map(int, sizes)) * BYTES.get(dtypes.get(block.parameter, ""), 0)
