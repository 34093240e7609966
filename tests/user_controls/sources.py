"""Where the files are that controls come from."""

COMMITS = {
    "Ascend/op-plugin": "517f2e7d0f202f38b76310706cb977ca2388ad21",
    "Cambricon/torch_mlu": "d578002c0863bfa1ad30fae6b99e4fb3a79dff48",
    "MooreThreads/torch_musa": "8b583b3f2fd0d9d3d9e74b9ec588a25d8bed1a30",
    "flagos-ai/Torch-FL": "1adbc97478fb3f40dffdbd19232346727a6c0953",
    "intel/torch-xpu-ops": "ab84f925a234f33ee70a29af59c03aefdeff68c3",
    "pytorch/TensorRT": "d7f2062810df37e4bbcfc9065b5f44f09aca7156",
    "pytorch/pytorch": "001544b6a2eb13e2e0b2b8282469d812f62f123c",
    "pytorch/xla": "41398bfff334fc8d3b1c00be6ea8cc5411f6d6bf",
    "vllm-project/vllm-ascend": "182b75ea84ff13ece27b57391331ef8935410aea",
}


def link(source: str) -> str:
    """A source as a link: GitHub leads from an issue's address to a pull request's."""
    project, mark, path = source.partition(":")
    if mark:
        return f"[{source}](https://github.com/{project}/blob/{COMMITS[project]}/{path})"
    project, _, number = source.partition("#")
    return f"[{source}](https://github.com/{project}/issues/{number})"
