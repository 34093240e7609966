"""The agreement as a page: ``python -m tests.emulate.agreement_document`` writes it anew.

It runs every operator, dtype and model for every target, some ten minutes on two cores.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence

import torch

from tests.emulate import agreement
from tests.emulate.agreement import Answer, Operators
from tests.emulate.matrices import matrix_of

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
        f"`{_whole(target)}`", found.operators, found.dtypes, found.cases, found.agree,
        sum(found.refused.values()), len(found.differ),
    )  # fmt: skip


def models_row(target: str, answers: Answer) -> str:
    """One target's models."""
    return line(_models(target, answers))


def _models(target: str, answers: Answer) -> tuple[object, ...]:
    trained = [case for case in answers if case.endswith(" training")]
    failed = len(agreement.failures(answers))
    return (
        f"`{_whole(target)}`", len(answers) - len(trained), len(trained), len(answers) - failed,
        failed,
    )  # fmt: skip


def _whole(target: str) -> str:
    """The target as it was chosen: release included, the torch that runs here left out."""
    chosen = matrix_of(target).target
    return str(chosen).partition("+")[0]


def plain_rows(answers: Answer) -> list[Sequence[object]]:
    """What differs with plain tensors."""
    found, _ = agreement.plainly(answers)
    return [
        (
            cause, ", ".join(f"`{name}`" for name in sorted(names)), len(cases), predicted, asked,
        )
        for cause, (cases, predicted, asked, names) in found.items()
    ]  # fmt: skip


def page(operators: Mapping[str, Operators], models: Mapping[str, Answer]) -> str:
    """The whole page."""
    newest, plain = next(iter(operators.values())), next(iter(models.values()))
    families = sorted({case.partition("-")[0] for case in plain})
    return PAGE.format(
        command=COMMAND,
        torch=torch.__version__.partition("+")[0],
        operators=table(OPERATORS_HEAD, (_operators(t, found) for t, found in operators.items())),
        refused=table(("why", "cases"), newest.refused.items()),
        known="\n".join(f"* `{case}`: {why}" for case, why in agreement.KNOWN.items()) or NOTHING,
        families=", ".join(families[:-1]) + f" and {families[-1]}",
        models=table(MODELS_HEAD, (_models(t, answers) for t, answers in models.items())),
        plain=table(PLAIN_HEAD, plain_rows(plain)),
        plain_target=_whole(next(iter(models))),
        runs=len(plain),
        differing=sum(bool(outcome["plain"]) for outcome in plain.values()),
    )


OPERATORS_HEAD = (
    "target", "operators", "dtypes", "samples run", "agree", "neither side runs", "disagree",
)  # fmt: skip
MODELS_HEAD = ("target", "models", "of them trained", "runs that agree", "disagree")
PLAIN_HEAD = ("when", "overloads", "runs", "predicted", "asked")
NOTHING = "Nothing is left on which they disagree."
PAGE = """\
# Agreement: what a scan predicts, and what the dispatcher asks

A scan predicts which kernels a run asks of a target, and which of them it lacks. Here that is held
against the [emulated device](emulated-device.md): PyTorch's own dispatcher with only the target's
kernels registered. They agree on a run where the sets of native and of missing overloads are equal
in every phase (forward, backward, optimizer), and so is how often each is asked for.

`{command}` runs all of it and writes this page (torch {torch}). The tests hold a part of it in
every run, and with `slow` all operators and dtypes for the first target, four dtypes for the
others, and all models.

## Operators

PyTorch's database of operators for its own tests (OpInfo): every operator, every dtype that it
lists for the CPU, the first three samples, forward, and backward where the dtype has a gradient.

{operators}

Samples that neither side runs, with the reason, for the first target:

{refused}

{known}

## Models

Small configurations of real architectures, with weights: {families}. Each is run once without
gradients, where what conditions refuse must agree, too; those that are trained take one step with
AdamW.

{models}

## Plain tensors

A trace sees PyTorch's C++ code as it treats tensors that Python watches; so do both sides above.
A few places ask a device otherwise for plain tensors, which is what a user has on a device, real
or emulated. Of {runs} runs of the models on `{plain_target}`, {differing} differ there, in these
overloads alone:

{plain}
"""


def main() -> None:
    """Run everything, write the page, and say whether anything disagrees."""
    operators: dict[str, Operators] = {}
    for target in agreement.TARGETS:
        print(f"operators on {target}", file=sys.stderr)
        operators |= agreement.operators([target])
    print(f"models on {', '.join(agreement.MODEL_TARGETS)}", file=sys.stderr)
    models = agreement.models(agreement.MODEL_TARGETS)
    PATH.write_text(page(operators, models), encoding="utf-8")
    problems = [agreement.described(found.differ) for found in operators.values() if found.differ]
    problems += [text for answers in models.values() for text in agreement.failures(answers)]
    problems += agreement.plainly(next(iter(models.values())))[1]
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
