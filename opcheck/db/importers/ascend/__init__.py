"""Huawei Ascend: torch_npu and op-plugin.

What runs on the host CPU is known from three places: ``vendor.py`` (the fallback of all that has no
kernel), ``code.py`` with ``ascend_code.yaml`` (kernels that compute there themselves) and
``documented.py`` (what the operator lists say may fall back).
"""

import re
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.ascend.chips import Socs
from opcheck.db.importers.ascend.code import code_advisories, code_conditions, code_sources
from opcheck.db.importers.ascend.documented import Documented
from opcheck.db.importers.ascend.gradients import derivatives, gradient_source, gradients
from opcheck.db.importers.ascend.lists import (
    DENSE,
    Kernel,
    Lists,
    OperatorList,
    filtered,
    merged,
    read_native_list,
    read_plugin_list,
    registrations,
)
from opcheck.db.importers.ascend.pages import Pages
from opcheck.db.importers.ascend.refusals import (
    Listed,
    Refusals,
    read_facts,
    read_newer_facts,
)
from opcheck.db.importers.ascend.vendor import vendor_file
from opcheck.db.importers.base import Importer, conditions_section, load_yaml, source_files
from opcheck.db.importers.shared import operator_list
from opcheck.db.schema.tables import DTYPES
from opcheck.db.schema.vendor import MATRIX
from opcheck.db.versions import nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_OLDEST_TORCH = "2.1"
"""Older versions have no boxed fallback and are paired with no release from 6.0.0 on."""
_OPERATORS = """\
overload: {at: source and line, impl: the vendor's kernel paths, keys: if not PrivateUse1 alone,
torch: spans of versions, if not every one of the file}. A list where torch versions differ."""
_NOT_ATEN = "Listed as official, but no overload of that torch: never registered under aten."
_GRADIENTS = """\
Gradients of the vendor's own, in place of PyTorch's: formulas, the arguments whose gradient one
computes and the overloads that it calls. A list where torch versions or chips differ. unless: uses
that take another path."""
_ADVISORIES = "What holds for chips as a whole, whatever runs on them."
_DOCUMENTED = """\
Dtypes that the native-API tables give an argument (only) or deny it (not). Every API that calls an
operator, in every form of it, was asked, in every table of the release: a dtype is left out here
only where all of them leave it out, and an overload with an API that lists nothing is not here."""
_REFUSALS = """\
What aclnn kernels leave out of the arguments that an overload hands them as they came: dtypes
(not), of tensors without dimensions only with scalars, or more dimensions than most. It stands
where each kernel's page says that it refuses them, and its code checks and lists none of them.
inferred: by kernels of a newer CANN, which take no fewer dtypes or dimensions."""
_SECOND = """\
What sources of another kind say of the uses that the tables deny, by chip and argument: dtypes that
run, or others_than some that do not; of a line with neither, every use."""


class AscendImporter(Importer):
    """Merges op-plugin's list with torch_npu's, and adds what documents and code say of them."""

    name = "ascend"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of op-plugin that the folder holds."""
        found = {
            path.stem.partition("@")[2].partition("-")[0]
            for path in (sources / self.name).glob("op_plugin_functions@*.yaml")
        }
        return tuple(sorted(found, key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence(
                    "{text} has no list of op-plugin {version}",
                    text=sources / self.name,
                    version=release,
                ),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return "\n".join(_lines(sources, release)) + "\n"

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": vendor_file(sources / self.name)}


def read_lists(folder: Path, release: str) -> Lists:
    """Read op-plugin's list of one release and the torch_npu list nearest to it."""
    path = min(folder.glob(f"op_plugin_functions@{release}*.yaml"))
    native = _nearest_file(folder, "npu_native_functions@v*-*.yaml", release)
    plugin = read_plugin_list(path, path.stem.partition("-v")[2].replace("r", "."))
    return Lists(
        plugin,
        read_native_list(native),
        derivatives(folder, release, plugin.torch),
        {"plugin": path.name, "native": native.name},
    )


def _nearest_file(folder: Path, pattern: str, release: str) -> Path:
    """The file of this release, or of the release nearest to it."""
    by_release: dict[str, Path] = {}
    for path in sorted(folder.glob(pattern)):
        by_release.setdefault(re.split("[@-]", path.stem)[-1], path)
    if not by_release:
        raise DatabaseError(
            Sentence("{text} has no {name}", text=folder, name=pattern),
            Sentence("give the folder of sources"),
        )
    return by_release[nearest(release, tuple(by_release))]


def served_torch(plugin: OperatorList, known: tuple[str, ...]) -> tuple[str, ...]:
    """The torch versions that a list speaks of, and whose own operators are known."""
    oldest = version_key(_OLDEST_TORCH)
    return tuple(v for v in plugin.torch if v in known and version_key(v) >= oldest)


def read_socs(folder: Path) -> Socs:
    """Read the vendor's SoC enum from the facts."""
    return Socs(load_yaml(folder / "facts-ascend.yaml")["chips"]["enum"])


def _lines(sources: Path, release: str) -> Iterable[str]:
    upstream_folder, folder = sources / "pytorch", sources / "ascend"
    lists = read_lists(folder, release)
    served = served_torch(lists.plugin, operator_list.versions(upstream_folder))
    by_torch = {torch: registrations(lists, torch, upstream_folder) for torch in served}
    listed, socs = _listed(by_torch), read_socs(folder)
    documented = Documented(sources, release, listed, served[-1])
    conditions = (*code_conditions(release, listed, socs, served), *documented.conditions())
    left_out = tuple(documented.dtypes())
    functions = operator_list.functions(upstream_folder, served[-1])
    pages = Pages(release, listed, socs, functions)
    seconds = tuple(pages.second_sources((*conditions, *left_out)))
    elsewhere = _elsewhere(documented, seconds)
    facts = (read_facts(release), read_newer_facts(release))
    kernels, newer = (Refusals(f, release, listed, socs, functions, elsewhere) for f in facts)
    refusals = tuple(kernels.lines())
    refusals += tuple(newer.inferred(refusals))
    used = _used(folder, release, lists) | documented.sources() | pages.sources(seconds)
    used |= kernels.sources(refusals) | newer.sources(refusals)
    yield f"# Operators that op-plugin {release} and torch_npu register. Written by"
    yield f"# `python -m opcheck.db.importers ascend SOURCES --release {release}`; do not edit."
    yield f"schema: {MATRIX}"
    yield "vendor: ascend"
    yield f'release: "{release}"'
    yield f'date: "{max(source["date"] for source in used.values() if "date" in source)}"'
    yield f"torch: {yaml_writer.flow(served)}"
    yield from yaml_writer.section("sources", used)
    not_aten = {torch: filtered(lists, torch, upstream_folder) for torch in served}
    yield from yaml_writer.section("not_aten", not_aten, _NOT_ATEN)
    yield from yaml_writer.section("operators", merged(by_torch), _OPERATORS)
    own = gradients(lists, release, served, upstream_folder, socs)
    yield from yaml_writer.section("gradients", own, _GRADIENTS)
    yield from yaml_writer.listing("advisories", code_advisories(release, socs), _ADVISORIES)
    yield from conditions_section(conditions)
    about = f"{_DOCUMENTED}\n{documented.figures()}"
    yield from yaml_writer.listing("documented", left_out, about)
    if refusals:
        yield from yaml_writer.listing("refusals", refusals, _REFUSALS)
    yield from yaml_writer.listing("second_sources", seconds, _SECOND)
    yield from yaml_writer.end()


def _elsewhere(documented: Documented, seconds: Iterable[Mapping[str, Any]]) -> Listed:
    """Dtypes that tables of native APIs, or second sources, list of an argument on a chip."""
    found: dict[tuple[str, str, str], frozenset[str]] = {}
    for said in seconds:
        dtypes = frozenset(DTYPES[word] for word in said.get("dtypes", ()))
        for key in product(said["ops"], [said.get("argument", "")], said.get("chips", ())):
            found[key] = found.get(key, frozenset()) | dtypes
    return lambda *key: documented.listed(*key) | found.get(key, frozenset())


def _listed(by_torch: Mapping[str, Mapping[str, Kernel]]) -> dict[str, tuple[str, ...]]:
    """Kernel paths of every overload, by the newest torch version that registers it."""
    found: dict[str, tuple[str, ...]] = {}
    for kernels in by_torch.values():
        found |= {op: kernel.paths for op, kernel in kernels.items() if DENSE in kernel.keys}
    return dict(sorted(found.items()))


def _used(folder: Path, release: str, lists: Lists) -> dict[str, dict[str, Any]]:
    """The file's table of sources, the native-API tables apart."""
    files = source_files(folder)
    used = {name: files[file].as_data() for name, file in lists.files.items()}
    if files[lists.files["native"]].ref.rpartition("-")[2] != release:
        used["native"]["note"] = f"of the release nearest to {release}, whose own was not at hand"
    used |= code_sources(release)
    if lists.derived:
        used["derivatives"] = gradient_source(folder, release, used["plugin"])
    used["foreach"] = {**used["framework"], "path": _generator(release)}
    return used


def _generator(release: str) -> str:
    """The script that registers PyTorch's own slow kernels for _foreach_ operators."""
    package = "torchnpugen" if version_key(release) >= version_key("26.0.0") else "codegen"
    return f"{package}/gen_backend_stubs.py"
