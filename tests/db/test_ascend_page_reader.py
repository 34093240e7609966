"""Pages of Ascend's kernels, of either make, as the reader takes them."""

from opcheck.db.importers.ascend.page_reader import Row, Taken, dtypes, read_page

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


SECTIONS = """\
## 函数原型

aclnnStatus aclnnRollGetWorkspaceSize(
  const aclTensor* x, // of any shape
  const aclIntArray* shifts,
  const aclTensor* other,
  aclTensor* out,
  uint64_t* workspaceSize,
  aclOpExecutor** executor)

## aclnnRollGetWorkspaceSize

<table><thead>
  <tr><th>参数名</th><th>数据类型</th></tr></thead>
<tbody>
  <tr><td>x</td>
    <td>FLOAT、BFLOAT16、INT8</td></tr>
  <tr><td>other</td>
    <td>FLOAT（当x为INT8时）</td></tr>
</tbody></table>

- <term>Atlas 训练系列产品</term>、<term>Atlas 推理系列产品</term>：不支持BFLOAT16。
- <term>Ascend 950PR/Ascend 950DT</term>：x的数据类型仅支持FLOAT、INT8。
- <term>Atlas A2 训练系列产品/Atlas A2 推理系列产品</term>：
  - 当shifts为空时，还支持DOUBLE。
- INT64 is of no product.

返回值

<table>
  <tr><td>161001</td><td>x的数据类型不在支持的范围之内。</td></tr>
  <tr><td rowspan="3">161002</td>
    <td>x、other（非空时）的数据类型和数据格式不在支持的范围之内。</td></tr>
  <tr><td>out推导后的数据类型不在支持的范围之内。</td></tr>
  <tr><td>x的维度大于8。</td></tr>
  <tr><td>561002</td><td>other的维度大于8。</td></tr>
</table>

## aclnnRoll

aclnnRollGetWorkspaceSize(x, shifts, other, out, &workspaceSize, &executor);

## aclnnOldGetWorkspaceSize

- x (aclTensor*, 计算输入): 数据类型支持FLOAT、INT8，shape支持1-8维。

返回161002 (ACLNN_ERR_PARAM_INVALID)：1. 输入或输出的数据类型不在支持的范围之内。
                                      2. x的维数超过6维。

## 约束说明

- <term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term>：x支持INT8。
"""


def test_a_prototype_names_the_tensors_by_their_places() -> None:
    assert read_page(SECTIONS).kernels["aclnnRoll"].parameters == ("x", "", "other", "out")


def test_dtypes_are_known_where_a_cell_lists_them_alone() -> None:
    assert read_page(SECTIONS).kernels["aclnnRoll"].closed == {"x"}


def test_return_codes_tell_what_is_refused() -> None:
    kernels = read_page(SECTIONS).kernels
    assert kernels["aclnnRoll"].refuses == {"x": 33, "other": 33}
    assert kernels["aclnnRoll"].most == {"x": (8, 35)}
    assert kernels["aclnnOld"].refuses == {"*": 47}
    assert kernels["aclnnOld"].most == {"x": (6, 48)}


def test_remarks_tell_of_the_chips_that_they_name() -> None:
    kernel = read_page(SECTIONS).kernels["aclnnRoll"]
    assert kernel.taken == {
        "910a": [Taken("*", ("bf16",), denied=True)],
        "310p": [Taken("*", ("bf16",), denied=True)],
        "950": [Taken("x", ("fp32", "int8"), denied=False)],
    }
    assert kernel.apart == {"910b": {"fp64"}, "910c": {"int8"}}
