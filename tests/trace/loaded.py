"""Imported by a process that is copied: has what small models and their runs come to use."""

from importlib import import_module

from opcheck.source.building import torchvision_operators
from tests.trace.small_models import HEADS

torchvision_operators.prepare()  # timm imports torchvision, and so does transformers
for name in ("torch._dynamo", "opcheck.trace.predict", "tests.trace.real_device", "timm"):
    import_module(name)
for head in HEADS.values():
    getattr(import_module("transformers"), head)  # which it imports only now
