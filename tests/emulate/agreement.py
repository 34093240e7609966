"""The scan's predictions compared with the dispatcher: operators and models, target by target."""

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.emulate.agreement_side import AT, Outcome
from tests.emulate.operator_samples import operator_names
from tests.preloaded import python
from tests.whole import WHOLE

ROOT = Path(__file__).parent.parent.parent
NEWEST = "ascend-910b"
"""The target of which a test run takes the most."""
SHARES: Mapping[str, Sequence[str]] = {
    NEWEST: (),
    "ascend-910b@7.2.0": ("complex64", "float32"),
    "ascend-910b@6.0.0": ("bfloat16", "float32"),
    "ascend-910a": ("float32", "int64"),
    "cambricon-mlu590": ("float32", "float64"),
    "moorethreads-s5000": ("bool", "float32"),
}
"""Target -> the dtypes of which a test run takes its share of the operators; every one for ().

What differs with the target is what it registers, so float32 is always one; the others are shared
out, and so are the operators: one in ``OPERATOR_SHARE`` for a target, each for one of them.
The page's own run takes all of them for all targets, and so do tests with ``OPCHECK_WHOLE=1``.
"""
CONDITIONS = (NEWEST, "cambricon-mlu370")
"""Targets for which what conditions refuse is compared for operators, too; they share these."""
OPERATOR_SHARE = 6
TARGETS = tuple(SHARES)
"""Operators."""
MODEL_SHARES: Mapping[str, Sequence[int]] = {
    NEWEST: (0, 3, 5), "ascend-910b@6.0.0": (1,), "cambricon-mlu590": (2,),
    "moorethreads-s5000": (4,),
}  # fmt: skip
"""Models: target -> which of each ``MODEL_SHARE`` a test run takes for it, every model for one."""
MODEL_SHARE = 6
MODEL_TARGETS = tuple(MODEL_SHARES)
BESIDE = 2
"""Sides that run beside each other, each on a core of its own."""
Answer = Mapping[str, Outcome]
"""Of each case."""
Job = tuple[str, Mapping[str, Any]]
"""A target, and which cases are run for it."""


class Refused(NamedTuple):
    """Cases that neither side runs, and why that is right."""

    operators: str
    """Pattern of their names."""
    said: str
    """Found in what either side raises."""
    cause: str
    by_values: bool = False
    """Whether PyTorch refuses for values that a trace does not have, so that only a device does."""


REFUSED = (
    Refused(
        "tensor_split", "expected tensor_indices_or_sections to be on cpu",
        "PyTorch takes the places to split at only from a tensor in host memory",
    ),
    Refused(
        "jiterator_.*", "Jiterator is only supported on CUDA and ROCm GPUs",
        "compiles for CUDA and ROCm alone",
    ),
    Refused(
        "sparse_.*|to_sparse.*", "only strided ones are followed|a sparse, quantised or nested",
        "sparse tensors are not emulated",
    ),
    Refused(
        "as_strided_partial_views", "are out of bounds for storage",
        "the sample reaches beyond its tensor; a copy on a device has no more than it shows",
    ),
    Refused(
        "(svd|pca)_lowrank", "singular vectors in the complex case are specified up to",
        "PyTorch does not differentiate these complex singular vectors on any device",
        by_values=True,
    ),
    Refused(
        "linalg_eigh?", "eigenvectors in the complex case are specified up to",
        "PyTorch does not differentiate these complex eigenvectors on any device", by_values=True,
    ),
    Refused(
        ".*", r"Double\b.*\bFloat|Float and Double|Double but got float|float32 and torch\.float64|"
        r"Expected self\.dtype to be equal to src\.dtype",
        "a cast to float64 gives float32, which then meets float64",
    ),
)  # fmt: skip
"""Every case that both sides refuse must be of one of these."""
ELSEWHERE = (
    Refused(
        ".*", "matmul does not support automatic differentiation for outputs with complex dtype",
        "an older release leaves matmul to PyTorch's own gradient, which takes no complex numbers",
    ),
)  # fmt: skip
"""The same, of targets other than the first."""
UNDER_AUTOCAST = (
    Refused(
        "nn_functional_binary_cross_entropy", "are unsafe to autocast",
        "PyTorch refuses it under autocast",
    ),
    Refused(
        "linalg_pinv_singular", "expected a tensor with 2 or more dimensions of float",
        "the sample hands a product in half on to what takes none",
    ),
    Refused(
        "pinverse|linalg_pinv(_hermitian)?", "expected m1 and m2 to have the same dtype",
        "a pseudo-inverse is in half, and PyTorch's gradient of it multiplies it by its input, "
        "which is not",
    ),
    Refused(
        ".*", "Unexpected floating ScalarType in at::autocast::prioritize",
        "arguments in both half types, of which neither is the wider one",
    ),
)  # fmt: skip
"""The same, under autocast."""
AUTOCAST = tuple(
    (target, half)
    for target in (NEWEST, "cambricon-mlu590", "moorethreads-s5000")
    for half in ("bfloat16", "float16")
)
"""Targets with lists of their own for autocast, and one with PyTorch's; both half types."""
CAST = ("bfloat16", "float16", "float32")
"""What autocast casts: the dtypes whose samples the page's own run takes under it."""
AUTOCAST_SHARE = 12
"""A test run takes one operator in so many under each, the first sample in float32."""
KNOWN: Mapping[str, str] = {}
"""Pattern of cases on which the sides disagree -> why. Nothing is left."""


# --- both sides ----------------------------------------------------------------------------------


def sides(names: Sequence[str], jobs: Sequence[Job]) -> list[list[Answer]]:
    """What each side answers for each job, the sides beside each other.

    The targets of all jobs are of one device type, since a process gives its device one name.

    Raises:
        AssertionError: the process of a side ended early, with what it was running.
    """
    return _answers([(name, jobs) for name in names])


def _answers(requests: Sequence[tuple[str, Sequence[Job]]]) -> list[list[Answer]]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(BESIDE) as beside:
        running = [
            beside.submit(_answer, name, Path(folder) / str(index), jobs)
            for index, (name, jobs) in enumerate(requests)
        ]
        return [side.result() for side in running]


def _python(name: str) -> tuple[str, ...]:
    """A copy of a process that has loaded what the sides come to use, which takes them longest."""
    which = "models" if name == "models" else "operators"
    return python("torch", f"tests.emulate.loaded_{which}")


def _answer(name: str, folder: Path, jobs: Sequence[Job]) -> list[Answer]:
    return _Side(name, folder, jobs).answers()


class _Side:
    """A process that answers."""

    def __init__(self, name: str, folder: Path, jobs: Sequence[Job]) -> None:
        folder.mkdir()
        self._answer = folder / "answer.json"
        self._said = folder / "said.txt"
        request = {"jobs": list(jobs), "answer": str(self._answer)}
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        with (folder / "request.json").open() as asked, self._said.open("w") as said:
            self._process = subprocess.Popen(
                [*_python(name), "-m", "tests.emulate.agreement_side", name],
                stdin=asked, stdout=said, stderr=said, cwd=ROOT,
            )  # fmt: skip

    def answers(self) -> list[Answer]:
        """Wait for it."""
        code = self._process.wait()
        said = self._said.read_text(encoding="utf-8", errors="replace").splitlines()
        last = next((line.removeprefix(AT) for line in reversed(said) if line.startswith(AT)), "")
        assert code == 0, f"ended with {code} at {last!r}:\n" + "\n".join(said[-30:])
        answers: list[Answer] = json.loads(self._answer.read_text(encoding="utf-8"))
        return answers


# --- operators -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operators:
    """One target's operators, both sides together."""

    cases: int
    operators: int
    dtypes: int
    agree: int
    by_condition: int
    """Cases of which a condition refuses something on either side; 0 where that was not asked."""
    refused: Mapping[str, int]
    """Cause -> cases that neither side runs."""
    differ: Mapping[str, tuple[Outcome, Outcome]]
    """Case -> what is predicted, and what is asked; one that only one side refuses is here too."""


def operators(jobs: Sequence[Job]) -> list[Operators]:
    """Run both sides over the operators of PyTorch's samples; see :func:`sides`."""
    predicted, asked = sides(("predicted", "asked"), jobs)
    return [compared(*both) for both in zip(predicted, asked, strict=True)]


def choice_of(target: str) -> dict[str, Any]:
    """What a test run takes of a target's operators."""
    if WHOLE:
        return {}
    first = list(SHARES).index(target) % OPERATOR_SHARE
    dtypes = {"dtypes": SHARES[target]} if SHARES[target] else {}
    return {"operators": operator_names()[first::OPERATOR_SHARE], **dtypes}


def conditions_choice(target: str) -> dict[str, Any]:
    """What a test run takes where what conditions refuse is compared: each operator for one."""
    chosen: dict[str, Any] = {"dtypes": ["float32"], "first": 1, "conditions": True}
    if not WHOLE:
        first = CONDITIONS.index(target)
        chosen["operators"] = operator_names()[first :: len(CONDITIONS)]
    return chosen


def autocast_choice(number: int, whole: bool = WHOLE) -> dict[str, Any]:
    """What a test run takes under one of ``AUTOCAST``, or what the page's own run takes."""
    _, half = AUTOCAST[number]
    if whole:
        return {"autocast": half, "dtypes": CAST}
    some = operator_names()[number::AUTOCAST_SHARE]
    return {"autocast": half, "dtypes": ("float32",), "first": 1, "operators": some}


def share_of(target: str) -> str:
    """The same, as the page says it."""
    dtypes = ", ".join(f"`{dtype}`" for dtype in SHARES[target]) or "every dtype"
    return f"1 operator in {OPERATOR_SHARE}, {dtypes}"


def compared(predicted: Answer, asked: Answer) -> Operators:
    """Hold one target's answers against each other."""
    assert predicted.keys() == asked.keys(), "the sides did not run the same cases"
    refused: Counter[str] = Counter()
    differ = {}
    for case, said in predicted.items():
        cause = _cause(case, said, asked[case])
        if cause:
            refused[cause] += 1
        elif said != asked[case] or "raised" in said:
            differ[case] = (said, asked[case])
    return Operators(
        cases=len(predicted),
        operators=len({case.split()[0] for case in predicted}),
        dtypes=len({case.split()[1] for case in predicted}),
        by_condition=sum(
            bool(said.get("refused") or asked[case].get("refused"))
            for case, said in predicted.items()
        ),
        agree=len(predicted) - refused.total() - len(differ),
        refused=dict(sorted(refused.items())),
        differ=differ,
    )


def _cause(case: str, predicted: Outcome, asked: Outcome) -> str:
    """Why neither side runs a case; "" if one does, or nothing explains it."""
    if "raised" not in asked:
        return ""
    for refused in (*REFUSED, *ELSEWHERE, *UNDER_AUTOCAST):
        sides = (asked,) if refused.by_values else (predicted, asked)
        if re.fullmatch(refused.operators, case.split()[0]) and all(
            re.search(refused.said, outcome.get("raised", "")) for outcome in sides
        ):
            return refused.cause
    return ""


def described(differ: Mapping[str, tuple[Outcome, Outcome]], most: int = 20) -> str:
    """Disagreements as text, only what differs in each."""
    lines = [f"{len(differ)} cases differ"]
    for case, (said, asked) in list(differ.items())[:most]:
        if "raised" in said or "raised" in asked:
            both = (outcome.get("raised", "runs") for outcome in (said, asked))
            lines.append(f"{case}: " + " | ".join(both))
            continue
        once = [dict.fromkeys(outcome.get("refused", ()), 1) for outcome in (said, asked)]
        said, asked = ({**o, "refused": r} for o, r in zip((said, asked), once, strict=True))
        for kind in ("native", "missing", "refused"):
            lines += [
                f"{case}: {kind} {op}: predicted {said[kind].get(op, 0)}, "
                f"asked {asked[kind].get(op, 0)}"
                for op in sorted({*said[kind], *asked[kind]})
                if said[kind].get(op) != asked[kind].get(op)
            ]
    return "\n".join(lines)


# --- models --------------------------------------------------------------------------------------


def models(chosen: Mapping[str, Sequence[str]]) -> dict[str, Answer]:
    """Both sides of the models named for each target, the targets beside each other."""
    jobs = [(target, {"names": list(names)}) for target, names in chosen.items()]
    answers = _answers([("models", [job]) for job in jobs])
    return {target: answer for target, (answer,) in zip(chosen, answers, strict=True)}


def every_run(names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Which of all models a test run takes for each target: every model for one of them."""
    if WHOLE:
        return dict.fromkeys(MODEL_TARGETS, names)
    return {
        target: [name for i, name in enumerate(names) if i % MODEL_SHARE in places]
        for target, places in MODEL_SHARES.items()
    }


def runs_of(names: Sequence[str], trainable: Sequence[str]) -> list[str]:
    """What a side calls the runs of some models, in its order."""
    return [
        f"{name} {mode}"
        for name in names
        for mode in (("inference", "training") if name in trainable else ("inference",))
    ]


def failures(answers: Answer) -> list[str]:
    """One line for each model that ended early or of which something differs."""
    return [
        f"{case}: {outcome['error']} {outcome['differ']}"
        for case, outcome in answers.items()
        if outcome["error"] or outcome["differ"]
    ]
