"""Pages of vendors, rules, advisories and models, and the lists that lead to all pages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.models.values import ModelsAnswer
from opcheck.commands.models.views.json import models_document
from opcheck.commands.rules.views.json import rules_document
from opcheck.commands.targets.values import TargetRow
from opcheck.db.files.document import Document
from opcheck.db.predicates import read_predicate
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.model.database import VendorStatus
from opcheck.model.matrix import Condition
from opcheck.model.model_lists import ModelRow
from opcheck.model.model_lists import Outcome as Listed
from opcheck.model.plan import RuleInfo
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.conditions import sentence
from opcheck.views.terminal import words as terminal
from opcheck.views.terminal.model_lists import OUTCOMES
from tools.site.fleet import Outcome
from tools.site.pages import Pages

ADVISORY_SCHEMA = "opcheck.site.advisory/1"
VENDOR_SCHEMA = "opcheck.site.vendor/1"


def write_rule(pages: Pages, rule: RuleInfo) -> None:
    """Write the page of a rewrite rule; its JSON is ``opcheck.rules/1`` of it alone."""
    paragraphs = [" ".join(part.split()) for part in rule.page.strip().split("\n\n")]
    pages.write(
        f"rules/{rule.name}",
        "rule.html",
        document=rules_document([rule]),
        rule=rule,
        paragraphs=[part for part in paragraphs if part],
    )


def write_advisory(pages: Pages, found: Document, vendors: Collection[str]) -> None:
    """Write the page of an advisory."""
    said: Mapping[str, Any] = found.data
    ops = dict.fromkeys(op for use in said["uses"] for op in use["ops"])
    pages.write(
        f"advisories/{said['id']}",
        "advisory.html",
        document={"schema": ADVISORY_SCHEMA, "advisory": dict(said)},
        said=said,
        ops=list(ops),
        vendors=vendors,
        text=sentence(_conditions(said), _chips(said)),
        reason=" ".join(said["reason"].split()),
        affects=[_affected(one) for one in said["affects"]],
    )


_FEW = 3
"""Ways in which uses of an advisory are told apart in its sentence; of more, none is named."""


def _conditions(said: Mapping[str, Any]) -> Sequence[Condition]:
    """What an advisory says of its uses, for the sentence that a page of an operator has, too."""
    bare = Condition(
        code=said["id"],
        verdict=Verdict.NATIVE,
        text=" ".join(said["text"].split()),
        confidence=Confidence(said["confidence"]),
    )
    first = dict.fromkeys(
        read_predicate(use["tests"][0]) for use in said["uses"] if use.get("tests")
    )
    if not first or len(first) > _FEW:
        return [bare]
    return [replace(bare, predicates=(one,)) for one in first]


def _chips(said: Mapping[str, Any]) -> str:
    """The chips that it names; of vendors where it is of all that they have."""
    named = (one.get("chips", (one["vendor"],)) for one in said["affects"])
    chips = dict.fromkeys(chip for some in named for chip in some)
    return chained(map(verbatim, chips), f" {terminal.OR} ")


def _affected(one: Mapping[str, Any]) -> tuple[str, str]:
    """A vendor, and what of it is concerned, as the advisory has it."""
    rest = {key: value for key, value in one.items() if key != "vendor"}
    parts = (
        f"{key} {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for key, value in rest.items()
    )
    return one["vendor"], "; ".join(parts)


def write_vendor(pages: Pages, vendor: VendorStatus, rows: Sequence[TargetRow]) -> None:
    """Write the page of a vendor: its chips and its releases."""
    pages.write(
        f"vendors/{vendor.vendor}",
        "vendor.html",
        document=_vendor_document(vendor, rows),
        vendor=vendor,
        rows=rows,
    )


def _vendor_document(vendor: VendorStatus, rows: Sequence[TargetRow]) -> object:
    return {
        "schema": VENDOR_SCHEMA,
        "vendor": vendor.vendor,
        "name": vendor.name,
        "targets": [row.target.name for row in rows],
        "releases": [
            {
                "release": one.release,
                "date": one.date,
                "torch": list(one.torch_versions),
                "kernels": {method.value: count for method, count in one.entries.items()},
                "conditions": one.conditions,
                "digest": one.digest,
            }
            for one in vendor.releases
        ],
    }


class Model(Struct, frozen=True):
    """A model by its name, with all that lists and scans say of it."""

    slug: str
    name: str
    rows: tuple[ModelRow, ...]
    scans: tuple[Mapping[str, str], ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    """Of a run of opcheck fleet."""

    @property
    def runs(self) -> Sequence[str]:
        """The lists that say so, for the table of models."""
        return list(dict.fromkeys(row.of.name for row in self.rows))


def models_of(
    rows: Iterable[ModelRow],
    scans: Mapping[str, Sequence[Mapping[str, str]]],
    fleet: Mapping[str, Sequence[Outcome]],
) -> tuple[Model, ...]:
    """Every model that a list, a scan or a fleet names; names that differ in signs are one."""
    by_slug: dict[str, tuple[str, list[ModelRow]]] = {}
    for row in rows:
        by_slug.setdefault(slug_of(row.name), (row.name, []))[1].append(row)
    for name in (*scans, *fleet):
        by_slug.setdefault(slug_of(name), (name, []))
    scanned: dict[str, list[Mapping[str, str]]] = {}
    for name, some in scans.items():
        scanned.setdefault(slug_of(name), []).extend(some)
    ran = {slug_of(name): tuple(some) for name, some in fleet.items()}
    return tuple(
        Model(slug, name, tuple(some), tuple(scanned.get(slug, ())), ran.get(slug, ()))
        for slug, (name, some) in sorted(by_slug.items())
    )


def slug_of(name: str) -> str:
    """A name as that of a file: small letters, figures and hyphens."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._") else "-" for c in name.lower())
    return "-".join(filter(None, plain.split("-"))).strip(".") or "model"


def write_model(pages: Pages, model: Model) -> None:
    """Write the page of a model; its JSON is ``opcheck.models/1`` of its rows."""
    document = models_document(ModelsAnswer(model.name, (), (), model.rows))
    pages.write(
        f"models/{model.slug}",
        "model.html",
        document={
            **document,
            "scans": [dict(scan) for scan in model.scans],
            "fleet": [_outcome(one) for one in model.outcomes],
        },
        model=model,
        said=_said,
        runs=lambda row: row.best.runs,
    )


def _outcome(one: Outcome) -> object:
    blockers = [{"op": b.op, "verdict": b.verdict.value, "text": str(b.text)} for b in one.blockers]
    return {
        "targets": list(one.targets),
        "runs": one.runs,
        "reason": one.reason,
        "blockers": blockers,
    }


def _said(row: ModelRow) -> Sentence:
    """Each outcome with its precisions, as ``opcheck models`` has it."""
    alone = [] if row.outcome is None or row.outcome in row.precisions else [row.outcome]
    parts = [Sentence(OUTCOMES[said]) for said in alone]
    for said in Listed:
        if names := row.precisions.get(said, ()):
            told = Sentence(OUTCOMES[said])
            parts.append(Sentence("{said} in {list}", said=told, list=", ".join(names)))
    return chained(parts, "; ")


def in_groups(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Operators by their namespace, PyTorch's own first."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("::")[0], []).append(name)
    for namespace in sorted(found, key=lambda one: (one != "aten", one)):
        yield namespace, found[namespace]
