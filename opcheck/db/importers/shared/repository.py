"""Files of a git repository at one of its commits."""

import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence


class Repository(Struct, frozen=True, dict=True):
    """A git repository, with or without a work tree, at one of its commits."""

    folder: Path
    revision: str

    @cached_property
    def commit(self) -> str:
        """The whole name of the commit."""
        return self._git("rev-parse", f"{self.revision}^{{commit}}").strip()

    @property
    def known(self) -> bool:
        """Whether the folder is a repository that has the revision."""
        return (
            self._run("rev-parse", "--verify", "--quiet", f"{self.revision}^{{commit}}").returncode
            == 0
        )

    @cached_property
    def date(self) -> str:
        """ISO date of the commit."""
        return self._git("show", "-s", "--format=%cs", self.commit).strip()

    def text(self, path: str) -> str:
        """A file at the commit."""
        return self._git("show", f"{self.commit}:{path}")

    def blob(self, path: str, commit: str = "") -> str:
        """The name of what a file has in it, at the commit or another; "" where it is not there."""
        where = f"{commit or self.commit}:{path}"
        done = self._run("rev-parse", "--verify", "--quiet", where)
        return done.stdout.decode().strip() if done.returncode == 0 else ""

    def paths(self, folder: str) -> Sequence[str]:
        """Every file below a folder, by name."""
        listed = self._git("ls-tree", "-r", "--name-only", self.commit, "--", folder)
        return tuple(sorted(listed.splitlines()))

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            ["git", "-C", str(self.folder), *arguments], capture_output=True, check=False
        )

    def _git(self, *arguments: str) -> str:
        done = self._run(*arguments)
        if done.returncode:
            raise DatabaseError(
                Sentence(
                    "cannot read {text_file}: {text}",
                    text_file=self.folder,
                    text=done.stderr.decode(errors="replace").strip(),
                ),
                Sentence("give a git repository, and a revision that it has"),
            )
        return done.stdout.decode()
