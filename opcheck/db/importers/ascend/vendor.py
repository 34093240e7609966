"""Ascend: what holds for every release - chips, fallback, autocast, pairing, compat layer."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.ascend.chips import CHIPS, Socs, common_guard
from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.schema.vendor import VENDOR
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_DATA = Path(__file__).with_name("ascend_runtime.yaml")
_FACTS = {
    "unlisted op on a sparse NPU tensor": "sparse-not-supported",
    "see fallback": "fallback-disabled",
    "Ascend950 and acl_op-only op": "no-aclnn-kernel",
    "Ascend950 and internal format": "internal-format-on-aclnn-only-chip",
    "op_api-only op, internal-format input": "internal-format-not-supported",
    "CANN too old": "aclnn-kernel-missing",
    "_to_copy with dtype=float64 only (the result is float32, silently)": "float64-becomes-float32",
    "dtype without an acl type": "dtype-without-acl-type",
    "complex tensor creation with jit compile enabled": "complex-needs-jit-compile-off",
    "explicit CPU kernels": "computed-on-host",
}
"""When, as the facts say it, to the code of the message."""
_PLACE = re.compile(r"<(\w+)>")
_NUMBER = re.compile(r"ERR\d{5}")

Cite = Callable[[Mapping[str, Any]], str]
"""Keeps a source in the file's table of them and gives its id."""


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


def messages(facts: Mapping[str, Any], cite: Cite) -> dict[str, dict[str, Any]]:
    """Code -> what the runtime says; where it is a condition's code, what that condition raises."""
    by_when = {fact.get("when"): fact for fact in facts["error_messages"]}
    missing = sorted(set(_FACTS) - set(by_when))
    if missing:
        raise DatabaseError(
            Sentence("no error message for {text} in the facts on Ascend", text=repr(missing[0]))
        )
    found = {code: _from_fact(by_when[when], cite) for when, code in _FACTS.items()}
    return found | {code: _read_here(said, cite) for code, said in _data()["messages"].items()}


def autocast(cite: Cite) -> dict[str, Any]:
    """Policies of autocast and the overloads registered under each."""
    said = _data()["autocast"]
    return {"at": [_at(said, cite)], "policies": said["policies"]}


def _from_fact(fact: Mapping[str, Any], cite: Cite) -> dict[str, Any]:
    number = _NUMBER.search(fact["kind"])
    return {
        "text": _PLACE.sub(r"{\1}", fact["text"]),
        "raises": fact["kind"].startswith("error"),
        "at": [cite(fact["source"])],
        **({"number": number[0]} if number else {}),
    }


def _read_here(said: Mapping[str, Any], cite: Cite) -> dict[str, Any]:
    kept = {key: said[key] for key in ("text", "raises", "number") if key in said}
    return {**kept, "at": [_at(said, cite)]}


def _at(said: Mapping[str, Any], cite: Cite) -> str:
    return f"{cite({**_data()['framework'], 'path': said['path']})}:{said['line']}"


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
    yield from yaml_writer.section("sources", sources.data)
    yield from yaml_writer.section("chips", chips)
    yield from yaml_writer.section("fallback", fallback)
    yield from _autocast(policies)
    yield from yaml_writer.section("messages", said, _MESSAGES)
    yield from yaml_writer.listing("pairing", _pairs(document), "As the vendor lists it.")
    yield from yaml_writer.section("python", _pythons(document))
    yield from yaml_writer.listing("compat_layer", layer)
    yield from yaml_writer.listing("notes", notes)
    yield from yaml_writer.end()


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
    yield f"  at: {yaml_writer.flow(said['at'])}"
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
