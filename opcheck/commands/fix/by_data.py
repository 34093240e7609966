"""Places of a model whose sizes or decisions depend on values, and what to write there."""

import ast
from collections.abc import Collection, Sequence
from pathlib import Path

from opcheck.commands.fix.files import SourceFile, find, roots_of
from opcheck.commands.fix.padded import VaryingPlace
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import Site, SiteKind, SizeRule
from opcheck.model.padding import FixedCode
from opcheck.model.report import TargetReport

WHILE_LOOP = "higher_order::while_loop"
"""As the database calls the operator."""
_LOOP = Sentence(
    "the number of rounds depends on values: torch.while_loop keeps the loop on the device; it is "
    "not written for you, since no run proves it for every number"
)
_DECISION = Sentence(
    "Python decides by a value: torch.where computes both sides and chooses, torch.cond runs one; "
    "it is not written for you"
)
_READ = Sentence("Python reads a value: keep it as a tensor, or read it once behind the model")
_KINDS = (SiteKind.DATA_SIZE, SiteKind.DATA_READ)


def by_data(target: TargetReport) -> tuple[str, ...]:
    """Overloads that a model calls, whose results have a size that depends on values."""
    sites = (taken.site for taken in target.dynamic)
    return tuple(dict.fromkeys(site.op for site in sites if site.kind is SiteKind.DATA_SIZE))


def varying_places(
    target: TargetReport,
    codes: Sequence[FixedCode],
    there: Collection[str],
    source: str,
    rules: Sequence[SizeRule] = (),
) -> tuple[VaryingPlace, ...]:
    """Each place with what to write.

    Args:
        target: what a scan found.
        codes: ways to write calls in a fixed size.
        there: overloads that the target has.
        source: the model.
        rules: what is known of how the target takes sizes, and loops.
    """
    loops = next((rule for rule in rules if WHILE_LOOP in rule.ops), None)
    return tuple(
        _of_read(taken.site, source, loops)
        if taken.site.kind is SiteKind.DATA_READ
        else _of_size(taken.site, codes, there)
        for taken in target.dynamic
        if taken.site.kind in _KINDS
    )


def _of_size(site: Site, codes: Sequence[FixedCode], there: Collection[str]) -> VaryingPlace:
    fitting = [code for code in codes if site.op in code.ops and code.right == code.draws]
    if not fitting:
        return VaryingPlace(site, Sentence("nothing is known that gives it in a fixed size"))
    code = next((one for one in fitting if one.needs in there), fitting[-1])
    template = "write it in a fixed size, which gives the same on {count} inputs"
    if "count =" in code.code:
        template = (
            "write it in a fixed size: found[:count] is what the call gives, on {count} inputs"
        )
    advice = Sentence(template, count=code.draws)
    return VaryingPlace(site, advice, code, code.needs in there)


def _of_read(site: Site, source: str, loops: SizeRule | None) -> VaryingPlace:
    """What stands for a value that Python reads, by the statement that reads it."""
    match _statement(site, source):
        case ast.While() | ast.For():
            if loops is None:
                said = Sentence(
                    "{said}; whether the target has it is not in the database", said=_LOOP
                )
                return VaryingPlace(site, said)
            said = Sentence("{said}; there {said_there}", said=_LOOP, said_there=loops.text)
            return VaryingPlace(site, said, evidence=loops.evidence)
        case ast.If() | ast.IfExp() | ast.Assert():
            return VaryingPlace(site, _DECISION)
    return VaryingPlace(site, _READ)


def _statement(site: Site, source: str) -> ast.AST | None:
    """The loop or decision of the user's that a line is of: a loop that it may leave first."""
    found = find(site.file, roots_of(source))
    file = SourceFile.read(site.file, found) if isinstance(found, Path) else found
    if isinstance(file, str):
        return None
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    nodes = list(ast.walk(tree))
    loops = [node for node in nodes if isinstance(node, ast.While | ast.For)]
    left = (loop for loop in loops if any(_leaves(node, site.line) for node in ast.walk(loop)))
    asking = (node for node in nodes if _is_at(node, site.line))
    return next(left, None) or next(asking, None)


def _is_at(node: ast.AST, line: int) -> bool:
    """Whether a loop or decision asks for its condition at a line."""
    test = getattr(node, "test", None) or (node.iter if isinstance(node, ast.For) else None)
    return isinstance(test, ast.expr) and test.lineno <= line <= (test.end_lineno or test.lineno)


def _leaves(node: ast.AST, line: int) -> bool:
    """Whether a decision at a line ends a loop."""
    return (
        isinstance(node, ast.If)
        and _is_at(node, line)
        and any(
            isinstance(inside, ast.Break)
            for statement in node.body
            for inside in ast.walk(statement)
        )
    )
