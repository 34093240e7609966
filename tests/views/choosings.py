"""Standard answers on which target suits a model, one for each kind."""

from msgspec.structs import replace

from opcheck.commands.choose.answer import UNCOUNTED
from opcheck.commands.choose.ranking import ranked
from opcheck.commands.choose.values import Choosing, Way
from opcheck.costs.roofline import Bound, Limit, MemoryNeed
from opcheck.lang.sentence import Sentence
from opcheck.model.costs import Grade
from opcheck.model.plan import Tier
from opcheck.model.trace import Gap
from tests.commands.choose.chosen import choice, offer
from tests.views.samples import STANDARD

_REPORT = STANDARD["three-targets"]
_GAPS = (Gap("net.head", "no kernel for \x1b[31mmeta"),)
_NOT_SAID = "nobody has said whether it has 2 operators of the model's"
_CHOICES = (
    choice("a", offer("A 80GB", 0.001), offer("A 40GB", 0.002), offer("A mini", None)),
    choice("b", offer(seconds=0.0123)),
    choice("same", offer(seconds=0.0123)),
    choice("untold", offer(seconds=None, grade=Grade.PRESS)),
    choice("host", offer(), way=Way.HOST, host=(12, 3 << 20), share=0.9),
    choice("swap", offer(seconds=0.5), way=Way.REPAIRED, tier=Tier.SWAP, share=0.95),
    choice("tight", offer("T", fits=None), offer("T mini", fits=False)),
    choice("new", offer(), way=Way.UNKNOWN, blocking=("aten::a", "aten::b"), unseen=(_NOT_SAID,)),
    choice("nobody"),
    choice("small", offer(fits=False)),
    choice("none", offer(), way=Way.NOT, share=0.25, blocking=("aten::special_i0",)),
)
_MANY = Choosing(
    opcheck_version=_REPORT.opcheck_version,
    torch_version=_REPORT.torch_version,
    model=_REPORT.model,
    trace=replace(_REPORT.trace, gaps=()),
    choices=ranked(_CHOICES),
    dtypes={"float16": 8_178_368_512, "float32": 1200},
    unknown=(Sentence(UNCOUNTED, list="acme::fused"),),
)
_STEP = MemoryNeed(
    weights=10**9, buffers=1 << 20, inputs=602_112, activations=10**8, gradients=10**9,
    states=2 * 10**9, batch=4,
)  # fmt: skip

CHOOSINGS = {
    "many": _MANY,
    "one": replace(_MANY, choices=ranked([choice("b", offer())]), unknown=()),
    "computing": replace(
        _MANY,
        choices=ranked([choice("b", replace(offer(), bound=Bound(0.002, Limit.COMPUTE)))]),
        unknown=(),
    ),
    "train": replace(
        _MANY,
        trace=replace(_REPORT.trace, mode="train", gaps=_GAPS),
        choices=ranked([replace(one, need=_STEP) for one in _CHOICES[:2]]),
        dtypes={},
    ),
}
