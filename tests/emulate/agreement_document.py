"""The agreement as a page: ``python -m tests.emulate.agreement_document`` writes it anew.

It runs every operator, dtype and model for every target, some forty minutes on two cores.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence

import torch

from tests.emulate import agreement
from tests.emulate.agreement import Answer, Operators
from tests.emulate.matrices import matrix_of
from tests.zoo import ZOO

PATH = agreement.ROOT / "docs" / "agreement.md"
COMMAND = "python -m tests.emulate.agreement_document"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; everything but the first column is a number."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    lines += [line(row) for row in rows]
    return "\n".join(lines)


def line(row: Sequence[object]) -> str:
    """One row of a table."""
    return "| " + " | ".join(f"{v:,}" if isinstance(v, int) else str(v) for v in row) + " |"


def operators_row(target: str, found: Operators) -> str:
    """One target's operators."""
    return line(_operators(target, found))


def _operators(target: str, found: Operators) -> tuple[object, ...]:
    return (
        f"`{whole(target)}`", found.operators, found.dtypes, found.cases, found.agree,
        sum(found.refused.values()), len(found.differ), agreement.share_of(target),
    )  # fmt: skip


def refused_rows(operators: Mapping[str, Operators]) -> list[Sequence[object]]:
    """Every reason why neither side runs a sample, with the samples of each target."""
    causes = sorted({cause for found in operators.values() for cause in found.refused})
    return [
        (cause, *(found.refused.get(cause, 0) for found in operators.values())) for cause in causes
    ]


def autocast_row(number: int, found: Operators) -> str:
    """One target's operators under autocast."""
    return line(_autocast(number, found))


def _autocast(number: int, found: Operators) -> tuple[object, ...]:
    target, half = agreement.AUTOCAST[number]
    return (
        f"`{whole(target)}`", f"`{half}`", found.operators, found.cases, found.agree,
        sum(found.refused.values()), len(found.differ),
    )  # fmt: skip


def autocast_columns() -> list[str]:
    """How tables name the runs under autocast."""
    return [f"`{whole(target)}` `{half}`" for target, half in agreement.AUTOCAST]


def models_row(target: str, answers: Answer) -> str:
    """One target's models."""
    return line(_models(target, answers))


def _models(target: str, answers: Answer) -> tuple[object, ...]:
    trained = [case for case in answers if case.endswith(" training")]
    failed = len(agreement.failures(answers))
    share = f"{len(agreement.MODEL_SHARES[target])} in {agreement.MODEL_SHARE}"
    return (
        f"`{whole(target)}`", len(answers) - len(trained), len(trained), len(answers) - failed,
        failed, share,
    )  # fmt: skip


def whole(target: str) -> str:
    """The target as it was chosen: release included, the torch that runs here left out."""
    chosen = matrix_of(target).target
    return str(chosen).partition("+")[0]


def page(
    operators: Mapping[str, Operators],
    autocast: Sequence[Operators],
    models: Mapping[str, Answer],
) -> str:
    """The whole page."""
    cast = dict(zip(autocast_columns(), autocast, strict=True))
    families = sorted({case.partition("-")[0] for case in models[agreement.NEWEST]})
    return PAGE.format(
        command=COMMAND,
        torch=torch.__version__.partition("+")[0],
        operators=table(OPERATORS_HEAD, (_operators(t, found) for t, found in operators.items())),
        refused=table(("why", *(f"`{whole(t)}`" for t in operators)), refused_rows(operators)),
        known="\n".join(f"* `{case}`: {why}" for case, why in agreement.KNOWN.items()) or NOTHING,
        autocast=table(AUTOCAST_HEAD, (_autocast(n, found) for n, found in enumerate(autocast))),
        cast=", ".join(f"`{dtype}`" for dtype in agreement.CAST),
        share=agreement.AUTOCAST_SHARE,
        refused_cast=table(("why", *cast), refused_rows(cast)),
        families=", ".join(families[:-1]) + f" and {families[-1]}",
        models=table(MODELS_HEAD, (_models(t, answers) for t, answers in models.items())),
    )


OPERATORS_HEAD = (
    "target", "operators", "dtypes", "samples run", "agree", "neither side runs", "disagree",
    "in every test run",
)  # fmt: skip
AUTOCAST_HEAD = (
    "target", "autocast to", "operators", "samples run", "agree", "neither side runs", "disagree",
)  # fmt: skip
MODELS_HEAD = (
    "target", "models", "of them trained", "runs that agree", "disagree", "in every test run",
)  # fmt: skip
NOTHING = "Nothing is left on which they disagree."
PAGE = """\
# Agreement: what a scan predicts, and what the dispatcher asks

A scan predicts which kernels a run asks of a target, and which of them it lacks. Here that is held
against the [emulated device](emulated-device.md): PyTorch's own dispatcher with only the target's
kernels registered. They agree on a run where the sets of native and of missing overloads are equal
in every phase (forward, backward, optimizer), and so is how often each is asked for. The device's
tensors are plain ones, as those of a real device are: PyTorch's C++ treats what Python watches
otherwise in some hundred composites and gradients, and a scan is watched by nothing there.

`{command}` runs all of it and writes this page, some forty
minutes on two cores; it ends with an error where anything disagrees, or is refused for no reason
that is listed here. The figures are of torch {torch}. Each device is of the vendor's own name, in
processes of its own.

Every run of the tests takes both sides anew for the share that stands in the last column, of which
nothing may disagree: together every operator, for two targets, and every model, for one.
`make test-whole` takes all of them wholly, and these rows must come out as they stand here.

## Operators

PyTorch's database of operators for its own tests (OpInfo): every operator, every dtype that it
lists for the CPU, the first three samples, forward, and backward where the dtype has a gradient.

{operators}

Samples that neither side runs, with the reason:

{refused}

{known}

## Operators under autocast

The same samples with their forward under `torch.autocast`, of the dtypes that it casts ({cast}):
casts inside composites and by a vendor's own lists are counted with everything else. A test run
takes the first `float32` sample of 1 operator in {share} for each row, what conditions refuse
included, and `make test-whole` all of them.

{autocast}

Samples that neither side runs, with the reason:

{refused_cast}

## Models

Small configurations of real architectures, with weights: {families}. Each is run once without
gradients, where what conditions refuse must agree, too; those that are trained take one step with
AdamW.

{models}

## What is not compared

Autograd adds up the gradients of a tensor that is used twice: in place where nothing else holds
one, as on a real device, and a scan says so (`aten::add_.Tensor`). The emulated device does not,
since Python has seen the storages of its tensors (`aten::add.Tensor`). In a backward the two count
as one here; for them a scan is compared with PyTorch's own backward on the CPU.
"""


def main() -> None:
    """Run everything, write the page, and say whether anything disagrees."""
    operators: dict[str, Operators] = {}
    for target in agreement.TARGETS:
        print(f"operators on {target}", file=sys.stderr)
        (operators[target],) = agreement.operators([(target, {})])
    autocast = []
    for number, (target, half) in enumerate(agreement.AUTOCAST):
        print(f"operators on {target} under autocast to {half}", file=sys.stderr)
        choice = agreement.autocast_choice(number, whole=True)
        autocast += agreement.operators([(target, choice)])
    print(f"models on {', '.join(agreement.MODEL_TARGETS)}", file=sys.stderr)
    models = agreement.models(dict.fromkeys(agreement.MODEL_TARGETS, tuple(ZOO)))
    PATH.write_text(page(operators, autocast, models), encoding="utf-8")
    ran = (*operators.values(), *autocast)
    known = (*agreement.REFUSED, *agreement.ELSEWHERE, *agreement.UNDER_AUTOCAST)
    stale = {refused.cause for refused in known} - {
        cause for found in ran for cause in found.refused
    }
    problems = [f"nothing is refused any more because {cause}" for cause in sorted(stale)]
    problems += [agreement.described(found.differ) for found in ran if found.differ]
    problems += [text for answers in models.values() for text in agreement.failures(answers)]
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
