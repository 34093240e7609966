"""What chips have: every figure cited, in its unit, of its own vendor, and never merged."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.costs import Chip, Figure, Grade, Product
from opcheck.model.target import mode_of

SHIPPED = Database.open()
FOLDER = SHIPPED.root / "chips"
CHIPS = [SHIPPED.chip(target) for target in SHIPPED.targets()]
NAMES = [f"{each.vendor}-{each.chip}" for each in CHIPS]


def of(name: str) -> Chip:
    return CHIPS[NAMES.index(name)]


def product(name: str, title: str) -> Product:
    return next(each for each in of(name).products if each.name == title)


def figures(chip: Chip) -> Iterator[Figure]:
    for each in chip.products:
        yield from (figure for figure in (each.memory, each.bandwidth) if figure)
        yield from (*each.matrix.values(), *each.vector.values())


def test_files_are_of_vendors_of_the_database() -> None:
    files = {path.stem for path in FOLDER.glob("*.yaml")}
    without = {
        "coreml",
        "nvidia-tensorrt",
        "executorch",
        "litert",
        "onnxruntime",
        "openvino",
    }  # any chip of a kind, any CPU
    assert files == {mode_of(name)[0] for name in SHIPPED.vendors} - without


@pytest.mark.parametrize("chip", CHIPS, ids=NAMES)
def test_every_statement_is_cited(chip: Chip) -> None:
    told = [figure.evidence for figure in figures(chip)]
    told += [each.evidence for each in chip.multiples.values()]
    told += [each.evidence for each in chip.formats] + [each.evidence for each in chip.compilers]
    assert all(told)
    assert all(fact.source and fact.path for facts in told for fact in facts)


@pytest.mark.parametrize("chip", CHIPS, ids=NAMES)
def test_figures_are_in_their_units(chip: Chip) -> None:
    for each in chip.products:
        assert each.memory is None or 4e9 <= each.memory.value <= 1e12
        assert each.bandwidth is None or 5e10 <= each.bandwidth.value <= 1e13
        assert all(1e12 <= rate.value <= 1e16 for rate in (*each.matrix.values(),))
        assert all(1e12 <= rate.value <= 1e15 for rate in (*each.vector.values(),))
    assert all(1 < each.elements <= 256 for each in chip.multiples.values())


@pytest.mark.parametrize("chip", CHIPS, ids=NAMES)
def test_fewer_bits_are_never_slower(chip: Chip) -> None:
    order = ("float64", "tf32", "float16", "float8")
    for each in chip.products:
        rates = [each.matrix[dtype].value for dtype in order if dtype in each.matrix]
        assert rates == sorted(rates)


def test_products_of_one_chip_keep_their_own_figures() -> None:
    small, large = product("nvidia-a100", "A100 40GB PCIe"), product("nvidia-a100", "A100 80GB SXM")
    assert small.memory and small.bandwidth and large.memory and large.bandwidth
    assert (small.memory.value, small.bandwidth.value) == (40e9, 1555e9)
    assert (large.memory.value, large.bandwidth.value) == (80e9, 2039e9)
    assert small.matrix == large.matrix, "the rates are the chip's"
    assert of("nvidia-a100").single is None, "no product stands for the others"
    assert of("nvidia-t4").single == of("nvidia-t4").products[0]


def test_a_figure_says_whose_word_it_is() -> None:
    rate = product("moorethreads-s4000", "MTT S4000").matrix["bfloat16"]
    assert (rate.value, rate.grade) == (100e12, Grade.VENDOR)
    assert [fact.source for fact in rate.evidence] == ["docs.mthreads.com"]
    dcu = product("hygon-k100", "K100_AI").memory
    assert dcu is not None
    assert dcu.grade is Grade.PRESS


def test_the_faster_unit_is_the_peak() -> None:
    found = product("ascend-910b", "Ascend910B2")
    assert found.peak("float32") == found.matrix["float32"]
    assert found.peak("float64") is None
    old = product("nvidia-t4", "T4")
    assert old.peak("float32") == old.vector["float32"]


def test_what_nobody_has_said_is_unknown() -> None:
    assert of("hygon-z100") == Chip("hygon", "z100", "Hygon DCU Z100")
    assert of("nvidia-tensorrt-").products == ()


SAID = """schema: opcheck.chips/1
vendor: intel
sources:
  sheet: {repo: intel.com, ref: ark, commit: "", path: arc, grade: vendor}
chips:
  arc:
    products: {A770: {memory: {size: 16 GB, at: [sheet]}}, A750: {}}
    default: {product: A770, why: "the only one that is still made"}
complete: true
"""


def read(tmp_path: Path, text: str) -> Chip:
    for name in ("intel", "pytorch"):
        (tmp_path / name).symlink_to(SHIPPED.root / name)
    (tmp_path / "chips").mkdir()
    (tmp_path / "chips" / "intel.yaml").write_text(text)
    database = Database.open(tmp_path, cached=False)
    return database.chip(next(t for t in database.targets() if t.chip == "arc"))


def test_a_default_says_why(tmp_path: Path) -> None:
    found = read(tmp_path, SAID)
    assert found.single is not None
    assert (found.single.name, found.why) == ("A770", "the only one that is still made")
    assert found.single.bandwidth is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("16 GB", "16", r"intel\.yaml:7: expected text \(in quotes, if a number\), found 16"),
        ("16 GB", "-16 GB", "expected a size such as"),
        ("16 GB", "16 gigabytes", 'expected a size such as "80 GB" or "64 GiB", found '),
        ("size: 16 GB, at: [sheet]", "size: 16 GB", "expected the key 'at', which is missing"),
        ("grade: vendor", "grade: rumour", "expected one of press, quoted, vendor, found 'rumour'"),
        ("vendor: intel", "vendor: amd", "expected the vendor intel, found 'amd'"),
        ("products:", "any_of: [arc, b580]\n    products:", r"chip arc: no chip is called 'b580'"),
        ("product: A770", "product: A780", r"no product is called 'A780' \(has: A750, A770\)"),
        ("memory: {size: 16 GB", "matrix: {rates: {half: 1 TFLOP/s}", "expected one of bfloat16,"),
    ],
)
def test_a_wrong_file_is_told_of_in_one_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(DatabaseError, match=message):
        read(tmp_path, SAID.replace(old, new, 1))


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("memory: {size: 16 gigabytes", '大小，如 "80 GB" 或 "64 GiB"'),
        ("bandwidth: {rate: 16 GB", '带宽，如 "2039 GB/s"'),
        ("matrix: {rates: {float16: 1 GB}", '算力，如 "312 TFLOP/s" 或 "624 TOP/s"'),
    ],
)
def test_the_form_of_a_figure_is_told_in_chinese(tmp_path: Path, new: str, said: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        read(tmp_path, SAID.replace("memory: {size: 16 GB", new))
    with speaking(Language.CHINESE):
        assert f"应为{said}，实为" in tell(caught.value.message)


def test_a_chip_that_stands_for_others_has_their_products() -> None:
    every = {
        each.name: each
        for chip in ("m1", "m2", "m3", "m4", "m5")
        for each in of(f"apple-{chip}").products
    }
    found = of("apple-mps").products
    assert {each.name: each for each in found} == every
    assert [each.name for each in found] == sorted(every)
    assert len(found) == 17
