"""The page of support rates says what the reports say."""

import pytest
from msgspec.structs import replace

from benchmarks.rates import CONFIGS, HELD, LIBRARIES, PAGE, PUBLISHED, devices, scanned
from benchmarks.rates_basis import Basis, asked, digest
from benchmarks.rates_page import Device, Scan, _meaning, made_from, operators, page
from opcheck.db.store import Database
from opcheck.model.report import Report
from opcheck.model.target import Target
from opcheck.resolve.findings import resolve
from tests.resolve.made import NONE, matrix, node, trace
from tests.views.samples import STANDARD

THEN, NEWEST = (Target("vendor", "chip", sdk, "2.9", "npu") for sdk in ("1.0", "2.0"))
DEVICE = Device("vendor-chip", "The Chip", 0.5, THEN, NEWEST, {THEN: (1200, 3), NEWEST: (8, 4)})
BASIS = Basis(("aten::add.Tensor", "aten::relu"), {THEN: "0123", NEWEST: "4567"})
MODEL = trace(node("aten::relu"))


def scan(model: str) -> Scan:
    on_then = replace(matrix(fallback=NONE), target=THEN)
    on_newest = replace(matrix("aten::relu"), target=NEWEST)
    found = tuple(resolve(MODEL, each) for each in (on_then, on_newest))
    report: Report = replace(STANDARD["all-native"], targets=found)
    return Scan(model, report)


def test_rates_stand_beside_what_is_published_with_every_reason() -> None:
    text = page([DEVICE], [scan("Net")], [scan("Other")], BASIS)
    head, heading, rest = text.partition("## Beside")
    assert head.startswith("# Support rates\n")
    assert (
        heading + rest
        == """\
## Beside the published rates

What is published is one figure a device; which operators, which release and which conditions it \
counts is not said. The last column is the widest count there is: of all overloads that have a \
kernel under CUDA in the same torch, how many have one here; a build of PyTorch's own CUDA code, \
as those for ROCm and DTK are, has every one.

| device | published | release | Net | CUDA's kernels |
| --- | --- | --- | --- | --- |
| The Chip | 50% | `vendor-chip@1.0+torch2.9` | ✘ 0.0% | 0.2% of 1,200 |
| The Chip | 50% | `vendor-chip@2.0+torch2.9` | ✔ 100.0% | 50.0% of 8 |

### Net, operator by operator

* The Chip: 50% of 1 operator is 0.5, which is no count of them; 1.0 with torch 2.9 misses \
`aten::relu`; 2.0 with torch 2.9 misses none.

Where none is missing, each operator has a kernel on the device or runs as operators that have \
one, as the table says; a published rate below 100% then counts other operators than these, or \
another release.

| operator | `vendor-chip@1.0+torch2.9` | `vendor-chip@2.0+torch2.9` |
| --- | --- | --- |
| `aten::relu` | unsupported | native |

| model | operator | verdict | why | on |
| --- | --- | --- | --- | --- |
| Net | `aten::relu` | unsupported | vendor registers no kernel for aten::relu and has no host \
fallback | `vendor-chip@1.0+torch2.9` |

## 1 more model

On the newest release of each.

| model | The Chip |
| --- | --- |
| Other | ✔ 100.0% |

### What does not stay on the device

Every operator stays on every device.

## Made from

A digest of what the database said, of each release, of the operators that these models ask for; a \
test tells when that has changed.

| release | digest |
| --- | --- |
| `vendor-chip@1.0+torch2.9` | `0123` |
| `vendor-chip@2.0+torch2.9` | `4567` |

The operators: `aten::add.Tensor`, `aten::relu`.
"""
    )
    assert made_from(text) == (BASIS.operators, {str(THEN): "0123", str(NEWEST): "4567"})


def test_a_digest_is_of_what_is_said_of_the_operators_alone() -> None:
    one, both = matrix("aten::relu"), matrix("aten::relu", "aten::add.Tensor")
    assert digest(one, ["aten::relu"]) == digest(both, ["aten::relu"])
    assert digest(one, BASIS.operators) != digest(both, BASIS.operators)
    assert digest(one, ["aten::relu"]) != digest(replace(one, fallback=NONE), ["aten::relu"])
    assert asked([scan("Net").report]) == ("aten::relu",)


@pytest.mark.slow
def test_the_page_is_of_this_database() -> None:
    database = Database.open()
    called, told = made_from(PAGE.read_text(encoding="utf-8"))
    now = {
        str(target): digest(database.matrix(target), called)
        for device in devices(database)
        for target in device.releases
    }
    assert told == now, "`make rates` writes docs/support-rates.md anew; read what has changed"


@pytest.mark.slow
@pytest.mark.parametrize("model", HELD)
def test_the_page_says_what_a_scan_says_today(model: str) -> None:
    known = devices(Database.open())
    found = scanned(model, HELD[model], tuple(t for device in known for t in device.releases))
    assert operators(found, known) in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_device_is_taken_at_the_release_nearest_to_then_and_at_the_newest() -> None:
    found = {
        device.name: (str(device.then), str(device.newest)) for device in devices(Database.open())
    }
    assert set(found) == set(PUBLISHED)
    assert found["ascend-910b"] == ("ascend-910b@5.0.0+torch2.1", "ascend-910b@26.1.0+torch2.12")
    assert found["nvidia-a100"][0] == "nvidia-a100@2.0.1+torch2.0"
    assert found["cambricon-mlu370"][0] == "cambricon-mlu370@r1.22_pt2.1.0+torch2.1"


@pytest.mark.parametrize(
    ("published", "operators", "said"),
    [
        (1.0, 8, "100% of 8 operators is 8"),
        (0.96, 8, "96% of 8 operators is 7.68, which is no count of them"),
        (0.95, 20, "95% of 20 operators is 19"),
        (0.67, 3, "67% of 3 operators is 2.01"),
    ],
)
def test_a_share_that_no_count_gives_is_told(published: float, operators: int, said: str) -> None:
    assert _meaning(published, operators) == said


def test_there_are_twenty_more_models() -> None:
    assert len(HELD) == 2
    assert len({**LIBRARIES, **CONFIGS}) == 20


@pytest.mark.parametrize("source", [*HELD.values(), *LIBRARIES.values()])
def test_every_source_is_of_a_known_kind(source: str) -> None:
    from opcheck.source.load import select

    assert select(source).name.startswith(source.partition(":")[0])
