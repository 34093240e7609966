"""The table of branches on devices that no trace can name."""

import pytest
import torch

from opcheck.db.store import Database
from opcheck.db.tables import choices_of
from opcheck.model.matrix import Choice, SupportMatrix
from opcheck.model.target import Target
from opcheck.model.trace import Composite, Node, OpName
from opcheck.model.verdict import Method, Verdict
from opcheck.resolve.walk import Walk

TABLES = Database.open().tables
DEVICES = [("nvidia", "cuda"), ("amd", "cuda"), ("hygon", "cuda"), ("intel", "xpu"),
           ("apple", "mps"), ("google", "xla"), ("habana", "hpu")]  # fmt: skip


def choices(vendor: str, device_type: str) -> dict[str, tuple[Choice, ...]]:
    table = TABLES.choices("2.13")
    assert table is not None
    return dict(choices_of(Target(vendor, "chip", "1", "2.13", device_type), table.data))


@pytest.mark.parametrize(("vendor", "device_type"), DEVICES)
def test_every_choice_names_overloads_of_pytorch_and_a_source(
    vendor: str, device_type: str
) -> None:
    known = TABLES.operators("2.13")
    found = choices(vendor, device_type)
    assert found
    for op, ways in found.items():
        assert {op, *(asked for way in ways for asked in way.asks or ())} <= known.keys()
        for way in ways:
            assert way.evidence
            for seen in way.evidence:
                assert seen.method is Method.INFERRED
                assert len(seen.commit) == 40 or seen.path.startswith("pull/")
                assert seen.path.endswith((".cpp", ".h")) or seen.path.startswith("pull/")


def test_cuda_of_amd_goes_to_miopen_where_nvidia_s_goes_to_cudnn() -> None:
    asked = {
        vendor: {op for ways in choices(vendor, "cuda").values() for way in ways[:-1] or ways
                 for op in way.asks or ()}
        for vendor in ("nvidia", "amd")
    }  # fmt: skip
    assert {op for op in asked["nvidia"] if "miopen" in op} == set()
    assert {"aten::miopen_convolution_transpose", "aten::miopen_rnn"} <= asked["amd"]


def test_devices_that_a_trace_can_name_have_none() -> None:
    database = Database.open()
    ascend = [target for target in database.targets() if target.vendor == "ascend"]
    assert [dict(database.matrix(target).choices) for target in ascend] == [{}] * len(ascend)


def test_the_convolutions_of_nvidia() -> None:
    ways = choices("nvidia", "cuda")["aten::convolution_overrideable"]
    assert [way.asks for way in ways] == [
        ("aten::cudnn_convolution", "aten::_conv_depthwise2d"),
        ("aten::conv_depthwise3d",),
        ("aten::_conv_depthwise2d",),
        ("aten::cudnn_convolution_transpose",),
        ("aten::cudnn_convolution",),
    ]


def composite_of(op: str) -> Composite | None:
    """The composite kernel that this torch's own dispatcher has for an overload."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return next((kind for kind in Composite if has(op, str(kind))), None)


def only_raises(op: str) -> bool:
    """Whether the composite exists to say that a device has to have a kernel of its own."""
    return op.endswith("_overrideable")


@pytest.mark.parametrize(("vendor", "device_type"), DEVICES)
def test_a_composite_in_a_list_runs_as_its_parts(vendor: str, device_type: str) -> None:
    """Every list of the table, on every target of the vendor: none ends at a composite's name."""
    database = Database.open()
    chips = {target.chip for target in database.targets() if target.vendor == vendor}
    targets = [target for chip in sorted(chips) for target in database.releases(f"{vendor}-{chip}")]
    assert len(targets) > len(chips)
    followed = 0
    for target in targets:
        matrix = database.matrix(target)
        for op in lists(matrix):
            kind = composite_of(op)
            if kind not in matrix.inherits or op in matrix.entries or only_raises(op):
                continue
            followed += 1
            resolution = Walk((), matrix, "2.13.0").unseen(Node(OpName.parse(op), ()))
            assert f"no kernel for {op}" not in resolution.text
            assert op not in resolution.leaves
            assert resolution.verdict is not Verdict.UNKNOWN
    assert followed or vendor != "apple"


def lists(matrix: SupportMatrix) -> set[str]:
    """What the ways of a target's device ask for, where its torch has it."""
    ways = (way for found in matrix.choices.values() for way in found)
    return {op for way in ways for op in way.asks or ()}


@pytest.mark.slow
def test_what_a_cpu_runs_of_a_list_is_what_the_dispatcher_says() -> None:
    has = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    for vendor, device_type in DEVICES:
        target = next(t for t in Database.open().targets() if t.vendor == vendor)
        inherited = Database.open().matrix(target).inherited
        for ways in choices(vendor, device_type).values():
            for op in (op for way in ways for op in way.asks or ()):
                assert inherited[op].cpu_kernel == has(op, "CPU") or only_raises(op), op


def test_a_way_counts_up_to_the_last_torch_that_goes_it() -> None:
    table = TABLES.choices("2.13")
    assert table is not None
    ways = [
        choices_of(Target("intel", "max", "1", version, "xpu"), table.data)
        for version in ("2.4", "2.5")
    ]
    assert ["aten::_embedding_bag_backward" in found for found in ways] == [True, False]


def test_a_way_counts_from_the_first_torch_that_goes_it() -> None:
    table = TABLES.choices("2.13")
    assert table is not None
    of = {
        torch_version: dict(
            choices_of(Target("apple", "mps", "1", torch_version, "mps"), table.data)
        )
        for torch_version in ("2.2", "2.3")
    }
    assert "aten::pinverse" not in of["2.2"]
    assert dict(of["2.3"]["aten::pinverse"][0].casts) == {"float64": "float32"}
