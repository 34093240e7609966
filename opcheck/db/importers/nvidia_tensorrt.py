"""NVIDIA TensorRT through Torch-TensorRT: a compiler, whose converters stand in for kernels."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import facts as stated
from opcheck.db.importers.shared import operator_list
from opcheck.db.versions import nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_MATRIX = "converter-matrix.csv"
_DATA = Path(__file__).with_name("nvidia_tensorrt_code.yaml")
_REPOSITORY, _ROOT = "pytorch/TensorRT", "py/torch_tensorrt/dynamo/"
_KEY = "CUDA"
"""Of what runs in PyTorch; a converter is registered under no dispatch key."""
_SOURCE = "dynamo"
_CONVERTERS, _DECOMPOSITIONS = "conversion/", "lowering/_decomposition_groups.py"
_KEYS = re.compile(r"(?P<namespace>aten|prims|tensorrt|trt)\.(?P<base>\w+)(\.(?P<overload>\w+))?")
_REWRITTEN = "inplace->functional: "
_PAIRING = "dev_dep_versions.yml"
_PAIR = re.compile(r"torch (?P<torch>\d+\.\d+)\S*, TRT (?P<tensorrt>\S+)")


class TensorrtImporter(Importer):
    """Reads which overloads have a converter, and which are decomposed before one is looked for."""

    name = "nvidia-tensorrt"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of Torch-TensorRT that the matrix of converters has a column of."""
        columns = _rows(sources / self.name / _MATRIX)[0]
        found = (column.removeprefix("v") for column in columns if column.startswith("v"))
        return tuple(sorted(found, key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known or release not in _code()["releases"]:
            raise DatabaseError(
                Sentence(
                    "{text} has no converters of Torch-TensorRT {version}",
                    text=sources / self.name,
                    version=release,
                ),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor(sources / self.name, self.releases(sources)).text()}


def converters(folder: Path, release: str) -> dict[str, str]:
    """What has a converter in a release -> ``static`` or ``dynamic``, ``+validated`` if always."""
    said = {row["op"]: row[f"v{release}"] for row in _rows(folder / _MATRIX)}
    return {key: how for key, how in said.items() if how}


def overload(key: str) -> str:
    """``aten::add.Tensor`` of ``aten.add.Tensor``; "" of a key that is no overload.

    One without an overload stands for an operator that has no other than the default.
    """
    match = _KEYS.fullmatch(key)
    if match is None:
        return ""
    dot = "" if match["overload"] in (None, "default") else f".{match['overload']}"
    return f"{match['namespace']}::{match['base']}{dot}"


def decomposed(
    folder: Path, release: str, known: Mapping[str, operator_list.Function]
) -> Iterator[str]:
    """Names of aten that are taken apart first, by the tables of the release or the nearest one."""
    tables = load_yaml(folder / "decompositions.yaml")
    numbered = tuple(name.removeprefix("v") for name in tables if name.startswith("v"))
    table = tables[f"v{nearest(release, numbered)}"]
    since = _code()["decomposed_since"]
    declared = {
        name: f
        for name, f in known.items()
        if f.kind != "autogen"
        and version_key(since.get(f.base.removesuffix("_"), release)) <= version_key(release)
    }
    first = [f"aten.{base}" for base in taken_apart_first(release)]
    for key in (*table["torch_enabled_decompositions"], *table["trt_specific"], *first):
        name = key.removeprefix(_REWRITTEN).removeprefix("aten.").removesuffix(".default")
        whole = key.count(".") == 1  # names an operator, and so each of its overloads
        yield from (n for n, f in declared.items() if n == name or (whole and f.base == name))


def taken_apart_first(release: str) -> tuple[str, ...]:
    """Operators of aten that a release decomposes, also where it has a converter of them."""
    until: Mapping[str, str] = _code()["decomposed_until"]
    return tuple(n for n, last in until.items() if version_key(release) <= version_key(last))


def torch_of(folder: Path, release: str) -> str:
    """The torch version, ``major.minor``, that a release is built for."""
    return _pairs(folder)[release]["torch"]


def registered(sources: Path, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release: converted, decomposed, and served by another form."""
    folder = sources / TensorrtImporter.name
    known = operator_list.functions(sources / "pytorch", torch_of(folder, release))
    files = _files(folder, release)
    never = set(taken_apart_first(release))
    converted = {
        op: {"at": f"{_SOURCE}:{files.get(key, _CONVERTERS)}", "impl": ["converter"]}
        for key in converters(folder, release)
        if (op := overload(key)) and (_aten(op) in known or not _aten(op))
        if _aten(op).partition(".")[0] not in never
    }
    found = _with_forms(converted, known)
    apart = {
        f"aten::{name}": {"at": f"{_SOURCE}:{_DECOMPOSITIONS}", "impl": ["decomposition"]}
        for name in decomposed(folder, release, known)
    }
    return {**_with_forms(apart, known), **found}


def _with_forms(
    listed: Mapping[str, dict[str, Any]], known: Mapping[str, operator_list.Function]
) -> dict[str, dict[str, Any]]:
    """Entries, and those of the in-place and ``out=`` overloads that one of them serves."""
    served = operator_list.written_forms({name for op in listed if (name := _aten(op))}, known)
    return {
        **{
            f"aten::{name}": {
                "at": listed[f"aten::{form}"]["at"],
                "impl": [f"aten::{form}"],
                "method": "dispatcher",
            }
            for name, form in served.items()
        },
        **listed,
    }


def _aten(op: str) -> str:
    """An overload's name without the namespace; "" of one outside aten."""
    return op.removeprefix("aten::") if op.startswith("aten::") else ""


def _release(sources: Path, release: str) -> ReleaseFile:
    folder = sources / TensorrtImporter.name
    operators = registered(sources, release)
    code, torch = _code(), torch_of(folder, release)
    small = code["small_blocks"]
    at = [stated.citation(small["seen"], release, _SOURCE)]
    return ReleaseFile(
        vendor=TensorrtImporter.name,
        release=release,
        about=f"Operators that Torch-TensorRT {release} converts, or takes apart before",
        torch=(torch,),
        sources={_SOURCE: _source(release)},
        operators=operators,
        conditions=tuple(_conditions(folder, release, operators)),
        advisories=({"code": small["code"], "text": small["text"], "at": at, "chips": [""]},),
        not_aten={torch: sorted(key for key in converters(folder, release) if not overload(key))},
        key=_KEY,
    )


def _conditions(
    folder: Path, release: str, operators: Mapping[str, Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    """What the code states, what takes fixed sizes only, and what is decomposed."""
    code = _code()
    served = {op: said["impl"][0] for op, said in operators.items() if "method" in said}
    own = [op for op in operators if op not in served]
    typed = [op for op in own if op not in _of_booleans(code["facts"])]
    facts = [
        {**fact, "ops": typed if "dtype" in str(fact["tests"]) else own} if "converted" in fact
        else fact
        for fact in code["facts"]
    ]  # fmt: skip
    static = [
        op
        for key, how in converters(folder, release).items()
        if "static" in how and operators.get(op := overload(key), {}).get("impl") == ["converter"]
    ]
    fixed = {**code["static"], "ops": static, "verdict": "native"}
    found = stated.conditions((*facts, fixed), release, _SOURCE, own)
    yield from stated.for_every_form(found, served)
    taken_apart = {
        "ops": [op for op in own if operators[op]["impl"] == ["decomposition"]],
        **{key: code["decomposed"][key] for key in ("code", "verdict")},
        "confidence": "low",
        "method": "inferred",
        "text": code["decomposed"]["text"],
        "at": [f"{_SOURCE}:{_DECOMPOSITIONS}"],
    }
    yield from stated.for_every_form([taken_apart], served)


def _of_booleans(facts: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Overloads of which booleans alone are converted: what an engine has no type for is not."""
    none_but = {"subject": "dtype", "argument": "self", "none_of": ["bool"]}
    return frozenset(
        op
        for fact in facts
        if fact["verdict"] == "fallback"
        if [none_but] in fact.get("cases", [fact.get("tests")])
        for op in fact["ops"]
    )


def _vendor(folder: Path, releases: Iterable[str]) -> VendorFile:
    code = _code()
    sources = {f"v{release}": {**_source(release), "path": _PAIRING} for release in releases}
    newest = max(releases, key=version_key)
    return VendorFile(
        vendor=TensorrtImporter.name,
        name="NVIDIA TensorRT (Torch-TensorRT)",
        device_type="cuda",
        dispatch_key=_KEY,
        inherits=("CIA",),
        kind="compiler",
        sources={"code": _source(newest), **sources},
        chips={"": code["chip"]},
        fallback=code["fallback"],
        pairing=tuple(
            {
                "torch": pair["torch"],
                "release": release,
                "packages": {"tensorrt": pair["tensorrt"]},
                "at": f"v{release}",
            }
            for release, pair in _pairs(folder).items()
            if release in releases
        ),
        notes=tuple(code["notes"]),
    )


@cache
def _pairs(folder: Path) -> Mapping[str, re.Match[str]]:
    """Release -> what the facts pair it with."""
    facts = load_yaml(folder / "facts-nvidia-tensorrt.yaml")["facts"]
    said = next(fact["fact"] for fact in facts if fact["topic"].startswith("pairing"))
    found = {release: _PAIR.match(text) for release, text in said.items()}
    return {release: match for release, match in found.items() if match}


def _files(folder: Path, release: str) -> dict[str, str]:
    """Key -> the file that registers its converter, where the release's own list is at hand."""
    path = folder / f"converters@v{release}.csv"
    return {row["op"]: row["file"] for row in _rows(path)} if path.exists() else {}


def _source(release: str) -> dict[str, str]:
    said = _code()["releases"][release]
    return {"repo": _REPOSITORY, "ref": f"v{release}", "path": _ROOT, **said}


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


@cache
def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise DatabaseError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=error),
            Sentence("give the folder of sources"),
        ) from error
