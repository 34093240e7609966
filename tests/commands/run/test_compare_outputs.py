"""Two runs of a script compared: values by hand, without a device."""

from array import array
from base64 import b64encode

import pytest
import torch

from opcheck.commands.run.compare_outputs import ALLOWED, compare
from opcheck.model.comparison import (
    Comparison,
    Kept,
    Kind,
    Moment,
    Outputs,
    Parting,
    Recast,
    Why,
)

NAN, INFINITE = float("nan"), float("inf")


def kept(
    *values: float,
    call: int = 1,
    module: str = "Net",
    kind: Kind = Kind.OUTPUT,
    path: str = "",
    dtype: str = "float32",
    line: int = 7,
    drawn: int = 0,
    shape: tuple[int, ...] | None = None,
) -> Kept:
    text = b64encode(array("d", values)).decode()
    size = (len(values),) if shape is None else shape
    return Kept(Moment(kind, module, call), path, "train.py", line, dtype, size, text, drawn)


def compared(cpu: list[Kept], device: list[Kept]) -> Comparison:
    return compare(Outputs(tuple(cpu)), Outputs(tuple(device)))


def test_the_tolerances_are_those_of_torch_testing() -> None:
    for name, (absolute, relative) in ALLOWED.items():
        found = torch.testing._comparison.default_tolerances(getattr(torch, name))
        assert found == (relative, absolute), name
    assert torch.testing._comparison.default_tolerances(torch.int64) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("cpu", "device", "dtype", "absolute", "relative"),
    [
        ((1.0, 100.0), (1.0, 100.5), "float32", 0.5, 0.005),
        ((0.0, 4.0), (0.5, 3.0), "float32", 1.0, 0.25),
        ((0.0,), (0.5,), "float32", 0.5, 0.0),
        ((1.0,), (2.0,), "int64", 1.0, 1.0),
        ((1.0, 2.0), (1.0, NAN), "float32", None, None),
        ((INFINITE,), (1.0,), "float32", None, None),
        ((INFINITE,), (-INFINITE,), "float32", None, None),
        ((1.0,), (1.02,), "bfloat16", 0.02, 0.02),
    ],
)
def test_values_part_where_they_differ_by_more_than_is_allowed(
    cpu: tuple[float, ...],
    device: tuple[float, ...],
    dtype: str,
    absolute: float | None,
    relative: float | None,
) -> None:
    found = compared([kept(*cpu, dtype=dtype)], [kept(*device, dtype=dtype)])
    assert (found.compared, found.apart, found.agreeing, found.alone) == (1, 1, 0, 0)
    assert found.first is not None
    assert (found.first.why, found.first.allowed) == (Why.VALUES, ALLOWED.get(dtype, (0.0, 0.0)))
    for told, expected in ((found.first.absolute, absolute), (found.first.relative, relative)):
        assert told == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("cpu", "device", "dtype"),
    [
        ((1.0, -3.0), (1.0, -3.0), "float64"),
        ((1e6,), (1e6 + 1,), "float32"),
        ((0.0,), (9e-6,), "float32"),
        ((1.0,), (1.01,), "bfloat16"),
        ((NAN, INFINITE, 1.0), (NAN, INFINITE, 1.000001), "float32"),
        ((), (), "float32"),
    ],
)
def test_values_agree_within_what_is_allowed(
    cpu: tuple[float, ...], device: tuple[float, ...], dtype: str
) -> None:
    found = compared([kept(*cpu, dtype=dtype)], [kept(*device, dtype=dtype)])
    assert found == Comparison(compared=1, apart=0, alone=0, partings=())


def test_the_dtype_of_lower_precision_says_what_is_allowed() -> None:
    cpu, device = kept(1.0, dtype="float64"), kept(1.000001, dtype="float32")
    found = compared([cpu], [device])
    assert found.partings == ()
    assert found.recast == Recast(cpu.moment, "", "train.py", 7, ("float64", "float32"), 1)
    assert compared([cpu], [kept(1.000001, dtype="float64")]).apart == 1


def test_the_first_parting_of_each_place_is_told_in_the_order_of_the_cpu_s_run() -> None:
    cpu = [
        kept(1.0, call=1), kept(1.0, call=2), kept(1.0, call=3),
        kept(1.0, kind=Kind.LOSS, module="", line=9, drawn=4), kept(1.0, call=4),
    ]  # fmt: skip
    device = [
        kept(1.0, call=1), kept(2.0, call=2), kept(3.0, call=3),
        kept(2.0, kind=Kind.LOSS, module="", line=9, drawn=8), kept(1.0, call=4),
    ]  # fmt: skip
    found = compared(cpu, device)
    assert (found.compared, found.apart, found.agreeing) == (5, 3, 2)
    told = [(one.moment.kind, one.moment.call, one.line, one.count) for one in found.partings]
    assert told == [(Kind.OUTPUT, 2, 7, 2), (Kind.LOSS, 1, 9, 1)]
    assert [one.drawn_apart for one in found.partings] == [False, True]


def test_another_shape_parts_and_so_do_values_that_cannot_be_read() -> None:
    one = kept(1.0, 2.0)
    other = kept(1.0, 2.0, 3.0)
    assert compared([one], [other]).partings == (
        Parting(Why.SHAPE, one.moment, "", "train.py", 7, ("float32",) * 2, ((2,), (3,))),
    )
    broken = Kept(one.moment, "", "train.py", 7, "float32", (2,), "AAAA", 0)
    assert compared([one], [broken]).partings[0].why is Why.SHAPE


def test_an_output_that_parts_has_the_first_within_that_does() -> None:
    def run(*values: float) -> list[Kept]:
        fc, act, net, other, again, last = values
        return [
            kept(fc, module="Net.fc", kind=Kind.WITHIN),
            kept(act, module="Net.act", kind=Kind.WITHIN),
            kept(net, path=".a"), kept(net, path=".b"),
            kept(other, module="Other"),
            kept(again, module="Net.fc", kind=Kind.WITHIN, call=2), kept(last, call=2),
        ]  # fmt: skip

    cpu = run(1, 1, 1, 1, 1, 1)
    found = compared(cpu, run(1, 2, 2, 2, 1, 2))
    assert (found.compared, found.apart, found.alone) == (4, 4, 0)
    told = [(one.moment.module, [w.moment.module for w in one.within]) for one in found.partings]
    assert told == [("Net", ["Net.act"]), ("Other", [])]
    found = compared(cpu, run(2, 2, 1, 1, 1, 2))
    assert [(one.moment.call, one.within) for one in found.partings] == [(2, ())]
    assert compared(cpu, run(2, 2, 1, 1, 2, 1)) == Comparison(4, 0, 0, ())
    assert compared(cpu, cpu[2:]) == Comparison(4, 0, 0, ())


def test_what_one_run_alone_has_stands_after_what_it_has_in_common() -> None:
    cpu = [kept(1.0, call=1), kept(1.0, call=2), kept(1.0, module="Old", line=8)]
    device = [kept(1.0, call=1), kept(1.0, module="New", line=9), kept(1.0, call=2)]
    found = compared(cpu, device)
    assert (found.compared, found.apart, found.agreeing, found.alone) == (2, 0, 2, 2)
    assert [(one.why, one.moment.module, one.dtypes) for one in found.partings] == [
        (Why.DEVICE_ONLY, "New", ("", "float32")),
        (Why.CPU_ONLY, "Old", ("float32", "")),
    ]


def test_what_came_after_the_end_of_one_run_does_not_part() -> None:
    cpu = Outputs((kept(1.0), kept(1.0, module="Lost"), kept(1.0, call=2)), seeded=False)
    device = Outputs((kept(1.0), kept(1.0, call=2), kept(1.0, call=3), kept(1.0, call=4)))
    found = compare(cpu, device, cpu_error="ValueError: no")
    assert [one.why for one in found.partings] == [Why.CPU_ONLY]
    assert (found.compared, found.alone, found.cpu_error) == (2, 3, "ValueError: no")
    assert not found.seeded
    assert len(compare(cpu, device, whole=False).partings) == 1
    assert len(compare(cpu, Outputs(device.kept, left_out=5)).partings) == 1
    assert len(compare(cpu, device).partings) == 2


def test_there_may_be_nothing_to_compare() -> None:
    empty = Comparison(compared=0, apart=0, alone=0, partings=())
    assert compare(Outputs(()), Outputs(())) == empty
    assert compare(Outputs((kept(1.0),)), Outputs(()), whole=False).partings == ()
