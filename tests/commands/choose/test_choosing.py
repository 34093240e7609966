"""Targets ranked for a model: the order, the reason for each place, and what is not known."""

import itertools
import random

import pytest
from msgspec.structs import replace

from opcheck.commands.choose.answer import choice_of, computed, fit_of, offers, unknown_figures
from opcheck.commands.choose.ranking import ranked, standing
from opcheck.commands.choose.values import Choice, Criterion, Fit, Way
from opcheck.costs.roofline import Leaf
from opcheck.model.costs import Chip, Grade, NodeCost, Product
from opcheck.model.plan import AfterTier, PlanSummary, Tier
from opcheck.model.report import TargetReport
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict
from tests.commands.choose.chosen import NEED, choice, figure, offer
from tests.views.samples import STANDARD

FAST, SLOW = offer(seconds=0.001), offer(seconds=0.002)
ORDER = (
    (choice("fast", FAST), None, "every call stays on the device; it fits; 1 ms at best"),
    (choice("slow", SLOW), Criterion.BOUND, "2 times as long as acme-fast at best"),
    (
        choice("two", offer("Big", 0.004), offer("Small", 0.003, fits=False)),
        Criterion.BOUND,
        "2 times as long as acme-slow at best, on Big",
    ),
    (
        choice("untold", offer(seconds=None)),
        Criterion.BOUND,
        "how fast it can be is not known: no source says its peak rate in float16",
    ),
    (
        choice("host", FAST, way=Way.HOST, host=(1, 2048), share=0.9),
        Criterion.WAY,
        "it runs, but 1 call leaves the device",
    ),
    (
        choice("more", FAST, way=Way.HOST, host=(1200, 4096), share=0.95),
        Criterion.HOST,
        "4.1 KB cross to the host, 2.05 KB of acme-host",
    ),
    (
        choice("swap", SLOW, way=Way.REPAIRED, tier=Tier.SWAP, share=0.9),
        Criterion.WAY,
        "it runs after repair, by tier 1: native swap",
    ),
    (
        choice("compat", FAST, way=Way.REPAIRED, tier=Tier.COMPAT, share=0.9),
        Criterion.TIER,
        "it runs after repair, by tier 2: vendor compat layer",
    ),
    (
        choice("less", FAST, way=Way.REPAIRED, tier=Tier.COMPAT, share=0.8),
        Criterion.SHARE,
        "after repair it supports 80.0% of the operators, acme-compat 90.0%",
    ),
    (
        choice("tight", offer(fits=None)),
        Criterion.TAKES,
        "whether it fits is not known: it needs 25 GB, and One has 24 GB, or 25.8 GB if a GB is "
        "2**30 bytes",
    ),
    (
        choice("nobody"),
        Criterion.BOUND,
        "how fast it can be is not known: no source says its bandwidth",
    ),
    (
        choice("seen", FAST, way=Way.UNKNOWN, share=0.9, blocking=("aten::a", "aten::b")),
        Criterion.WAY,
        "whether it runs is not known: aten::a and 1 more",
    ),
    (
        choice("gaps", FAST, way=Way.UNKNOWN, share=None),
        Criterion.SHARE,
        "it supports an unknown share of the operators, acme-seen 90.0%",
    ),
    (
        choice("both", offer(missing=("memory",), fits=None), way=Way.UNKNOWN, share=1.0),
        Criterion.FIT,
        "whether it fits is not known: no source says the memory of One",
    ),
    (
        choice("small", offer(fits=False)),
        Criterion.TAKES,
        "it does not fit: it needs 25 GB, of 16 GB",
    ),
    (
        choice("none", FAST, way=Way.NOT, share=0.5, blocking=("aten::a",)),
        Criterion.WAY,
        "it does not run: aten::a",
    ),
)
"""Each is behind the one before it for one criterion."""


def test_the_order_is_the_one_that_is_written_down() -> None:
    found = [choice for choice, _, _ in ORDER]
    random.Random(7).shuffle(found)
    places = ranked(found)
    assert [(one.chip, one.place, one.criterion) for one in places] == [
        (one.chip, place, criterion) for place, (one, criterion, _) in enumerate(ORDER, 1)
    ]
    assert [one.why for one in places] == [why for _, _, why in ORDER]


@pytest.mark.parametrize("name", ["peak float16", "bandwidth"])
def test_a_rate_that_is_not_known_never_helps(name: str) -> None:
    """Nor does it keep a product that is known from being the one that is ranked."""
    unknown = offer("Other", None, missing=(name,))
    assert [one.chip for one in ranked([choice("a", unknown), choice("b", SLOW)])] == ["b", "a"]
    both = choice("a", unknown, SLOW)
    assert (both.seconds, both.best) == (SLOW.seconds, SLOW)


@pytest.mark.parametrize(
    ("worse", "than"), [(left, right) for right, left in itertools.pairwise(ORDER)]
)
def test_two_targets_stand_as_they_do_among_many(
    worse: tuple[Choice, object, str], than: tuple[Choice, object, str]
) -> None:
    assert standing(worse[0]) > standing(than[0])
    assert [one.chip for one in ranked([worse[0], than[0]])] == [than[0].chip, worse[0].chip]


def test_a_product_that_is_too_small_lends_no_speed() -> None:
    one = choice("a", offer("Small", 0.001, fits=False), offer("Big", 0.005))
    assert (one.fit, one.seconds) == (Fit.SOME, 0.005)
    open_ = choice("b", offer("Maybe", 0.001, fits=None), offer("Big", 0.005))
    assert (open_.fit, open_.seconds) == (Fit.SOME, 0.005)
    assert choice("c", offer(fits=False)).seconds is None


def test_what_is_known_of_a_chip_bounds_it_from_below_and_ranks_nothing() -> None:
    unknown = offer("Other", None)
    assert choice("a", unknown, offer("More", None)).floor == unknown.bound.seconds
    assert choice("a", unknown, SLOW).floor is None
    assert choice("nobody").floor is None
    nothing = replace(unknown, bound=replace(unknown.bound, seconds=None))
    assert choice("a", unknown, nothing).floor is None


def test_targets_that_nothing_tells_apart_share_a_place_and_its_reason() -> None:
    found = ranked([choice("c", SLOW), choice("a", FAST), choice("d", SLOW), choice("b", FAST)])
    assert [(one.chip, one.place) for one in found] == [("a", 1), ("b", 1), ("c", 3), ("d", 3)]
    assert found[0].why == found[1].why == "every call stays on the device; it fits; 1 ms at best"
    assert found[2].why == found[3].why == "2 times as long as acme-b at best"


def test_two_releases_of_a_chip_are_told_apart_by_their_whole_name() -> None:
    found = ranked([choice("a", FAST, sdk="2.0"), choice("a", SLOW)])
    assert found[1].why == "2 times as long as acme-a@2.0+torch2.9 at best"


def test_all_that_does_not_fit_stands_by_its_memory() -> None:
    large = replace(offer(fits=False), memory=figure(20e9))
    found = ranked([choice("a", offer(fits=False)), choice("b", large)])
    assert [one.chip for one in found] == ["b", "a"]
    assert found[0].why == (
        "every call stays on the device; it does not fit: it needs 25 GB, of 20 GB"
    )
    assert found[1].criterion is Criterion.ROOM


def test_times_that_are_close_are_said_to_be() -> None:
    found = ranked([choice("a", FAST), choice("b", offer(seconds=0.001001))])
    assert found[1].why == "a little longer than acme-a at best"
    found = ranked([choice("a", FAST), choice("b", offer(seconds=0.001001), offer(seconds=1.0))])
    assert found[1].why == "a little longer than acme-a at best, on One"


def test_operators_that_stand_in_the_way_are_counted() -> None:
    blocking = ("aten::odd", "aten::even", "aten::third")
    unknown = choice("b", FAST, way=Way.UNKNOWN, blocking=blocking[:1])
    found = ranked([choice("a", FAST), unknown, choice("c", FAST, way=Way.NOT, blocking=blocking)])
    assert [one.why for one in found[1:]] == [
        "whether it runs is not known: aten::odd",
        "it does not run: aten::odd and 2 more",
    ]


def test_what_does_not_run_is_said_without_an_operator_where_none_is_to_blame() -> None:
    (found,) = ranked([choice("a", FAST, way=Way.NOT)])
    assert found.why == "it does not run; it fits; 1 ms at best"


# --- products ------------------------------------------------------------------------------------

PRODUCT = Product("One", figure(80e9, upper=80 * 2**30), figure(1e12), {"float16": figure(1e14)})
CHIP = Chip("acme", "one", "Acme One", (PRODUCT,))


def leaf(
    dtype: str = "float16",
    flops: int | None = 10**12,
    verdict: Verdict = Verdict.NATIVE,
    op: str = "aten::mm",
) -> Leaf:
    return Leaf(0, 0, op, 1, dtype, verdict, NodeCost(flops, 0, 10**9, 0))


def test_a_product_is_held_against_what_a_model_needs() -> None:
    (found,) = offers(CHIP, "cuda", (leaf(),), 10)
    assert (found.seconds, found.fits, found.missing) == (0.01, True, ())
    assert found.peaks == PRODUCT.matrix


@pytest.mark.parametrize(
    ("need", "fits"),
    [(80 * 10**9, True), (80 * 10**9 + 1, None), (80 * 2**30, None), (80 * 2**30 + 1, False)],
)
def test_whether_it_fits_is_said_only_where_it_holds_in_either_reading(
    need: int, fits: bool | None
) -> None:
    assert offers(CHIP, "cuda", (leaf(),), need)[0].fits is fits


@pytest.mark.parametrize(
    ("product", "leaves", "missing"),
    [
        (PRODUCT, (leaf("bfloat16"),), ("peak bfloat16",)),
        (PRODUCT, (leaf(), leaf("float32", 10**9)), ()),
        (PRODUCT, (leaf(), leaf("float32", 10**11)), ("peak float32",)),
        (PRODUCT, (leaf(), leaf("float32", verdict=Verdict.FALLBACK)), ()),
        (PRODUCT, (leaf(flops=None), leaf(flops=0)), ()),
        (Product("Two"), (leaf(),), ("memory", "bandwidth", "peak float16")),
        (Product("Two"), (leaf(flops=0),), ("memory", "bandwidth")),
    ],
)
def test_what_is_missing_is_what_a_bound_needs(
    product: Product, leaves: tuple[Leaf, ...], missing: tuple[str, ...]
) -> None:
    (found,) = offers(replace(CHIP, products=(product,)), "cuda", leaves, 10)
    assert found.missing == missing
    assert (found.seconds is None) is bool(set(missing) - {"memory"})


def test_convolutions_of_float32_may_take_tf32() -> None:
    product = replace(PRODUCT, matrix={"tf32": figure(1e14)})
    (found,) = offers(
        replace(CHIP, products=(product,)), "cuda", (leaf("float32", op="aten::convolution"),), 10
    )
    assert (found.missing, found.seconds, list(found.peaks)) == ((), 0.01, ["tf32"])


def test_operations_are_summed_by_dtype() -> None:
    found = computed((leaf("float32", 5), leaf(flops=7), leaf("float32", 1), leaf("int64", 0)))
    assert list(found.items()) == [("float16", 7), ("float32", 6)]


def test_a_chip_of_which_nobody_has_said_anything() -> None:
    assert offers(Chip("acme", "one", "Acme One"), "cuda", (leaf(),), 10) == ()
    assert fit_of(()) is Fit.UNKNOWN
    assert unknown_figures(()) == ("no source says its memory, bandwidth or peak rates",)


def test_what_nobody_has_said_and_what_the_press_alone_has() -> None:
    found = (offer("A", grade=Grade.PRESS), offer("B", None), offer("C", None))
    assert unknown_figures(found) == (
        "no source says its peak rate in float16, of B, C",
        "only the press says its memory, of A",
        "only the press says its bandwidth, of A",
        "only the press says its peak rate in float16, of A",
    )
    assert unknown_figures(found[1:]) == ("no source says its peak rate in float16",)


# --- from a report -------------------------------------------------------------------------------


def report(runs: bool | None, *after: bool | None, custom: bool | None = False) -> TargetReport:
    """A target with a plan; ``after``: whether it runs after tier 1, and so on."""
    found = STANDARD["mixed"].targets[0]
    tiers = [
        AfterTier(tier, 0.9, then, ()) for tier, then in zip(Tier, (*after, custom), strict=True)
    ]
    summary = replace(found.summary, runs=runs)
    return replace(found, summary=summary, plan=PlanSummary(tuple(tiers), ()))


@pytest.mark.parametrize(
    ("found", "way", "tier"),
    [
        (report(True, True, True, True), Way.HOST, None),
        (report(False, True, True, True), Way.REPAIRED, Tier.SWAP),
        (report(False, False, True, True), Way.REPAIRED, Tier.COMPAT),
        (report(None, None, None, True), Way.REPAIRED, Tier.STRUCTURAL),
        (report(False, False, False, None), Way.UNKNOWN, None),
        (report(None, None, None, None), Way.UNKNOWN, None),
        (report(False, False, False, False, custom=True), Way.NOT, None),
    ],
)
def test_a_way_is_what_a_plan_comes_to_without_a_kernel_of_ones_own(
    found: TargetReport, way: Way, tier: Tier | None
) -> None:
    one = choice_of(found, CHIP, "npu", (leaf(),), NEED)
    assert (one.way, one.tier) == (way, tier)


def test_what_stands_in_the_way_is_named() -> None:
    one = choice_of(report(False, False, False, False), CHIP, "npu", (leaf(),), NEED)
    unsupported = {
        finding.op
        for finding in STANDARD["mixed"].targets[0].findings
        if finding.verdict is Verdict.UNSUPPORTED
    }
    assert set(one.blocking) == unsupported
    assert one.unseen == ()
    gaps = (Gap("net", "no kernel"),)
    found = report(None, None, None, None)
    found = replace(found, summary=replace(found.summary, operators={Verdict.UNKNOWN: 1}))
    assert choice_of(found, CHIP, "npu", (leaf(),), NEED, gaps).unseen == (
        "nobody has said whether it has 1 operator of the model's",
        "parts of the model were not seen, and may ask for more",
    )
