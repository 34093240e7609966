"""What is seen in Python sources, and how it fares."""

import pytest

from opcheck.lint.reading import checks
from tests.lint.helpers import lint


def test_there_are_checks() -> None:
    assert len(checks()) > 15


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x.cuda()", ["cuda-call@1 unsupported .npu()"]),
        ("self.model.cuda(non_blocking=True)", ["cuda-call@1 unsupported .npu()"]),
        ('x.to("cuda:1")', ['device-string@1 unsupported "npu:1"']),
        ('print("cuda")', []),
        ('names["cuda"]', []),
        ('f(device="cuda")', ['device-string@1 unsupported "npu"']),
        ('def f(*, device="cuda:0"): ...', ['device-string@1 unsupported "npu:0"']),
        ('p.add_argument("--device", default="cuda")', ['device-string@1 unsupported "npu"']),
        ('f(name="cuda")', []),
        ('device = f"cuda:{rank}"', ['device-string@1 unsupported f"npu:{rank}"']),
        ("import torch as t; t.cuda.synchronize()",
         ["cuda-module@1 unsupported torch.npu.synchronize"]),
        ("from torch import cuda; cuda.synchronize()",
         ["cuda-module@1 unsupported torch.npu.synchronize"]),
        ("import torch.cuda as tc; tc.Stream()", ["cuda-module@1 unsupported torch.npu.Stream"]),
        ("from torch.cuda import amp\nwith amp.autocast(): ...",
         ['cuda-module@2 caution torch.amp.autocast("npu")']),
        ("import torch; torch.cuda.nvtx.range_push('x')", ["cuda-module@1 unsupported"]),
        ("import torch; torch.cuda.empty_cache()",
         ["cuda-module@1 caution torch.npu.empty_cache"]),
        ("import torch; torch.cuda.device_count()",
         ["cuda-module@1 fallback torch.npu.device_count"]),
        ("import torch; isinstance(x, torch.cuda.Event)",
         ["cuda-module@1 caution torch.npu.Event"]),
        ("import torch; assert torch.cuda.is_available()",
         ["cuda-module@1 unsupported torch.npu.is_available"]),
        ("import torch; torch.backends.cudnn.benchmark = True", ["cuda-backends@1 caution"]),
        ("import torch; torch.backends.cuda.matmul.allow_tf32 = True",
         ["cuda-backends@1 caution"]),
        ("import torch.distributed as dist\ndist.init_process_group('nccl')",
         ["nccl@2 unsupported 'hccl'"]),
        ("import torch.distributed as dist\ndist.init_process_group(backend='cpu:gloo,cuda:nccl')",
         ["nccl@2 unsupported 'cpu:gloo,npu:hccl'"]),
        ("name = 'nccl'", []),
        ("from torch.utils.cpp_extension import CUDAExtension as E\nE('x', [])",
         ["cuda-extension@2 unsupported torch_npu.utils.cpp_extension.NpuExtension"]),
        ("from torch.utils import cpp_extension\ncpp_extension.load('x', ['a.cpp', 'b.cu'])",
         ["cuda-extension@2 unsupported torch_npu.utils.cpp_extension.NpuExtension"]),
        ("from torch.utils import cpp_extension\ncpp_extension.load('x', ['a.cpp'])", []),
        ("from flash_attn import flash_attn_func",
         ["cuda-package@1 unknown torch.nn.functional.scaled_dot_product_attention"]),
        ("try:\n    import bitsandbytes\nexcept ImportError:\n    pass",
         ["cuda-package@2 caution"]),
        ("from .flash_attn import f", []),
        ("import subprocess\nsubprocess.run(['nvidia-smi', '-L'])",
         ["nvidia-tool@2 unsupported npu-smi"]),
        ("print('run nvidia-smi')", []),
        ("import torch\ntorch.set_default_tensor_type('torch.cuda.HalfTensor')",
         ["deprecated-name@2 caution torch.set_default_dtype and torch.set_default_device",
          'cuda-tensor-type@2 unsupported device="npu", dtype=torch.half']),
        ("import torch; torch.load('x.pt')", ['map-location@1 caution map_location="cpu"']),
        ("import torch; torch.load('x.pt', map_location='cpu')", []),
        ("import torch; torch.load('x.pt', **options)", []),
        ("if x.is_cuda: pass", ["device-branch@1 caution x.is_npu"]),
        ("if d.type in ('cuda', 'npu'): pass", []),
        ("import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0'",
         ["cuda-environment@1 caution ASCEND_RT_VISIBLE_DEVICES"]),
        ("import triton\n@triton.jit\ndef k(x): ...",
         ["cuda-package@1 unknown", "triton-kernel@2 unknown"]),
        ("import torch_npu\ntorch_npu.npu_conv2d(x)",
         ["deprecated-name@2 caution torch.nn.functional.conv2d"]),
    ],
)  # fmt: skip
def test_each_is_found_where_it_is_and_nowhere_else(source: str, found: list[str]) -> None:
    assert lint(source).shown == found


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nif torch.cuda.is_available():\n    x.cuda()",
        "import torch\ny = x.cuda() if torch.cuda.is_available() else x",
        "import torch\ny = torch.cuda.is_available() and x.cuda()",
        "def f(d):\n    if d.type != 'cuda':\n        return\n    x.cuda()",
        "def f(d):\n    return d.type != 'cuda' or x.cuda()",
        "import torch\nif not torch.cuda.is_available():\n    pass\nelse:\n    x.cuda()",
        "moves = {'cuda': lambda x: x.cuda()}",
    ],
)
def test_what_stands_behind_a_closed_guard_is_not_reached(source: str) -> None:
    (call,) = (f for f in lint(source).findings if f.code == "cuda-call")
    assert call.verdict == "fallback"
    assert call.text.startswith("not reached: ")


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nif not torch.cuda.is_available():\n    x.cuda()",
        "import torch\nif torch.cuda.is_available() or forced:\n    x.cuda()",
        "try:\n    x.cuda()\nexcept Exception:\n    pass",
    ],
)
def test_an_open_guard_is_none(source: str) -> None:
    assert "cuda-call" in {f.code for f in lint(source).findings if f.verdict == "unsupported"}


@pytest.mark.parametrize(
    "source",
    [
        "def f(torch):\n    torch.cuda.synchronize()",
        "import torch\ntorch = other\ntorch.cuda.synchronize()",
        "class torch:\n    pass\ntorch.cuda.synchronize()",
        "[torch.cuda for torch in things]",
    ],
)
def test_a_name_that_is_bound_otherwise_is_not_torch(source: str) -> None:
    assert lint(source).shown == []


def test_a_name_set_to_none_where_an_import_fails_is_still_the_import() -> None:
    source = (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.cuda.synchronize()"
    )
    assert lint(source).shown == ["cuda-module@5 unsupported torch.npu.synchronize"]


@pytest.mark.parametrize("target", ["nvidia-h100", "amd-mi300x", "hygon-k100"])
def test_targets_that_answer_to_cuda_have_nothing_to_change(target: str) -> None:
    source = """
        import torch, os
        import torch.distributed as dist
        x = torch.ones(2, device="cuda").cuda()
        torch.cuda.synchronize()
        dist.init_process_group("nccl")
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        if x.is_cuda:
            torch.backends.cudnn.benchmark = True
    """
    answer = lint(source, target)
    assert len(answer.findings) == 7
    assert answer.shown == []
    assert answer.fixed == lint(source, "nvidia-a100").fixed


def test_what_rocm_lacks_is_told() -> None:
    source = "import torch\ntorch.cuda.nvtx.range_pop()\nimport subprocess\n"
    source += "subprocess.run('nvidia-smi')"
    assert lint(source, "amd-mi300x").shown == [
        "cuda-module@2 unsupported",
        "nvidia-tool@4 unsupported",
    ]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("cambricon-mlu590", ["cuda-call@2 unsupported .mlu()", "nccl@3 unsupported 'cncl'"]),
        ("moorethreads-s4000", ["cuda-call@2 unsupported .musa()", "nccl@3 unsupported 'mccl'"]),
        ("intel-max", ["cuda-call@2 unsupported .xpu()", "nccl@3 unsupported 'xccl'"]),
        ("apple-mps", ['cuda-call@2 unsupported .to("mps")', "nccl@3 unsupported 'gloo'"]),
        ("google-tpu-v4", ['cuda-call@2 unsupported .to("xla")', "nccl@3 unsupported 'xla'"]),
    ],
)
def test_each_target_has_its_own_words(target: str, found: list[str]) -> None:
    source = "import torch.distributed as d\nx.cuda()\nd.init_process_group('nccl')"
    assert lint(source, target).shown == found


def test_places_count_characters_from_one() -> None:
    (found,) = lint('ä = "é"; x.cuda()').findings
    assert (found.span.line, found.span.column, found.span.end_column) == (1, 11, 18)


def test_a_comment_silences_its_line() -> None:
    answer = lint(
        "x.cuda()  # opcheck: ignore[cuda-call]\n"
        "y.cuda()  # opcheck: ignore[nccl]\n"
        "z.cuda()  # opcheck: ignore\n"
        's = "# opcheck: ignore"; w.cuda()\n'
    )
    assert answer.shown == ["cuda-call@2 unsupported .npu()", "cuda-call@4 unsupported .npu()"]
    assert answer.ignored == 2


def test_what_vendors_say_is_cited() -> None:
    (found,) = lint("import torch; torch.cuda.synchronize()", "cambricon-mlu590").findings
    assert {(fact.source, fact.path) for fact in found.evidence} == {
        ("Cambricon/torch_mlu", "tools/autogen_torch_api/api_support_lists/torch_api.yaml")
    }


@pytest.mark.parametrize(
    "source",
    [
        "if 'NCCL' in name: pass",
        "NCCL_BACKEND = 'nccl'",
        "import torch; hasattr(torch.cuda, 'nvtx')",
        "class M:\n    def cuda(self):\n        return self.x.cuda()",
        "self.is_cuda = 1\nif self.is_cuda: pass",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tensorrt",
    ],
)
def test_what_only_looks_like_it_is_left(source: str) -> None:
    assert lint(source).shown == []
