"""The page of held-back dtypes, made from what was compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.held_back import DTYPES, REFUSED, RELEASE, SUPPORTED, TARGETS, UNKNOWN, WANTED, Cell

_HEAD = f"""\
# Held-back dtypes

Written by `python -m benchmarks.held_back`; do not edit.

How far does opcheck know which dtypes an operator takes where no table says it of that operator?
PyTorch's tests list the dtypes of each operator on CUDA, ROCm, XPU and MPS, and most of opcheck's
conditions on dtypes of these vendors rest on those tables. Here a third of the operators (chosen
by a hash of their names) loses its rows, every release but torch {RELEASE} is left out of the
database, and opcheck is asked of each test of such an operator, in each dtype, whether it runs. The
answer is compared with the held-back row.

* Compared are the dtypes that the CPU or the device takes, by the tables: what neither takes fails
  on the host as well.
* One call stands for a test: its first sample, traced once; its tensors of the first dtype are then
  given each other dtype.
* *supported*: the share of cells that the table lists. So often is an answer right that says
  *supported* of everything; an agreement that is no higher shows no knowledge of dtypes.
* *refusals known*: of the cells that the table leaves out, those that opcheck refuses as well. This
  is what the rules other than the rows are good for.
* *false refusals*: the table lists the dtype, and opcheck says that it does not run.
* *missed*: the table leaves the dtype out, and opcheck does not say so.
* The rows are the only thing held back: what else is known of a device (what its kernels check,
  dtypes that it does not have at all, rows of operators that a composite runs as) remains.
* A sample whose sizes suit the first dtype alone shows as a false refusal (a transform in float16
  of a size that is no power of two), and one that makes its tensors from nothing as missed.
"""
_TABLE = """
| vendor | target | cells | supported | agreement | refusals known | false refusals | missed \
| unknown |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
_DIFFERENCES = """
| operator | test | dtypes | table | opcheck | why |
| --- | --- | --- | --- | --- | --- |
"""
_MISSED = "no code was read that refuses it: the kernel is registered, and only the row says so"
_UNSURE = "nothing is known of the call"


def page(compared: Mapping[str, Sequence[Cell]]) -> str:
    """The whole page."""
    return "".join(_parts(compared))


def agreement(cells: Iterable[Cell]) -> float:
    """The share of cells of which opcheck says what the table says."""
    counted = Counter(cell.agrees for cell in cells)
    return counted[True] / counted.total()


def _parts(compared: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
    yield _HEAD
    yield _TABLE
    for vendor, cells in compared.items():
        yield _row(vendor, f"`{TARGETS[vendor]}@{RELEASE}`", cells)
    every = [cell for cells in compared.values() for cell in cells]
    yield _row("all", "", every)
    reached = agreement(every) >= WANTED
    yield f"\nWanted are {WANTED:.0%}: {'reached' if reached else 'not reached'} by all together.\n"
    blind = [name for name, cells in compared.items() if agreement(cells) <= _listed(cells)]
    if blind:
        yield (
            f"\nOf {', '.join(blind)} the agreement is no higher than that of an answer that says "
            "*supported* of everything: what these know of dtypes is in the rows.\n"
        )
    for vendor, cells in compared.items():
        differing = [cell for cell in cells if not cell.agrees]
        yield f"\n## {vendor}: {len(differing)} differences\n"
        if differing:
            yield _DIFFERENCES
            yield from _differences(differing)


def _row(vendor: str, target: str, cells: Sequence[Cell]) -> str:
    pairs = Counter((cell.table, cell.said) for cell in cells)
    unknown = sum(cell.said == UNKNOWN for cell in cells)
    left_out = sum(cell.table == REFUSED for cell in cells)
    figures = (
        f"{len(cells):,}", f"{_listed(cells):.1%}", f"{agreement(cells):.1%}",
        f"{pairs[REFUSED, REFUSED]} of {left_out}", pairs[SUPPORTED, REFUSED],
        pairs[REFUSED, SUPPORTED], unknown,
    )  # fmt: skip
    return f"| {vendor} | {target} | " + " | ".join(map(str, figures)) + " |\n"


def _listed(cells: Sequence[Cell]) -> float:
    return sum(cell.table == SUPPORTED for cell in cells) / len(cells)


def _differences(cells: Iterable[Cell]) -> Iterator[str]:
    grouped: dict[tuple[str, str, str, str, str], list[str]] = defaultdict(list)
    for cell in cells:
        grouped[cell.op, cell.test, cell.table, cell.said, _why(cell)].append(cell.dtype)
    for (op, test, table, said, why), dtypes in sorted(grouped.items()):
        named = ", ".join(sorted(dtypes, key=DTYPES.index))
        test = test.replace("|", " ")
        yield f"| `{op}` | {test} | {named} | {table} | {said} | {why} |\n"


def _why(cell: Cell) -> str:
    if cell.cause:
        return cell.cause
    return _MISSED if cell.said == SUPPORTED else _UNSURE
