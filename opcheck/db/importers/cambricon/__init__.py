"""Cambricon: torch_mlu."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import Importer, conditions_section
from opcheck.db.importers.cambricon import lists
from opcheck.db.importers.cambricon.conditions import Conditions, gradients
from opcheck.db.importers.cambricon.lists import Tables
from opcheck.db.importers.cambricon.vendor import vendor_file
from opcheck.db.schema.vendor import MATRIX
from opcheck.db.versions import major_minor
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_NOT_ATEN = "Listed under aten, but no overload of that torch: never registered."
_OPERATORS = """\
overload: {at: source and line, impl: what the kernel is written with, keys: if not PrivateUse1
alone}."""
_GRADIENTS = """\
Gradients of the vendor's own, in place of PyTorch's: formulas, the arguments whose gradient one
computes and the overloads that it calls."""


class CambriconImporter(Importer):
    """Reads torch_mlu's list and its registrations in C++, and what its tables say of both."""

    name = "cambricon"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Branches of torch_mlu that the folder holds the list of."""
        return lists.releases(sources / self.name)

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence(
                    "{text} has no list of torch_mlu {version}",
                    text=sources / self.name,
                    version=release,
                ),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return "\n".join(_lines(sources, release)) + "\n"

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": vendor_file(sources / self.name)}


def _lines(sources: Path, name: str) -> Iterable[str]:
    folder, pytorch = sources / "cambricon", sources / "pytorch"
    release, tables = lists.read_release(folder, name), Tables(folder, name)
    listed = lists.read_list(folder / lists.list_file(name))
    in_code = lists.in_code(folder, name)
    kernels = lists.registrations(listed, in_code, release.torch, pytorch)
    kernels = dict(sorted(kernels.items()))
    torch, used = major_minor(release.torch), tables.sources()
    yield f"# Operators that torch_mlu {name} registers. Written by"
    yield f"# `python -m opcheck.db.importers cambricon SOURCES --release {name}`; do not edit."
    yield f"schema: {MATRIX}"
    yield "vendor: cambricon"
    yield f"release: {name}"
    yield f'date: "{used["functions"]["date"]}"'
    yield f"torch: {yaml_writer.flow([torch])}"
    yield from yaml_writer.section("sources", used)
    no_overload = {torch: lists.not_aten(listed, release.torch, pytorch)}
    yield from yaml_writer.section("not_aten", no_overload, _NOT_ATEN)
    operators = {op: kernel.as_data() for op, kernel in kernels.items()}
    yield from yaml_writer.section("operators", operators, _OPERATORS)
    yield from yaml_writer.section("gradients", gradients(name, kernels), _GRADIENTS)
    conditions = Conditions(tables, listed, kernels).lines()
    yield from conditions_section(conditions)
    yield from yaml_writer.end()
