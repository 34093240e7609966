"""How old the database is and what it holds, release by release."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any

from opcheck.db.advisories import documents
from opcheck.db.store import Database
from opcheck.db.vendor import Vendor
from opcheck.errors import DatabaseError
from opcheck.model.database import AdditionStatus, DatabaseStatus, ReleaseStatus, VendorStatus
from opcheck.model.target import Target, target_name
from opcheck.model.verdict import Method


def status(database: Database, today: date) -> DatabaseStatus:
    """Every vendor with every release; reads all files."""
    vendors = tuple(_vendor(vendor, today) for vendor in database.vendors.values())
    advisories = {
        found.data["id"] for layer in database.layers for found in documents(layer, database.cache)
    }
    return DatabaseStatus(
        today=today.isoformat(),
        digest=_digest(database),
        vendors=vendors,
        overlays=tuple(_overlays(database)),
        advisories=tuple(sorted(advisories)),
    )


def require_fresh(database: Database, targets: Iterable[Target], days: int, today: date) -> None:
    """Refuse vendors whose newest data is older than so many days.

    An old release does not make its vendor's data old: what counts is the newest one.
    """
    for name in dict.fromkeys(target.vendor for target in targets):
        newest = _newest(database.vendors[name])
        age = days_since(newest, today)
        if age is None or age > days:
            told = f"{age} days old (of {newest})" if newest else "of no known date"
            raise DatabaseError(
                f"the data of {name} is {told}, too old for the policy of {days} days",
                "update opcheck, or bring the vendor's newer files in with opcheck db import",
            )


def by_method(entries: Iterable[Any], otherwise: Method) -> Mapping[Method, int]:
    """How many entries, as a release's file has them, are known in which way."""
    counts = Counter(Method(_newest_variant(said).get("method", otherwise)) for said in entries)
    return {method: counts[method] for method in Method if counts[method]}


def days_since(iso: str, today: date) -> int | None:
    """Days from a date in ISO form until today, 0 for one to come; None: it is no date."""
    try:
        return max((today - date.fromisoformat(iso)).days, 0)
    except ValueError:
        return None


def _vendor(vendor: Vendor, today: date) -> VendorStatus:
    newest = _newest(vendor)
    return VendorStatus(
        vendor=vendor.name,
        name=str(vendor.document.data["name"]),
        targets=tuple(sorted(target_name(vendor.name, chip) for chip in vendor.chips)),
        date=newest,
        age=days_since(newest, today),
        releases=tuple(_release(vendor, release, today) for release in reversed([*vendor.files])),
    )


def _newest(vendor: Vendor) -> str:
    """The newest date of any release; "" where none is one."""
    dates = [str(vendor.release(release).data["date"]) for release in vendor.files]
    return max((d for d in dates if days_since(d, date.max) is not None), default="")


def _release(vendor: Vendor, release: str, today: date) -> ReleaseStatus:
    found = vendor.release(release)
    method = Method(found.data.get("method", Method.REGISTERED))
    return ReleaseStatus(
        release=release,
        date=found.data["date"],
        age=days_since(found.data["date"], today),
        torch_versions=tuple(reversed(vendor.served(release))),
        entries=by_method(found.data["operators"].values(), method),
        conditions=sum(len(found.data.get(key, ())) for key in ("conditions", "documented")),
        digest=found.digest[:16],
        origin=found.origin,
        edited=bool(vendor.edited(release)),
    )


def _newest_variant(said: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = said[-1] if isinstance(said, list) else said
    return found


def _overlays(database: Database) -> Sequence[AdditionStatus]:
    return [
        AdditionStatus(
            added.origin, added.vendor, added.reason, len(added.operators),
            len(added.conditions) + len(added.withdrawn),
        )
        for added in database.additions
        if added.origin
    ]  # fmt: skip


def _digest(database: Database) -> str:
    parts = [database.tables.digest]
    for vendor in database.vendors.values():
        parts.append(vendor.document.digest)
        parts += [vendor.release(release).digest for release in vendor.files]
    parts += [added.digest for added in database.additions]
    return sha256("".join(parts).encode()).hexdigest()[:16]
