"""Graph modes of chips as targets of their own: their names, groups and what they refuse."""

import pytest
from msgspec.structs import replace

from opcheck.commands.doctor import answer as doctor_answer
from opcheck.commands.doctor.values import DoctorRequest
from opcheck.commands.gate.judging.accepted import within
from opcheck.commands.probe import answer as probe_answer
from opcheck.commands.targets.answer import targets
from opcheck.db.selection import names_groups, select
from opcheck.db.store import Database
from opcheck.emulate.supported import require_emulated
from opcheck.errors import EmulationError, UsageError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.policy import TargetRange
from opcheck.model.probe import ProbeRequest
from opcheck.model.target import GraphMode, TargetKind, TargetSpec, mode_of, target_name
from opcheck.rewrite.custom.base import of_vendor, refused
from tests.views.samples import target as reported

TARGET = "ascend-910b:torchair"


def test_a_mode_stands_after_the_chip_and_before_the_release() -> None:
    for text in (TARGET, f"{TARGET}@26.0.0", f"{TARGET}@cann8.5+torch2.7", "昇腾910B:TorchAir"):
        assert str(TargetSpec.parse(text)) == text
    spec = TargetSpec.parse(f"{TARGET}@26.0.0+torch2.8")
    assert (spec.name, spec.mode, spec.sdk, spec.torch) == (TARGET, "torchair", "26.0.0", "2.8")
    assert TargetSpec.parse("ascend-910b").mode == ""
    for text in ("ascend-910b:", ":torchair", "ascend:torchair:x"):
        with pytest.raises(ValueError, match="not a target"):
            TargetSpec.parse(text)


def test_a_mode_after_the_release_is_no_release(database: Database) -> None:
    with pytest.raises(UsageError, match=r"unknown release '26\.0\.0:torchair' of ascend-910b"):
        database.resolve(TargetSpec.parse("ascend-910b@26.0.0:torchair"))


@pytest.mark.parametrize(
    ("vendor", "owner", "mode", "name"),
    [
        ("ascend-torchair", "ascend", GraphMode.TORCHAIR, "ascend-910b:torchair"),
        ("ascend", "ascend", None, "ascend-910b"),
        ("nvidia-tensorrt", "nvidia-tensorrt", None, "nvidia-tensorrt-910b"),
        ("torchair", "torchair", None, "torchair-910b"),
    ],
)
def test_a_folder_is_of_a_chips_owner_and_a_mode(
    vendor: str, owner: str, mode: GraphMode | None, name: str
) -> None:
    assert mode_of(vendor) == (owner, mode)
    assert target_name(vendor, "910b") == name


@pytest.mark.parametrize(
    "typed",
    ["910b:torchair", "Ascend910B2:TorchAir", "Atlas A2:torchair", "huawei-910b:TORCHAIR"],
)
def test_names_of_users_are_understood_before_a_mode(typed: str, database: Database) -> None:
    found = database.resolve(TargetSpec.parse(f"{typed}@cann8.5"))
    assert str(found) == f"{TARGET}@7.3.0+torch2.9"
    assert (found.vendor, found.owner, found.chip) == ("ascend-torchair", "ascend", "910b")
    assert (found.mode, found.device_type) == (GraphMode.TORCHAIR, "npu")


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("910b:inductr", "ascend-910b has no graph mode 'inductr'", f"known: {TARGET}"),
        (
            "h100:torchair", "nvidia-h100 has no graph mode 'torchair'",
            "it has none; graph modes are: ascend:torchair, habana:eager",
        ),
        (
            "t4:inductor", "nvidia-t4 has no graph mode 'inductor'",
            "it is a back end of torch.compile: compile the model in the source, and the scan for "
            "nvidia-t4 says what becomes of it",
        ),
        (
            "ascend-310p:torchair", "ascend-310p has no graph mode 'torchair'",
            "it has none; graph modes are: ascend:torchair, habana:eager",
        ),
    ],
)  # fmt: skip
def test_an_unknown_mode_is_refused_with_those_of_the_chip(
    typed: str, message: str, hint: str, database: Database
) -> None:
    with pytest.raises(UsageError) as caught:
        database.resolve(TargetSpec.parse(typed))
    assert (caught.value.message, caught.value.hint) == (message, hint)
    with speaking(Language.CHINESE):
        assert "没有图模式" in tell(caught.value.message)


def test_modes_come_after_chips_and_before_exports(database: Database) -> None:
    every = select(database, (TargetSpec("all"),))
    exports = TargetKind.EXPORT
    named = [(database.vendors[t.vendor].kind is exports, t.mode is not None) for t in every]
    assert named == sorted(named)
    compilers = [t.name for t in select(database, (TargetSpec("compilers"),))]
    assert compilers == ["nvidia-tensorrt", TARGET, "ascend-910c:torchair"]
    assert not any(t.mode for t in database.targets())
    assert not any(t.mode for t in select(database, (TargetSpec("devices"),)))
    assert not any(t.mode for t in select(database, (TargetSpec("ascend"),)))


def test_a_vendors_name_with_a_mode_is_every_chip_in_it(database: Database) -> None:
    for text in ("ascend:torchair", "ascend:TorchAir", "ascend-torchair"):
        spec = TargetSpec.parse(text)
        assert [t.name for t in select(database, (spec,))] == [TARGET, "ascend-910c:torchair"]
        assert names_groups(database, (spec,))


def test_chips_keep_their_other_names_for_themselves() -> None:
    rows = {row.target.name: row for row in targets()}
    assert rows["ascend-910b"].also and rows["ascend-910b"].vendor_also
    assert not rows[TARGET].also and not rows[TARGET].vendor_also
    assert rows[TARGET].device_name == "Ascend 910B with TorchAir"
    assert "cann9.0.0" in rows[TARGET].toolkits


def test_a_graph_is_not_emulated_nor_probed(database: Database) -> None:
    with pytest.raises(EmulationError, match="its calls are compiled as graphs") as caught:
        require_emulated(database.matrix(database.resolve(TargetSpec(TARGET))))
    assert caught.value.hint == (
        f"scan the model for it instead: opcheck scan model.py:build -t {TARGET}"
    )
    with pytest.raises(UsageError, match="a probe runs operators one by one") as refusal:
        probe_answer.probe(ProbeRequest("", TargetSpec(TARGET)))
    assert refusal.value.hint == "name the chip itself: -t ascend-910b"
    assert of_vendor("ascend-torchair") == ()
    assert "register_fx_node_ge_converter" in tell(refused("ascend-torchair"))


def test_a_release_from_before_a_chip_says_why(database: Database) -> None:
    with pytest.raises(UsageError, match=r"release '7\.3\.0' of ascend-910c:torchair") as told:
        database.resolve(TargetSpec.parse("ascend-910c:torchair@7.3.0"))
    assert told.value.message.endswith("the list of products names Atlas A3 from 26.0.0 on")
    assert told.value.hint == "known: 26.0.0"


def test_doctor_plans_the_software_of_the_chip() -> None:
    found = doctor_answer.doctor(DoctorRequest((TargetSpec(TARGET),), plan=True))
    (target,) = found.targets
    assert (target.name, target.vendor) == (f"{TARGET}@26.0.0", "ascend")
    assert target.setup is not None
    assert "torch-npu==2.9.0.post2" in str(target.setup)


@pytest.mark.parametrize(
    ("range_", "chip", "graph"),
    [("*", True, True), ("ascend-*", True, False), ("ascend-910?:torchair", False, True),
     ("*:*", True, True), ("ascend-910b:*@26.0..", True, True)],
)  # fmt: skip
def test_a_waiver_for_a_chip_is_for_no_graph_mode(range_: str, chip: bool, graph: bool) -> None:
    wanted = TargetRange.parse(range_)
    assert str(wanted) == range_
    plain = replace(reported("910b", ()), sdk="26.0.0")
    assert within(wanted, plain) is chip
    assert within(wanted, replace(plain, vendor="ascend-torchair")) is graph
