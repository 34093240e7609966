"""Pages of Ascend's kernels, of either make, as the reader takes them."""

from opcheck.db.importers.ascend.page_reader import Row, dtypes, read_page

PAGE = """\
# aclnnRoll&aclnnInplaceRoll

## 产品支持情况

<!-- npu="950" id1 -->
- <term>Ascend 950PR/Ascend 950DT</term>：支持
<!-- end id1 -->
- <term>Atlas 200I/500 A2 推理产品</term>：不支持
| <term>Atlas 推理系列产品</term> | √ |
- <term>Another product</term>：支持

## 功能说明

- <term>Atlas 训练系列产品</term>：支持
$$ a<b, c <d $$

## aclnnRollGetWorkspaceSize

<table><thead>
  <tr><th>参数名</th><th>描述</th><th>数据类型</th></tr></thead>
<tbody>
  <tr>
    <td>x（aclTensor*）</td>
    <td>INT8 here says nothing</td>
    <td>FLOAT、BFLOAT16、HIFLOAT8</td>
  </tr>
  <tr><td>shifts</td><td>-</td><td>-</td></tr>
</tbody></table>
<table><tr><th>返回值</th><th>数据类型</th></tr><tr><td>x</td><td>INT64</td></tr></table>

## aclnnInplaceRollGetWorkspaceSize

- xRef (aclTensor*, 计算输入): 公式中的x，数据类型支持FLOAT16、DOUBLE，shape支持INT8。
"""


def test_products_are_those_of_their_section() -> None:
    page = read_page(PAGE)
    assert page.runs == {"950": 6, "310p": 9}
    assert page.runs_not == {"310b": 8}


def test_each_kernel_has_the_rows_of_its_section() -> None:
    assert read_page(PAGE).arguments == {
        "aclnnRoll": {"x": Row(25, ("bf16", "fp32"))},
        "aclnnInplaceRoll": {"xRef": Row(33, ("fp16", "fp64"))},
    }


def test_dtypes_are_those_that_pytorch_has() -> None:
    assert dtypes("FLOAT、FLOAT8_E4M3FN、FLOAT4_E2M1、COMPLEX64") == (
        "complex64", "float8_e4m3fn", "fp32",
    )  # fmt: skip
