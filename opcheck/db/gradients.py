"""The vendor's own gradients of one target: what its release's file says, for chip and torch."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.db.conditions import applies
from opcheck.db.evidence import Citations
from opcheck.db.lazy import LazyMapping
from opcheck.db.predicates import read_predicate
from opcheck.model.matrix import Formula, Gradient
from opcheck.model.target import Target
from opcheck.model.verdict import Method


def gradients_by_operator(
    target: Target, release: Mapping[str, Any], cited: Citations
) -> Mapping[str, Gradient]:
    """Gradients by overload, each made when first asked for."""
    chosen = dict(_chosen(target, release))
    return LazyMapping(chosen, lambda _, said: _gradient(said, cited))


def _chosen(target: Target, release: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for op, said in release.get("gradients", {}).items():
        for variant in said if isinstance(said, list) else (said,):
            if applies(variant, target, release):
                yield op, variant
                break


def _gradient(said: Mapping[str, Any], cited: Citations) -> Gradient:
    formulas = tuple(
        Formula(tuple(names.split(", ")), tuple(calls)) for names, calls in said["formulas"].items()
    )
    return Gradient(
        kernels=tuple(dict.fromkeys(op for formula in formulas for op in formula.kernels)),
        evidence=cited.all(said["at"], Method(said.get("method", Method.REGISTERED))),
        formulas=formulas,
        unless=tuple(map(read_predicate, said.get("unless", ()))),
    )
