"""Ascend: what holds for every release - chips, fallback, version pairing, compat layer."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opcheck.db.importers import yamltext
from opcheck.db.importers.sources import load_yaml, source_files
from opcheck.db.shapes import VENDOR

_PAIRING = "COMPATIBILITY.en@master.md"
_PAIR_ROW = re.compile(
    r"\|\s*(?P<torch_npu>\d[^|]*?)\s*\|\s*(?P<branch>[v\d][^|]*?)\s*\|"
    r"\s*(?P<torch>\d+\.\d+\.\d+)\s*\|\s*CANN (?P<cann>[^|]*?)\s*\|"
)
_PYTHON_ROW = re.compile(r"\|\s*PyTorch (?P<torch>\d+\.\d+\.\d+)\s*\|\s*(?P<python>[^|]*?)\s*\|")
_PYTHON = re.compile(r"Python\s*(3\.\d+)")


@dataclass(frozen=True, slots=True)
class _Chip:
    """One chip of the database: a group of SoC names that the vendor's code treats alike."""

    name: str
    product: str
    socs: str
    """Pattern of the vendor's SoC names."""
    since: str = ""
    """First release whose SoC enum has it; empty: every release in the database."""
    note: str = ""


_CHIPS = {
    "310b": _Chip("Ascend 310B", "Atlas inference, 310B series", r"Ascend310B\d"),
    "310p": _Chip("Ascend 310P", "Atlas inference, 310P series", r"Ascend310P\d"),
    "910a": _Chip(
        "Ascend 910A",
        "Atlas training, 910 series",
        r"Ascend910(PremiumA|ProA|A|ProB|B)",
        note="the SoC name Ascend910B, without a digit, is an old die of this group",
    ),
    "910b": _Chip("Ascend 910B", "Atlas A2", r"Ascend910B\d\w*"),
    "910c": _Chip("Ascend 910C", "Atlas A3", r"Ascend910_93\d\d", since="6.0.0"),
    "950": _Chip("Ascend 950", "Ascend 950DT", r"Ascend950", since="26.0.0"),
}
_FIRST_NEW_PATH = "Ascend910B1"
"""From this SoC number on, kernels are op_api by default and bfloat16 exists."""


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
    yield from yamltext.listing("pairing", _pairs(document), "As the vendor lists it.")
    yield from yamltext.section("python", _pythons(document))
    yield from yamltext.listing("compat_layer", layer)
    yield from yamltext.listing("notes", notes)


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
    enum: Mapping[str, int] = facts["chips"]["enum"]
    at = [sources.cite(source) for source in facts["chips"]["sources"]]
    at += [sources.cite(source) for source in facts["dtypes"]["sources"]]
    at = sorted(set(at))
    return {chip_id: _chip(chip_id, chip, enum, at) for chip_id, chip in _CHIPS.items()}


def _chip(chip_id: str, chip: _Chip, enum: Mapping[str, int], at: list[str]) -> dict[str, Any]:
    socs = [soc for soc in enum if re.fullmatch(chip.socs, soc)]
    numbers = [enum[soc] for soc in socs]
    new_path = min(numbers) >= enum[_FIRST_NEW_PATH]
    data: dict[str, Any] = {
        "name": chip.name,
        "product": chip.product,
        "socs": socs,
        "soc_numbers": [min(numbers), max(numbers)],
        "kernels": "op_api" if new_path else "acl_op",
        "bfloat16": new_path,
        "inf_nan": new_path and chip_id != "310b",
        "at": at,
    }
    data |= {"since": chip.since} if chip.since else {}
    data |= {"aclnn_only": True} if chip_id == "950" else {}
    return data | ({"note": chip.note} if chip.note else {})


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
