"""A worker's streams are what the user's code left of them."""

import io
import subprocess
import sys

import pytest

from opcheck.sandbox.child import streams


class Broken:
    """What a user may put in the place of a stream."""


@pytest.mark.parametrize("stream", [None, Broken(), io.StringIO()])
def test_what_is_no_stream_is_not_written(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", closed)
    streams.flush()


def test_what_is_opened_after_closed_streams_is_no_stream() -> None:
    code = (
        "import os\n"
        "from opcheck.sandbox.child import streams\n"
        "kept = os.dup(1)\n"
        "os.closerange(0, 3)\n"
        "streams.hold()\n"
        "next_one = os.open('/dev/null', os.O_RDONLY)\n"
        "os.write(kept, b'%d %d' % (next_one > 2, all(map(os.fstat, range(3)))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"1 1"
