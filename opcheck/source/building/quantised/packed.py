"""Packs the layers of a model as its config says, where the method is one that is known here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.schemas import Libraries
from opcheck.model.trace import QUANTISED, Gap
from opcheck.registry import discover
from opcheck.source.base import LoadOptions
from opcheck.source.building import quantised
from opcheck.source.building.quantised.experts import listed, together
from opcheck.source.building.quantised.method import Method, Section, replace
from opcheck.source.building.stand_ins.operators import register
from opcheck.source.building.weightless import weightless
from opcheck.source.model_folder import (
    method_of,
    quantised_weights,
    read_config,
    tensors_beside,
)

_KEY = "quantization_config"
"""The part of a whole model's config that transformers reads; it reads none of a part's."""
_FEW = 2**8
"""Elements of a packed layer that may have values, as shifts: no code is steered by its others."""
Kinds = Mapping[str, type[Method]]
"""Methods by their names."""
_KEPT: list[torch.library.Library] = []  # registrations live as long as their Library


def unseen_of(
    model: nn.Module,
    path: Path,
    config: Mapping[str, Any],
    options: LoadOptions,
    kinds: Kinds | None = None,
) -> tuple[tuple[Gap, ...], tuple[str, ...]]:
    """Pack the layers of a model that was built from a config.

    Gives what cannot be seen of it, and what a reader is to know of how it is packed. ``kinds`` are
    the methods of the library that loads it; without them, those of transformers.

    They stay as they are, with a gap, where the method is not known here, and in runs that need
    what a packed layer does not have: values, or gradients.

    Raises:
        SourceError: the config contradicts itself, or the model.
    """
    gaps = quantised_weights(path, config)
    if len(gaps) != 1 or options.weights or options.train:
        return gaps, ()
    place, section = _section(path, config, gaps[0].where)
    method = None if section is None else pack(model, place, section, options.libraries, kinds)
    if method is None:
        return gaps, ()
    why = method.unseen(model, tensors_beside(path))
    return (() if why is None else (Gap(gaps[0].where, why, QUANTISED),)), method.notes


def _section(path: Path, config: Mapping[str, Any], where: str) -> tuple[str, Section | None]:
    """What says how weights are packed, and where: a part of the config, or the file of a gap."""
    section = config.get(_KEY)
    if isinstance(section, Mapping):
        return f"{path}: {_KEY}", section
    for kind in _kinds().values():
        if kind.file and where == str(path.parent / kind.file):
            return where, {**read_config(Path(where)), "quant_method": kind.name}
    return "", None


def pack(
    model: nn.Module,
    place: str,
    section: Section,
    libraries: Libraries | None,
    kinds: Kinds | None = None,
    *,
    valued: int = _FEW,
) -> Method | None:
    """Put the packed layers into a model; None where the method is none that is known here.

    ``place`` names the section in errors; tensors of more than ``valued`` elements are on meta.

    Raises:
        SourceError: the section contradicts itself, or the model.
    """
    kind = (_kinds() if kinds is None else kinds).get(method_of(section))
    if kind is None or (kind.library and not _prepared(kind, libraries)):
        return None
    _prepare_others(kind, libraries)
    method = kind(section)
    try:
        with weightless(integers=valued, floats=valued):
            if method.lists_experts:
                listed(model)
            if not method.models(model):
                return None
            if method.whole is not None and together(model, method.replaceable):
                method.notes = (*method.notes, method.whole)
            return method if replace(model, method) else None
    except SourceError as error:
        raise SourceError(
            Sentence("{place}: {why}", place=place, why=error.message), error.hint or kind.refusal
        ) from error


def _kinds() -> dict[str, type[Method]]:
    return {kind.name: kind for kind in discover(quantised, Method)}  # type: ignore[type-abstract]  # mypy #4717


def _prepared(kind: type[Method], libraries: Libraries | None) -> bool:
    """Define the library's operators, with what they run where no kernel is."""
    schema = None if libraries is None else libraries(kind.library)
    if schema is None:
        return False
    register(schema)
    for op, kernel in kind.defaults.items():
        _default(op, kernel)
    return True


def _prepare_others(kind: type[Method], libraries: Libraries | None) -> None:
    """Define operators that the method calls beside those of its library."""
    for name in kind.others:
        schema = None if libraries is None else libraries(name)
        if schema is not None:
            register(schema)
    if kind.others and libraries is not None:
        for op, kernel in kind.defaults.items():
            _default(op, kernel)


def _default(op: str, kernel: Any) -> None:
    """Register what runs on every device, unless the library itself has done so."""
    key = "CompositeExplicitAutograd"
    if torch._C._dispatch_has_kernel_for_dispatch_key(op, key):  # private; checked with torch 2.13
        return
    namespace, _, name = op.partition("::")
    made = torch.library.Library(namespace, "FRAGMENT")
    made.impl(name, kernel, key)
    _KEPT.append(made)
