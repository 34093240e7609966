"""The page of what keeps models off devices, made from pairs of models and targets."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.demand.models import mode_of
from benchmarks.demand.plans import Pair
from benchmarks.demand.proofs import Proved, is_blocked
from benchmarks.zoo_fixes import NOT_HELD
from opcheck.model.plan import Label

TOP = 60
"""Rows of a table; what is below is counted."""
NAMES = 3
"""Targets that a row names."""
_HEAD = """\
# Demand

What keeps models off devices, the most frequent first, and which of it has a fix: {models} models,
with their modes {count}, drawn from the {named} that
`benchmarks/demand/models.py` names, on {targets} targets: every one of the database at its newest
and its oldest release. Models of transformers are two layers deep and narrow. Written by
`make demand FOLDER=demand`, which goes on where it was ended. A *pair* is one
model in one mode on one target; a run that was ended early has models without pairs on the targets
of some device types.

A pair is *blocked* where a call is unsupported there, or nobody has said, and *slowed* where a call
runs on the host or outside of the compiled graph. A fix is what `opcheck plan` suggests in tiers 1
to 3: it was recorded to run as what the target has, and measured beside the original where a call
has no more than 65,536 elements, or it is the vendor's own; a fallback that is switched on is none.
A pair is *free* where every call is on the device once all of it is followed.

| | pairs | blocked | free once fixed | slowed alone | free once fixed |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
_NEWER = """
Of the {left} blocked pairs that are left, {newer} are free on the newest release of the same
target, with the fixes there. Where the release may be changed that is the answer (`opcheck upgrade`
tells what else it changes), and {share:.1%} of blocked pairs have one. The table counts none of
them.
"""
_LIMITS = """
The modes of a forward are float32, as the library makes it (with tensors of other dtypes where the
model has them), bfloat16 and float16 with weights and inputs cast, and `torch.autocast` to float16.
A forward is traced once, under the name `npu`, for all types of device: code that asks for the name
of the device is followed for that alone, and a type with lists of its own for autocast is left out
of that mode. A training step is traced for the largest set of targets that differentiate alike, of
`npu` and of `cuda`; others are left out.
Plans are kept: a fix that came after a pair was planned counts once it is planned anew, so that
shares may be too low. Not yet counted: quantised models, sizes that change from call to call,
pipelines of diffusers, and what users reported.
"""
_PROOFS = """
## Really fixed

Pairs that were blocked, on the targets below, of {models} models in a forward and {trained} in a
training step, some of which the tables above do not have: `opcheck fix` wrote a shim with every
suggestion that there is, and the model was run with it on the emulated device, which refuses what
the target does not run and computes on the host. *Fixed*: nothing leaves the device any more, and
results are as near to the unchanged model's as the labels of what was followed promise; *exact*:
every bit of them is the same. On other targets no device can be emulated: their kernels do not
stand at PrivateUse1. The smallest models come first; those that do not run on inputs that were made
up are left out. Of a large model of transformers the same architecture is run with a smaller
config, 64 numbers wide; what is not blocked then is left out, and so is what did not end in time
and was not tried again. Gradients that the device loses by itself, without any change, as an Ascend
of torch 2.1 does behind composites that it has kernels for, are not held against a fix.
Written by `python -m benchmarks.demand.proofs FOLDER COUNT`.

| target | blocked pairs tried | fixed | of which exact |
| --- | ---: | ---: | ---: |
"""
_LEFT = """
| model | target | why it is not fixed |
| --- | --- | --- |
"""
_WITHOUT = """
## Without a fix

| operator | reason | makes a call | pairs | models | on |
| --- | --- | --- | ---: | ---: | --- |
"""
_WITH = """
## With a fix

| operator | reason | makes a call | pairs | models | on | fix |
| --- | --- | --- | ---: | ---: | --- | --- |
"""


@dataclass
class _Row:
    """One reason why calls of one operator are not on a device."""

    pairs: int = 0
    models: set[str] = field(default_factory=set)
    targets: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)


def page(
    found: Mapping[str, Sequence[Pair]],
    named: int,
    proofs: Mapping[str, Sequence[Proved]],
    newest: Collection[str] = (),
) -> str:
    """The whole page; ``found`` has the pairs of each model and mode, of so many ``named``.

    ``proofs``: what became of those that were really fixed. ``newest``: the target of each name at
    its newest release, without its torch.
    """
    return "".join(_parts(found, named, proofs, newest))


def _parts(
    found: Mapping[str, Sequence[Pair]],
    named: int,
    proofs: Mapping[str, Sequence[Proved]],
    newest: Collection[str],
) -> Iterator[str]:
    targets = {pair.target for pairs in found.values() for pair in pairs}
    yield _HEAD.format(
        models=f"{len({name.partition(' ')[0] for name in found}):,}", count=f"{len(found):,}",
        named=f"{named:,}", targets=len(targets),
    )  # fmt: skip
    modes: dict[str, list[Pair]] = {}
    for name, pairs in found.items():
        modes.setdefault(mode_of(name), []).extend(pairs)
    for mode, part in sorted(modes.items()):
        yield _counts(mode, part)
    yield _counts("all", [pair for part in modes.values() for pair in part])
    yield from _newer(found, newest)
    yield _LIMITS
    if proofs:
        yield from _proofs(proofs)
    without, fixed = _rows(found)
    yield from _table(_WITHOUT, without, with_rules=False)
    yield from _table(_WITH, fixed, with_rules=True)


def _newer(found: Mapping[str, Sequence[Pair]], newest: Collection[str]) -> Iterator[str]:
    """What another release of the vendor's software would free, where it would."""
    blocked = left = newer = 0
    for pairs in found.values():
        free = {_name(pair) for pair in pairs if _release(pair) in newest and not pair.left}
        here = [pair for pair in pairs if is_blocked(pair)]
        blocked += len(here)
        left += sum(bool(pair.left) for pair in here)
        newer += sum(bool(pair.left) and _name(pair) in free for pair in here)
    if newer:
        yield _NEWER.format(left=left, newer=newer, share=(blocked - left + newer) / blocked)


def _release(pair: Pair) -> str:
    """The target, without its torch."""
    return pair.target.partition("+")[0]


def _name(pair: Pair) -> str:
    """The target at any release."""
    return pair.target.partition("@")[0]


def _proofs(proofs: Mapping[str, Sequence[Proved]]) -> Iterator[str]:
    trained = sum(name.endswith(" trained") for name in proofs)
    yield _PROOFS.format(models=len(proofs) - trained, trained=trained)
    tried = [(name, proof) for name, each in sorted(proofs.items()) for proof in each]
    for target in sorted({proof.target for _, proof in tried}):
        yield _tried(f"`{target}`", [proof for _, proof in tried if proof.target == target])
    yield _tried("all", [proof for _, proof in tried])
    left = [(name, proof) for name, proof in tried if not proof.whole]
    if left:
        yield _LEFT
        for name, proof in left:
            yield f"| {name} | `{proof.target}` | {_why(proof).replace('|', '/')} |\n"


def _why(proof: Proved) -> str:
    """What is in the way; of values that are too far off, by how much."""
    if proof.why != NOT_HELD:
        return proof.why
    for what, figure in (("results", proof.forward), ("gradients", proof.backward)):
        if figure is None:
            continue
        difference, allowed = figure
        if difference is None:
            return f"{what} are missing on the device, or no numbers"
        if allowed is not None and difference > allowed:
            return f"{what} are off by {difference:.1e}, and may be by {allowed:.1e}"
    return proof.why


def _tried(name: str, proofs: Sequence[Proved]) -> str:
    fixed = [proof for proof in proofs if proof.whole]
    exact = sum(proof.allowed == Label.EXACT.value for proof in fixed)
    return f"| {name} | {len(proofs):,} | {len(fixed):,} | {exact:,} |\n"


def _counts(mode: str, pairs: Sequence[Pair]) -> str:
    blocked = [pair for pair in pairs if is_blocked(pair)]
    slowed = [pair for pair in pairs if pair.met and not is_blocked(pair)]
    shares = (_share(part) for part in (blocked, slowed))
    cells = (f"{len(pairs):,}", f"{len(blocked):,}", next(shares), f"{len(slowed):,}", next(shares))
    return f"| {mode} | {' | '.join(cells)} |\n"


def _share(pairs: Sequence[Pair]) -> str:
    free = sum(not pair.left for pair in pairs)
    return f"{free:,} ({free / len(pairs):.1%})" if pairs else "0"


_Rows = dict[tuple[str, str, str], _Row]


def _rows(found: Mapping[str, Sequence[Pair]]) -> tuple[_Rows, _Rows]:
    """What has no fix, and what has one; the same may be in both."""
    without: _Rows = defaultdict(_Row)
    fixed: _Rows = defaultdict(_Row)
    for name, pairs in found.items():
        for pair in pairs:
            for key, rules in _met(pair).items():
                row = (fixed if rules else without)[key]
                row.pairs += 1
                row.models.add(name)
                row.targets[pair.target.partition("+")[0]] += 1
                row.rules.update(rules[:1])
    return without, fixed


def _met(pair: Pair) -> Mapping[tuple[str, str, str], Sequence[str]]:
    """What a pair met, each once, with its fixes; with none where some call is left without."""
    found: dict[tuple[str, str, str], Sequence[str]] = {}
    for met in pair.met:
        rules = () if met.op in pair.left else met.rules
        key = met.op, met.code, met.verdict
        found[key] = rules and found.get(key, rules)
    return found


def _table(head: str, rows: _Rows, *, with_rules: bool) -> Iterator[str]:
    yield head
    ordered = sorted(rows.items(), key=lambda item: (-item[1].pairs, item[0]))
    for (op, code, verdict), row in ordered[:TOP]:
        cells = [f"`{op}`", code, verdict, f"{row.pairs:,}", f"{len(row.models):,}",
                 _few(row.targets)]  # fmt: skip
        cells += [_few(row.rules)] if with_rules else []
        yield f"| {' | '.join(cells)} |\n"
    left = ordered[TOP:]
    if left:
        pairs = sum(row.pairs for _, row in left)
        yield f"\n{len(left):,} more of them, {pairs:,} times.\n"


def _few(names: Counter[str]) -> str:
    ordered = sorted(names, key=lambda name: (-names[name], name))
    more = f" and {len(ordered) - NAMES} more" if len(ordered) > NAMES else ""
    return ", ".join(ordered[:NAMES]) + more
