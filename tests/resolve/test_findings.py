"""Resolutions gathered into a target's report."""

from msgspec.structs import replace

from opcheck.model.matrix import Choice, SupportMatrix
from opcheck.model.report import Partition, Place, Reason, Segment, Summary, TargetReport
from opcheck.model.trace import Composite, Gap, Kernel, OpName, Phase, Trace, Use
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import resolve
from tests.lang.told import in_chinese
from tests.resolve import made

NODES = (
    made.node("aten::add.Tensor"),
    made.node("aten::odd"),
    made.node("aten::fancy", cpu=False),
)
USES = (
    Use(0, "layers.*", "net.py", 3, 4),
    Use(1, "layers.*.odd", "net.py", 5, 2),
    Use(0, "head", "net.py", 9, 1),
)
MATRIX = made.matrix("aten::add.Tensor")


def counts(**given: int) -> dict[Verdict, int]:
    return {verdict: given.get(verdict.value, 0) for verdict in Verdict}


def test_summary_of_a_model_with_a_fallback() -> None:
    trace = replace(made.trace(*NODES, uses=USES), sequence=(0, 1, 0, 0, 1, 0, 2))
    assert resolve(trace, MATRIX).summary == Summary(
        support_rate=0.5,
        runs=True,
        operators=counts(native=1, fallback=1),
        calls=counts(native=5, fallback=2),
        islands=3,
        fallback_bytes=2 * (2 * 3 * 4 + 2 * 3 * 4),
    )


def test_the_run_is_cut_where_calls_begin_or_cease_to_fall_back() -> None:
    trace = replace(made.trace(*NODES, uses=USES), sequence=(0, 1, 1, 0, 2))
    assert resolve(trace, MATRIX).partitions == (
        Partition(False, 1, "layers.*"),
        Partition(True, 2, "layers.*.odd"),
        Partition(False, 2, "layers.*"),
    )
    whole = replace(made.trace(*NODES, uses=USES[:1]), sequence=(0, 0))
    assert resolve(whole, MATRIX).partitions == ()
    assert resolve(whole, MATRIX).summary.islands == 1


def test_the_run_is_cut_where_a_call_would_break() -> None:
    uses = (*USES, Use(2, "head", "net.py", 10, 1))
    trace = replace(made.trace(*NODES, uses=uses), sequence=(0, 1, 1, 3, 0, 2))
    assert resolve(trace, MATRIX).segments == (
        Segment(None, 1, "layers.*"),
        Segment(Verdict.FALLBACK, 2, "layers.*.odd"),
        Segment(Verdict.UNSUPPORTED, 1, "head"),
        Segment(None, 2, "layers.*"),
    )
    fine = replace(made.trace(*NODES, uses=USES), sequence=(0, 1, 1, 0, 2))
    assert resolve(fine, MATRIX).segments == ()


def test_support_rate_has_four_decimals_and_is_none_for_an_empty_trace() -> None:
    nodes = (*NODES, made.node("aten::sub.Tensor"))
    uses = tuple(Use(index, "", "", 0, 1) for index in (0, 1, 3))
    matrix = made.matrix("aten::add.Tensor", "aten::sub.Tensor")
    assert resolve(made.trace(*nodes, uses=uses), matrix).summary.support_rate == 0.6667
    empty = resolve(made.trace(uses=()), MATRIX).summary
    assert (empty.support_rate, empty.runs, empty.islands) == (None, None, 0)


def runs(trace: Trace, matrix: SupportMatrix = MATRIX) -> bool | None:
    return resolve(trace, matrix).summary.runs


def test_runs_is_false_where_anything_is_unsupported_else_none_where_unknown() -> None:
    gap = Gap("net", "not seen")
    native, missing = Use(0, "", "", 0, 1), Use(2, "", "", 0, 1)
    assert runs(made.trace(*NODES, uses=(native,))) is True
    assert runs(made.trace(*NODES, uses=(native,), gaps=(gap,))) is None
    assert runs(made.trace(*NODES, uses=(native, missing), gaps=(gap,))) is False
    opaque = made.node("aten::opaque", composite=Composite.EXPLICIT, opaque=True)
    assert runs(made.trace(opaque)) is None


def test_an_operator_counts_at_its_worst() -> None:
    limited = made.condition(Verdict.UNSUPPORTED, made.dtype("float64"))
    matrix = made.matrix("aten::add.Tensor", conditions={"aten::add.Tensor": [limited]})
    nodes = (NODES[0], made.node("aten::add.Tensor", given={"self": made.tensor("float64")}))
    uses = (Use(0, "a", "net.py", 1, 5), Use(1, "b", "net.py", 2, 1))
    report = resolve(made.trace(*nodes, uses=uses), matrix)
    assert report.summary.operators == counts(unsupported=1)
    assert report.summary.calls == counts(unsupported=1, native=5)
    assert [(f.verdict, f.count) for f in report.findings] == [
        (Verdict.UNSUPPORTED, 1),
        (Verdict.NATIVE, 5),
    ]


def test_finding_gathers_its_places_and_evidence() -> None:
    found = resolve(made.trace(*NODES, uses=USES), MATRIX).findings
    assert [f.op for f in found] == ["aten::odd", "aten::add.Tensor"]
    add = found[1]
    assert add.uses == (
        Place("head", "net.py", 9, ("self: float32[2,3]",), (), 1),
        Place("layers.*", "net.py", 3, ("self: float32[2,3]",), (), 4),
    )
    assert (add.count, add.phase, add.confidence) == (5, Phase.FORWARD, Confidence.HIGH)
    assert (add.reason.code, add.evidence) == ("registered", (made.LISTED,))


def ids(*uses: Use) -> list[str]:
    return [f.id for f in resolve(made.trace(*NODES, uses=uses), MATRIX).findings]


def test_id_stays_when_lines_move_and_changes_with_what_it_names() -> None:
    here = Use(1, "layers.*", "net.py", 5, 2)
    moved = replace(here, file="other.py", line=99, count=7)
    elsewhere = replace(here, module="head")
    other = replace(here, node=2)
    assert ids(here) == ids(moved)
    assert len({*ids(here), *ids(elsewhere), *ids(other)}) == 3
    assert all(len(name) == 12 and set(name) <= set("0123456789abcdef") for name in ids(here))


def test_findings_come_worst_first_then_by_operator() -> None:
    uses = tuple(Use(index, "", "", 0, 1) for index in range(3))
    found = resolve(made.trace(*NODES, uses=uses), MATRIX).findings
    assert [f.verdict for f in found] == [
        Verdict.UNSUPPORTED,
        Verdict.FALLBACK,
        Verdict.NATIVE,
    ]


def kernels(*found: Kernel, matrix: SupportMatrix = MATRIX) -> TargetReport:
    trace = replace(made.trace(*NODES, uses=USES), kernels={str(made.TARGET): found})
    return resolve(trace, matrix)


def test_kernels_are_those_of_this_target() -> None:
    add, odd, fancy = (OpName.parse(str(node.op)) for node in NODES)
    report = kernels(
        Kernel(odd, 2, missing=True),
        Kernel(add, 5, missing=False),
        Kernel(fancy, 1, missing=True, cpu_kernel=False),
    )
    assert report.kernels is not None
    assert [(k.op, k.verdict, k.count) for k in report.kernels] == [
        ("aten::add.Tensor", Verdict.NATIVE, 5),
        ("aten::fancy", Verdict.UNSUPPORTED, 1),
        ("aten::odd", Verdict.FALLBACK, 2),
    ]
    assert resolve(made.trace(*NODES, uses=USES), MATRIX).kernels is None


def test_advisories_tell_of_the_target_and_of_another_torch() -> None:
    general = made.condition(Verdict.NATIVE, code="precision", text="{chip} rounds")
    matrix = made.matrix("aten::add.Tensor", advisories=(general,))
    assert resolve(made.trace(NODES[0]), matrix).advisories == (Reason("precision", "chip rounds"),)
    newer = replace(made.trace(NODES[0]), torch_version="2.13.0")
    assert [a.code for a in resolve(newer, matrix).advisories] == ["precision", "torch-differs"]


def test_a_stand_in_for_the_device_is_told_of_and_more_where_it_is_trained_on() -> None:
    chosen = {"aten::add.Tensor": (Choice(None, (), False, "as recorded", Confidence.LOW, ()),)}
    matrix = replace(made.matrix("aten::add.Tensor"), choices=chosen)
    scanned = made.trace(NODES[0])
    told = [
        reason.text
        for trace in (scanned, replace(scanned, mode="train"))
        for reason in resolve(trace, matrix).advisories
    ]
    stand_in = (
        "traced on a stand-in for the device: where PyTorch looks at its type (in convolution, "
        "batch norm, attention, recurrent layers) its sources tell which way it goes there, and "
        "what rests on that is inferred"
    )
    assert told == [
        stand_in,
        f"{stand_in}; in training, attention, batch norm and recurrent layers are recorded in the "
        "plain steps of forward and backward, where a device with fused kernels may take those",
    ]
    chinese = in_chinese(told)
    assert chinese[1] == (
        f"{chinese[0]}；训练时，注意力、批归一化与循环层按前向和反向的普通步骤录制，"
        "而有融合算子的设备可能走融合路径"
    )


def test_a_composite_that_autograd_took_apart_is_told_of_unless_its_parts_tell_the_same() -> None:
    whole, part = made.node("aten::whole", composite=Composite.IMPLICIT), made.node("aten::part")
    wrong = replace(made.condition(Verdict.NATIVE, code="wrong"), harmful=True)
    uses = (Use(1, "net", "net.py", 5, 1),)
    trace = made.trace(whole, part, uses=uses)
    trace = replace(trace, taken_apart=(Use(0, "net", "net.py", 5, 1),))
    of_whole = made.matrix("aten::part", conditions={"aten::whole": [wrong]})
    told = [(one.op, one.verdict, one.reason.code) for one in resolve(trace, of_whole).findings]
    assert told == [
        ("aten::whole", Verdict.DECOMPOSED, "wrong"), ("aten::part", Verdict.NATIVE, "registered"),
    ]  # fmt: skip
    conditions = {"aten::whole": [wrong], "aten::part": [wrong]}
    of_both = made.matrix("aten::part", conditions=conditions)
    assert [(one.op, one.reason.code) for one in resolve(trace, of_both).findings] == [
        ("aten::part", "wrong")
    ]
