"""Configs and tokenizers of transformers that are not here, for models that are well known.

Weights need neither (:mod:`.absent_weights`); what says how large a model is does. The configs are
those that transformers has for a type by itself where these are a model's own, with what differs.
Checked on transformers 4.57 and 5.23.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.source.building.absent_weights.huggingface import OF_HUB
from opcheck.source.building.after_import import after_import, replace_once

_ROBERTA = {
    "model_type": "roberta", "vocab_size": 50265, "max_position_embeddings": 514,
    "type_vocab_size": 1, "layer_norm_eps": 1e-5,
}  # fmt: skip
_LARGE = {
    "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
    "intermediate_size": 4096,
}  # fmt: skip
_T5 = {"model_type": "t5", "decoder_start_token_id": 0}
_KNOWN: Mapping[str, Mapping[str, Any]] = {
    "google-bert/bert-base-uncased": {"model_type": "bert"},
    "google-bert/bert-base-cased": {"model_type": "bert", "vocab_size": 28996},
    "google-bert/bert-large-uncased": {"model_type": "bert", **_LARGE},
    "distilbert/distilbert-base-uncased": {"model_type": "distilbert"},
    "FacebookAI/roberta-base": _ROBERTA,
    "FacebookAI/roberta-large": {**_ROBERTA, **_LARGE},
    "openai-community/gpt2": {"model_type": "gpt2"},
    "openai-community/gpt2-medium": {
        "model_type": "gpt2", "n_embd": 1024, "n_layer": 24, "n_head": 16,
    },
    "distilbert/distilgpt2": {"model_type": "gpt2", "n_layer": 6},
    "google-t5/t5-small": _T5,
    "google-t5/t5-base": {
        **_T5, "d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12,
    },
    "facebook/opt-125m": {"model_type": "opt"},
    "google/vit-base-patch16-224": {"model_type": "vit"},
    "google/vit-base-patch16-224-in21k": {"model_type": "vit"},
}  # fmt: skip
_BERT = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_SPECIAL: Mapping[str, Mapping[str, str]] = {
    "bert": _BERT,
    "distilbert": _BERT,
    "roberta": {
        "cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>",
        "bos": "<s>", "eos": "</s>",
    },
    "gpt2": dict.fromkeys(("bos", "eos", "unk"), "<|endoftext|>"),
    "t5": {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"},
}  # fmt: skip
_PLACES: Mapping[str, Mapping[str, int]] = {
    "bert": {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103},
    "distilbert": {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103},
    "roberta": {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": -1},
    "gpt2": {"<|endoftext|>": -1},
    "t5": {"<pad>": 0, "</s>": 1, "<unk>": 2},
}
"""Where the special tokens of a type are in its vocabulary, from its end where below zero."""
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
_NAMES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
_said: dict[Sentence, None] = {}


def prepare(*, fake: bool) -> None:
    """Have stand-ins be used where configs and tokenizers are not here; only if ``fake``."""
    if not fake:
        return

    def configs(module: ModuleType) -> None:
        names = ("PreTrainedConfig", "PretrainedConfig")  # of transformers 5, and 4
        owner = next(vars(module)[name] for name in names if name in vars(module))
        _change(owner, "get_config_dict", _known_config)

    def tokenizers(module: ModuleType) -> None:
        _change(module.PreTrainedTokenizerBase, "from_pretrained", _tokenizer)

    def any_tokenizer(module: ModuleType) -> None:
        _change(module.AutoTokenizer, "from_pretrained", _tokenizer)

    after_import("transformers.configuration_utils", configs)
    after_import("transformers.tokenization_utils_base", tokenizers)
    after_import("transformers.models.auto.tokenization_auto", any_tokenizer)


def notes() -> tuple[str, ...]:
    """What is to be said of configs and tokenizers that were not here."""
    return tuple(_said)


def _change(owner: Any, method: str, stand_in: Callable[[str, dict[str, Any]], Any]) -> None:
    def made(found_there: Any) -> Any:
        original = found_there.__func__

        @wraps(original)
        def call(cls: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
            given = dict(kwargs)
            try:
                result = original(cls, name, *args, **kwargs)
            except (OSError, TypeError, ValueError):  # others where it has some or no vocabulary
                found = stand_in(str(name), given)
                if found is None:
                    raise
                return found
            return stand_in(str(name), given) or result if _is_empty(result) else result

        return classmethod(call)

    replace_once(owner, method, made)


def _is_empty(made: Any) -> bool:
    """Whether it is a tokenizer of nothing but special tokens, as transformers 5 makes of none."""
    if not hasattr(made, "added_tokens_decoder"):
        return False
    special = {*made.all_special_tokens, *map(str, made.added_tokens_decoder.values())}
    return len(made) - len(special) <= 1  # T5 has what begins a word


def _known_config(name: str, given: dict[str, Any]) -> Any:
    """The fields of a well-known model's config, and what else was given."""
    for known, config in _KNOWN.items():
        if name in (known, known.partition("/")[2]):
            text = "the config of {name} is not here: one that is written down stands for it"
            _said[Sentence(text, name=name)] = None
            inner = (*OF_HUB, "_from_auto", "_from_pipeline", "_commit_hash", "gguf_file")
            return dict(config), {key: given[key] for key in given if key not in inner}
    return None


def _tokenizer(name: str, given: dict[str, Any]) -> Any:
    """A tokenizer of whole words with the model's size of vocabulary and special tokens."""
    from transformers import AutoConfig, PreTrainedTokenizerFast

    try:
        config = given.get("config") or AutoConfig.from_pretrained(name)
    except (OSError, ValueError):
        return None
    size = getattr(config.get_text_config(), "vocab_size", None)
    if not isinstance(size, int):
        return None
    special, places = _special_tokens(config, size)
    made = PreTrainedTokenizerFast(
        tokenizer_object=_words(size, special, places),
        model_input_names=_INPUTS if config.model_type == "bert" else [_INPUTS[0], _INPUTS[-1]],
        model_max_length=getattr(config, "max_position_embeddings", None) or 1024,
        **{f"{kind}_token": token for kind, token in special.items()},
    )
    made.name_or_path = name
    text = "the tokenizer of {name} is not here: one of {count} made-up words stands for it"
    _said[Sentence(text, name=name, count=size)] = None
    return made


def _special_tokens(config: Any, size: int) -> tuple[Mapping[str, str], dict[str, int]]:
    """The special tokens by their kinds, and their places: of the type, or as the config says."""
    special = _SPECIAL.get(config.model_type)
    if special is not None:
        places = _PLACES[config.model_type]
        return special, {token: place % size for token, place in places.items()}
    named = {kind: getattr(config, f"{kind}_token_id", None) for kind in ("bos", "eos", "pad")}
    first = {k: v[0] if isinstance(v, list) else v for k, v in named.items()}
    found = {k: v for k, v in first.items() if isinstance(v, int) and 0 <= v < size}
    free = next(place for place in range(size) if place not in found.values())
    tokens: dict[int, str] = {}
    kinds = {k: tokens.setdefault(v, _NAMES[k]) for k, v in {**found, "unk": free}.items()}
    return kinds, {token: place for place, token in tokens.items()}


def _words(size: int, special: Mapping[str, str], places: Mapping[str, int]) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = {place: f"word{place}" for place in range(size)}
    words |= {place: token for token, place in places.items()}
    vocabulary = {word: place for place, word in words.items()}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=special["unk"]))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(special[kind], places[special[kind]]) for kind in ("sep", "cls") if kind in special]
    if len(ends) > 1:
        made.post_processor = processors.BertProcessing(*ends)
    return made
