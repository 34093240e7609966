"""What a vendor's backend of ``torch.distributed`` sends and reduces, row by row."""

from opcheck.lang.sentence import Sentence
from opcheck.model.database import BackendRow
from opcheck.model.matrix import Collective, Reduction, SupportMatrix, Transfers
from opcheck.model.verdict import Verdict
from opcheck.resolve.collectives import SENDS_NOTHING
from opcheck.resolve.resolution import listed


def table_of(op: str, matrix: SupportMatrix) -> tuple[BackendRow, ...]:
    """What is known of the dtypes and reductions of a collective that its backend has."""
    known = matrix.collectives.get(op)
    if known is None or not known.has or op in SENDS_NOTHING:
        return ()
    rows = [_row(known, row) for row in reversed(known.reductions)]
    if known.transfers is not None:
        rows.insert(0, _sends(known.backend, known.transfers))
    return tuple(rows)


def _sends(backend: str, table: Transfers) -> BackendRow:
    takes, unclear = (listed(sorted(names), most=20) for names in (table.takes, table.unclear))
    text = (
        Sentence("{backend} sends {list}; of {others} nobody has said", backend=backend, list=takes,
                 others=unclear)
        if table.unclear
        else Sentence("{backend} sends {list}", backend=backend, list=takes)
    )  # fmt: skip
    return BackendRow(Verdict.NATIVE, text, table.evidence)


def _row(known: Collective, row: Reduction) -> BackendRow:
    names = listed(sorted(row.names), most=9)
    of = (
        Sentence("{backend} has the reductions {list}", backend=known.backend, list=names)
        if row.has
        else Sentence("{backend} lacks the reductions {list}", backend=known.backend, list=names)
    )
    text = (
        Sentence("{said} for {list}", said=of, list=listed(sorted(row.dtypes), most=20))
        if row.dtypes
        else of
    )
    verdict = Verdict.NATIVE if row.has else Verdict.UNSUPPORTED
    return BackendRow(verdict, text, row.evidence)
