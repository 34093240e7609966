"""How one operator fares on each target, whichever way its name is spelled."""

from collections.abc import Sequence

from msgspec.structs import replace

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.database import Explanation
from opcheck.model.target import TargetSpec
from opcheck.model.trace import OpName
from opcheck.pipeline.database import matrices_of, open_database


def explain(
    operator: str, specs: Sequence[TargetSpec] = (), databases: Sequence[str] = ()
) -> tuple[Explanation, ...]:
    """Say for one operator, overload by overload, how it fares on each target."""
    from opcheck.resolve import explain as room

    database = open_database(databases)
    matrices = matrices_of(database, tuple(specs))
    torch = database.tables.release(database.tables.operator_versions()[-1])
    found = []
    for matrix in matrices:
        operators = database.operators(torch)
        device = matrix.target.device_type
        branches = database.composites(torch, device)
        recorded_on = database.tables.recorded_on(torch, device)
        found += [
            replace(
                room.explain(
                    op, matrix, operators, branches, torch,
                    database.registered_in(matrix.target.name, str(op)),
                ),
                recorded_on=recorded_on if str(op) in branches else "",
                statements=database.statements(matrix.target, str(op)),
            )
            for op in _overloads(
                operator,
                {*operators, *matrix.entries, *matrix.extensions, *matrix.collectives},
            )
        ]  # fmt: skip
    return tuple(found)


def _overloads(text: str, known: set[str]) -> tuple[OpName, ...]:
    """Overloads that ``aten::gelu``, ``gelu``, ``aten.gelu.default`` or a base name stands for."""
    name = _schema_spelling(text)
    whole = "::" in text or "." in text  # a bare base name stands for every overload of it
    if whole and name in known:
        return (OpName.parse(name),)
    base = [op for op in known if op.partition(".")[0] == name]
    if not base:
        import difflib

        near = difflib.get_close_matches(name, sorted({op.partition(".")[0] for op in known}), n=3)
        hint = (
            Sentence("did you mean {text}?", text=" or ".join(near))
            if near
            else Sentence("give it as aten::add.Tensor")
        )
        raise UsageError(Sentence("unknown operator {text}", text=repr(text)), hint)
    return tuple(OpName.parse(op) for op in sorted(base))


def _schema_spelling(text: str) -> str:
    text = text.removeprefix("torch.ops.")
    if "::" not in text:
        head, dot, rest = text.partition(".")
        known_namespace = dot and head in ("aten", "torchvision", "prims", "quantized")
        text = f"{head}::{rest}" if known_namespace else f"aten::{text}"
    return text.removesuffix(".default")
