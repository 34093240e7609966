"""Where PyTorch branches otherwise on the target's device than a trace can show."""

from msgspec.structs import replace

from opcheck.model.matrix import Choice, Condition, Inherited, SupportMatrix
from opcheck.model.predicates import Dtype, OneOf, Predicate
from opcheck.model.trace import Composite, Node
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.resolve import made

READ = Evidence(Method.INFERRED, "pytorch/pytorch", "Convolution.cpp", 7)
HALF = Dtype("input", OneOf(frozenset({"float16"})))
OUTER, INNER = "aten::outer", "aten::convolution_overrideable"


def way(*asks: str, tests: tuple[Predicate, ...] = (), preferred: bool = False) -> Choice:
    return Choice(asks, tests, preferred, "it convolves", Confidence.MEDIUM, (READ,))


def matrix(*registered: str, choices: tuple[Choice, ...]) -> SupportMatrix:
    return replace(made.matrix(*registered, fallback=made.NONE), choices={INNER: choices})


def call(dtype: str = "float32") -> Node:
    return made.node(INNER, cpu=False, given={"input": made.tensor(dtype, 1, 3, 8, 8)})


def resolution(on: SupportMatrix, inner: Node) -> Resolution:
    outer = made.node(OUTER, 0, composite=Composite.IMPLICIT)
    return Walk((inner, outer), on, "2.13.0").resolution(1)


def test_what_the_device_is_asked_for_counts_in_place_of_what_the_trace_shows() -> None:
    on = matrix("aten::cudnn_convolution", choices=(way("aten::cudnn_convolution"),))
    found = resolution(on, call())
    assert (found.verdict, found.confidence) == (Verdict.DECOMPOSED, Confidence.MEDIUM)
    assert found.leaves == {"aten::cudnn_convolution"}
    assert READ in found.evidence


def test_the_first_way_that_fits_the_call_is_taken() -> None:
    ways = (way("aten::relu", tests=(HALF,)), way("aten::gelu"))
    on = matrix("aten::relu", "aten::gelu", choices=ways)
    assert resolution(on, call("float16")).leaves == {"aten::relu"}
    assert resolution(on, call("float32")).leaves == {"aten::gelu"}


def test_without_arguments_every_way_counts_and_the_worst_wins() -> None:
    ways = (way("aten::relu", tests=(HALF,)), way("aten::gelu"))
    bare = replace(call(), arguments=())
    assert resolution(matrix("aten::gelu", choices=ways), bare).verdict is Verdict.UNSUPPORTED
    assert resolution(matrix("aten::gelu", "aten::relu", choices=ways), bare).verdict.on_device


def test_a_preferred_way_is_passed_over_where_the_target_does_not_run_it() -> None:
    ways = (way("aten::relu", preferred=True), way("aten::gelu"))
    assert resolution(matrix("aten::gelu", choices=ways), call()).leaves == {"aten::gelu"}
    refused = Condition("not-here", Verdict.UNSUPPORTED, "no", Confidence.HIGH)
    on = matrix("aten::gelu", "aten::relu", choices=ways)
    assert resolution(on, call()).leaves == {"aten::relu"}
    on = replace(on, conditions={"aten::relu": (refused,)})
    assert resolution(on, call()).leaves == {"aten::gelu"}


def test_a_way_that_asks_for_what_is_not_registered_is_unsupported_and_says_why() -> None:
    found = resolution(matrix(choices=(way("aten::relu"),)), call())
    assert (found.verdict, found.code) == (Verdict.UNSUPPORTED, "no-kernel")
    assert "since it convolves: vendor registers no kernel for aten::relu" in found.text
    assert READ in found.evidence


def test_conditions_on_what_is_asked_for_see_the_call_s_arguments_by_their_names_there() -> None:
    on_self = replace(HALF, argument="self")
    refused = Condition("half", Verdict.UNSUPPORTED, "no half", Confidence.HIGH, (on_self,))
    ways = (replace(way("aten::relu"), renames={"input": "self"}),)
    on = replace(matrix("aten::relu", choices=ways), conditions={"aten::relu": (refused,)})
    assert resolution(on, call("float16")).code == "half"
    assert resolution(on, call("float32")).verdict.on_device


def test_a_way_may_ask_for_nothing_or_be_the_recorded_one() -> None:
    nothing = resolution(matrix(choices=(way(),)), call())
    assert (nothing.verdict, nothing.leaves) == (Verdict.DECOMPOSED, frozenset())
    recorded = replace(way(), asks=None)
    assert resolution(matrix(choices=(recorded,)), call()).verdict is Verdict.UNSUPPORTED


def test_a_kernel_of_the_target_s_own_needs_no_choice() -> None:
    on = matrix(INNER, choices=(way("aten::absent"),))
    assert resolution(on, call()).leaves == {INNER}


def test_a_way_of_another_torch_is_passed_over() -> None:
    ways = (way("aten::relu"), way("aten::gelu"))
    on = replace(matrix("aten::gelu", choices=ways), history={"aten::relu": ("3.1", "3.2")})
    assert resolution(on, call()).leaves == {"aten::gelu"}


EXPLICIT = Composite.EXPLICIT


def with_tables(on: SupportMatrix, **inherited: Inherited) -> SupportMatrix:
    return replace(on, inherited={f"aten::{op}": said for op, said in inherited.items()})


def test_a_composite_that_is_asked_for_runs_as_its_parts() -> None:
    tables = {
        "silu": Inherited(EXPLICIT, True, ("aten::mish",)),
        "mish": Inherited(EXPLICIT, True, ("aten::relu", "aten::gelu")),
    }
    on = with_tables(matrix("aten::relu", "aten::gelu", choices=(way("aten::silu"),)), **tables)
    found = resolution(on, call())
    assert (found.verdict, found.leaves) == (
        Verdict.DECOMPOSED,
        frozenset({"aten::relu", "aten::gelu"}),
    )
    lacking = with_tables(matrix("aten::relu", choices=(way("aten::silu"),)), **tables)
    assert resolution(lacking, call()).verdict is Verdict.UNSUPPORTED
    assert "no kernel for aten::gelu" in resolution(lacking, call()).text


def test_a_kernel_for_the_composite_comes_before_its_parts() -> None:
    parts = Inherited(EXPLICIT, True, ("aten::relu",))
    on = with_tables(matrix("aten::silu", choices=(way("aten::silu"),)), silu=parts)
    assert resolution(on, call()).leaves == {"aten::silu"}


def test_a_composite_of_which_no_table_tells_the_parts_is_unknown() -> None:
    on = with_tables(matrix(choices=(way("aten::silu"),)), silu=Inherited(EXPLICIT, True, None))
    assert resolution(on, call()).verdict is Verdict.UNKNOWN


def test_conditions_hold_for_the_parts_of_what_is_asked_for() -> None:
    refused = Condition("half", Verdict.UNSUPPORTED, "no half", Confidence.HIGH, (HALF,))
    on = matrix("aten::relu", choices=(way("aten::silu"),))
    on = with_tables(
        replace(on, conditions={"aten::relu": (refused,)}),
        silu=Inherited(EXPLICIT, True, ("aten::relu",)),
    )
    assert resolution(on, call("float16")).code == "half"
    assert resolution(on, call("float32")).verdict.on_device


def test_tensors_of_the_composite_s_own_may_have_another_dtype_on_the_device() -> None:
    double = Dtype("*", OneOf(frozenset({"float64"})))
    refused = Condition("double", Verdict.UNSUPPORTED, "no double", Confidence.HIGH, (double,))
    inner = made.node("aten::full", given={"self": made.tensor("float64")})
    outer = made.node(OUTER, 0, composite=Composite.IMPLICIT)
    plain = replace(made.matrix("aten::full"), conditions={"aten::full": (refused,)})
    casts = replace(way(), asks=None, casts={"float64": "float32"})
    cast = replace(plain, choices={OUTER: (casts,)})
    assert Walk((inner, outer), plain, "2.13.0").resolution(1).code == "double"
    found = Walk((inner, outer), cast, "2.13.0").resolution(1)
    assert found.verdict is Verdict.DECOMPOSED
    assert found.leaves == {"aten::full"}
    assert found.text == "runs as aten::full, native; on npu it convolves"
    assert READ in found.evidence
    given = replace(outer, arguments=(("self", made.tensor("float64")),))
    on_given = replace(cast, conditions={OUTER: (refused,)})
    assert Walk((inner, given), on_given, "2.13.0").resolution(1).code == "double"


WANTED = (("gradient", "wanted"),)


def of_a_composite_taken_apart(on: SupportMatrix, modes: tuple[tuple[str, str], ...]) -> object:
    node = replace(call("float16"), modes=modes)
    return Walk((), on, "2.13.0").of_composite_itself(node)


def test_the_kernel_in_place_of_a_composite_and_its_gradient_count_where_autograd_took_it_apart(
) -> None:  # fmt: skip
    wrong = replace(made.condition(Verdict.NATIVE, code="wrong", text="zeros"), harmful=True)
    ways = (replace(way("aten::relu"), backward=("aten::gelu",)),)
    on = replace(
        matrix("aten::relu", "aten::gelu", choices=ways), conditions={"aten::gelu": (wrong,)}
    )
    found = of_a_composite_taken_apart(on, WANTED)
    assert isinstance(found, Resolution)
    assert (found.verdict, found.code, found.about, found.leaves) == (
        Verdict.DECOMPOSED, "wrong", "aten::gelu", frozenset(("aten::relu", "aten::gelu")),
    )  # fmt: skip
    assert found.text == "on npu its gradient is aten::gelu, since it convolves: zeros"
    assert of_a_composite_taken_apart(on, ()) is None
    without = matrix("aten::relu", "aten::gelu", choices=ways)
    assert of_a_composite_taken_apart(without, WANTED) is None


def test_a_kernel_is_not_preferred_whose_gradient_the_target_does_not_run() -> None:
    ways = (replace(way("aten::relu", preferred=True), backward=("aten::gelu",)),)
    found = of_a_composite_taken_apart(matrix("aten::relu", choices=ways), WANTED)
    assert found is None


def test_what_runs_otherwise_there_with_a_caution_says_what_it_runs_as() -> None:
    wrong = replace(made.condition(Verdict.NATIVE, code="wrong", text="zeros"), harmful=True)
    on = replace(
        matrix("aten::relu", "aten::gelu", choices=(way("aten::relu", "aten::gelu"),)),
        conditions={"aten::relu": (wrong,)},
    )
    found = resolution(on, call())
    assert (found.verdict, found.code, found.leaves) == (
        Verdict.DECOMPOSED, "wrong", frozenset(("aten::relu", "aten::gelu")),
    )  # fmt: skip
