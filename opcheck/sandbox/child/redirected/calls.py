"""Python's own functions for files, with paths that lead into a tree instead of its folders."""

import builtins
import errno
import io
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from opcheck.sandbox.child.redirected.entries import Entries, Entry
from opcheck.sandbox.child.redirected.tree import Tree

Path = str | bytes | os.PathLike[Any]
_open, _os_open, _chdir, _scandir = builtins.open, os.open, os.chdir, os.scandir
_listdir, _connect = os.listdir, sqlite3.connect
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_READING = (
    "stat", "lstat", "access", "readlink", "statvfs", "getxattr", "listxattr", "chmod", "utime",
    "truncate", "setxattr", "removexattr",
)  # fmt: skip
"""Functions of ``os`` with one path, the first argument."""
_CHANGING = frozenset({"chmod", "utime", "truncate", "setxattr", "removexattr"})
_OF_LINKS = frozenset({"lstat", "readlink"})
_HELD_BY = ("opcheck.sandbox", "importlib", "posix", "_io", "_frozen_importlib", "zipimport")
"""Modules whose own references stay: what is read to import, and this room."""


class Calls:
    """What stands for the functions of one process."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._here = os.getcwd()

    def replace(self) -> None:
        """Have them called from now on, by modules that are loaded already, too."""
        new: dict[int, Any] = {id(_open): self.open, id(sqlite3.connect): self.connect}
        for name, made in self._of_os():
            new[id(getattr(os, name))] = made
            setattr(os, name, made)
        builtins.open = io.open = self.open
        sqlite3.connect = self.connect
        shutil._use_fd_functions = False  # type: ignore[attr-defined]  # private, as of 3.11 to 3.13
        for name, module in [*sys.modules.items()]:
            if module is None or name.startswith(_HELD_BY):
                continue
            for attribute, value in [*getattr(module, "__dict__", {}).items()]:
                if id(value) in new:
                    setattr(module, attribute, new[id(value)])

    def reading(self, path: Any) -> Any:
        """Where to read what a path names."""
        real = self._real(path)
        return path if real is None else _as_given(path, self._tree.for_reading(real))

    def writing(self, path: Any, *, keep: bool = False) -> Any:
        """Where to write what a path names; ``keep``: with what is in it."""
        real = self._real(path)
        return path if real is None else _as_given(path, self._tree.for_writing(real, keep=keep))

    def open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """Stand for ``open``."""
        if not is_path(file):
            return _open(file, mode, *args, **kwargs)
        with _named(file):
            if {*"wax+"}.isdisjoint(mode):
                path = self.reading(file)
            else:
                self._is_new(file, exclusive="x" in mode)
                path = self.writing(file, keep="w" not in mode and "x" not in mode)
            opened = _open(path, mode, *args, **kwargs)
        if path is not file:
            raw: Any = getattr(opened, "buffer", opened)
            getattr(raw, "raw", raw).name = file if isinstance(file, str | bytes) else str(file)
        return opened

    def connect(self, database: Any, *args: Any, **kwargs: Any) -> Any:
        """Stand for ``sqlite3.connect``."""
        plain = is_path(database) and not str(database).startswith((":", "file:"))
        return _connect(self.writing(database, keep=True) if plain else database, *args, **kwargs)

    def _of_os(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        for name in _READING:
            if hasattr(os, name):
                yield name, self._of_one(name)
        own_calls: dict[str, Callable[..., Any]] = {
            "mkdir": self._mkdir, "rmdir": self._rmdir, "remove": self._remove,
            "unlink": self._remove, "listdir": self._listdir, "scandir": self._entries,
            "open": self._os_open, "chdir": self._to_folder,
        }  # fmt: skip
        for name, own in own_calls.items():
            yield name, self._in_tree(name, own)
        for name in ("rename", "replace", "symlink", "link"):
            yield name, self._of_two(name)
        yield "getcwd", lambda: self._here

    def _of_one(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(os, name)

        @wraps(function)
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_path(path) or kwargs.get("dir_fd") is not None:
                return function(path, *args, **kwargs)
            with _named(path):
                last = name not in _OF_LINKS and kwargs.get("follow_symlinks", True)
                real = self._real(path, last=last)
                if real is None:
                    return function(path, *args, **kwargs)
                if name in _CHANGING and self._tree.seen(real) is not None:
                    where = self._tree.for_writing(real, keep=True)
                else:
                    where = self._tree.for_reading(real)
                return function(_as_given(path, where), *args, **kwargs)

        return call

    def _in_tree(self, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(os, name)

        @wraps(function)
        def call(path: Any = os.curdir, *args: Any, **kwargs: Any) -> Any:
            if not is_path(path) or kwargs.get("dir_fd") is not None:
                return function(path, *args, **kwargs)
            with _named(path):
                last = name in ("listdir", "scandir", "open", "chdir")
                real = self._real(path, last=last)
                if real is None and name != "chdir":
                    return function(path, *args, **kwargs)
                kwargs.pop("dir_fd", None)
                return own(path, real, *args, **kwargs)

        return call

    def _of_two(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(os, name)
        own = {"symlink": self._symlink, "link": self._link}.get(name, self._rename)

        @wraps(function)
        def call(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
            if not (is_path(src) and is_path(dst)) or any(
                value is not None for key, value in kwargs.items() if key.endswith("dir_fd")
            ):
                return function(src, dst, *args, **kwargs)
            with _named(dst):
                if self._real(dst, last=False) is None:
                    given = src if name == "symlink" else self.reading(src)
                    return function(given, dst, *args, **kwargs)
                return own(src, dst)

        return call

    def _mkdir(self, _: Path, real: str, mode: int = 0o777) -> None:
        self._tree.make_folder(real, mode)

    def _rmdir(self, _: Path, real: str) -> None:
        self._tree.remove_folder(real)

    def _remove(self, _: Path, real: str) -> None:
        self._tree.remove(real)

    def _listdir(self, path: Path, real: str) -> list[Any]:
        if not self._tree.touched(real) or self._tree.seen(real) is None:
            return _listdir(_as_given(path, self._tree.for_reading(real)))
        return [_as_given(path, name) for name in self._tree.names(real)]

    def _entries(self, path: Path, real: str) -> Any:
        if not self._tree.touched(real) or self._tree.seen(real) is None:
            own = self._tree.for_reading(real)
            return _scandir(path if own == real else _as_given(path, own))
        names = [_as_given(path, name) for name in self._tree.names(real)]
        return Entries(Entry(path, name) for name in names)

    def _os_open(self, path: Path, real: str, flags: int, mode: int = 0o777) -> int:
        if not flags & _WRITES:
            return _os_open(self._tree.for_reading(real), flags, mode)
        self._is_new(path, exclusive=bool(flags & os.O_EXCL and flags & os.O_CREAT))
        keep = not flags & os.O_TRUNC
        return _os_open(self._tree.for_writing(real, keep=keep), flags, mode)

    def _to_folder(self, path: Path, real: str | None) -> None:
        _chdir(path if real is None else self._tree.for_reading(real))
        self._here = self._tree.real(os.path.join(self._here, os.fsdecode(path)))

    def _rename(self, src: Path, dst: Path) -> None:
        source, goal = self._real(src, last=False), self._real(dst, last=False)
        if source is None:  # from elsewhere: its copy is there, and it stays
            _copy(src, dst)
            os.remove(src)
        elif goal is not None and source != goal:
            self._tree.rename(source, goal)

    def _symlink(self, src: Path, dst: Path) -> None:
        real = self._real(dst, last=False)
        if real is not None:
            self._tree.link(os.fsdecode(src), real)

    def _link(self, src: Path, dst: Path) -> None:
        self._is_new(dst, exclusive=True)
        _copy(src, dst)

    def _is_new(self, path: Path, *, exclusive: bool) -> None:
        real = self._real(path) if exclusive else None
        if real is not None and self._tree.seen(real) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    def _real(self, path: Any, *, last: bool = True) -> str | None:
        """The path as the tree has it; None for one that is in none of its folders."""
        text = os.fsdecode(path)
        if not text or "\0" in text:
            return None
        real = self._tree.real(os.path.join(self._here, text), last=last)
        return None if self._tree.at(real) is None else real


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Have errors name the path that was given, and not where it leads."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            error.filename, error.filename2 = path, None
        raise


def _copy(src: Path, dst: Path) -> None:
    shutil.copy2(os.fsdecode(src), os.fsdecode(dst))


def is_path(value: Any) -> bool:
    """Whether a value names a file, and is not one that is open."""
    return isinstance(value, str | bytes | os.PathLike)


def _as_given(path: Any, text: str) -> Any:
    return os.fsencode(text) if isinstance(os.fspath(path), bytes) else text
