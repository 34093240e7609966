"""What a target has for sparse tensors, from PyTorch's lists, its vendor's code and its release."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opcheck.db.reading import Citations
from opcheck.db.versions import major_minor, nearest_not_newer, version_key
from opcheck.model.sparse import Inside, SparseKernels
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence, Method

LAYOUTS = {
    "sparse_coo": "Sparse",
    **dict.fromkeys(("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"), "SparseCsr"),
}
"""Layout, as torch names it -> what its dispatch keys begin with."""
_SHARED = "Shared"
Listed = Callable[[str], Mapping[str, Evidence]]
"""Dispatch key -> overloads that the release's own list has a kernel for under it, and where."""


def sparse_kernels(
    said: Mapping[str, Any], target: Target, key: str, listed: Listed
) -> dict[str, SparseKernels]:
    """By layout, what the target has, whose dispatch key for dense tensors is ``key``.

    A layout of which nobody has said anything is left out.
    """
    found = dict(_of_kinds(said, target, key, listed))
    return {layout: found[kind] for layout, kind in LAYOUTS.items() if kind in found}


def _of_kinds(
    said: Mapping[str, Any], target: Target, key: str, listed: Listed
) -> Iterator[tuple[str, SparseKernels]]:
    for kind in dict.fromkeys(LAYOUTS.values()):
        if f"{kind}{key}" in said["torch"]:
            yield kind, _of_torch(said, f"{kind}{key}", target.torch)
            continue
        for row in said["targets"]:
            if kind in row["kinds"] and _is_of(row, target):
                yield kind, _of_release(said, row, kind, target.torch, listed(f"{kind}{key}"))
                break


def _is_of(row: Mapping[str, Any], target: Target) -> bool:
    torch = major_minor(target.torch)
    named = (row["vendor"], row["release"]) == (target.vendor, target.sdk)
    return named and torch in row.get("torch", (torch,))


def _of_release(
    said: Mapping[str, Any],
    row: Mapping[str, Any],
    kind: str,
    torch: str,
    listed: Mapping[str, Evidence],
) -> SparseKernels:
    """What a release has: what its list names and, where its vendor says so, what is shared."""
    shared: Mapping[str, Evidence] = {}
    inside: Mapping[str, Inside] = {}
    cited = Citations(said["sources"])
    if row.get("shared"):
        key = f"{kind}{_SHARED}"
        shared = {
            op: at for op, at in _of_torch(said, key, torch).kernels.items() if op not in listed
        }
        inside = {
            op: _inside(by_key[key], cited)
            for op, by_key in said["inside"].items()
            if key in by_key and op in shared and _is_older(torch, by_key[key])
        }
    on_host = _of_torch(said, f"{kind}CPU", torch).kernels if row.get("host") else ()
    return SparseKernels(
        kernels={**shared, **listed},
        unclear=frozenset(),
        listed=cited.all(row["at"], Method.REGISTERED),
        inside=inside,
        shared=frozenset(shared),
        on_host=frozenset(on_host),
    )


def _is_older(torch: str, asked: Mapping[str, Any]) -> bool:
    """Whether what is said of a kernel holds in a torch: always, unless a newer one ended it."""
    before = asked.get("before")
    return before is None or version_key(major_minor(torch)) < version_key(before)


def _inside(asked: Mapping[str, Any], cited: Citations) -> Inside:
    evidence = cited.all((asked["at"],), Method.REGISTERED)
    return Inside(tuple(asked.get("asks", ())), evidence, tuple(asked.get("both", ())))


def _of_torch(said: Mapping[str, Any], key: str, torch: str) -> SparseKernels:
    """What a key has in one torch: a kernel that a list has is in every later torch, too."""
    torch = major_minor(torch)
    cited = Citations(said["sources"])
    lists = said["torch"][key]
    looked_at = [version_key(version) for version in lists]
    kernels: dict[str, Evidence] = {}
    unclear: set[str] = set()
    for op, by_key in said["kernels"].items():
        since, _, at = by_key.get(key, "").partition(" ")
        if since and version_key(since) <= version_key(torch):
            kernels[op] = cited.all((at,), Method.REGISTERED)[0]
        elif since:
            before = [version for version in looked_at if version < version_key(since)]
            if not before or max(before) < version_key(torch):
                unclear.add(op)
    list_of = lists[nearest_not_newer(torch, tuple(lists))]
    return SparseKernels(kernels, frozenset(unclear), cited.all((list_of,), Method.REGISTERED))
