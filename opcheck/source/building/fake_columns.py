"""Columns of well-known data sets of Hugging Face, and random rows of them.

A column is ``name:kind``. Kinds are ``text``, ``words`` (a list), ``number``, ``index``, ``image``,
``answers`` (of SQuAD), ``translation/de/en``, and a number: the label of so many classes, ``[9]``
one for each word.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

_LABELLED, _TRAIN_TEST = ("train", "validation", "test"), ("train", "test")
_PAIR = "sentence1:text sentence2:text label:2 idx:index"
_SINGLE = "sentence:text label:2 idx:index"
_GLUE = {
    "cola": _SINGLE, "sst2": _SINGLE, "mrpc": _PAIR, "rte": _PAIR, "wnli": _PAIR,
    "qqp": "question1:text question2:text label:2 idx:index",
    "stsb": "sentence1:text sentence2:text label:number idx:index",
    "mnli": "premise:text hypothesis:text label:3 idx:index",
    "qnli": "question:text sentence:text label:2 idx:index",
}  # fmt: skip
_MNLI = (
    *("train", "validation_matched", "validation_mismatched"),
    *("test_matched", "test_mismatched"),
)
_SQUAD = "id:text title:text context:text question:text answers:answers"
_KNOWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{f"nyu-mll/glue/{task}": (columns, _LABELLED) for task, columns in _GLUE.items()},
    "nyu-mll/glue/mnli": (_GLUE["mnli"], _MNLI),
    "stanfordnlp/imdb": ("text:text label:2", ("train", "test", "unsupervised")),
    "fancyzhx/ag_news": ("text:text label:4", _TRAIN_TEST),
    "cornell-movie-review-data/rotten_tomatoes": ("text:text label:2", _LABELLED),
    "Yelp/yelp_review_full": ("label:5 text:text", _TRAIN_TEST),
    "dair-ai/emotion": ("text:text label:6", _LABELLED),
    "Salesforce/wikitext": ("text:text", _LABELLED),
    "roneneldan/TinyStories": ("text:text", ("train", "validation")),
    "Skylion007/openwebtext": ("text:text", ("train",)),
    "bookcorpus/bookcorpus": ("text:text", ("train",)),
    "rajpurkar/squad": (_SQUAD, ("train", "validation")),
    "rajpurkar/squad_v2": (_SQUAD, ("train", "validation")),
    "abisee/cnn_dailymail": ("article:text highlights:text id:text", _LABELLED),
    "EdinburghNLP/xsum": ("document:text summary:text id:text", _LABELLED),
    "wmt/wmt16/de-en": ("translation:translation/de/en", _LABELLED),
    "wmt/wmt16/ro-en": ("translation:translation/ro/en", _LABELLED),
    "eriktks/conll2003": (
        "id:text tokens:words pos_tags:[47] chunk_tags:[23] ner_tags:[9]", _LABELLED,
    ),
    "tatsu-lab/alpaca": ("instruction:text input:text output:text text:text", ("train",)),
    "ylecun/mnist": ("image:image label:10", _TRAIN_TEST),
    "zalando-datasets/fashion_mnist": ("image:image label:10", _TRAIN_TEST),
    "uoft-cs/cifar10": ("img:image label:10", _TRAIN_TEST),
    "uoft-cs/cifar100": ("img:image fine_label:100 coarse_label:20", _TRAIN_TEST),
    "ILSVRC/imagenet-1k": ("image:image label:1000", _LABELLED),
    "ethz/food101": ("image:image label:101", ("train", "validation")),
    "AI-Lab-Makerere/beans": ("image_file_path:text image:image labels:3", _LABELLED),
}  # fmt: skip
_ROWS, _OTHERS = 1_000, 200
"""Rows to train with, and those of each other split."""
_SIZES = {"mnist": (28, 28), "fashion_mnist": (28, 28), "cifar10": (32, 32), "cifar100": (32, 32)}
_PHOTOGRAPH = (96, 72)
"""Small, for every image is kept as a file in memory."""
_WORDS = 24
_LETTERS = "etaoinshrdlu"


def splits_of(name: str, config: str | None) -> Mapping[str, Any] | None:
    """Splits of a data set by their names; None where nothing here says which columns it has."""
    found = _found(name, config)
    if found is None:
        return None
    key, (columns, splits) = found
    size = _SIZES.get(key.rpartition("/")[2], _PHOTOGRAPH)
    parts = dict(column.split(":") for column in columns.split())
    return {split: _split(parts, size, _ROWS if split == "train" else _OTHERS) for split in splits}


def _found(name: str, config: str | None) -> tuple[str, tuple[str, tuple[str, ...]]] | None:
    """The entry of a name as the hub has it, or as it was before owners were in names."""
    wanted = {name, f"{name}/{config}"}
    for key, entry in _KNOWN.items():
        if wanted & {key, key.partition("/")[2]}:
            return key, entry
    return None


def _split(columns: Mapping[str, str], size: tuple[int, int], count: int) -> Any:
    import datasets

    draw = random.Random(0)
    features = {name: _feature(datasets, kind) for name, kind in columns.items()}
    makers = {name: _maker(kind, size, draw) for name, kind in columns.items()}
    values = {name: [make(index) for index in range(count)] for name, make in makers.items()}
    return datasets.Dataset.from_dict(values, features=datasets.Features(features))


def _feature(datasets: Any, kind: str) -> Any:
    text = datasets.Value("string")
    if kind.startswith("translation/"):
        return dict.fromkeys(kind.split("/")[1:], text)
    if kind.startswith("["):
        return [_label(datasets, kind[1:-1])]
    if kind.isdecimal():
        return _label(datasets, kind)
    return {
        "text": text,
        "words": [text],
        "number": datasets.Value("float32"),
        "index": datasets.Value("int32"),
        "image": datasets.Image(),
        "answers": {"text": [text], "answer_start": [datasets.Value("int32")]},
    }[kind]


def _label(datasets: Any, classes: str) -> Any:
    return datasets.ClassLabel(names=[str(index) for index in range(int(classes))])


def _maker(kind: str, size: tuple[int, int], draw: random.Random) -> Callable[[int], Any]:
    """What gives a column's value by the number of its row."""
    if kind.startswith("translation/"):
        languages = kind.split("/")[1:]
        return lambda _: {language: _text(draw) for language in languages}
    if kind.startswith("["):
        return lambda _: [draw.randrange(int(kind[1:-1])) for _ in range(_WORDS)]
    if kind.isdecimal():
        return lambda index: index % int(kind)
    makers: dict[str, Callable[[int], Any]] = {
        "text": lambda _: _text(draw),
        "words": lambda _: _text(draw).split(),
        "number": lambda _: draw.uniform(0, 5),
        "index": lambda index: index,
        "answers": lambda _: {"text": [_LETTERS[:3]], "answer_start": [0]},
        "image": lambda _: _image(size, draw),
    }
    return makers[kind]


def _text(draw: random.Random) -> str:
    words = ("".join(draw.choices(_LETTERS, k=draw.randint(2, 7))) for _ in range(_WORDS))
    return " ".join(words)


def _image(size: tuple[int, int], draw: random.Random) -> Any:
    from PIL import Image

    mode, values = ("L", 1) if size == _SIZES["mnist"] else ("RGB", 3)
    return Image.frombytes(mode, size, draw.randbytes(size[0] * size[1] * values))
