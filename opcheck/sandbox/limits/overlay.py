"""Folders whose files a process may change as it sees them, and nobody else: overlays.

A mount namespace of the process's own has an overlay on each folder: what is below is the folder as
it is, and what is written lies in another folder, from which it can be read when the process is
over. Some systems have no such namespaces for a process without rights, and containers forbid them.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_MOUNTS = "/proc/self/mountinfo"
_PLACE = 4
"""The field there that says where something is mounted."""
_UPPER, _WORK, _FOLDER, _REMOVED = "upper", "work", "folder", "removed"
"""In the folder of each overlay: what was written, what the kernel needs, where it belongs, and
what was removed, where no kernel notes that beside what was written."""


def top_of(folders: Sequence[str], outside: str) -> tuple[str, ...]:
    """Folders that are there, each once and none within another, which hold not ``outside``."""
    real = dict.fromkeys(os.path.realpath(folder) for folder in folders if os.path.isdir(folder))
    aside = os.path.realpath(outside)
    fitting = [folder for folder in real if not _within(aside, folder)]
    return tuple(
        folder
        for folder in fitting
        if not any(_within(folder, other) for other in fitting if other != folder)
    )


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def mount(folders: Sequence[str], aside: str) -> tuple[str, ...]:
    """Have what this process writes in these folders lie below ``aside``, for good.

    Args:
        folders: as :func:`top_of` gives them.
        aside: an empty folder in none of them.

    Returns:
        the folders of which that holds; none where this system does not allow it.
    """
    if sys.platform != "linux":
        return ()
    libc = ctypes.CDLL(None, use_errno=True)
    options = _own_mounts(libc)
    if options is None:
        return ()
    here = os.getcwd()
    inner = [place for place in _mounts() if any(_within(place, folder) for folder in folders)]
    # a folder is named by a file of its own: once its parent has an overlay, its path is another's
    held = [(place, os.open(place, os.O_PATH)) for place in sorted({*folders, *inner})
            if os.path.isdir(place)]  # fmt: skip
    failed = False
    for number, (place, file) in enumerate(held):
        upper = folder_of(aside, number, place)
        work = os.path.join(os.path.dirname(upper), _WORK)
        os.mkdir(work)
        data = f"lowerdir=/proc/self/fd/{file},upperdir={upper},workdir={work}"
        given = f"{data}{options}".encode()
        failed |= bool(libc.mount(b"overlay", os.fsencode(place), b"overlay", 0, given))
        os.close(file)
    os.chdir(here)
    return () if failed else tuple(place for place, _ in held)


def folder_of(aside: str, number: int, place: str) -> str:
    """Make the folder below ``aside`` for what is written in ``place``."""
    own = Path(aside, str(number))
    (own / _UPPER).mkdir(parents=True)
    (own / _FOLDER).write_text(place, encoding="utf-8")
    return str(own / _UPPER)


def note_removed(upper: str, path: str) -> None:
    """Note that a file was taken away, for :func:`written`."""
    with open(os.path.join(os.path.dirname(upper), _REMOVED), "ab") as noted:
        noted.write(os.fsencode(path) + b"\0")


def _own_mounts(libc: ctypes.CDLL) -> str | None:
    """Have mounts of this process's own; gives what overlays need to be told, None where not."""
    user, group = os.geteuid(), os.getegid()
    options = ""
    if libc.unshare(_NEW_MOUNTS):
        if libc.unshare(_NEW_MOUNTS | _NEW_USER):
            return None
        options = ",userxattr"
        try:
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        except OSError:
            return None
    if libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None):
        return None
    return options


def _mounts() -> Iterator[str]:
    """Where something is mounted."""
    for line in Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        yield line.split()[_PLACE].encode("latin-1", "replace").decode("unicode_escape")


def written(aside: str) -> Iterator[tuple[str, int | None]]:
    """Each file that was written below an ``aside``, with its bytes; None where it was removed."""
    for own in sorted(Path(aside).iterdir()) if os.path.isdir(aside) else ():
        place = (own / _FOLDER).read_text(encoding="utf-8")
        top = str(own / _UPPER)
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                gone = stat.S_ISCHR(status.st_mode) and status.st_rdev == 0
                yield (
                    os.path.join(place, os.path.relpath(path, top)),
                    None if gone else status.st_size,
                )
        for path in _removed(own / _REMOVED):
            if os.path.isfile(path) and not os.path.lexists(
                os.path.join(top, os.path.relpath(path, place))
            ):
                yield path, None


def _removed(noted: Path) -> Iterator[str]:
    content = noted.read_bytes() if noted.exists() else b""
    yield from map(os.fsdecode, filter(None, content.split(b"\0")))
