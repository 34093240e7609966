"""Ascend: what holds for every release - chips, fallback, version pairing, compat layer."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers import yamltext
from opcheck.db.importers.ascend_chips import CHIPS, Socs, common_guard
from opcheck.db.importers.ascend_runtime import autocast, messages
from opcheck.db.importers.sources import load_yaml, source_files
from opcheck.db.shapes.vendor import VENDOR

_PAIRING = "COMPATIBILITY.en@master.md"
_PAIR_ROW = re.compile(
    r"\|\s*(?P<torch_npu>\d[^|]*?)\s*\|\s*(?P<branch>[v\d][^|]*?)\s*\|"
    r"\s*(?P<torch>\d+\.\d+\.\d+)\s*\|\s*CANN (?P<cann>[^|]*?)\s*\|"
)
_PYTHON_ROW = re.compile(r"\|\s*PyTorch (?P<torch>\d+\.\d+\.\d+)\s*\|\s*(?P<python>[^|]*?)\s*\|")
_CHIP_FILES = frozenset(
    {
        "torch_npu/csrc/core/npu/NpuVariables.h",
        "torch_npu/csrc/core/npu/NpuVariables.cpp",
        "torch_npu/csrc/framework/interface/EnvVariables.cpp",
    }
)
"""Where the code numbers its SoCs and asks for them."""
_AUTOCAST = "Overloads with a kernel at AutocastPrivateUse1, by policy; all others fall through."
_MESSAGES = """\
The runtime's own words, by reason code. {op} and the like stand for what varies; number: the error
number that a line after the text gives."""
_PYTHON = re.compile(r"Python\s*(3\.\d+)")


def vendor_file(folder: Path) -> str:
    """Give the text of ``vendor.yaml`` from the facts and the pairing document."""
    return "\n".join(_lines(folder)) + "\n"


def _lines(folder: Path) -> Iterable[str]:
    facts = load_yaml(folder / "facts-ascend.yaml")
    sources = _Sources()
    chips = _chips(facts, sources)
    fallback = _fallback(facts, sources)
    layer = _compat_layer(facts, sources)
    notes = _notes(facts, sources)
    policies, said = autocast(sources.cite), messages(facts, sources.cite)
    sources.add("pairing", source_files(folder)[_PAIRING].as_data())
    document = (folder / _PAIRING).read_text(encoding="utf-8").splitlines()
    yield "# What holds for every release of torch_npu. Written by"
    yield "# `python -m opcheck.db.importers ascend SOURCES`; do not edit."
    yield f"schema: {VENDOR}"
    yield "vendor: ascend"
    yield "name: Huawei Ascend"
    yield "device_type: npu"
    yield from yamltext.section("sources", sources.data)
    yield from yamltext.section("chips", chips)
    yield from yamltext.section("fallback", fallback)
    yield from _autocast(policies)
    yield from yamltext.section("messages", said, _MESSAGES)
    yield from yamltext.listing("pairing", _pairs(document), "As the vendor lists it.")
    yield from yamltext.section("python", _pythons(document))
    yield from yamltext.listing("compat_layer", layer)
    yield from yamltext.listing("notes", notes)
    yield from yamltext.end()


class _Sources:
    """Gives every cited file a short id, the file's own name where that is free."""

    def __init__(self) -> None:
        self.data: dict[str, dict[str, str]] = {}

    def add(self, name: str, source: Mapping[str, str]) -> str:
        """Keep ``source`` under ``name``, or under a numbered name if that is another file."""
        kept = {key: str(source[key]) for key in ("repo", "ref", "commit", "path")}
        kept |= {"date": source["date"]} if "date" in source else {}
        free = (name if n == 1 else f"{name}-{n}" for n in range(1, len(self.data) + 2))
        chosen = next(n for n in free if self.data.get(n, kept) == kept)
        self.data[chosen] = kept
        return chosen

    def cite(self, source: Mapping[str, str]) -> str:
        """Keep a source of the facts; its id."""
        return self.add(Path(source["path"].partition(",")[0]).stem, source)


def _chips(facts: Mapping[str, Any], sources: _Sources) -> dict[str, Any]:
    socs = Socs(facts["chips"]["enum"])
    cited = (*facts["chips"]["sources"], *facts["dtypes"]["sources"])
    at = sorted({sources.cite(source) for source in cited if source["path"] in _CHIP_FILES})
    return {chip: _chip(chip, socs, at) for chip in CHIPS}


def _chip(chip: str, socs: Socs, at: list[str]) -> dict[str, Any]:
    said = CHIPS[chip]
    numbers = [socs.numbers[soc] for soc in socs.of(chip)]
    data: dict[str, Any] = {
        "name": said.name,
        "product": said.product,
        "socs": socs.of(chip),
        "soc_numbers": [min(numbers), max(numbers)],
        "kernels": socs.kernels(chip, ()),
        "bfloat16": socs.new(chip),
        "inf_nan": common_guard(chip),
        "at": at,
    }
    data |= {"since": said.since} if said.since != "0" else {}
    data |= {"aclnn_only": True} if chip == "950" else {}
    return data | ({"note": said.note} if said.note else {})


def _fallback(facts: Mapping[str, Any], sources: _Sources) -> dict[str, Any]:
    boxed, disabled = (
        next(item for item in facts["fallback"] if word in item["fact"])
        for word in ("boxed fallback on PrivateUse1", "TORCH_NPU_FALLBACK_CPU_DISABLE")
    )
    warning = next(
        item for item in facts["error_messages"] if item["when"] == "unlisted op, boxed fallback"
    )
    return {
        "to_cpu": True,
        "text": warning["text"].replace("<ns::op.overload>", "{op}"),
        "at": [sources.cite(warning["source"]), sources.cite(boxed["source"])],
        "disable": f"{disabled['fact']} ({disabled['torch']})",
        "note": boxed["fact"],
    }


def _autocast(said: Mapping[str, Any]) -> Iterable[str]:
    yield f"# {_AUTOCAST}"
    yield "autocast:"
    yield f"  at: {yamltext.flow(said['at'])}"
    yield "  policies:"
    for policy, ops in said["policies"].items():
        yield f"    {policy}:"
        yield from (f"      - {op}" for op in ops)


def _pairs(document: list[str]) -> Iterable[dict[str, str]]:
    for number, line in enumerate(document, 1):
        if match := _PAIR_ROW.fullmatch(line.strip()):
            yield {**match.groupdict(), "at": f"pairing:{number}"}


def _pythons(document: list[str]) -> dict[str, list[str]]:
    rows = (_PYTHON_ROW.fullmatch(line.strip()) for line in document)
    return {row["torch"]: _PYTHON.findall(row["python"]) for row in rows if row}


def _compat_layer(facts: Mapping[str, Any], sources: _Sources) -> list[dict[str, str]]:
    return [
        {
            key: str(value)
            for key, value in (
                ("call", call["call"]),
                ("since", call.get("since")),
                ("effect", call.get("effect")),
                ("at", sources.cite(call["source"])),
            )
            if value
        }
        for call in facts["compat_layer"]["calls"]
    ]


def _notes(facts: Mapping[str, Any], sources: _Sources) -> list[dict[str, Any]]:
    """Facts that bear on every release and are not yet conditions."""
    cited = [
        *((rule["fact"], rule["source"]) for rule in facts["acl_op_vs_op_api"]["rules"]),
        *((item["fact"], item["source"]) for item in facts["fallback"]),
        *(
            (item["what"], item["source"])
            for item in facts["registrations_outside_yaml"]
            if item["namespace"] == "torchvision"
        ),
    ]
    return [{"text": text, "at": [sources.cite(source)]} for text, source in cited]
