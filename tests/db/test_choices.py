"""The table of branches on devices that no trace can name."""

import pytest

from opcheck.db.choices import choices_of
from opcheck.db.store import Database
from opcheck.model.matrix import Choice
from opcheck.model.target import Target
from opcheck.model.verdict import Method

TABLES = Database.open().tables
DEVICES = [("nvidia", "cuda"), ("amd", "cuda"), ("hygon", "cuda"), ("intel", "xpu"),
           ("apple", "mps"), ("google", "xla")]  # fmt: skip


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
                assert len(seen.commit) == 40
                assert seen.path.endswith((".cpp", ".h"))


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
