"""Imported by a process that is copied: has what runs PyTorch's samples of operators."""

from importlib import import_module

for name in (
    "torch._dynamo", "torch.testing._internal.common_methods_invocations",
    "opcheck.emulate.agreement", "opcheck.emulate.session", "opcheck.trace.predict",
    "tests.emulate.judged", "tests.zoo",
):  # fmt: skip
    import_module(name)
