"""What --fix replaces, and what it leaves."""

import ast

import pytest

from tests.lint.helpers import lint


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("x.cuda()", "x.npu()"),
        ('x.to("cuda:1")', 'x.to("npu:1")'),
        ('device = f"cuda:{rank}"', 'device = f"npu:{rank}"'),
        ("import torch as t\nt.cuda.synchronize()",
         "import torch as t\nimport torch_npu\nt.npu.synchronize()"),
        ("import torch\r\ng = torch.cuda.CUDAGraph()\r\n",
         "import torch\r\nimport torch_npu\r\ng = torch.npu.NPUGraph()\r\n"),
        ("import torch_npu, torch\ntorch.cuda.synchronize()",
         "import torch_npu, torch\ntorch.npu.synchronize()"),
        ("import torch\nwith torch.cuda.amp.autocast(enabled=True): ...",
         'import torch\nimport torch_npu\nwith torch.amp.autocast("npu", enabled=True): ...'),
        ("import torch\ns = torch.cuda.amp.GradScaler()",
         'import torch\nimport torch_npu\ns = torch.amp.GradScaler("npu")'),
        ("import torch.distributed as d\nd.init_process_group(backend='nccl')",
         "import torch.distributed as d\nimport torch_npu\nd.init_process_group(backend='hccl')"),
        ("ä = 'é'; x.cuda() ; y . cuda ( )", "ä = 'é'; x.npu() ; y . npu ( )"),
    ],
)  # fmt: skip
def test_what_is_plain_is_replaced(source: str, fixed: str) -> None:
    assert lint(source).fixed == fixed


@pytest.mark.parametrize(
    "source",
    [
        "if x.is_cuda: pass",
        "import torch; torch.cuda.nvtx.mark('x')",
        "import torch\nwith torch.cuda.amp.autocast(True): ...",
        "from torch.cuda import synchronize; synchronize()",
        "import torch; x.type(torch.cuda.FloatTensor)",
        "import flash_attn",
        "x.cuda()  # opcheck: ignore",
        "(torch\n  .cuda.synchronize())",
    ],
)
def test_what_is_not_plain_stays(source: str) -> None:
    assert lint(source).fixed == source


def test_what_was_fixed_is_not_found_again() -> None:
    source = (
        "import torch\n"
        "def f(x, device='cuda'):\n"
        "    x = x.to('cuda').cuda()\n"
        "    torch.cuda.synchronize()\n"
        "    return f'{torch.cuda.current_device()} cuda'\n"
    )
    answer = lint(source)
    assert all(finding.fixable for finding in answer.findings)
    assert lint(answer.fixed).shown == []
    ast.parse(answer.fixed)
    assert "cuda'" in answer.fixed
