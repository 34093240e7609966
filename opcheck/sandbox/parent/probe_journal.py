"""What a probe has run so far, a line a sample, so that one that was ended goes on."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from opcheck.errors import UsageError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.probe import Finished, Noted, ProbeHead, Unit

_MOST_BYTES = 1 << 30
"""Of a journal, which has a line for each of some hundred thousand samples."""
_RESTART = Sentence("run it with --restart to begin anew, or with another --into")


class Journal:
    """A file of JSON lines: the head, each sample that was run, and each unit that is done."""

    def __init__(self, path: Path, head: ProbeHead, *, restart: bool = False) -> None:
        """Read what is there.

        Raises:
            UsageError: it is of another device or of other samples, is none, or cannot be written.
        """
        self._path = path
        self.head = head
        self.finished: list[tuple[int, Finished]] = []
        """Each sample with the line that has it, from 1."""
        self._done: set[str] = set()
        self._last: dict[str, str] = {}
        kept = "" if restart else _whole_lines(path)
        lines = kept.splitlines()
        if lines:
            self._require_same(lines[0], head)
        for number, line in enumerate(lines[1:], 2):
            self._read(number, line)
        self._lines = len(lines)
        try:
            if lines:
                os.truncate(path, len(kept.encode()))  # what is there is never written anew
            self._file = path.open("a" if lines else "w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                Sentence(
                    "cannot write {text}: {text_why}", text=path, text_why=error.strerror or error
                )
            ) from error
        if not lines:
            self._write({"probe": to_json(head)})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, each: Finished) -> None:
        """Note a sample that was run."""
        self._write({"finished": to_json(each)})
        self._take(self._lines, each)

    def done(self, units: Iterable[Unit]) -> None:
        """Note units of which nothing is left to run."""
        names = [unit.name for unit in units]
        self._write({"done": names})
        self._done.update(names)

    def left(self, units: Iterable[Unit]) -> list[Unit]:
        """What is left to run of some units."""
        todo = [unit for unit in units if unit.name not in self._done]
        return [replace(unit, after=self._last.get(unit.name, "")) for unit in todo]

    def noted(self, units: Iterable[Unit]) -> list[Noted]:
        """Every call that samples of some units made, in the order in which they were run."""
        names = {unit.name for unit in units}
        return [
            Noted(line, observed)
            for line, each in self.finished
            if each.sample.unit in names
            for observed in each.observed
        ]

    def _require_same(self, line: str, head: ProbeHead) -> None:
        try:
            found = from_json(ProbeHead, json.loads(line)["probe"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                Sentence("{path} is no journal of a probe", path=self._path), _RESTART
            ) from error
        if found != head:
            raise UsageError(
                Sentence(
                    "{path} is of another probe: {said_found}, and this one is of {said_head}",
                    path=self._path,
                    said_found=_head_line(found),
                    said_head=_head_line(head),
                ),
                _RESTART,
            )

    def _read(self, number: int, line: str) -> None:
        try:
            message: Mapping[str, Any] = json.loads(line)
            if "done" in message:
                self._done.update(map(str, message["done"]))
            else:
                self._take(number, from_json(Finished, message["finished"]))
        except (MalformedError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                Sentence(
                    "{path}:{line} is no line of a probe: {text}",
                    path=self._path,
                    line=number,
                    text=error,
                ),
                _RESTART,
            ) from error

    def _take(self, number: int, each: Finished) -> None:
        self.finished.append((number, each))
        self._last[each.sample.unit] = each.sample.name

    def _write(self, message: Mapping[str, Any]) -> None:
        self._file.write(f"{json.dumps(message)}\n")
        self._file.flush()
        self._lines += 1


def _head_line(head: ProbeHead) -> Sentence:
    return Sentence(
        "{device} (emulated), {count} samples, torch {version}"
        if head.emulated
        else "{device} (real), {count} samples, torch {version}",
        device=head.device,
        count=head.samples,
        version=head.torch_version,
    )


def _whole_lines(path: Path) -> str:
    """The text of a file up to its last line that is whole; "" where there is no file."""
    try:
        text = read_bytes(path, _MOST_BYTES).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=said), _RESTART
        ) from error
    return text[: text.rfind("\n") + 1]
