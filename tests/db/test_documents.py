"""The three forms of the vendor's tables of native APIs."""

from pathlib import Path

from opcheck.db.importers.ascend.documents import Api, read_headings, read_rows, read_tsv

_HEADINGS = """\
# torch

> [!NOTE]
> - API的**支持情况**中，✔表示API支持

## Tensors

### torch.abs

<div style="margin-left: 2em">

**支持情况**：

| 硬件 | 是否支持 |
| ---- | :----: |
| <term>Atlas A2 训练系列产品</term> | ✔ |
| <term>Ascend 950DT</term> | ✘ |

**限制与说明**：

- `input`仅支持fp32
- <term>Ascend 950DT</term>：不支持fp64

</div>

### <code><i>class</i></code> torch.Tensor

<div style="margin-left: 2em">

> <font size="3">abs_()</font>

**支持情况**：

| <term>Atlas A3 训练系列产品</term> | &#10004; |

**限制与说明**：`self`仅支持bool可能回退至CPU执行

</div>
"""


def test_headings_with_methods_inside_their_class(tmp_path: Path) -> None:
    (tmp_path / "torch.md").write_text(_HEADINGS, encoding="utf-8")
    assert list(read_headings(tmp_path)) == [
        Api(
            "torch.abs",
            "torch.md",
            8,
            ("`input`仅支持fp32", "Ascend 950DT：不支持fp64"),
            {"910b": True, "950": False},
        ),
        Api("torch.Tensor", "torch.md", 26, (), {}),
        Api(
            "torch.Tensor.abs_",
            "torch.md",
            30,
            ("`self`仅支持bool", "可能回退至CPU执行"),
            {"910c": True},
        ),
    ]


def test_rows(tmp_path: Path) -> None:
    text = (
        "|API名称|是否支持|限制与说明|\n|--|--|--|\n|torch.abs|是|支持fp32<br>支持Named Tensor|\n"
    )
    (tmp_path / "torch.md").write_text(text + "|Tensor.abs|否|-|\n", encoding="utf-8")
    assert list(read_rows(tmp_path)) == [
        Api("torch.abs", "torch.md", 3, ("支持fp32", "支持Named Tensor")),
        Api("torch.Tensor.abs", "torch.md", 4, ()),
    ]


def test_the_oldest_file(tmp_path: Path) -> None:
    path = tmp_path / "apis.tsv"
    text = "section\tapi\tnpu_form\tcompatibility\tlimitations\n"
    path.write_text(text + "torch\ttorch.abs\t\tY\tOnly support fp16\n", encoding="utf-8")
    assert list(read_tsv(path)) == [Api("torch.abs", "apis.tsv", 2, ("Only support fp16",))]
