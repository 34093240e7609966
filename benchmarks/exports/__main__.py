"""Writes the page of a target: ``python -m benchmarks.exports FOLDER [TARGET]``.

The folder has what ``benchmarks.exports.happened`` noted; opcheck is asked about the same cases.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from benchmarks.exports import delegated
from benchmarks.exports.compared import Compared, compared, kept, known
from benchmarks.exports.happened import DTYPES, EXPORTERS, MODEL, OPERATOR
from benchmarks.exports.placed import Placing
from benchmarks.measure import ROOT
from opcheck.model.exporting import Stage

ONNX, OPENVINO, PORTABLE, XNNPACK, VULKAN, COREML, LITERT = EXPORTERS
PAGES = {
    ONNX: "export-agreement.md",
    OPENVINO: "export-agreement-openvino.md",
    PORTABLE: "export-agreement-executorch.md",
    COREML: "export-agreement-coreml.md",
    LITERT: "export-agreement-litert.md",
}
BESIDE = {PORTABLE: (XNNPACK, VULKAN)}
"""Target -> others that its page tells of too, in folders of their names within the folder."""
_HEADS = {
    ONNX: f"""\
# Export verdicts and what really happens

Written by `python -m benchmarks.exports FOLDER`; do not edit. Models of `tests/zoo` and operators
of PyTorch's own samples, drawn by a hash of their names, were really exported for `{ONNX}`
and run there (`python -m benchmarks.exports.happened FOLDER operator`, and `model`), without asking
opcheck. Beside that stands what a scan says of the same call. *Conversion* is whether a file is
written; *running*, whether ONNX Runtime runs it too, whatever the values. *Unknown* is what opcheck
says that nobody has told.
""",
    OPENVINO: f"""\
# OpenVINO: verdicts and what really happens

Written by `python -m benchmarks.exports FOLDER {OPENVINO}`; do not edit. Models of `tests/zoo` and
operators of PyTorch's own samples, drawn by a hash of their names, were really converted for
`{OPENVINO}` and run there (`python -m benchmarks.exports.happened FOLDER operator {OPENVINO}`, and
`model`), without asking opcheck. Beside that stands what a scan says of the same call. *Conversion*
is whether a file is written; *running*, whether the CPU plugin runs it too, whatever the values.
*Unknown* is what opcheck says that nobody has told. What opcheck knows of dtypes comes from other
samples of these operators; an operator that has but one sample was not asked about.
Where an earlier run was wrong, the cause was read in the sources of the converter, and the same
cases were asked again: what is mended is counted as right here.
""",
    PORTABLE: f"""\
# ExecuTorch: verdicts and what really happens

Written by `python -m benchmarks.exports FOLDER {PORTABLE}`; do not edit. Models of `tests/zoo`,
those that give a cache with `use_cache` off as well (`-uncached`), and operators of PyTorch's own
samples, drawn by a hash of their names, were really lowered for `{PORTABLE}` and run by
`executorch.runtime` (`python -m benchmarks.exports.happened FOLDER operator {PORTABLE}`, and
`model`), without asking opcheck. Beside that stands what a scan says of the same call. *Conversion*
is whether a program is written; *running*, whether the runtime runs it too, whatever the values.
*Unknown* is what opcheck says that nobody has told. What opcheck knows comes from ExecuTorch's
sources and PyTorch's decompositions of other samples. Where an earlier run was wrong, the cause was
read in these sources, and the same cases were asked again: what is mended is counted as right here.
""",
    XNNPACK: f"""\

# XNNPACK

The same with `XnnpackPartitioner` (`{XNNPACK}`).
""",
    VULKAN: f"""\

# Vulkan

The same with `VulkanPartitioner` (`{VULKAN}`), whose runtime the wheel does not have: *converted*
is as far as a program comes here, nothing was run, and no values were compared. The partitioner was
asked with its own limits of textures.
""",
    COREML: f"""\
# Core ML: verdicts and what really happens

Written by `python -m benchmarks.exports FOLDER {COREML}`; do not edit. Models of `tests/zoo`,
those that give a cache with `use_cache` off (`-uncached`), and operators of PyTorch's own samples,
drawn by a hash of their names, were really converted by coremltools
(`python -m benchmarks.exports.happened FOLDER operator {COREML}`, and `model`), without asking
opcheck. Beside that stands what a scan says of the same call, which rests on the source of the
converters alone. *Conversion* is whether an ML program is written. Core ML itself is part of
Apple's systems: nothing was run, and no values were compared. What was wrong was looked at, and
what the source of the converters says of it was read: it is mended here. How often a scan was right
of operators that nothing was mended for stands further below.
""",
    LITERT: f"""\
# LiteRT: verdicts and what really happens

Written by `python -m benchmarks.exports FOLDER {LITERT}`; do not edit. Models of `tests/zoo`, those
with the fewest calls first, and those that give a cache with `use_cache` off as well (`-uncached`),
and operators of PyTorch's own samples, drawn by a hash of their names, were really converted by
litert-torch and run by the interpreter of ai-edge-litert
(`python -m benchmarks.exports.happened FOLDER operator {LITERT}`, and `model`), without asking
opcheck. Beside that stands what a scan says of the same call. *Conversion* is whether a file is
written; *running*, whether the interpreter runs it too, whatever the values. *Unknown* is what
opcheck says that nobody has told. What opcheck knows of dtypes comes from other samples of these
operators, and from calls that were made from their schemas. What was wrong was looked at, and is
mended where the cause was found: it counts as right here. How often a scan was right before that
stands further below.
""",
}
_VALUES = {
    ONNX: """\
*values* has random numbers too: ONNX Runtime draws its own. And outputs in float32
where PyTorch gives float16.
""",
    OPENVINO: """\
*values* has random numbers too: OpenVINO draws its own.
""",
    PORTABLE: """\
*values* has random numbers too: ExecuTorch draws its own.
""",
    XNNPACK: "",
    VULKAN: "",
    COREML: """\
*converted* is as far as a model comes on Linux.
""",
    LITERT: """\
*values* has random numbers too: LiteRT draws its own. And bfloat16, which a file gives as float32.
""",
}
_FIRST = {
    VULKAN: """
## How often it was right before it was mended

Of 62 calls of 78 operators in float32 that nothing had been mended for, the place of 61 was told
rightly, and the conversion of 74 of 77 (96.1%). Of the models, 21 batch norms were said to be left.
""",
    COREML: """
## How often it was right before it was mended

Operators were drawn in three groups, and each was converted and compared before anything was mended
for it, with what the groups before had taught. So many of the conversions were told rightly, of
those that a scan said anything of.

| operators | float32 | float16 | int64 | all |
| --- | ---: | ---: | ---: | ---: |
| the first 120 | | | | 89.0% of 292 |
| 124 more | 96.6% of 118 | 93.5% of 92 | 100.0% of 83 | 96.6% of 293 |
| 107 more | 96.2% of 105 | 92.8% of 83 | 97.4% of 77 | 95.5% of 265 |

What was wrong of the last were six operators: weights of `layer_norm` and `instance_norm` that are
inputs or float16, `prelu` of a tensor without dimensions, `narrow` by a tensor, `nan_to_num` of
float16 and whole numbers, and `normalize` in float16, which the converter makes float32 on the way.
""",
    LITERT: """
## How often it was right before it was mended

Operators were drawn in three groups, and each was compared before anything was mended for it, and
so were the models. So many of the conversions were told rightly, of those that a scan said anything
of.

| exports | float32 | float16 | int64 | all |
| --- | ---: | ---: | ---: | ---: |
| the first 50 operators | 95.8% of 48 | 71.1% of 38 | 90.9% of 33 | 86.6% of 119 |
| 50 more | 95.5% of 44 | 92.3% of 13 | 93.3% of 15 | 94.4% of 72 |
| 57 more | 92.9% of 56 | 94.9% of 39 | 94.6% of 37 | 93.9% of 132 |
| 79 models | | | | 96.4% of 56 |

Most of what was wrong of the first was a call in float16 or int64 that TensorFlow Lite has no
operator for, in a dtype that no call of the overload had been tried in: these are unknown since.
36 of the second 108 exports were unknown, 10 of the third 142, and 23 of the models: most have a
mask in bool, or something in int32. Both models that were wrong were said not to be converted where
they are: they take `abs` of int64 of positions, which the converter computes when it converts.
Calls were tried since of 365 overloads in float32, of 281 in float16, of 276 in int64, of 227 in
bool and of 218 in int32, before the third group was asked.
Nothing was mended for the third group of operators yet: what is wrong of it stands below.
""",
    OPENVINO: """
## How often it was right before it was mended

Each of these was exported and compared once before anything was mended for it: 116 operators and
25 models that nobody had looked at, and other dtypes of 219 operators of which one had been.

| exports | number | question | right of what is said |
| --- | ---: | --- | ---: |
| 25 new models of the zoo | 25 | conversion | 100.0% of 25 |
| 25 new models of the zoo | 25 | running | 100.0% of 25 |
| 116 new operators | 283 | conversion | 96.3% of 272 |
| 116 new operators | 283 | running | 96.0% of 272 |
| other dtypes of 219 operators | 365 | conversion | 99.2% of 355 |
| other dtypes of 219 operators | 365 | running | 98.3% of 355 |

What was wrong of the new operators were `pixel_shuffle` and `pixel_unshuffle` of tensors without
elements, `native_batch_norm` whose statistics are returned, `masked.norm` of a number, and `mm` of
whole numbers over a dimension of size 0.
""",
}
"""What was measured once, and cannot be again: the operators have been looked at."""
_WRONG = """
## Where opcheck is wrong

| case | what happened | what opcheck says |
| --- | --- | --- |
"""
_PLACES = """
## Where calls go

Each call of the captured graphs was marked, and looked up in what `to_edge_transform_and_lower`
gave: what became of it is in delegates, or outside of them. *Left* is what is left in part, too.
*Said delegated* is a verdict of native or decomposed, *said left* of fallback. Nothing is left to
run of what passes remove.

"""
_CLASSES = """
### Where opcheck is wrong on the place

| operator | said | was | calls | such as |
| --- | --- | --- | ---: | --- |
"""
_CUTS = """
### Partitions

They are made over the graph, and what is between two calls of one partition may be of none;
opcheck counts runs of calls in the order in which the model makes them.

"""
_UNKNOWN = """
## What opcheck does not say, by cause

| cause | exports | converted | such as |
| --- | ---: | ---: | --- |
"""
_FEW = 3
"""Cases of a cause that are named."""
_LONGEST = 110
_FILE = re.compile(r"\S*/(?=model\.(?:onnx|xml|pte))")
"""A file in a folder that no other run has."""


def counts(rows: Sequence[Compared], name: str) -> str:
    """Right, wrong and unknown of one kind of answer, as cells."""
    answers = Counter(getattr(row, name) for row in rows)
    said = answers[True] + answers[False]
    rate = f"{answers[True] / said:.1%}" if said else "-"
    return f"{answers[True]} | {answers[False]} | {answers[None]} | {rate}"


def table(rows: Sequence[Compared]) -> Iterator[str]:
    """A line for the models, and one for the operators in each dtype."""
    yield "| what | exports | question | right | wrong | unknown | right of what is said |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    groups = [("models of the zoo", [row for row in rows if row.kind == MODEL])]
    groups += [
        (f"operators, {dtype}", [r for r in rows if r.kind == OPERATOR and r.dtype == dtype])
        for dtype in map(_name, DTYPES)
    ]
    for said, chosen in groups:
        ran = any(row.stage in (Stage.RUNTIME, Stage.VALUES, Stage.PROVED) for row in rows)
        for question, name in (("conversion", "conversion"), ("running", "running"))[: 1 + ran]:
            yield f"| {said} | {len(chosen)} | {question} | {counts(chosen, name)} |"


def stages(rows: Sequence[Compared]) -> Iterator[str]:
    """How far they came."""
    yield "| what | " + " | ".join(stage.value for stage in Stage) + " |"
    yield "| --- |" + " ---: |" * len(Stage)
    for kind in (MODEL, OPERATOR):
        found = Counter(row.stage for row in rows if row.kind == kind)
        yield f"| {kind}s | " + " | ".join(str(found[stage]) for stage in Stage) + " |"


def wrong(rows: Iterable[Compared]) -> Iterator[str]:
    """A line for each case on which opcheck is wrong."""
    for row in rows:
        running = None if row.stage is Stage.CONVERTED else row.running
        if False in (row.conversion, running):
            happened = f"{row.stage.value}: {row.error}" if row.error else row.stage.value
            said = row.said.why or "it runs"
            yield f"| {row.case} | {_cell(happened)} | {_cell(said)} |"


def unknown(rows: Iterable[Compared]) -> Iterator[str]:
    """A line for each cause of an answer that says nothing of the run."""
    causes: dict[str, list[Compared]] = {}
    for row in rows:
        if row.running is None:
            causes.setdefault(_cause(row.said.why), []).append(row)
    for cause, found in sorted(causes.items(), key=lambda each: (-len(each[1]), each[0])):
        names = dict.fromkeys(row.case.split()[1] for row in found)
        converted = sum(row.stage.converted for row in found)
        some = ", ".join(list(names)[:_FEW])
        yield f"| {cause} | {len(found)} | {converted} | {some} |"


def _cause(why: str) -> str:
    """The code of the finding, and its text without what is of one operator alone."""
    parts = why.split(": ", 2)
    return _cell(": ".join(parts[1:])) if len(parts) > 2 else _cell(why or "it could not be traced")


def _cell(text: str) -> str:
    short = _FILE.sub("", " ".join(text.split())).replace("|", "\\|").replace("<", "")
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def page(rows: Sequence[Compared], target: str = ONNX) -> str:
    """The whole page."""
    operators = {row.case.split()[1] for row in rows if row.kind == OPERATOR}
    models = sum(row.kind == MODEL for row in rows)
    parts = [
        _HEADS[target],
        f"\n{models} models and {len(operators)} operators were exported.\n\n",
        "\n".join(table(rows)), "\n\n## How far they came\n\n", "\n".join(stages(rows)),
        f"\n\n{_VALUES[target]}", _FIRST.get(target, ""),
        _WRONG, "\n".join(wrong(rows)), "\n",
    ]  # fmt: skip
    if target == OPENVINO:
        parts += [_UNKNOWN, "\n".join(unknown(rows)), "\n"]
    return "".join(parts)


def places(folder: Path, target: str) -> str:
    """Where the calls of what was lowered went, beside what a scan says of them."""
    found = delegated.held(folder, known(target))
    rates = delegated.rates(found.rows)
    said = "\n".join(
        f"Of {of} calls of {kind}s that opcheck says a place of, {right} are right "
        f"({right / of:.1%})."
        for kind, (right, of) in rates.items()
    )
    unpaired = (
        f"{found.unpaired} calls of the graphs are no calls of the scan's trace, or of other "
        "tensors there."
    )
    wrong_places = "\n".join(delegated.classes(found.rows))
    return "".join((
        _PLACES, "\n".join(delegated.table(found)), f"\n\n{said}\n{unpaired}\n",
        f"{_CLASSES}{wrong_places}\n" if wrong_places else "",
        _CUTS, "\n".join(delegated.partitions(found.cuts)), "\n",
    ))  # fmt: skip


def main() -> None:
    """Compare, and write the page."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    target = sys.argv[2] if sys.argv[2:] else ONNX
    written = ""
    for each in (target, *BESIDE.get(target, ())):
        own = folder if each == target else folder / each
        if not own.exists():
            continue  # nothing was exported for it
        rows = compared(own, each)
        kept(rows, own / "compared.jsonl")
        written += page(rows, each)
        if isinstance(EXPORTERS[each], Placing):
            written += places(own, each)
    (ROOT / "docs" / PAGES[target]).write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
