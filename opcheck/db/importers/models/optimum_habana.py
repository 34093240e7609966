"""What optimum-habana has validated on Gaudi: its table of architectures, and its test figures."""

import json
import re
from collections.abc import Iterator, Mapping

from opcheck.db.importers.models.base import (
    ListReader,
    Row,
    by_outcome,
    tables,
    types_of,
)
from opcheck.db.importers.shared.repository import Repository
from opcheck.model.model_lists import Outcome

_README = "README.md"
_FIXTURES = "tests/baselines/fixture/tests"
_MODES = {"Inference": "", "Training": "train"}
_CHIPS = ("gaudi1", "gaudi2", "gaudi3")
_FLAG = "(-(True|False))"
_GENERATIONS = tuple(
    re.compile(rf".*::test_{task}\[(?P<name>.+?){arguments}\]")
    for task, arguments in (
        (r"image_to_text_(?P<precision>bf16|fp8)", r"-\d+"),
        (r"text_generation_(?P<precision>bf16)\w*", rf"(-\d+{_FLAG}+)?"),
        (
            r"text_generation_(?P<precision>fp8|awq|bnb)",
            rf"-\d+-\d+{_FLAG}(-\d+-\d+)?{_FLAG}?",
        ),
    )
)
"""Tests of inference: the checkpoint stands first among its arguments, then batches and flags."""
_TASK = re.compile(
    r"(run_)?(lora_|prompt_tuning_)?(clm|mlm|qa|glue|summarization|image_classification"
    r"|audio_classification|speech_recognition(_ctc|_seq2seq)?|bridgetower|clip"
    r"|image2text_lora_finetune|sequence_classification|sft|dpo|ppo|reward_modeling"
    r"|reward|protein_folding)_"
)
_PRECISIONS = {"bf16": "bfloat16", "fp8": "float8", "awq": "awq", "bnb": "bitsandbytes"}
_KEY = re.compile(r'  "(?P<test>.*)": \{')


class OptimumHabana(ListReader):
    """Reads the table of what was validated, and for which chips there are figures of tests."""

    name = "optimum-habana"
    repo = "huggingface/optimum-habana"
    vendor = "habana"
    engine = "transformers, diffusers"
    method = "tested"
    other_chips: Mapping[str, str] = {"gaudi1": "First-generation Gaudi"}

    def sources(self, repository: Repository) -> Mapping[str, str]:
        """The README, and each file of figures."""
        return {"readme": _README, **{_short(path): path for path in _fixtures(repository)}}

    def rows(self, repository: Repository) -> Iterator[Row]:
        """Architectures in the order of the table, then checkpoints, each with its first test."""
        yield from _architectures(repository.text(_README))
        found: dict[tuple[str, ...], Row] = {}
        for path in _fixtures(repository):
            for row in _tested(_short(path), repository.text(path)):
                _add(found, row)
        yield from found.values()


def _fixtures(repository: Repository) -> list[str]:
    return [path for path in repository.paths(_FIXTURES) if path.endswith(".json")]


def _short(path: str) -> str:
    return path.rpartition("/")[2].removeprefix("test_").removesuffix(".json").replace("_", "-")


def _architectures(text: str) -> Iterator[Row]:
    for line, cell in tables(text):
        for head, mode in _MODES.items():
            if "Architecture" in cell and cell.get(head, ""):
                yield {
                    "name": cell["Architecture"],
                    "says": str(Outcome.SUPPORTED),
                    "mode": mode,
                    "types": types_of(*cell["Architecture"].split(" / ")),
                    "note": _how(cell[head]),
                    "at": f"readme:{line}",
                }


def _how(cell: str) -> str:
    """On how many cards, or with what: a check mark says on one, on several and with DeepSpeed."""
    return ", ".join(re.findall(r"<li>([^<]*)</li>", cell))


def _tested(source: str, text: str) -> Iterator[Row]:
    said = json.loads(text)
    for line, key in enumerate(text.splitlines(), 1):
        found = _KEY.fullmatch(key)
        chips = [chip for chip in _CHIPS if found and chip in said.get(found["test"], ())]
        if found and chips and (row := _test(found["test"])):
            yield {**row, "chips": chips, "at": f"{source}:{line}"}


def _test(test: str) -> Row | None:
    """The checkpoint that a test runs; None where its name does not tell."""
    if found := next(filter(None, (each.fullmatch(test) for each in _GENERATIONS)), None):
        precision = _PRECISIONS[found["precision"]]
        told = {"in": by_outcome([(precision, Outcome.SUPPORTED)])}
        return {"name": found["name"], **told, "types": types_of(found["name"])}
    if "test_examples.py" not in test or not (ran := test.rpartition("::test_")[2]):
        return None
    task = _TASK.match(ran)
    name = re.sub(r"_(single_card|multi_card|deepspeed)$", "", ran[task.end() :] if task else "")
    if not name:
        return None
    said = {"says": str(Outcome.SUPPORTED), "mode": "train", "types": types_of(name)}
    return {"name": name, **said}


def _add(found: dict[tuple[str, ...], Row], row: Row) -> None:
    """Put a row beside those before it; of one checkpoint on the same chips there is one."""
    key = (row["name"], row.get("mode", ""), *row["chips"])
    if key not in found:
        found[key] = row
    elif "in" in row:
        before = found[key]["in"][str(Outcome.SUPPORTED)]
        before += [each for each in row["in"][str(Outcome.SUPPORTED)] if each not in before]
