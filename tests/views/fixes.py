"""Standard fixes, one for each kind of outcome."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.fix.values import Fix, FixKind, Followed, Left
from opcheck.model.plan import Compared, Label, Proof, Tier
from tests.views.samples import STANDARD

_REPORT = STANDARD["mixed"]
_TARGET = "ascend-910a@26.1.0+torch2.12"
_PROOF = Proof(
    how="emulated",
    target=_TARGET,
    holds=True,
    gone=("aten::isin.Tensor_Tensor",),
    remaining=(),
    newer=("aten::isneginf",),
    runs=True,
    forward=Compared(3, "output[0]", "float32"),
    backward=Compared(5, "grad of linear.weight", "float32", 2.5e-7, 1.5e-5),
)
_PROVED = Fix(
    opcheck_version=_REPORT.opcheck_version,
    torch_version=_REPORT.torch_version,
    model=_REPORT.model,
    target=_TARGET,
    kind=FixKind.SHIM,
    files=("shim.py",),
    text="",
    followed=(
        Followed(
            "aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor", "isin-by-comparing",
            Tier.SWAP, Label.EXACT,
        ),
        Followed(
            "aten::std.dim", "aten::std.correction", "std-by-deviations",
            Tier.SWAP, Label.TOLERANCE,
        ),
    ),
    left=(Left("aten::fft_rfft", "aten::_fft_r2c", "nothing that the target runs was found"),),
    proof=_PROOF,
)  # fmt: skip
FIXES: Mapping[str, Fix] = {
    "nothing": replace(
        _PROVED, files=(), followed=(), left=(), proof=None, unproven="there is nothing to write"
    ),
    "proved": _PROVED,
    "failed": replace(
        _PROVED,
        files=(),
        proof=replace(
            _PROOF,
            holds=False,
            gone=(),
            remaining=("aten::isin.Tensor_Tensor",),
            runs=False,
            forward=Compared(3, "output[0]", "float32", None, 0.0, holds=False),
            backward=None,
            no_backward="nothing in the model's results has a gradient",
            error="RuntimeError: no kernel",
        ),
    ),
    "approximate": replace(
        _PROVED,
        proof=replace(
            _PROOF,
            newer=(),
            forward=Compared(3, "output[1]", "float32", 0.125, None),
            note="a note",
        ),
        report=replace(_REPORT, targets=()),
    ),
    "unproven": replace(
        _PROVED,
        proof=None,
        unproven="it could not be run on an emulated device: CUDA is none that torch can have here",
    ),
    "mended-nothing": replace(
        _PROVED,
        files=(),
        followed=(),
        proof=None,
        unproven="there is nothing to write",
        left=(Left("aten::view_as_complex", "aten::view_as_complex", "no way was found"),),
        report=_REPORT,
    ),
    "blocked-still": replace(
        _PROVED,
        followed=(
            Followed(
                "torchvision::nms", "torchvision::nms", "nms-by-loops", Tier.SWAP, Label.EXACT
            ),
        ),
        left=(Left("aten::view_as_complex", "aten::view_as_complex", "no way was found"),),
        proof=replace(_PROOF, runs=False),
        report=_REPORT,
    ),
    "scanned": replace(
        _PROVED, proof=replace(_PROOF, how="scanned", runs=None, forward=None, backward=None)
    ),
    "unseen": replace(
        _PROVED,
        files=(),
        followed=(),
        left=(),
        proof=None,
        unproven="there is nothing to write",
        report=STANDARD["empty"],
    ),
    "custom": replace(
        _PROVED,
        kind=FixKind.CUSTOM,
        files=("opcheck_roll/README.md", "opcheck_roll/setup.py"),
        followed=(
            Followed(
                "aten::roll", "aten::roll.out", "custom-operator", Tier.CUSTOM, Label.TOLERANCE
            ),
        ),
        left=(),
        proof=None,
        unproven="nothing has built or run it; left to write: compute() in csrc/kernel.cu",
    ),
}
"""By what came of it."""
NOT_DONE = frozenset({"failed", "mended-nothing", "blocked-still", "unseen"})
"""Those after which a command does not pass."""
