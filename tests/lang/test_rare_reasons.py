"""What is said of rare models, which no scan of the other tests meets in every run."""

from pathlib import Path

import pytest

from opcheck.lang.speech import Language, speaking, tell
from opcheck.source.sniff import sniff
from opcheck.trace.calls.flex_attention import BY_AUTOGRAD
from opcheck.trace.calls.modules import TAKES_GRADIENTS
from opcheck.trace.device.checkpoints import RAISES
from opcheck.trace.device.generators import UNCLEAR
from opcheck.views.terminal.words import BACKEND
from tests.lang.test_mixed import CHINESE, mixed


@pytest.mark.parametrize("reason", [TAKES_GRADIENTS, UNCLEAR, RAISES, BY_AUTOGRAD, BACKEND])
def test_a_reason_is_told_in_chinese(reason: str) -> None:
    with speaking(Language.CHINESE):
        told = tell(reason)
    assert CHINESE.search(told)
    assert not mixed(told)


def test_what_a_file_of_weights_is_called_is_told_in_chinese(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00\x00")
    with speaking(Language.CHINESE):
        assert CHINESE.search(tell(sniff(path).detail))
