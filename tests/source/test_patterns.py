"""Patterns out of a model's files: what they match, and what becomes of one without an end."""

import json
import signal
import threading
import time
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.source import patterns
from opcheck.source.adapter_folder import read_adapter
from opcheck.source.patterns import matches

PATH = "model.layers.0.self_attn.q_proj"
ENDLESS = r"([a-z0-9_.]+)+!"


def test_a_pattern_matches_from_the_start_or_the_whole_path() -> None:
    assert matches(r"model\.layers", PATH)
    assert not matches(r"model\.layers", PATH, whole=True)
    assert matches(r"model\..*_proj", PATH, whole=True)
    assert not matches("layers", PATH)
    assert matches("layers", PATH, around=r".*\.{}\.")


def test_a_pattern_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.1)
    before = signal.getsignal(signal.SIGALRM)
    begun = time.monotonic()
    with pytest.raises(SourceError) as caught:
        matches(ENDLESS, PATH)
    assert time.monotonic() - begun < 20
    assert caught.value.message == (
        "the pattern '([a-z0-9_.]+)+!' is still not matched with model.layers.0.self_attn.q_proj "
        "after 0.1 seconds"
    )
    assert caught.value.hint == (
        "name the modules, or write a pattern without a repetition in another"
    )
    with speaking(Language.CHINESE):
        assert "0.1 秒" in tell(caught.value.message)
        assert "重复" in tell(caught.value.hint)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_adapter_names_its_modules_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.1)
    fields = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ENDLESS}
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps(fields))
    adapter = read_adapter(path)
    with pytest.raises(SourceError, match="is still not matched"):
        adapter.has(PATH)


def test_other_threads_are_not_interrupted() -> None:
    found: list[bool] = []
    other = threading.Thread(target=lambda: found.append(matches("model", PATH)))
    other.start()
    other.join()
    assert found == [True]
