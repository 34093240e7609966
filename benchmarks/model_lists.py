"""Writes ``docs/model-lists.md``: ``python -m benchmarks.model_lists FOLDER``, in an hour.

Scans the models that lists name and that a library builds by name, on the devices that they are
of. FOLDER keeps what was found; what is there is not scanned anew, and with ``--kept`` nothing else
is looked at.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.model_lists_page import Pair, page
from opcheck.db.model_lists import evidence_on
from opcheck.db.store import Database
from opcheck.errors import OpcheckError
from opcheck.model.model_lists import ModelIdentity, ModelRow
from opcheck.model.target import Target, TargetSpec

PAGE = ROOT / "docs" / "model-lists.md"
_DTYPE = "bfloat16"
"""Of the models of transformers, which is what most lists speak of."""
MODES = ("inference", "train")


def models(rows: Sequence[ModelRow]) -> Mapping[str, ModelIdentity]:
    """What each model is called on the page -> what lists know it by."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    found: dict[str, ModelIdentity] = {}
    for row in rows:
        for build in row.builds:
            found[build] = ModelIdentity(build=build, dtype="float32")
        for name in row.types:
            if name in CONFIG_MAPPING_NAMES:
                usual = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(name)
                classes = (usual,) if isinstance(usual, str) else ()
                found.setdefault(name, ModelIdentity(name, classes, dtype=_DTYPE))
        for name in row.classes:
            if model_type := _type_of(name):
                found[name] = ModelIdentity(model_type, (name,), dtype=_DTYPE)
    return dict(sorted(found.items(), key=lambda named: (named[1].build, named[0])))


def _type_of(name: str) -> str:
    """The ``model_type`` of a class of transformers; "" where there is no such class."""
    import transformers

    config = getattr(getattr(transformers, name, None), "config_class", None)
    return str(getattr(config, "model_type", ""))


def targets(database: Database) -> tuple[Target, ...]:
    """The newest of each device that some list is of."""
    rows = database.model_rows
    return tuple(
        target for target in database.targets()
        if any(row.of.vendor == target.vendor and target.chip in row.chips for row in rows)
    )  # fmt: skip


def scanned(
    name: str, model: ModelIdentity, mode: str, asked: Sequence[Target], folder: Path, *, anew: bool
) -> Mapping[str, Any]:
    """Whether each target runs a model, by its name; kept, also where it cannot be scanned."""
    kept = folder / f"{mode}.{name.replace(':', '.')}.json"
    if not (anew or kept.is_file()):
        return {}
    if not kept.is_file():
        try:
            found = _scan(name, model, mode, asked, folder)
        except (OpcheckError, Exception) as error:  # as the libraries of models raise them
            found = {"error": f"{type(error).__name__}: {error}"[:200]}
        kept.write_text(json.dumps(found), encoding="utf-8")
        print(f"{mode} {name}: {found}", file=sys.stderr)
    said: Mapping[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return said


def _scan(
    name: str, model: ModelIdentity, mode: str, asked: Sequence[Target], folder: Path
) -> dict[str, Any]:
    from opcheck.commands.scan.live import scan_module
    from opcheck.model.request import TrainingSpec
    from opcheck.source.base import LoadOptions
    from opcheck.source.load import load

    loaded = load(_source(name, model, folder), LoadOptions(train=mode == "train"))
    given = (loaded.args, dict(loaded.kwargs)) if loaded.kwargs else loaded.args
    step = TrainingSpec() if mode == "train" else None
    specs = tuple(TargetSpec.parse(str(target)) for target in asked)
    report = scan_module(loaded.module, given, specs, step=step)
    return {found.target: found.summary.runs for found in report.targets}


def _source(name: str, model: ModelIdentity, folder: Path) -> str:
    """What opcheck is given: a name, or the config that a class has by default."""
    if model.build:
        return name
    place = folder / name
    place.mkdir(exist_ok=True)
    said: dict[str, Any] = {"model_type": model.model_type, "dtype": model.dtype}
    if model.classes:
        said |= {"architectures": list(model.classes)}
    (place / "config.json").write_text(json.dumps(said), encoding="utf-8")
    return f"hf:{place}"


def pairs(database: Database, folder: Path, *, anew: bool) -> Iterator[Pair]:
    """Each model on each target where a list names it, and where it could be scanned."""
    rows, asked = database.model_rows, targets(database)
    known = models(rows)
    for mode in MODES:
        for name, model in known.items():
            named = [t for t in asked if evidence_on(rows, model, t, mode, None)]
            runs = scanned(name, model, mode, named, folder, anew=anew) if named else {}
            for target in named:
                if str(target) in runs:
                    said = evidence_on(rows, model, target, mode, runs[str(target)])
                    if said is not None:
                        yield Pair(name, mode, str(target), runs[str(target)], said)


def main() -> None:
    """Scan what is not kept, and write the page."""
    database = Database.open()
    folder, anew = Path(sys.argv[1]), "--kept" not in sys.argv
    folder.mkdir(exist_ok=True)
    found = sorted(
        pairs(database, folder, anew=anew), key=lambda pair: (pair.model, pair.mode, pair.target)
    )
    PAGE.write_text(
        page(database.model_rows, found, len(models(database.model_rows))), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
