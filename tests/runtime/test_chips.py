"""A device's own name is a chip of the database where it is that chip's name, else none."""

import pytest

from opcheck.db.store import Database
from opcheck.runtime.device import agreed, chip_of

DATABASE = Database.open()


@pytest.mark.parametrize(
    ("vendor", "name", "chip"),
    [
        ("nvidia", "NVIDIA A100-SXM4-80GB", "a100"),
        ("nvidia", "NVIDIA A100 80GB PCIe", "a100"),
        ("nvidia", "Tesla T4", "t4"),
        ("nvidia", "NVIDIA H200", "h200"),
        ("nvidia", "NVIDIA H20", "h20"),
        ("nvidia", "NVIDIA L4", "l4"),
        ("nvidia", "NVIDIA L40S", "l40s"),
        ("nvidia", "NVIDIA L40", ""),
        ("nvidia", "NVIDIA A10", "a10"),
        ("nvidia", "NVIDIA A10G", ""),
        ("nvidia", "NVIDIA A30", "a30"),
        ("nvidia", "NVIDIA A40", "a40"),
        ("nvidia", "NVIDIA RTX A4000", "a4000"),
        ("nvidia", "NVIDIA GeForce RTX 3090", "rtx3090"),
        ("nvidia", "NVIDIA GeForce RTX 3090 Ti", ""),
        ("nvidia", "Tesla V100-SXM2-16GB", "v100"),
        ("nvidia", "Orin", "orin"),
        ("nvidia", "Xavier", "xavier"),
        ("nvidia", "Tesla P100-PCIE-16GB", "p100"),
        ("nvidia", "NVIDIA B200", "b200"),
        ("nvidia", "NVIDIA GeForce RTX 5090", "rtx5090"),
        ("nvidia", "NVIDIA GeForce RTX 5090 D", ""),
        ("nvidia", "NVIDIA GeForce RTX 4090", "rtx4090"),
        ("nvidia", "NVIDIA GeForce RTX 4090 D", ""),
        ("nvidia", "NVIDIA GeForce RTX 4090 Laptop GPU", ""),
        ("nvidia", "NVIDIA GH200 480GB", ""),
        ("nvidia", "NVIDIA T4G", ""),
        ("nvidia", "", ""),
        ("amd", "AMD Instinct MI300X", "mi300x"),
        ("amd", "AMD Instinct MI325X", "mi325x"),
        ("amd", "AMD Instinct MI210", "mi210"),
        ("amd", "AMD Radeon PRO W7900", "w7900"),
        ("amd", "AMD Instinct MI250X / MI250", "mi250"),
        ("amd", "AMD Instinct MI300A", ""),
        ("amd", "AMD Radeon RX 9070", "rx9070"),
        ("amd", "AMD Radeon RX 9070 XT", "rx9070"),
        ("amd", "AMD Instinct MI50", "mi50"),
        ("amd", "AMD Radeon RX 7900 XT", "rx7900xt"),
        ("amd", "AMD Radeon RX 7900 XTX", ""),
        ("hygon", "K100_AI", "k100"),
        ("hygon", "BW1000", ""),
        ("intel", "Intel(R) Data Center GPU Max 1550", "max"),
        ("intel", "Intel(R) Arc(TM) A770 Graphics", "arc"),
        ("intel", "Intel(R) Arc(TM) B580 Graphics", "b580"),
        ("intel", "Intel(R) Arc(TM) Pro B60 Graphics", ""),
        ("intel", "Intel(R) Arc(TM) 140V GPU (16GB)", "lunar-lake"),
        ("intel", "Intel(R) Arc(TM) Graphics", ""),
        ("ascend", "Ascend910B", "910a"),
        ("ascend", "Ascend910B3", "910b"),
        ("ascend", "Ascend910B4-1", "910b"),
        ("ascend", "Ascend 910B", "910b"),
        ("ascend", "Ascend910X", ""),
        ("cambricon", "MLU370-X8", "mlu370"),
        ("cambricon", "MLU580", "mlu580"),
        ("cambricon", "MLU290", ""),
        ("moorethreads", "MTT S4000", "s4000"),
        ("moorethreads", "MTT S70", "s70"),
        ("moorethreads", "MTT M1000", "m1000"),
        ("apple", "Apple M3 Max", "m3"),
        ("apple", "Apple M1", "m1"),
        ("apple", "Apple M9", ""),
        ("google", "TPU v5e", "tpu-v5e"),
        ("google", "TPU v5p", "tpu-v5p"),
        ("google", "TPU v6e", "tpu-v6e"),
        ("google", "TPU7x", "tpu-v7x"),
        ("google", "TPU v3", ""),
    ],
)
def test_a_name_is_a_chip(vendor: str, name: str, chip: str) -> None:
    known = DATABASE.vendors[vendor]
    assert chip_of(known.chips, str(known.document.data["name"]), name) == chip


def test_every_chip_is_found_by_the_name_that_the_database_gives_it() -> None:
    """The emulated devices are called so."""
    for vendor in DATABASE.vendors.values():
        for chip, said in vendor.chips.items():
            name = str(vendor.document.data["name"])
            assert chip_of(vendor.chips, name, str(said["name"])) == chip


def test_a_chip_that_is_not_listed_has_what_all_of_its_architecture_have() -> None:
    chips = DATABASE.vendors["nvidia"].chips
    assert agreed(chips, "", "sm_89", "bfloat16") is True
    assert agreed(chips, "", "sm_75", "bfloat16") is False
    assert agreed(chips, "", "sm_61", "bfloat16") is None
    assert agreed(chips, "t4", "sm_80", "bfloat16") is False
    differing = {"a": {"arch": "x1", "bfloat16": True}, "b": {"arch": "x1", "bfloat16": False}}
    assert agreed(differing, "", "x1", "bfloat16") is None
    assert agreed(chips, "", "", "bfloat16") is None
