"""The section that a test run on an emulated device ends with."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from opcheck.lang.sentence import Sentence, with_sign
from opcheck.lang.speech import tell
from opcheck.model.emulation import HostCalls
from opcheck.pytest_plugin.usage import Test
from opcheck.views.terminal.notation import plural, size
from opcheck.views.terminal.wide import columns

Row = tuple[str, ...]
Said = tuple[str, str]
"""An operator, and what there is to say of some of its calls."""


@dataclass(slots=True)
class _Sum:
    """The calls of which the same is said, over several tests."""

    calls: int = 0
    nbytes: int = 0
    tests: dict[str, None] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The first test that made one, and how many others did."""
        first, *others = self.tests
        if not others:
            return first
        and_more = "{text} and {count} other" if len(others) == 1 else "{text} and {count} others"
        return tell(Sentence(and_more, text=first, count=f"{len(others):,}"))


def lines(tests: Sequence[Test], outside: Sequence[Test]) -> Iterator[str]:
    """Say what was asked of the device, what ran on the host, and what was refused."""
    everything = (*tests, *outside)
    yield _headline(tests, everything)
    yield from _block("on the host", _on_host(everything))
    yield from _block("refused", _refused(everything))
    yield from _block("with a caution", _cautions(everything))
    notes = dict.fromkeys(note for test in everything for note in test.used.notes)
    yield from (tell(Sentence("note: {said}", said=note)) for note in notes)


def host_lines(calls: Iterable[HostCalls]) -> list[str]:
    """One line for each operator that ran on the host, with the lines that called it."""
    rows = []
    for item in calls:
        places = ", ".join(f"{site.file}:{site.line}" for site in item.sites if site.file)
        rows.append((item.op, tell(plural(item.count, "call")), size(item.nbytes), places))
    return _aligned(rows)


def _headline(tests: Sequence[Test], everything: Iterable[Test]) -> str:
    kernels = [kernel for test in everything for kernel in test.used.kernels]
    distinct = len({kernel.op for kernel in kernels})
    calls = sum(kernel.count for kernel in kernels)
    used = sum(test.used.any for test in tests)
    return tell(
        Sentence(
            "{count} of {said} used the device: {said_kernels} in {said_calls}",
            count=f"{used:,}",
            said=plural(len(tests), "test"),
            said_kernels=plural(distinct, "kernel"),
            said_calls=plural(calls, "call"),
        )
    )


def _on_host(tests: Iterable[Test]) -> list[Row]:
    calls = (
        (test, (item.op, ""), item.count, item.nbytes)
        for test in tests
        for item in test.used.host_calls
    )
    return [
        (op, tell(plural(found.calls, "call")), size(found.nbytes), found.where)
        for (op, _), found in _summed(calls)
    ]


def _refused(tests: Iterable[Test]) -> list[Row]:
    calls = (
        (test, (item.op, " ".join(item.error.split())), item.count, 0)
        for test in tests
        for item in test.used.refusals
    )
    return _rows_of(calls)


def _cautions(tests: Iterable[Test]) -> list[Row]:
    calls = (
        (test, (item.op, item.reason.text), item.count, 0)
        for test in tests
        for item in test.used.cautions
    )
    return _rows_of(calls)


def _rows_of(calls: Iterable[tuple[Test, Said, int, int]]) -> list[Row]:
    return [
        (op, tell(plural(found.calls, "call")), found.where, tell(text))
        for (op, text), found in _summed(calls)
    ]


def _summed(calls: Iterable[tuple[Test, Said, int, int]]) -> list[tuple[Said, _Sum]]:
    """Add calls and bytes up by what is said of them; sorted by operator."""
    sums: dict[Said, _Sum] = {}
    for test, said, count, nbytes in calls:
        found = sums.setdefault(said, _Sum())
        found.calls += count
        found.nbytes += nbytes
        found.tests[test.name] = None
    return sorted(sums.items(), key=lambda item: item[0])


def _block(title: str, rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield ""
        yield tell(with_sign(title, ":"))
        yield from _aligned(rows)


def _aligned(rows: Sequence[Row]) -> list[str]:
    """Columns one under the other; the last one may be of any length."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(map(_padded, row, widths)).rstrip() for row in rows]


def _padded(text: str, width: int) -> str:
    """The text, as wide as its column is on a terminal."""
    return text + " " * (width - columns(text))
