"""Moore Threads: what holds for every release - chips, fallback, pairing, compat layer."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.importers.moorethreads import lists
from opcheck.db.importers.moorethreads.lists import code
from opcheck.db.schema.vendor import VENDOR
from opcheck.db.versions import version_key

_REPO = "MooreThreads/torch_musa"
_NO_KERNEL = "Could not run '{op}' with arguments from the 'musa' backend."
"""PyTorch's own words; the vendor has none for it."""
_BFLOAT16 = "mp_22"
_LAYER = {
    "compat.musa_converter": "musa-converter -r PATH",
    "compat.extension": "torch_musa.utils.musa_extension.MUSAExtension",
}
"""Fact -> how it is called."""
_NOTES = (
    "patched_torch",
    "composite.overrides",
    "dtype.double_cast",
    "dtype.fp64_build",
    "limits.sdpa",
    "chips",
    "graph",
    "versions.check",
)
"""Facts that bear on every release and are not conditions."""


def chips(release: str) -> dict[str, str]:
    """Chips that a release knows -> compute capability."""
    said = {chip: data for chip, data in code()["chips"].items() if chip != "source"}
    return {
        chip: data["arch"]
        for chip, data in sorted(said.items())
        if version_key(data.get("since", "0")) <= version_key(release)
    }


def vendor_file(folder: Path) -> str:
    """Give the text of ``vendor.yaml`` from the facts."""
    return "\n".join(_lines(folder)) + "\n"


def _lines(folder: Path) -> Iterable[str]:
    facts = {fact["id"]: fact for fact in load_yaml(folder / "facts-moorethreads.yaml")["facts"]}
    sources = _Sources(folder)
    pairs = list(_pairs(folder, facts, sources))
    sections = (
        *yaml_writer.section("chips", _chips(sources)),
        *yaml_writer.section("fallback", _fallback(facts, sources)),
        *yaml_writer.listing(
            "pairing", pairs, "The torch that each tag's build.sh builds against."
        ),
        *yaml_writer.listing("compat_layer", _layer(facts, sources)),
        *yaml_writer.listing("notes", _notes(facts, sources)),
    )
    yield "# What holds for every release of torch_musa. Written by"
    yield "# `python -m opcheck.db.importers moorethreads SOURCES`; do not edit."
    yield f"schema: {VENDOR}"
    yield "vendor: moorethreads"
    yield "name: Moore Threads"
    yield "device_type: musa"
    yield from yaml_writer.section("sources", sources.data)
    yield from sections
    yield from yaml_writer.end()


class _Sources:
    """Gives every cited file a short id: its name, with its release's if not of the newest one."""

    def __init__(self, folder: Path) -> None:
        self.data: dict[str, dict[str, str]] = {}
        files = source_files(folder)
        known = (release for release in lists.releases(folder) if release != lists.FIRST)
        self._files = {release: files[lists.list_name(release)] for release in known}
        self._newest = max(self._files, key=version_key)

    def of_fact(self, source: Mapping[str, str]) -> str:
        """Keep a source of the facts; its id. One of many tags stands for the newest of them."""
        tag = source["ref"].partition("@")[0].rpartition(" ")[2].removeprefix("v")
        return self.add(tag if tag in self._files else self._newest, source["path"])

    def add(self, release: str, path: str, commit: str = "") -> str:
        """Keep a file of the plugin at a release; its id."""
        file = self._files.get(release)
        data = {"repo": _REPO, "ref": f"v{release}", "commit": file.commit if file else commit}
        data |= {"path": path} | ({"date": file.date} if file else {})
        name = path.rpartition("/")[2].partition(".")[0]
        return self.keep(name if release == self._newest else f"{name}-{release}", data)

    def keep(self, name: str, source: Mapping[str, str]) -> str:
        """Keep a source under a name, or under a numbered one if that is another file's; its id."""
        kept = dict(source)
        free = (name if n == 1 else f"{name}-{n}" for n in range(1, len(self.data) + 2))
        chosen = next(n for n in free if self.data.get(n, kept) == kept)
        self.data[chosen] = kept
        return chosen


def _chips(sources: _Sources) -> dict[str, Any]:
    said = dict(code()["chips"])
    llama = said.pop("source")
    return {
        chip: {
            "name": data["name"],
            "arch": data["arch"],
            "capability": [int(digit) for digit in data["arch"].removeprefix("mp_")],
            "bfloat16": data["arch"] >= _BFLOAT16,
            "at": [_chip_source(sources, chip, llama, data)],
            **({"since": data["since"]} if "since" in data else {}),
        }
        for chip, data in said.items()
    }


def _chip_source(
    sources: _Sources, chip: str, usual: Mapping[str, str], data: Mapping[str, Any]
) -> str:
    """Cite who says which architecture a chip is of."""
    name = sources.keep(chip, data["source"]) if "source" in data else sources.keep("llama", usual)
    return f"{name}:{data['line']}" if "line" in data else name


def _fallback(facts: Mapping[str, Any], sources: _Sources) -> dict[str, Any]:
    fact = facts["fallback"]
    at = [sources.of_fact(source) for source in fact["source"]]
    return {"to_cpu": False, "text": _NO_KERNEL, "at": at, "note": fact["text"]}


def _pairs(folder: Path, facts: Mapping[str, Any], sources: _Sources) -> Iterable[dict[str, Any]]:
    for release, torch in lists.torch_of(folder).items():
        build = code()["builds"].get(release)
        if build is None:
            continue
        _, *packages = facts["versions"]["value"][f"v{release}"].split("; ")
        at = sources.add(release, "build.sh", build.get("commit", ""))
        row: dict[str, Any] = {"release": release, "torch": torch}
        row |= {"packages": {"MUSA SDK": ", ".join(packages)}} if packages else {}
        yield {**row, "at": f"{at}:{build['line']}"}


def _layer(facts: Mapping[str, Any], sources: _Sources) -> Iterable[dict[str, str]]:
    for name, call in _LAYER.items():
        fact = facts[name]
        yield {"call": call, "effect": fact["text"], "at": sources.of_fact(fact["source"][0])}


def _notes(facts: Mapping[str, Any], sources: _Sources) -> Iterable[dict[str, Any]]:
    for name in _NOTES:
        fact = facts[name]
        at = list(dict.fromkeys(sources.of_fact(source) for source in fact["source"]))
        yield {"text": fact["text"], "at": at}
