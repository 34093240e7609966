"""Data sets of Hugging Face that are not here: random rows of their columns stand for them.

So does a metric without figures for one of evaluate's. Checked on datasets 5.2 and evaluate 0.4:
``load_dataset`` and ``load`` raise an OSError where there is no network.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import ModuleType
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.source.building.after_import import after_import, replace_once
from opcheck.source.building.fake_columns import splits_of

_FILES = ("arrow", "audiofolder", "csv", "imagefolder", "json", "parquet", "pandas", "text")
"""What makes a data set of files that the caller names; the error names them, too."""
_STANDS = "the data set {name} is not here: random rows stand for it ({list})"
_ABSENT = "the data set {name} is not here; with --data fake random rows stand for it"
_UNKNOWN = (
    "the data set {name} is not here, and nothing here says which columns it has: put rows of it "
    "into a file, and load them with load_dataset('json', data_files=...)"
)
_METRIC = "the metric {name} is not here: one that gives no figures stands for it"
_CONFIG = {"load_dataset": "name", "load": "config_name"}
"""What each function calls the configuration that is wanted."""
_wanted: dict[str, Sentence] = {}
"""What is to be said of data sets that were not here, by their names."""


def prepare(*, fake: bool) -> None:
    """Have data sets that are not here be noted; for a process of a script's own.

    Args:
        fake: whether random rows stand for them.
    """

    def rows(path: str, config: str | None, given: Mapping[str, Any]) -> Any:
        return None if path in _FILES else _stand_in(path, config, given, fake=fake)

    def metric(path: str, config: str | None, given: Mapping[str, Any]) -> Any:
        name = path if config is None else f"{path}/{config}"
        _wanted[name + " "] = Sentence(_METRIC, name=name)  # beside the data set of that name
        return _Metric()

    after_import("datasets.load", partial(_change, "load_dataset", rows))
    if fake:
        after_import("evaluate.loading", partial(_change, "load", metric))


def _change(name: str, stand_in: Callable[..., Any], module: ModuleType) -> None:
    """Have a function of a module give what stands for what it does not find, if anything."""

    def made(original: Any) -> Any:
        @wraps(original)
        def load(path: str, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(path, *args, **kwargs)
            except OSError:
                found = stand_in(path, args[0] if args else kwargs.get(_CONFIG[name]), kwargs)
                if found is None:
                    raise
                return found

        return load

    replace_once(module, name, made)


class _Metric:
    """A metric that computes nothing."""

    def add(self, *_: Any, **__: Any) -> None:
        """Take a prediction."""

    add_batch = add

    def compute(self, *_: Any, **__: Any) -> dict[str, float]:
        """Give no figure."""
        return {}


def notes() -> tuple[str, ...]:
    """What is to be said of data sets that were not here."""
    return tuple(_wanted.values())


def _stand_in(path: str, config: str | None, given: Mapping[str, Any], *, fake: bool) -> Any:
    """What stands for a data set, as it was requested; None where nothing does."""
    name = path if config is None else f"{path}/{config}"
    splits = splits_of(path, config)
    if splits is None or not fake:
        _wanted[name] = Sentence(_UNKNOWN if splits is None else _ABSENT, name=name)
        return None
    columns = ", ".join(next(iter(splits.values())).column_names)
    _wanted[name] = Sentence(_STANDS, name=name, list=columns)
    found = _chosen(splits, given.get("split"))
    if not given.get("streaming"):
        return found
    if isinstance(found, Mapping):
        import datasets

        return datasets.IterableDatasetDict(
            {split: rows.to_iterable_dataset() for split, rows in found.items()}
        )
    return found.to_iterable_dataset()


def _chosen(splits: Mapping[str, Any], split: Any) -> Any:
    """The splits that are requested: ``train[:10%]+test``, a list of them, or None for all."""
    import datasets

    if split is None:
        return datasets.DatasetDict(splits)
    if isinstance(split, list | tuple):
        return [_chosen(splits, one) for one in split]
    lengths = {name: len(rows) for name, rows in splits.items()}
    asked = split
    if not hasattr(asked, "to_absolute"):
        asked = datasets.ReadInstruction.from_spec(str(split))
    parts = [_part(splits[part.splitname], part) for part in asked.to_absolute(lengths)]
    return parts[0] if len(parts) == 1 else datasets.concatenate_datasets(parts)


def _part(rows: Any, part: Any) -> Any:
    return rows.select(range(*slice(part.from_, part.to).indices(len(rows))))
