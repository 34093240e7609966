"""What files that are written by hand must say beyond their form: overlays, advisories, others."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db import audit_words as words
from opcheck.db.audit_words import Known, Told
from opcheck.db.shape import Path as Where


def overlay(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of an overlay; of which vendor it is may be anyone's."""
    yield from words.evidence(data, data["sources"])
    yield from words.overloads((*words.keyed(data, "operators"), *words.listed(data)), known)
    yield from words.vendors(_targeted(data), known)


def _targeted(data: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Where]]:
    """Everything in an overlay that may name chips."""
    yield data, ("vendor",)
    of = {"vendor": data["vendor"]}
    for op, said in data.get("operators", {}).items():
        for variant in said if isinstance(said, list) else [said]:
            yield {**variant, **of}, ("operators", op)
    for section in ("conditions", "withdrawn"):
        for number, said in enumerate(data.get(section, ())):
            yield {**said, **of}, (section, number)


def advisory(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of an advisory, which may be about vendors to come."""
    yield from words.name(data, "id", path.stem)
    yield from words.overloads(words.listed(data), known)


def remedy(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of a remedy."""
    yield from _for_targets(data, path, known)


def size_rules(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of a file on sizes that are not always the same."""
    yield from _for_targets(data, path, known)


def _for_targets(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    yield from words.name(data, "id", path.stem)
    yield from words.evidence(data, data["sources"])
    yield from words.overloads(words.listed(data), known)
    named = ((said, ("for", number)) for number, said in enumerate(data["for"]))
    yield from words.vendors(named, known)


def porting(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of what is said of a vendor: words for what CUDA has, what a machine must have."""
    yield from words.name(data, "vendor", path.stem)
    yield from words.vendors([(data, ("vendor",))], known)
    yield from words.evidence(data, data["sources"])


def chips(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of a file on what a vendor's chips have."""
    yield from porting(data, path, known)
    yield from words.vendors([({**data, "chips": tuple(data["chips"])}, ("chips",))], known)


def cuda_names(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of the file on what every other device than CUDA shares.

    That a package is made for CUDA is known to all, so that not each cites a source.
    """
    yield from words.evidence(data, data["sources"], everywhere=False)
    for package, said in data["packages"].items():
        named = ({"vendor": vendor} for vendor in said["vendors"])
        yield from words.vendors(((v, ("packages", package)) for v in named), known)


def torch_environment(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of the file on what releases of torch go with."""
    yield from words.evidence(data, data["sources"])


def library(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of a file on a library that is not installed."""
    yield from words.name(data, "library", path.stem)
    for op, said in data.get("operators", {}).items():
        where = ("operators", op)
        if not said.get("at"):
            yield Told("no-evidence", f"{op} cites no place in the library", where)
        kernels = said.get("kernels", {}).items()
        named = (({"vendor": v, **kernel}, (*where, "kernels", v)) for v, kernel in kernels)
        yield from words.vendors(named, known)
