"""Cambricon: what holds for every release - chips, fallback, pairing, autocast, compat layer."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.importers.cambricon.lists import (
    DENSE,
    in_code,
    list_file,
    property_file,
    read_release,
    releases,
)
from opcheck.db.schema.vendor import VENDOR
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_AUTOCAST_DATA = Path(__file__).with_name("cambricon_autocast.yaml")
_CHIPS = {
    "mlu370": {
        "name": "MLU370", "arch": "mtp_372", "capability": [3, 0], "bfloat16": False,
        "float64": False,
    },
    "mlu590": {
        "name": "MLU590", "arch": "mtp_592", "capability": [5, 0], "bfloat16": True,
        "float64": False,
    },
    "mlu580": {
        "name": "MLU580", "arch": "mtp_592", "capability": [5, 0], "bfloat16": True,
        "float64": False,
    },
}  # fmt: skip
"""Of the device names that the runtime knows, those that current releases compile kernels for."""
_OF_CHIPS = ("chips", "chips.bang_arch", "dtype.bf16")
"""Facts that tell what is said of them here."""
_CALLS = {
    "compat.gpu_migration": "import torch_mlu.utils.gpu_migration",
    "compat.model_transfer": "import torch_mlu.utils.model_transfer",
    "compat.torch_gpu2mlu": "tools/torch_gpu2mlu/torch_gpu2mlu.py -i PATH",
}
"""What a user calls, by the fact that tells of it."""
_NOTES = (
    "yaml.derived_type",
    "yaml.sparse_autoreg",
    "fallback.fail_fallback",
    "fallback.no_fallback_ops",
    "fallback.sparse",
    "dtype.int64",
    "dtype.quantized",
    "dtype.tf32",
    "limits.large_tensor",
    "versions.wheel",
)
_PLACE = re.compile(r"<(\w+)>")
_REF = re.compile(r"(r[\w.]+)@")
_AUTOCAST = "Overloads with a kernel at AutocastPrivateUse1, by policy; all others fall through."
_MESSAGES = "The runtime's own words, by reason code. {op} stands for what varies."


def vendor_file(folder: Path) -> str:
    """Give the text of ``vendor.yaml`` from the facts and from what each release is built with."""
    return "\n".join(_lines(folder)) + "\n"


def _lines(folder: Path) -> Iterable[str]:
    facts = _Facts(folder)
    chips = {chip: {**said, "at": facts.at(*_OF_CHIPS)} for chip, said in _CHIPS.items()}
    fallback, layer, notes = _fallback(facts), _compat_layer(facts), _notes(facts)
    autocast = load_yaml(_AUTOCAST_DATA)
    messages = _messages(facts, autocast)
    policies = {"at": [facts.place(autocast)], "policies": autocast["policies"]}
    pairs = [_pair(folder, release) for release in releases(folder)]
    files = source_files(folder)
    built = {f"built-{name}": files[property_file(name)].as_data() for name in releases(folder)}
    yield "# What holds for every release of torch_mlu. Written by"
    yield "# `python -m opcheck.db.importers cambricon SOURCES`; do not edit."
    yield f"schema: {VENDOR}"
    yield "vendor: cambricon"
    yield "name: Cambricon"
    yield "device_type: mlu"
    yield from yaml_writer.section("sources", facts.sources | built)
    yield from yaml_writer.section("chips", chips)
    yield from yaml_writer.section("fallback", fallback)
    yield f"# {_AUTOCAST}"
    yield "autocast:"
    yield f"  at: {yaml_writer.flow(policies['at'])}"
    yield "  policies:"
    for policy, ops in policies["policies"].items():
        yield f"    {policy}: {yaml_writer.flow(ops)}"
    yield from yaml_writer.section("messages", messages, _MESSAGES)
    yield from yaml_writer.listing("pairing", pairs, "As each branch is built.")
    yield from yaml_writer.listing("compat_layer", layer)
    yield from yaml_writer.listing("notes", notes)
    yield from yaml_writer.end()


@dataclass
class _Facts:
    """The folder's facts by id, and the sources that were cited of them."""

    folder: Path
    sources: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        said = load_yaml(self.folder / "facts-cambricon.yaml")["facts"]
        self._by_id = {fact["id"]: fact for fact in said}

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        if name not in self._by_id:
            raise DatabaseError(
                Sentence("the facts on Cambricon have no {text}", text=repr(name)),
                Sentence("give newer facts"),
            )
        found: Mapping[str, Any] = self._by_id[name]
        return found

    def at(self, *names: str) -> list[str]:
        """Ids of the sources of some facts, each kept in the file's table of them."""
        return sorted({self._cite(source) for name in names for source in self[name]["source"]})

    def place(self, said: Mapping[str, Any]) -> str:
        """Cite a file of the newest release and a line of it."""
        newest = releases(self.folder)[-1]
        return f"{self._keep(said['file'], newest)}:{said['line']}"

    def _cite(self, source: Mapping[str, str]) -> str:
        refs = _REF.findall(source["ref"]) or releases(self.folder)
        return self._keep(source["path"], refs[-1])

    def _keep(self, path: str, release: str) -> str:
        listed = source_files(self.folder)[list_file(release)].as_data()
        name = path.removeprefix("torch_mlu/").replace("/", ".")
        name = name if release == releases(self.folder)[-1] else f"{name}-{release}"
        self.sources[name] = {**listed, "path": path}
        return name


def _fallback(facts: _Facts) -> dict[str, Any]:
    on, off = facts["fallback.default"], facts["fallback.disabled"]
    rows = in_code(facts.folder, releases(facts.folder)[-1])
    boxed = next(row for row in rows if (row["kind"], row["key"]) == ("boxed_fallback", DENSE))
    return {
        "to_cpu": True,
        "text": _PLACE.sub(r"{\1}", on["warning"]),
        "at": [facts.place(boxed)],
        "disable": f"{on['env'].partition(' ')[0]}=0 in the environment",
        "note": f"{on['text']} {off['text']}",
    }


def _messages(facts: _Facts, autocast: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    off, narrowed = facts["fallback.disabled"], facts["dtype.int64"]
    banned = {**autocast["banned"], "file": autocast["file"]}
    return {
        "autocast-banned": {"text": banned["text"], "raises": True, "at": [facts.place(banned)]},
        "fallback-disabled": {
            "text": _PLACE.sub(r"{\1}", off["error"]),
            "raises": True,
            "at": facts.at("fallback.disabled"),
        },
        "int64-narrowed-to-int32": {
            "text": narrowed["warning"],
            "raises": False,
            "at": facts.at("dtype.int64"),
        },
    }


def _pair(folder: Path, name: str) -> dict[str, Any]:
    release = read_release(folder, name)
    return {
        "torch": release.torch,
        "release": name,
        "packages": dict(release.packages),
        "at": f"built-{name}",
    }


def _compat_layer(facts: _Facts) -> list[dict[str, str]]:
    return [
        {"call": call, "effect": facts[name]["text"], "at": facts.at(name)[0]}
        for name, call in _CALLS.items()
    ]


def _notes(facts: _Facts) -> list[dict[str, Any]]:
    """Facts that bear on every release and are no conditions."""
    return [{"text": facts[name]["text"], "at": facts.at(name)} for name in _NOTES]
