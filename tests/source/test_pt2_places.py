"""A stack trace points to the user's own line."""

from pathlib import Path

import pytest

from opcheck.source.pt2.stack_trace import generalise, locate, module_path, module_paths

SITE = "/opt/venv/lib/python3.11/site-packages"
TORCH = f'  File "{SITE}/torch/nn/modules/conv.py", line 10, in forward\n    return f()'
LIBRARY = f'  File "{SITE}/timm/layers/mlp.py", line 44, in forward\n    x = self.fc1(x)'
STANDARD = '  File "/usr/lib/python3.11/contextlib.py", line 81, in inner\n    return func()'


def own(path: str, line: int) -> str:
    return f'  File "{path}", line {line}, in forward\n    y = g(x)'


@pytest.mark.parametrize(
    ("frames", "place"),
    [
        ([own("/home/me/project/net.py", 7), LIBRARY, TORCH], ("net.py", 7)),
        ([own("/home/me/project/net.py", 7), own("/home/me/project/net.py", 9)], ("net.py", 9)),
        ([LIBRARY, TORCH], ("timm/layers/mlp.py", 44)),
        ([LIBRARY, own("/here/models/net.py", 3), STANDARD, TORCH], ("models/net.py", 3)),
        ([TORCH, STANDARD], ("", 0)),
        ([own("<eval_with_key>.3", 5)], ("", 0)),
        ([own("torch/fx/passes/runtime_assert.py", 24)], ("", 0)),
        ([own("/src/pytorch/torch/nn/functional.py", 24)], ("", 0)),
        ([own(r"C:\Users\me\Lib\site-packages\timm\vit.py", 4)], ("timm/vit.py", 4)),
        ([own(r"C:\Users\me\net.py", 4)], ("net.py", 4)),
        (["no frame at all"], ("", 0)),
    ],
)
def test_the_innermost_line_of_the_users_is_chosen(
    frames: list[str], place: tuple[str, int]
) -> None:
    trace = "\n".join(frames)
    assert locate([trace], Path("/here")) == {trace: place}


def test_own_files_elsewhere_are_given_from_their_common_folder() -> None:
    traces = [own("/home/me/project/models/net.py", 1), own("/home/me/project/layers/norm.py", 2)]
    assert locate(traces, Path("/here")) == {
        traces[0]: ("models/net.py", 1),
        traces[1]: ("layers/norm.py", 2),
    }


@pytest.mark.parametrize(
    ("stack", "path"),
    [
        ("", ""),
        ("L__self__,,m.Net", ""),
        ("L__self__,,m.Net;L__self__a.0,a.0,torch.nn.Linear", "a.0"),
        ("L__self__,,m.Net;L__self__relu@1,relu@1,torch.nn.ReLU", "relu"),
        ("L__self__,L['self'],m.Net;x,L['self'].a.b,torch.nn.ReLU", "a.b"),
        ("L__self__,,m.Net;1,_export_root,m.Net;2,_export_root.a.b,torch.nn.ReLU", "a.b"),
        ("L__self__,,m.Net;1,_export_root,m.Net", ""),
        ("_empty_nn_module_stack_from_metadata_hook," * 2 + "x", ""),
    ],
)
def test_the_innermost_module_is_named_as_in_the_model(stack: str, path: str) -> None:
    assert module_path(stack) == path
    assert path in module_paths(stack) or not stack


def test_only_whole_numbers_become_stars() -> None:
    assert generalise("layer1.0.conv1.12") == "layer1.*.conv1.*"
