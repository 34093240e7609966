"""Every way how users write calls, as the rules name them, compared with what PyTorch does."""

import importlib
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.errors import OpcheckError
from opcheck.model.plan import Label
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call, call_of, on_meta
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.measure import difference
from opcheck.rewrite.source.call_sites import FIRST, Parameters
from opcheck.rewrite.source.layers import forms_of
from opcheck.rewrite.variants import functional
from opcheck.source.building import torchvision_operators
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.dispatcher import overload_named
from opcheck.trace.torch_internals.kernels import Kernels

DRAWN = 4
"""Calls drawn of each overload."""
SAMPLES = 6
"""Calls taken of each operator and dtype of PyTorch's own samples."""
DTYPES = (torch.float32, torch.complex64, torch.int64)
Given = tuple[tuple[Any, ...], Mapping[str, Any]]
Canonical = Callable[[list[Tensor]], Sequence[Tensor]]

SPELLED = [(rule, spelling) for rule in rules() for spelling in (*rule.spellings, *rule.spelled)]
each_spelling = pytest.mark.parametrize(
    ("rule", "spelling"), SPELLED, ids=[f"{rule.name}-{spelling}" for rule, spelling in SPELLED]
)


@each_spelling
def test_a_spelling_takes_what_torch_takes(rule: Rule, spelling: str) -> None:
    ours = inspect.signature(_ours(rule, spelling)).parameters
    public = _public(spelling)
    try:
        theirs = inspect.signature(public).parameters
    except ValueError:  # built in: its schemas say it
        wrong = [_disagreement(ours, given) for given in _signatures(spelling)]
        assert "" in wrong
    else:
        if not any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in theirs.values()):
            assert _plain(ours) == _plain(theirs), f"{spelling}{theirs}"


@pytest.fixture(scope="module")
def kernels() -> Iterator[Kernels]:
    """The device's, registered once: nothing else is traced in between."""
    with Kernels().shared(implicit=True) as kernels:
        yield kernels


@each_spelling
def test_a_spelling_gives_what_torch_gives(rule: Rule, spelling: str, kernels: Kernels) -> None:
    """Wherever the call can be rewritten at all, and the rule does not refuse it."""
    if rule.random:
        pytest.skip("it draws anew at every call")
    if spelling.startswith("torchvision."):
        pytest.skip("its operators may have no kernels here: test_regions stands in for them")
    found = Counter(_tried(rule, spelling, given, kernels) for given in _calls(rule, spelling))
    assert found["same"], found
    assert set(found) <= {"same", "refused", "left", "raises", "given up"}, found


def _tried(rule: Rule, spelling: str, given: Given, kernels: Kernels) -> str:
    """Make one call both ways."""
    args, kwargs = given
    parameters = _parameters(rule.name, spelling)
    if parameters.misfit(len(args), tuple(kwargs)):
        return "left"
    try:
        wanted = _ran(_public(spelling), args, kwargs)
    except Exception:  # no call of it at all
        return "raises"
    renamed = {parameters.renamed(name): value for name, value in kwargs.items()}
    try:
        found = _ran(_ours(rule, spelling), args, renamed)
        outcome = _compared(rule, wanted, found, lambda made: _settled(rule, spelling, given, made))
    except Exception as error:
        outcome = "given up" if rule.gives_up else f"{type(error).__name__}: {error}"
    if outcome in ("same", "given up"):
        return outcome
    reached = _reached(rule, _public(spelling), args, kwargs, kernels)
    return "refused" if any(rule.refuses(call) for call in reached) else outcome


@cache
def _parameters(name: str, spelling: str) -> Parameters:
    """Of what a rule of this name has users call."""
    form = forms_of(name)[spelling]
    return Parameters.of(form.code, form.function)


def _settled(rule: Rule, spelling: str, given: Given, results: list[Tensor]) -> Sequence[Tensor]:
    """Results without what the operator leaves open: signs of vectors, and which of equals."""
    overload = overload_named(rule.replaces[0])
    args, kwargs = given
    names = {"self" if name == FIRST else name: value for name, value in kwargs.items()}
    call = Call(overload, args, names)
    if len(results) == 3 and spelling.endswith(".svd") and "linalg" not in spelling:
        results = [*results[:2], results[2].mT]  # as the overload gives it
    if len(results) != len(overload._schema.returns):
        return results
    return rule.unique(call, rule.canonical(call, (results, None))[0])


def _compared(rule: Rule, wanted: Any, found: Any, canonical: Canonical) -> str:
    if type(wanted) is not type(found):  # users ask for values by name
        return f"{type(found).__name__} instead of {type(wanted).__name__}"
    results, others = (
        canonical([r.detach() for r in tree_leaves(w) if isinstance(r, Tensor)])
        for w in (wanted, found)
    )
    off = difference(results, others)
    real = [r.dtype for r in results if r.is_floating_point() or r.is_complex()]
    eps = max((torch.finfo(dtype).eps for dtype in real), default=0.0)
    if off.absolute == 0.0:
        return "same"
    if rule.label is Label.APPROXIMATE and not math.isinf(off.absolute):
        return "same"
    return "same" if off.relative <= rule.tolerance * eps else f"off by {off.relative}"


def _ran(function: Any, args: Any, kwargs: Any) -> Any:
    torch.default_generator.manual_seed(0)  # that of torch has each device note its callers

    def leaf(value: Any) -> Any:
        return value.detach().clone() if isinstance(value, Tensor) else value

    args, kwargs = tree_map(leaf, (tuple(args), dict(kwargs)))
    return function(*args, **kwargs)


def _reached(rule: Rule, public: Any, args: Any, kwargs: Any, kernels: Kernels) -> Iterator[Any]:
    """What a call comes to of the overloads that the rule replaces."""
    try:
        trace = trace_model(
            public, args, kwargs, device_type="musa", inputs_given=True, device_kernels=kernels
        )
    except OpcheckError:
        return
    for node in trace.nodes:
        if functional(str(node.op)) in rule.replaces:
            yield call_of(overload_named(str(node.op)), node, on_meta)


def _calls(rule: Rule, spelling: str) -> Iterator[Given]:
    for op in rule.replaces:
        for seed in range(DRAWN):
            args, kwargs = rule.example(op, RandomDraw(seed))
            named = {FIRST if name == "self" else name: value for name, value in kwargs.items()}
            yield args, named
            if len(args) == 2 and isinstance(args[1], Tensor):  # a number is as good to some
                yield (args[0], 3), named
                yield (2, args[1]), named
    for info in _samples().get(spelling.removeprefix("torch.").removeprefix("Tensor."), ()):
        for dtype in DTYPES:
            if dtype in info.supported_dtypes("cpu"):
                torch.default_generator.manual_seed(0)
                for sample in islice(info.sample_inputs_func(info, "cpu", dtype, False), SAMPLES):
                    yield (sample.input, *sample.args), sample.kwargs


@cache
def _samples() -> Mapping[str, list[Any]]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for info in op_db:
        for name in (info.name, *(alias.name for alias in info.aliases)):
            found.setdefault(name, []).append(info)
    return found


def _ours(rule: Rule, spelling: str) -> Any:
    return rule.spelled.get(spelling) or type(rule).replace


@cache
def _public(spelling: str) -> Any:
    torchvision_operators.prepare()
    parts = (f"torch.{spelling}" if spelling.startswith("Tensor.") else spelling).split(".")
    value: Any = importlib.import_module(parts[0])
    for part in parts[1:]:
        value = getattr(value, part)
    return value


def _plain(parameters: Mapping[str, inspect.Parameter]) -> list[Any]:
    """Names but for that of the first one, which calls rename, kinds and defaults."""
    found = [(p.name, p.kind, p.default) for p in parameters.values()]
    return [("self" if p[0] == FIRST and not n else p[0], *p[1:]) for n, p in enumerate(found)]


def _signatures(spelling: str) -> Iterator[list[Any]]:
    """The arguments of every schema behind a built-in function; a method's own tensor first."""
    name = spelling
    for prefix, base in (
        ("torch.nn.functional.", ""), ("torch._C._nn.", ""), ("torch.linalg.", "linalg_"),
        ("torch.special.", "special_"), ("torch.fft.", "fft_"), ("torch.", ""), ("Tensor.", ""),
    ):  # fmt: skip
        if spelling.startswith(prefix):
            name = base + spelling.removeprefix(prefix)
            break
    packet = getattr(torch.ops.aten, {"logsigmoid": "log_sigmoid"}.get(name, name))
    for overload in packet.overloads():
        schema = getattr(packet, overload)._schema
        if schema.is_mutable is name.endswith("_"):
            is_method = spelling.startswith("Tensor.")
            yield sorted(schema.arguments, key=lambda a: is_method and a.name != "self")


def _disagreement(ours: Mapping[str, inspect.Parameter], theirs: list[Any]) -> str:
    """Say what of PyTorch's arguments ours are not; "" where they are the same, or more."""
    positional = [p for p in ours.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    for index, argument in enumerate(theirs):
        names = {"self", FIRST} if argument.name == "self" else {argument.name}
        known = [p for name, p in ours.items() if name in names]
        if not index and positional:  # by another name it is left
            known = positional[:1]
        if not known:
            return f"no {argument.name}"
        if not argument.kwarg_only and positional[index : index + 1] != known:
            return f"{argument.name} is not at {index}"
        has = known[0].default is not inspect.Parameter.empty
        if argument.has_default_value() and not has:
            return f"{argument.name} has no default"
        if argument.has_default_value() and not _same(argument.default_value, known[0].default):
            return f"{argument.name} defaults to {argument.default_value}"
    return ""


def _same(theirs: Any, ours: Any) -> bool:
    if isinstance(theirs, list):
        return theirs == (list(ours) if isinstance(ours, tuple | list) else [ours] * len(theirs))
    return bool(theirs == ours)
