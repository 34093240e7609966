"""What files beside a vendor's own say of its releases, and how that changes a release."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.db.conditions import DOCUMENTED
from opcheck.db.contradictions import of_document
from opcheck.db.document import Document
from opcheck.db.evidence import Citations
from opcheck.db.spans import covers
from opcheck.model.matrix import DOUBTED, OVERRULED
from opcheck.model.target import Target
from opcheck.model.verdict import Method

if TYPE_CHECKING:
    from opcheck.model.explanation import Statement

Said = Mapping[str, Any]
REGISTERS, REGISTERS_NOT = "registers a kernel", "registers no kernel"


class Addition(Struct, frozen=True):
    """What one file adds to the releases of one vendor, or takes from them.

    The parts are as a release's file has them; citations name ``sources``.
    """

    vendor: str
    origin: str
    """The overlay that the file belongs to; "" for the database itself."""
    reason: str
    digest: str
    method: str
    """How what it says is known, where an item of it does not tell."""
    sources: Mapping[str, Said]
    where: Said = field(default_factory=dict)
    """``chips``, ``releases`` and ``torch`` that it is limited to."""
    operators: Mapping[str, Sequence[Said]] = field(default_factory=dict)
    conditions: Sequence[Said] = ()
    withdrawn: Sequence[Said] = ()

    def concerns(self, target: Target) -> bool:
        """Whether it says anything of a target."""
        return self.vendor == target.vendor and holds(self.where, target)

    def entry(self, op: str, target: Target) -> Said | None:
        """What it says of an overload's kernel; None: nothing."""
        return next((said for said in self.operators.get(op, ()) if holds(said, target)), None)


def holds(where: Said, target: Target) -> bool:
    """Whether a target is among the chips, releases and torch versions that something names."""
    return (
        ("chips" not in where or target.chip in where["chips"])
        and ("releases" not in where or covers(where["releases"], target.sdk))
        and ("torch" not in where or covers(where["torch"], target.torch))
    )


def added(release: Document, additions: Iterable[Addition], target: Target) -> Document:
    """The release's file as it is with what additions say of a target; the last one wins."""
    concerned = [addition for addition in additions if addition.concerns(target)]
    if not concerned:
        return release
    data = dict(release.data)
    for key in ("sources", "operators"):
        data[key] = dict(data[key])
    data["conditions"] = list(data.get("conditions", ()))
    for number, addition in enumerate(concerned):
        _add(data, addition, target, f"{number}/")
    digests = "".join((release.digest, *(_told(addition, target) for addition in concerned)))
    return replace(release, data=data, digest=sha256(digests.encode()).hexdigest())


def statements(
    release: Document, additions: Iterable[Addition], target: Target, op: str
) -> "tuple[Statement, ...]":
    """What each layer says of an overload, the last one holds; () where no overlay has a say."""
    found = [
        statement
        for addition in additions
        if addition.origin and addition.concerns(target)
        for statement in _statements(addition, target, op)
    ]
    if not found:
        return ()
    listed = op in release.data["operators"]
    from opcheck.model.explanation import Statement

    return (Statement(release.origin, REGISTERS if listed else REGISTERS_NOT, "", ()), *found)


def _statements(addition: Addition, target: Target, op: str) -> "Iterator[Statement]":
    from opcheck.model.explanation import Statement

    entry = addition.entry(op, target)
    told: list[tuple[str, Said]] = []
    if entry is not None:
        told.append((REGISTERS if entry.get("registered", True) else REGISTERS_NOT, entry))
    for verb, listed in (("withdraws", addition.withdrawn), ("adds", addition.conditions)):
        told += [(f"{verb} {s['code']}", s) for s in listed if op in s["ops"] and holds(s, target)]
    sources = {name: {**s, "origin": addition.origin} for name, s in addition.sources.items()}
    for says, said in told:
        at = [said["at"]] if isinstance(said["at"], str) else said["at"]
        method = Method(said.get("method", addition.method))
        yield Statement(addition.origin, says, addition.reason, Citations(sources).all(at, method))


def _add(data: dict[str, Any], addition: Addition, target: Target, prefix: str) -> None:
    for name, source in addition.sources.items():
        data["sources"][f"{prefix}{name}"] = {**source, "origin": addition.origin}
    for op in addition.operators:
        said = addition.entry(op, target)
        if said is None:
            continue
        if said.get("registered", True):
            data["operators"][op] = _cited(_anywhere(said), prefix)
        else:
            data["operators"].pop(op, None)
    for said in addition.withdrawn:
        if holds(said, target):
            data["conditions"] = list(_without(data["conditions"], said))
            if said["code"] in (DOCUMENTED, DOUBTED, OVERRULED):
                data["documented"] = list(_without(data.get("documented", ()), said))
    conditions = [
        {**_cited(_anywhere(s), prefix), "stands": True}
        for s in addition.conditions
        if holds(s, target)
    ]
    data["conditions"] = [*data["conditions"], *conditions]


def _told(addition: Addition, target: Target) -> str:
    """Sets apart what an addition says of targets that it does not say the same of."""
    limited = (op for op, listed in addition.operators.items() if any("chips" in s for s in listed))
    held = [op for op in limited if addition.entry(op, target) is not None]
    return " ".join((addition.digest, *held))


def _anywhere(said: Said) -> Said:
    """What was said without where it holds, once that is settled."""
    return {key: value for key, value in said.items() if key not in ("chips", "torch")}


def _cited(said: Said, prefix: str) -> Said:
    at = said["at"]
    found = f"{prefix}{at}" if isinstance(at, str) else [f"{prefix}{text}" for text in at]
    return {**said, "at": found}


def _without(conditions: Iterable[Said], withdrawn: Said) -> Iterator[Said]:
    """The conditions without those of one code on some overloads."""
    for said in conditions:
        left = [op for op in said["ops"] if op not in withdrawn["ops"]]
        doubted = withdrawn["code"] in (DOUBTED, OVERRULED) and of_document(said)
        if not doubted and said.get("code", DOCUMENTED) != withdrawn["code"]:
            yield said
        elif left:
            yield {**said, "ops": left}
