"""Files on libraries that are not installed: those that are here, and broken ones of users."""

import re
from pathlib import Path

import pytest

from opcheck.db.by_hand.libraries import Schemas, read, users_file
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.target import TargetSpec

SHIPPED = sorted((Path(__file__).parents[2] / "compat_db" / "schemas").glob("*.yaml"))
GOOD = """\
schema: opcheck.schemas/1
library: mine
operators:
  mine::twice:
    signature: "(Tensor x, int times=2) -> Tensor"
    sizes: {x: [rows, columns]}
    returns: [{like: x, shape: [rows * times, columns]}]
functions:
  mine.twice: mine::twice
"""


def test_there_are_files() -> None:
    assert len(SHIPPED) > 5


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_file_is_named_as_its_library_and_cites_each_operator(path: Path) -> None:
    library = read(path)
    assert library.name == path.stem
    assert (
        library.refuses or library.operators or library.device or library.answers or library.passes
    )
    assert path.read_text().count("    at: ") == len(library.operators)


def test_kernels_are_those_of_the_chips_that_are_named() -> None:
    database = Database.open()
    op = "flash_attn::flash_attn_func"
    held = {
        name: op in database.matrix(database.resolve(TargetSpec.parse(name))).entries
        for name in ("nvidia-a100", "nvidia-t4", "amd-mi300x", "amd-rx7900xt", "ascend-910b")
    }
    assert held == {
        "nvidia-a100": True, "nvidia-t4": False, "amd-mi300x": True, "amd-rx7900xt": False,
        "ascend-910b": False,
    }  # fmt: skip


def test_a_kernel_cites_the_librarys_source() -> None:
    database = Database.open()
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910b")))
    (evidence,) = matrix.entries["mmcv::nms"].evidence
    assert (evidence.source, evidence.path) == (
        "open-mmlab/mmcv", "mmcv/ops/csrc/pytorch/npu/nms_npu.cpp",
    )  # fmt: skip


def test_a_users_file_holds_against_the_one_that_is_here(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(GOOD.replace("mine", "flash_attn"))
    library = Schemas(SHIPPED[0].parent, [own])("flash_attn")
    assert library is not None
    assert set(library.functions) == {"flash_attn.twice"}


BROKEN = {
    "not yaml": ("schema: [", r"own\.yaml:\d+: expected valid YAML"),
    "nothing": ("", "own.yaml:1: expected a mapping, found nothing"),
    "no schema": ("library: mine\n", "own.yaml:1: expected the key 'schema'"),
    "other schema": (GOOD.replace("schemas/1", "schemas/9"), "own.yaml:1: expected one of"),
    "unknown key": (GOOD + "extra: 1\n", r"own\.yaml:10: expected no key 'extra' here \(known"),
    "signature": (
        GOOD.replace('"(Tensor x, int times=2) -> Tensor"', "Tensor"),
        r"own\.yaml:5: expected \(arguments\) -> results",
    ),
    "returns no list": (
        GOOD.replace("[{like: x, shape: [rows * times, columns]}]", "none"),
        r"own\.yaml:7: expected a list, found",
    ),
    "shape": (
        GOOD.replace("rows * times", "__import__('os')"),
        r"own\.yaml:7: expected a size \(names, numbers",
    ),
    "function of another": (
        GOOD.replace("mine.twice:", "torch.nn.Linear:"),
        r"own\.yaml:9: expected a name in mine\.\*, found 'torch\.nn\.Linear'",
    ),
    "unknown operator": (
        GOOD.replace("mine.twice: mine::twice", "mine.twice: mine::thrice"),
        r"own\.yaml:9: 'mine::thrice' is none of the operators of this file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_told_with_its_place(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text, said = BROKEN[kind]
    path.write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        users_file(path)
    assert caught.value.hint == "docs/extensions.md tells what such a file holds"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("library: mine", 'library: "1"', "应为名称，实为 '1'"),
        ('"(Tensor x, int times=2) -> Tensor"', "Tensor",
         "应为按 PyTorch 写法的 (arguments) -> results，实为 'Tensor'"),
        ("[rows, columns]", '[rows, "-"]', "应为名称、name... 或数字，实为 '-'"),
        ("rows * times", "__import__('os')",
         "应为尺寸（名称、数字、+ - * // %），实为 \"__import__('os')\""),
        ("  mine::twice:\n", "  twice:\n", "应为算子（namespace::name），实为 'twice'"),
        ("  mine.twice:", "  twice:",
         "应为带模块的名称（package.module.name），实为 'twice'"),
        ("functions:", "device: {type: npu, modules: [1a]}\nfunctions:",
         "应为模块（package.module），实为 '1a'"),
        ("functions:", "layers: {mine.Twice: {arguments: x, calls: mine::twice}}\nfunctions:",
         "应为按 PyTorch 写法的 (arguments)，实为 'x'"),
        ("library: mine", "library: []", "应为文本（数字须加引号），实为列表"),
        ("library: mine", f"library: {2**70}", "应为文本（数字须加引号），实为大得没有意义的数"),
        ("library: mine", "library: {}", "应为文本（数字须加引号），实为映射"),
    ],
)  # fmt: skip
def test_what_is_expected_is_told_in_chinese(
    before: str, after: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(GOOD.replace(before, after))
    with pytest.raises(UsageError) as caught:
        users_file(path)
    with speaking(Language.CHINESE):
        assert tell(caught.value.message).partition("：")[2].rpartition("（位于")[0] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [("just text", "一段文本"), ("12", "一个数"), ("[a]", "列表")],
)
def test_a_file_that_is_one_value_is_not_shown(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        users_file(path)
    with speaking(Language.CHINESE):
        assert tell(caught.value.message).rpartition("实为")[2] == f"{said}（位于文件开头）"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.yaml: No such file"):
        users_file(tmp_path / "none.yaml")


REGISTERED_FOR_GRADIENTS = ("npu_dynamic_quant", "npu_quant_matmul")
"""Whose tensors go by name alone at the vendor, which ``torch.library`` refuses with a gradient; a
dtype is one, not its number."""


def test_signatures_of_torch_npu_are_those_of_the_vendor_s_list(sources: Path) -> None:
    listed = (sources / "ascend" / "op_plugin_functions@26.1.0.yaml").read_text().splitlines()
    library = read(next(path for path in SHIPPED if path.stem == "torch_npu"))
    cited = dict(re.findall(r"npu::(\w+):\n.*\n +at: .*#L(\d+)", Path(library.path).read_text()))
    assert cited.keys() == {op.removeprefix("npu::") for op in library.operators}
    for name, line in cited.items():
        schema = listed[int(line) - 1].replace('"', "'").partition("func: ")[2]
        if name in REGISTERED_FOR_GRADIENTS:
            schema = schema.replace("*, ", "")
            schema = re.sub(r"int\? (dst_type|output_dtype)\b", r"ScalarType? \1", schema)
        assert schema == name + library.operators[f"npu::{name}"].signature
