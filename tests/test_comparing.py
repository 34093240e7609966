"""Differences compared with what labels promise."""

from msgspec.structs import replace

from opcheck.commands.fix.running import Limits, named_as, tolerances
from opcheck.model.emulation import Difference
from opcheck.model.jobs import Tolerance
from opcheck.model.plan import Compared, Label, Suggestion, Tier


def off(name: str, largest: float | None) -> Difference:
    return Difference(name, (2,), "float32", largest)


def way(label: Label, tolerance: float = 0.0) -> Suggestion:
    return Suggestion("rule", Tier.SWAP, label, "aten::std.correction", "", tolerance=tolerance)


def test_each_result_has_its_own_figure() -> None:
    limits = Limits(True, {"a": 1e-6, "b": 1e-3})
    assert limits.compared(2, [off("a", 1e-7), off("b", 9e-4)]) == Compared(
        2, "b", "float32", 9e-4, 1e-3
    )
    assert limits.compared(2, [off("a", 2e-6), off("b", 9e-4)]) == Compared(
        2, "a", "float32", 2e-6, 1e-6, holds=False
    )


def test_what_nothing_moves_has_to_be_equal() -> None:
    limits = Limits(True, {"a": 1e-6})
    assert limits.hold([off("a", 0.0), off("b", 0.0)])
    assert not limits.hold([off("b", 1e-30)])
    assert limits.beside([off("b", 1e-6), off("c", None)]).hold([off("b", 1e-6)])


def test_without_a_figure_any_number_will_do_but_no_nan() -> None:
    limits = Limits(False, {})
    assert limits.compared(1, [off("a", 5.0)]) == Compared(1, "a", "float32", 5.0, None)
    assert limits.compared(1, [off("a", None)]) == Compared(
        1, "a", "float32", None, None, holds=False
    )
    assert limits.compared(0, []) == Compared(0)


def test_the_least_close_suggestion_for_an_overload_counts() -> None:
    ways = [
        ("aten::std", way(Label.EXACT)),
        ("aten::std.dim", way(Label.TOLERANCE, 8.0)),
        ("aten::std.dim", way(Label.TOLERANCE, 64.0)),
    ]
    assert tolerances(ways) == {
        "aten::std.correction": Tolerance(64.0, ("aten::std", "aten::std.dim"))
    }
    assert tolerances([*ways, ("aten::std", way(Label.APPROXIMATE))]) == {}


def test_products_may_be_attention_that_the_host_has_a_kernel_of() -> None:
    """A library writes them out for an older torch, and calls the kernel on the one that runs."""
    product = replace(way(Label.TOLERANCE, 8.0), replaces="aten::matmul")
    assert tolerances([("aten::matmul", product)]) == {
        "aten::matmul": Tolerance(8.0, ("aten::matmul", "aten::scaled_dot_product_attention"))
    }


def test_results_of_a_saved_graph_are_in_its_order() -> None:
    assert named_as([off("output[0]", 1.0)], ["output.loss"]) == (off("output.loss", 1.0),)
    assert named_as([off("a", 1.0)], ["b", "c"]) == (off("a", 1.0),)
