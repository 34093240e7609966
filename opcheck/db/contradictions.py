"""A document against a registration: which of them holds, by what second sources say.

The vendor registers a kernel, and a table of its documents leaves the use out. One document alone
makes the use unknown. A source of another kind (the kernel's own page, a test, a user's report)
settles it: it denies the use as well, or it lists it. Each source is cited.

Code that raises needs no entry among the second sources: its own condition bites beside the one
that is made here, and is the worse of the two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from opcheck.db.reading import Citations
from opcheck.db.schema.tables import DTYPES
from opcheck.db.schema.vendor import MOST_OFTEN
from opcheck.model.matrix import DOUBTED, OVERRULED, Condition
from opcheck.model.predicates import Dtype, NoneOf, OneOf, Predicate
from opcheck.model.trace import DTYPE_BYTES
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

Said = Mapping[str, Any]
_EVERY = frozenset(DTYPE_BYTES)
_ALONE = "a kernel is registered, and no second source settles which of them holds"


def of_document(said: Said) -> bool:
    """Whether a condition of a release's file rests on a document alone, which denies the use.

    What an overlay or an advisory adds is its author's own decision, and stands; so does what the
    kernel's own table of return codes refuses.
    """
    if said.get("stands"):
        return False
    if "code" not in said:
        return True  # one of the sections ``documented`` and ``refusals``
    documented = said.get("method") == Method.DOCUMENTED or said.get("document", False)
    return bool(documented) and said.get("verdict", MOST_OFTEN["verdict"]) == Verdict.UNSUPPORTED


def settled(document: Condition, seconds: Iterable[Said], cited: Citations) -> Iterator[Condition]:
    """What a document's condition becomes, for uses that second sources tell of, and the rest."""
    concerned = [said for said in seconds if _concerns(said, document)]
    if not concerned:
        yield _unknown(document)
    elif not document.predicates:
        yield _of_every_use(document, concerned, cited)
    else:
        yield from _of_dtypes(document, concerned, cited)


def _concerns(said: Said, document: Condition) -> bool:
    """Whether a second source tells of what the document denies: every use, or one argument."""
    if not document.predicates:
        return "argument" not in said
    (predicate, *others) = document.predicates
    return (
        not others and isinstance(predicate, Dtype) and said.get("argument") == predicate.argument
    )


def _of_every_use(document: Condition, seconds: Sequence[Said], cited: Citations) -> Condition:
    runs = {said["runs"] for said in seconds}
    if len(runs) > 1:
        return _unknown(document, _evidence(seconds, cited))
    return (_overruled if True in runs else _confirmed)(document, seconds, cited)


def _of_dtypes(
    document: Condition, seconds: Sequence[Said], cited: Citations
) -> Iterator[Condition]:
    """The dtypes that are denied twice, those that the second source lists, and the others."""
    (predicate,) = document.predicates
    lists = [said for said in seconds if said["runs"]]
    denies = [said for said in seconds if not said["runs"]]
    left_out = _left_out(predicate)
    spared = _EVERY.intersection(*(_dtypes(said, "others_than") for said in denies))
    listed = left_out & _union(_dtypes(said, "dtypes") for said in lists)
    denied = left_out - spared - listed
    listed &= spared  # of what one lists and another denies, nothing is known
    if denied:
        yield _with(_confirmed(document, denies, cited), predicate, denied)
    if listed:
        yield _with(_overruled(document, lists, cited), predicate, listed)
    if rest := left_out - denied - listed:
        yield _with(_unknown(document), predicate, rest)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _dtypes(said: Said, key: str) -> frozenset[str]:
    return frozenset(DTYPES[word] for word in said.get(key, ()))


def _left_out(predicate: Predicate) -> frozenset[str]:
    """The dtypes that a document's predicate matches, of all that files name."""
    match predicate.bound:
        case OneOf(listed):
            return listed
        case NoneOf(listed):
            return _EVERY - listed
        case bound:
            raise AssertionError(bound)  # a document lists dtypes


def _with(condition: Condition, predicate: Predicate, dtypes: frozenset[str]) -> Condition:
    """The condition, of some of the dtypes that its document leaves out."""
    bound: OneOf | NoneOf = OneOf(dtypes)
    if isinstance(predicate.bound, NoneOf) and condition.verdict is not Verdict.NATIVE:
        # of dtypes that no file names, such as quantised ones, the surest that is left holds
        bound = NoneOf(_EVERY - dtypes)
    return replace(condition, predicates=(replace(predicate, bound=bound),))


def _evidence(seconds: Iterable[Said], cited: Citations) -> tuple[Evidence, ...]:
    return tuple(
        found for said in seconds for found in cited.all(said["at"], Method(said["method"]))
    )


def _unknown(document: Condition, more: tuple[Evidence, ...] = ()) -> Condition:
    return replace(
        document,
        code=DOUBTED,
        verdict=Verdict.UNKNOWN,
        confidence=Confidence.LOW,
        text=f"{document.text}; {_ALONE}",
        evidence=(*document.evidence, *more),
    )


def _confirmed(document: Condition, seconds: Sequence[Said], cited: Citations) -> Condition:
    return replace(
        document,
        text=f"{document.text}; {seconds[0]['text']}",
        evidence=(*document.evidence, *_evidence(seconds, cited)),
    )


def _overruled(document: Condition, seconds: Sequence[Said], cited: Citations) -> Condition:
    return replace(
        document,
        code=OVERRULED,
        verdict=Verdict.NATIVE,
        text=f"{document.text}; but {seconds[0]['text']}",
        evidence=(*document.evidence, *_evidence(seconds, cited)),
    )
