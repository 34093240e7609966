"""Imported by a process that is copied: has what runs the models of the zoo."""

from importlib import import_module

from opcheck.source.building import torchvision_operators
from tests.preloaded.libraries import LIBRARIES

torchvision_operators.prepare()  # as before each model is made
for name in (
    "torch._dynamo", "opcheck.emulate.agreement", "opcheck.emulate.session",
    "opcheck.trace.predict", "tests.emulate.judged", "tests.zoo", *LIBRARIES,
):  # fmt: skip
    import_module(name)
