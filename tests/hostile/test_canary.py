"""The canary notices each kind of harm: a stand-in for a reader that does it is caught."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from tests.hostile import payloads
from tests.hostile.canary import Canary, Effects
from tests.hostile.place import Place

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify and /proc are Linux")


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with Canary.opened() as opened:
        yield opened


def tried(canary: Canary, code: str, **options: object) -> Effects:
    """What a reader does that runs this code; ``{name}`` is a property of the place."""

    def prepare(place: Place) -> Sequence[str]:
        known = {
            name: str(getattr(place, name))
            for name in ("home", "temp", "bait", "secret", "checkpoint", "fresh", "unix", "number",
                         "sleeping", "mark", "nonce", "token")
        }  # fmt: skip
        return ("-c", "import os, socket, subprocess, sys, time\n" + code.format(**known))

    # what is left here sleeps for half a minute: it is waited for in vain
    started = partial(canary.run, prepare, launch=(sys.executable,), grace=1.0)
    return started(**options)  # type: ignore[arg-type]


def test_an_innocent_command_does_no_harm(canary: Canary) -> None:
    found = tried(
        canary, "print('hello'); open('report.json', 'w').close()", outputs=["report.json"]
    )
    assert found.harm() == ()
    assert found.files == {"report.json": b""}


HARMFUL = {
    "os.system(\"sh {bait}/payload.sh\")": ("executed", "wrote", "connected", "processes", "read",
                                            "leaked"),
    "exec(open('{bait}/payload.py').read())": ("executed", "wrote", "connected", "processes",
                                               "read", "leaked"),
    "import pickle; pickle.load(open('{bait}/payload.pt', 'rb'))": (
        "executed", "wrote", "connected", "processes", "read", "leaked"),
    "import hostile_import": ("executed", "wrote", "connected", "processes", "read", "leaked"),
    "import ctypes\ntry: ctypes.CDLL('{bait}/payload.so')\nexcept OSError: pass": ("executed",),
    "print('EXECU' + 'TED-%d-{nonce}' % 42)": ("executed",),
    "os._exit(213)": ("executed", "crashed"),
    "print('the process ended with exit code 213', file=sys.stderr)": ("executed",),
    "open('{fresh}', 'w').close()": ("wrote",),
    "open('{checkpoint}', 'r+').write('b')": ("wrote",),
    "os.chmod('{checkpoint}', 0o777)": ("wrote",),
    "os.rename('{checkpoint}', '{temp}/moved')": ("wrote",),
    "os.remove('{home}/.bashrc')": ("wrote",),
    "os.symlink('/etc/passwd', '{home}/link')": ("wrote",),
    "os.mkdir('{temp}/left')": ("wrote",),
    "os.utime('{checkpoint}', (1, 1))": ("wrote",),
    "socket.create_connection(('127.0.0.1', {number}))": ("connected",),
    "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {number}))": ("connected",),
    "socket.socket(1).connect('{unix}')": ("connected",),
    "socket.socket(1).connect('\\0hostile-{nonce}')": ("connected",),
    "subprocess.Popen(['sleep', '30'], start_new_session=True)": ("processes",),
    "os.fork() or os.setsid() or os.fork() or time.sleep(30)": ("processes",),
    "os.fork() or os.setsid() or os.execlp('sleep', 'sleep', '{sleeping}')": ("processes",),
    "print(open('{secret}').read())": ("read", "leaked"),
    "open('{secret}')": ("read",),
    "print(list(open('{secret}', 'rb').read())[:60])": ("read", "leaked"),
    "print(os.environ['HOSTILE_TOKEN'])": ("leaked",),
    "open('report.json', 'w').write(os.environ['HOSTILE_TOKEN'])": ("leaked",),
    "print('\\x1b]0;title\\x07')": ("injected",),
    "print('to the \\u202eleft')": ("injected",),
    "open('page.html', 'w').write('<p><script>hostile()</script>')": ("injected",),
    "print('a\\n::hostile::b')": ("injected",),
    "print('x' * 5_000_000)": ("flooded",),
    "raise ValueError": ("crashed",),
    "os.kill(os.getpid(), 11)": ("crashed",),
    "time.sleep(30)": ("hung",),
}  # fmt: skip


@pytest.mark.parametrize(("code", "harm"), HARMFUL.items(), ids=lambda value: str(value)[:40])
def test_each_harm_is_noticed(canary: Canary, code: str, harm: tuple[str, ...]) -> None:
    assert tried(canary, code, outputs=["report.json", "page.html"], limit=2).harm() == harm


def test_a_payload_is_noticed_that_may_not_write(canary: Canary) -> None:
    """As in a sandbox: its file was opened, and what it prints is seen."""
    found = tried(canary, "print(open('{bait}/payload.sh').read()[:0]); print('{mark}')")
    assert found.executed == ("opened payload.sh", "its mark in stdout")


def test_what_a_command_is_asked_to_write_may_not_be_elsewhere(canary: Canary) -> None:
    found = tried(canary, "open('report.json', 'w'); open('reports.json', 'w')",
                  outputs=["report.json"])  # fmt: skip
    assert found.wrote == ("wrote project/reports.json",)


@pytest.mark.slow
def test_the_next_command_finds_everything_in_its_place(canary: Canary) -> None:
    tried(canary, "exec(open('{bait}/payload.py').read())")
    assert tried(canary, "").harm() == ()


def test_no_payload_has_its_mark_in_its_text(canary: Canary) -> None:
    for content in payloads.files(canary.place).values():
        assert canary.place.mark.encode() not in content
    assert canary.place.mark not in payloads.expression(canary.place)
