"""The page of what lists say of whole models, and of how that agrees with verdicts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from opcheck.model.model_lists import ModelEvidence, ModelRow

_HEAD = """\
# Lists of whole models

Written by `python -m benchmarks.model_lists FOLDER`; do not edit.

Vendors and communities list which whole models run on a device. `opcheck models` finds their rows,
a scan shows the one that names its model most surely, and says so where that is the opposite of its
verdict. A row speaks of other code than a scan does: vLLM has kernels of its own, optimum-habana
changes what transformers calls, and torch-xpu-ops compares a compiled run with an eager one, of
which it says whether that failed. So a contradiction is a place to look at, on either side.
"""
_LISTS = """\
## The lists

Each row has its file and line at a commit. *Runs* counts those by which a model runs in some
precision, *does not* those by which it fails or is not supported; of the others nothing is told,
since they were not tested, or the device had too little memory. *Named* rows are those that a scan
finds: by the name that builds a model, by its class, or by its `model_type`; the others are found
by `opcheck models` alone.
"""
_NOT_YET = """\
## Not yet

* vLLM-metax, vLLM-Kunlun, vllm-gcu and the device pages of the OpenMMLab are of devices that the
  database has no target for; vllm-musa and ROCm's lists of expected accuracy are not read.
* What Ascend's ModelZoo-PyTorch has in its folders is not read: it names no chip there, and ended
  in 2023.
* Diffusion pipelines and models of detectron2 are listed, and found by name alone.
* A GGUF file, an adapter or an exported program is known by nothing that lists name.
"""


class Pair(Struct, frozen=True):
    """One model on one target, by a scan and by lists."""

    model: str
    mode: str
    target: str
    runs: bool | None
    said: ModelEvidence


def page(rows: Sequence[ModelRow], pairs: Sequence[Pair], known: int = 0) -> str:
    """The whole page; ``known`` is how many models there are to be scanned."""
    return "\n".join([*_lines(rows), *_verdicts(pairs, known), _NOT_YET.rstrip(), ""])


def _lines(rows: Sequence[ModelRow]) -> Iterator[str]:
    yield from (_HEAD, _LISTS)
    yield "| list | of | engine | release | commit of | rows | runs | does not | named |"
    yield "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
    for of, group in groupby(rows, key=lambda row: row.of):
        listed = tuple(group)
        runs = Counter(row.best.runs for row in listed)
        named = sum(bool(row.types or row.classes or row.builds) for row in listed)
        fact = listed[0].evidence
        source = f"[{of.name}](https://github.com/{fact.source}/tree/{fact.commit})"
        cells = (source, of.vendor, of.engine, of.release, fact.date, len(listed), runs[True],
                 runs[False], named)  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def _verdicts(pairs: Sequence[Pair], known: int) -> Iterator[str]:
    models = len({pair.model for pair in pairs})
    yield "## Beside verdicts"
    yield ""
    yield (
        f"Of {known} models that they name and a library builds, {models} were scanned, each as it"
        " is built by default, on the newest release for each device that a list is of: those of"
        " transformers in bfloat16, those of timm and torchvision in float32. A *pair* is a model"
        " on a device. Of the others some have no default that runs, and some wait to be scanned."
    )
    yield ""
    yield "| list | mode | pairs | both say it runs | both say not | contradict | no answer |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    by = {(_list(pair), pair.mode) for pair in pairs}
    for name, mode in sorted(by):
        those = [pair for pair in pairs if (_list(pair), pair.mode) == (name, mode)]
        opposed = sum(pair.said.contradicts for pair in those)
        both = Counter(pair.runs for pair in those if pair.runs is pair.said.runs)
        left = len(those) - opposed - both[True] - both[False]
        counts = (len(those), both[True], both[False], opposed, left)
        yield f"| {name} | {mode} | {' | '.join(map(str, counts))} |"
    yield ""
    yield (
        "*No answer*: the scan cannot tell, or no row speaks of that precision, or none says more"
        " than that it was not tested or that memory was short."
    )
    yield ""
    yield from _contradictions([pair for pair in pairs if pair.said.contradicts])


def _list(pair: Pair) -> str:
    return pair.said.listed[0].row.of.name


def _contradictions(pairs: Sequence[Pair]) -> Iterator[str]:
    yield f"### The contradictions: {len(pairs)}"
    yield ""
    if not pairs:
        return
    yield "| model | mode | device | the scan | the list | row |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for pair in pairs:
        first = next(one for one in pair.said.listed if one.tells)
        fact = first.row.evidence
        address = f"https://github.com/{fact.source}/blob/{fact.commit}/{fact.path}#L{fact.line}"
        device = pair.target.partition("@")[0]
        scan = "runs" if pair.runs else "will not run"
        yield (
            f"| `{pair.model}` | {pair.mode} | {device} | {scan} | {first.outcome.value} |"
            f" [{_list(pair)}: {first.row.name}]({address}) |"
        )
    yield ""
