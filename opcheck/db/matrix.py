"""One target's support matrix, from the vendor's file and the release's file."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from opcheck.db.conditions import advisories, conditions_by_operator
from opcheck.db.document import Document
from opcheck.db.evidence import Citations
from opcheck.db.spans import within
from opcheck.db.tables import Tables
from opcheck.model.matrix import Entry, Fallback, SupportMatrix
from opcheck.model.target import Target
from opcheck.model.verdict import Method

_DENSE = "PrivateUse1"


class _Entries(Mapping[str, Entry]):
    """Entries made when asked for: a scan looks at a few dozen of them."""

    def __init__(self, chosen: Mapping[str, Mapping[str, Any]], cited: Citations) -> None:
        self._chosen = chosen
        self._cited = cited
        self._made: dict[str, Entry] = {}

    def __getitem__(self, op: str) -> Entry:
        if op not in self._made:
            said = self._chosen[op]
            self._made[op] = Entry(
                op=op,
                evidence=self._cited.all((said["at"],), Method.REGISTERED),
                implementation=tuple(said["impl"]),
                keys=tuple(said.get("keys", (_DENSE,))),
            )
        return self._made[op]

    def __contains__(self, op: object) -> bool:
        return op in self._chosen

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)


def build_matrix(
    target: Target, vendor: Document, release: Document, tables: Tables, *, paired: bool
) -> SupportMatrix:
    """Apply chip and torch version to what the two files say."""
    cited = Citations({**vendor.data["sources"], **release.data["sources"]})
    chosen = dict(_registered(release.data, target.torch))
    digests = "".join((vendor.digest, release.digest)).encode()
    return SupportMatrix(
        target=target,
        entries=_Entries(chosen, cited),
        conditions=conditions_by_operator(target, vendor.data, release.data, chosen),
        fallback=_fallback(vendor),
        history=tables.history(),
        extensions=tables.extensions,
        advisories=advisories(target, vendor.data, paired=paired),
        database_digest=sha256(digests).hexdigest()[:16],
        database_date=release.data["date"],
    )


def _registered(release: Mapping[str, Any], torch: str) -> Iterator[tuple[str, Any]]:
    """Overloads with a kernel for dense tensors on this torch, and what the file says of them."""
    versions = release["torch"]
    for op, said in release["operators"].items():
        for variant in said if isinstance(said, list) else (said,):
            spans = variant.get("torch")
            served = spans is None or within(torch, spans, versions)
            if served and _DENSE in variant.get("keys", (_DENSE,)):
                yield op, variant
                break


def _fallback(vendor: Document) -> Fallback:
    said = vendor.data["fallback"]
    cited = Citations(vendor.data["sources"])
    return Fallback(
        to_cpu=said["to_cpu"],
        text=said["text"],
        evidence=cited.all(said["at"], Method.REGISTERED),
        disable=said.get("disable", ""),
    )
