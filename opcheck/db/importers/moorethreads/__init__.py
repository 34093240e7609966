"""Moore Threads: torch_musa."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import Importer, conditions_section, source_files
from opcheck.db.importers.moorethreads import lists
from opcheck.db.importers.moorethreads.conditions import Release, Table, conditions, table_of
from opcheck.db.importers.moorethreads.lists import FIRST, Kernel, code, gradients, patched
from opcheck.db.importers.moorethreads.vendor import chips, vendor_file
from opcheck.db.importers.shared import facts
from opcheck.db.schema.vendor import MATRIX
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_NOT_ATEN = "Registered, but no overload of that torch: never asked for."
_OWN = "Operators that the vendor's own PyTorch has, and no other."
_OPERATORS = """\
overload: {at: source and line, impl: the kernel's function; Legacy is PyTorch's CUDA kernel,
ported, keys: if not PrivateUse1 alone, method: if not registered}."""
_GRADIENTS = """\
Gradients of the vendor's own, in place of PyTorch's: the arguments whose gradient a formula
computes, and the overloads that it calls."""
_NEAREST = "of the release nearest to {release}, whose own code was not searched"


class MooreThreadsImporter(Importer):
    """Reads torch_musa's list and the tables of what its code checks."""

    name = "moorethreads"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Tags of torch_musa that the folder tells the operators of."""
        return lists.releases(sources / self.name)

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence(
                    "{text} has no list of torch_musa {version}",
                    text=sources / self.name,
                    version=release,
                ),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return "\n".join(_lines(sources, release)) + "\n"

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": vendor_file(sources / self.name)}


def read_release(sources: Path, release: str) -> Release:
    """Everything that conditions of a release are made from."""
    folder = sources / "moorethreads"
    own = dict(patched(lists.vendor_schemas(folder, release)))
    kernels = {**lists.registrations(sources, release), **_vision(release), **own}
    for name in lists.unknown_names(sources, release):
        del kernels[name]
    return Release(
        release,
        dict(sorted(kernels.items())),
        chips(release),
        table_of(folder, "runtime_checks", release),
        table_of(folder, "kernel_dtype_dispatch", release),
    )


def _lines(sources: Path, release: str) -> Iterable[str]:
    read = read_release(sources, release)
    folder = sources / "moorethreads"
    used = _used(folder, read)
    torch = major_minor(lists.torch_of(folder)[release])
    yield f"# Operators that torch_musa {release} registers. Written by"
    again = f"python -m opcheck.db.importers moorethreads SOURCES --release {release}"
    yield f"# `{again}`; do not edit."
    yield f"schema: {MATRIX}"
    yield "vendor: moorethreads"
    yield f'release: "{release}"'
    yield f'date: "{used["code"]["date"]}"'
    yield f"torch: {yaml_writer.flow([torch])}"
    yield from yaml_writer.section("sources", used)
    unknown = lists.unknown_names(sources, release)
    yield from yaml_writer.section("not_aten", {torch: unknown} if unknown else {}, _NOT_ATEN)
    schemas = lists.vendor_schemas(folder, release)
    own = [op for op in read.kernels if op.removeprefix("aten::") in schemas]
    yield from yaml_writer.listing("own_names", own, _OWN)
    operators = {op: kernel.as_data() for op, kernel in read.kernels.items()}
    yield from yaml_writer.section("operators", operators, _OPERATORS)
    yield from yaml_writer.section("gradients", gradients(schemas), _GRADIENTS)
    yield from conditions_section(conditions(read))
    yield from yaml_writer.end()


def _vision(release: str) -> dict[str, Kernel]:
    """Kernels of torchvision, where the vendor's torchvision has them and the plugin tests them."""
    said = code()["vision"]
    if version_key(release) < version_key(said["since"]):
        return {}
    impl = ("MooreThreads/vision",)
    return {
        op: Kernel(f"code:{said['file']}:{line}", impl, (lists.DENSE,), "tested")
        for op, line in said["ops"].items()
    }


def _used(folder: Path, read: Release) -> dict[str, dict[str, Any]]:
    """The file's table of sources."""
    own = _commit(folder, read.name)
    used = {"code": {**own, "path": "torch_musa/csrc"}, "cpp": _searched(folder, read.name)}
    if read.name == FIRST:
        return used
    listed = source_files(folder)[lists.list_name(read.name)]
    tables = {"checks": read.checks, "kernels": read.dispatch}
    return {
        **used,
        "list": listed.as_data(),
        **{name: _table(folder, read.name, table) for name, table in tables.items()},
        **_threads(read.name),
    }


def _threads(release: str) -> dict[str, dict[str, str]]:
    """Threads about what the code of a release does."""
    cited = {
        fact["at"]
        for fact in code()["stated"]
        if "at" in fact and facts.citation(fact["seen"], release, "code")
    }
    return {name: dict(thread) for name, thread in code()["threads"].items() if name in cited}


def _searched(folder: Path, release: str) -> dict[str, str]:
    surveyed = lists.survey_of(folder, release)
    return _noted(_commit(folder, surveyed), surveyed, release)


def _table(folder: Path, release: str, table: Table) -> dict[str, str]:
    return _noted(_commit(folder, table.release), table.release, release)


def _noted(source: Mapping[str, str], of: str, release: str) -> dict[str, str]:
    found = {**source, "path": "torch_musa/csrc"}
    return found | ({"note": _NEAREST.format(release=release)} if of != release else {})


def _commit(folder: Path, release: str) -> dict[str, str]:
    """Where the code of a release is."""
    if release in code()["first"]:
        return dict(code()["first"][release])
    return source_files(folder)[lists.list_name(release)].as_data()
