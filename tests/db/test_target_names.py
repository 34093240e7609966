"""Names of targets as users type them, and releases by what is installed beside them."""

import pytest

from opcheck.db.by_hand.overlays import NAMES
from opcheck.db.by_hand.target_names import OTHERS
from opcheck.db.naming import MOST, compact
from opcheck.db.selection import meaning, names_groups, select
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.target import TargetSpec, target_name
from tests.lang.told import in_chinese

UNDERSTOOD = (
    ("h100", "nvidia-h100"),
    ("H100", "nvidia-h100"),
    ("H800", "nvidia-h100"),
    ("H100 SXM5", "nvidia-h100"),
    ("cuda-h100", "nvidia-h100"),
    ("A100-80GB", "nvidia-a100"),
    ("a100pcie", "nvidia-a100"),
    ("RTX4090", "nvidia-rtx4090"),
    ("RTX 4090", "nvidia-rtx4090"),
    ("NVIDIA GeForce RTX 4090", "nvidia-rtx4090"),
    ("4090", "nvidia-rtx4090"),
    ("A10 24GB", "nvidia-a10"),
    ("Tesla V100", "nvidia-v100"),
    ("Tesla P100", "nvidia-p100"),
    ("Jetson Xavier NX", "nvidia-xavier"),
    ("jetson-xavier", "nvidia-xavier"),
    ("RTX 5090", "nvidia-rtx5090"),
    ("5090D", "nvidia-rtx5090"),
    ("GB200", "nvidia-b200"),
    ("RTX A4000 16GB", "nvidia-a4000"),
    ("Tesla T4", "nvidia-t4"),
    ("Jetson Orin Nano", "nvidia-orin"),
    ("trt", "nvidia-tensorrt"),
    ("910b", "ascend-910b"),
    ("ascend910b", "ascend-910b"),
    ("ascend_910b", "ascend-910b"),
    ("Ascend910B", "ascend-910b"),
    ("Ascend910B2", "ascend-910b"),
    ("Ascend910ProB", "ascend-910a"),
    ("Ascend910_9391", "ascend-910c"),
    ("昇腾910B", "ascend-910b"),
    ("华为昇腾 910C", "ascend-910c"),
    ("Atlas 300I Duo", "ascend-310p"),
    ("mlu590", "cambricon-mlu590"),
    ("MLU580", "cambricon-mlu580"),
    ("思元580", "cambricon-mlu580"),
    ("寒武纪MLU370", "cambricon-mlu370"),
    ("MI300", "amd-mi300x"),
    ("mi-300x", "amd-mi300x"),
    ("gfx950", "amd-mi355"),
    ("MI325X", "amd-mi325x"),
    ("MI250X", "amd-mi250"),
    ("gfx906", "amd-mi50"),
    ("Radeon VII", "amd-mi50"),
    ("RX 9070 XT", "amd-rx9070"),
    ("gfx1201", "amd-rx9070"),
    ("7900 XTX", "amd-rx7900xt"),
    ("k100-ai", "hygon-k100"),
    ("Enflame S60", "enflame-s60"),
    ("燧原", "enflame-s60"),
    ("MTT S4000", "moorethreads-s4000"),
    ("MTT S70", "moorethreads-s70"),
    ("摩尔线程 M1000", "moorethreads-m1000"),
    ("MTT AIBOOK", "moorethreads-m1000"),
    ("v5e", "google-tpu-v5e"),
    ("v5p", "google-tpu-v5p"),
    ("v6e", "google-tpu-v6e"),
    ("Trillium", "google-tpu-v6e"),
    ("Ironwood", "google-tpu-v7x"),
    ("TPU7x", "google-tpu-v7x"),
    ("tpu v7x", "google-tpu-v7x"),
    ("tpu-v4", "google-tpu-v4"),
    ("A770", "intel-arc"),
    ("B580", "intel-b580"),
    ("Arc B570", "intel-b580"),
    ("Battlemage", "intel-b580"),
    ("Lunar Lake", "intel-lunar-lake"),
    ("lunarlake", "intel-lunar-lake"),
    ("gaudi2", "habana-gaudi2"),
    ("intel-gaudi2", "habana-gaudi2"),
    ("Intel Gaudi 3", "habana-gaudi3"),
    ("英特尔 Gaudi2", "habana-gaudi2"),
    ("M3", "apple-m3"),
    ("M3 Max", "apple-m3"),
    ("M4 Max", "apple-m4"),
    ("MacBook M5", "apple-m5"),
    ("C500", "metax-c500"),
    ("沐曦C500", "metax-c500"),
    ("MXC550", "metax-c550"),
    ("RBLN-CA25", "rebellions-atom"),
    ("rbln", "rebellions-atom"),
    ("壁仞", "biren-br2xx"),
    ("BR200", "biren-br2xx"),
    ("metal", "apple-mps"),
    ("Apple Silicon", "apple-mps"),
    ("mac", "apple-mps"),
)
ASKED = (
    (
        "huawei",
        "'huawei' may be ascend-910b, ascend-910c, ascend-310p, ascend-910a, ascend-310b or 1 more",
        "name one; where several may be given, -t ascend is all",
    ),
    (
        "寒武纪",
        "'寒武纪' may be cambricon-mlu590, cambricon-mlu580, cambricon-mlu370",
        "name one; where several may be given, -t cambricon is all",
    ),
    (
        "910",
        "'910' may be ascend-910b, ascend-910c, ascend-910a",
        "name one; opcheck targets lists them all",
    ),
)
REFUSED = (
    ("nvidia-h10", "did you mean nvidia-h100 or nvidia-a10 or nvidia-h20?"),
    ("ascend-910z", "did you mean ascend-910b or ascend-910c or ascend-910a?"),
    ("rtx4090 laptop", "did you mean nvidia-rtx4090 or nvidia-rtx3090 or nvidia-rtx5090?"),
    ("trainium", "the database has nothing of AWS; opcheck targets lists what it has"),
    ("iluvatar", "the database has nothing of Iluvatar CoreX; opcheck targets lists what it has"),
    ("spyre", "the database has nothing of IBM; opcheck targets lists what it has"),
)
PAIRED = (
    ("ascend-910b@cann8.3.RC1", "ascend-910b@7.2.0+torch2.8", ("2.7", "2.6", "2.1")),
    ("910b@CANN8.3", "ascend-910b@7.2.0+torch2.8", ("2.7", "2.6", "2.1")),
    ("ascend-910b@cann8.3+torch2.6", "ascend-910b@7.2.0+torch2.6", ()),
    ("ascend-910b@torch_npu2.7.1", "ascend-910b@26.1.0+torch2.7", ()),
    ("nvidia-h100@cuda12.4", "nvidia-h100@2.6.0+torch2.6", ("2.5",)),
    ("nvidia-orin@jetpack6.2", "nvidia-orin@2.6.0+torch2.6", ()),
    ("nvidia-orin@jetpack6.1", "nvidia-orin@2.5.1+torch2.5", ("2.4",)),
    ("nvidia-tensorrt@tensorrt10.3", "nvidia-tensorrt@2.5.0+torch2.5", ()),
    ("amd-mi300x@rocm6.4", "amd-mi300x@2.9.1+torch2.9", ()),
    ("MI300X@rocm6.2.4", "amd-mi300x@2.6.0+torch2.6", ("2.3",)),
    ("k100@dtk25.04", "hygon-k100@2.6.0+torch2.6", ()),
    ("k100@dtk26.04", "hygon-k100@2.9.1+torch2.9", ("2.6",)),
    ("gaudi2@synapse1.19", "habana-gaudi2@1.19.0+torch2.5", ()),
    ("s4000@musa4.2", "moorethreads-s4000@2.1.1+torch2.5", ()),
    ("mlu590@cntoolkit4.0.1", "cambricon-mlu590@r2.4_develop+torch2.4", ("2.1",)),
)


@pytest.mark.parametrize(("typed", "name"), UNDERSTOOD)
def test_a_chip_by_another_name_is_understood(database: Database, typed: str, name: str) -> None:
    spec = TargetSpec.parse(typed)
    assert str(spec) == typed
    assert database.resolve(spec) == database.resolve(TargetSpec(name))
    assert select(database, (spec,)) == (database.resolve(TargetSpec(name)),)
    assert not names_groups(database, (spec,))


@pytest.mark.parametrize(("typed", "message", "hint"), ASKED)
def test_what_may_be_several_is_asked_about(
    database: Database, typed: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        database.resolve(TargetSpec.parse(typed))
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize("typed", ["cuda", "rocm", "npu", "xpu", "musa", "dcu", "tpu", "sm_90"])
def test_a_question_offers_five_at_most(database: Database, typed: str) -> None:
    with pytest.raises(UsageError, match=" may be ") as caught:
        database.resolve(TargetSpec.parse(typed))
    offered = caught.value.message.partition(" may be ")[2].partition(" or ")[0].split(", ")
    assert 1 < len(offered) <= MOST
    assert set(offered) <= set(database.names())


@pytest.mark.parametrize(("typed", "hint"), REFUSED)
def test_what_is_no_chips_name_is_refused_with_the_nearest(
    database: Database, typed: str, hint: str
) -> None:
    with pytest.raises(UsageError, match="unknown target") as caught:
        database.resolve(TargetSpec.parse(typed))
    assert caught.value.hint == hint


@pytest.mark.parametrize("typed", ["310", "ascend-310", "Ascend310", "昇腾 310", "Atlas 200 DK"])
def test_a_chip_that_its_plugin_refuses_is_told(database: Database, typed: str) -> None:
    with pytest.raises(UsageError) as caught:
        database.resolve(TargetSpec.parse(typed))
    assert str(caught.value.message) == (
        "Ascend 310 has no target: torch_npu refuses it (Unsupported soc version: Ascend310)"
    )
    assert caught.value.hint == "did you mean ascend-310p or ascend-310b?"
    assert in_chinese([caught.value.message]) == [
        "Ascend 310 没有对应的目标：torch_npu 拒绝该芯片（Unsupported soc version: Ascend310）"
    ]


def test_refused_chips_are_near_ones_of_their_vendor(database: Database) -> None:
    for name, vendor in database.called.vendors.items():
        for chip in database.called.called(name).refused:
            assert set(chip.near) <= set(vendor.chips)
            assert not {compact(word) for word in chip.words} & set(map(compact, vendor.chips))


@pytest.mark.parametrize(("typed", "target", "others"), PAIRED)
def test_a_release_by_its_toolkit_is_that_with_the_newest_torch(
    database: Database, typed: str, target: str, others: tuple[str, ...]
) -> None:
    spec = TargetSpec.parse(typed)
    assert str(database.resolve(spec)) == target
    found = meaning(database, spec)
    assert found is not None
    assert found.spec == TargetSpec.parse(target)
    assert found.paired is not None
    assert found.paired.others == others


def test_a_toolkit_that_goes_with_nothing_is_refused_with_those_that_do(
    database: Database,
) -> None:
    with pytest.raises(UsageError) as caught:
        database.resolve(TargetSpec.parse("moorethreads-s4000@musa4.3"))
    assert caught.value.message == (
        "no release of moorethreads-s4000 is known to go with MUSA SDK 4.3"
    )
    assert caught.value.hint == "known: musa4.2.0, musa4.0.1, musa3.1.0, musa2.1.0, musa1.4.0"


def test_jetpack_is_for_jetson_alone(database: Database) -> None:
    with pytest.raises(UsageError, match=r"unknown release 'jetpack6.2' of nvidia-h100"):
        database.resolve(TargetSpec.parse("nvidia-h100@jetpack6.2"))


def test_a_vendors_name_with_a_toolkit_is_every_chip_that_has_it(database: Database) -> None:
    found = select(database, (TargetSpec.parse("ascend@cann8.3.RC1"),))
    assert [str(target) for target in found] == [
        f"ascend-{chip}@7.2.0+torch2.8" for chip in ("310b", "310p", "910a", "910b", "910c")
    ]


def test_a_targets_own_name_is_never_taken_for_another(database: Database) -> None:
    for name in database.names():
        assert meaning(database, TargetSpec(name)) == meaning(database, TargetSpec(name.upper()))
        assert database.resolve(TargetSpec(name)).name == name


@pytest.mark.parametrize("vendor", Database.open().called.vendors)
def test_every_name_of_a_file_is_understood_as_its_chip(database: Database, vendor: str) -> None:
    called = database.called.called(vendor)
    assert set(called.chips) <= set(database.vendors[vendor].chips)
    shared = {"turing", "hopper", "jetson", "cpu", "cuda"}
    for chip, words in called.chips.items():
        for word in (*words, *([chip] if chip else [])):
            found = database.called.meant(word)
            assert found[0] == (vendor, chip) or word in shared, (word, found)
            assert found == [(vendor, chip)] or word in shared, (word, found)


def test_vendors_without_data_share_no_name_with_a_target(database: Database) -> None:
    from opcheck.db.by_hand.target_names import other_vendors

    others = other_vendors(database.root, None)
    assert (database.root / NAMES / f"{OTHERS}.yaml").is_file()
    known = {compact(target_name(*named)) for named in database.called._forms}
    for key, (_, also) in others.items():
        assert key in database.vendors or not known & set(map(compact, also))
