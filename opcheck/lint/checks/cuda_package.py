"""Python packages that are made for CUDA."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

_FINDS = frozenset({"importlib.import_module", "__import__"})


class CudaPackage(Check):
    """``import flash_attn``, ``from xformers.ops import ...``, ``import bitsandbytes``."""

    name = "cuda-package"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every import of a package that the database knows; what handles its absence."""
        seen: set[tuple[int, str]] = set()
        for node, name in source.imports():
            package = _known(name, source.packages)
            line = getattr(node, "lineno", 0)
            if package and (line, package) not in seen and not _is_for_types(source, node):
                seen.add((line, package))
                yield Sighting(source.span(node), package, _handled(source, node, package))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Whose devices its own page names; of the others, nobody has said."""
        package, words = ground.names.packages[seen.written], ground.porting
        if words.vendor in package.vendors:
            return Judgement(Verdict.NATIVE, package.text, evidence=package.evidence)
        if seen.topic:
            text = f"{package.text}; where it is missing, {seen.topic} takes over"
            return Judgement(
                Verdict.NATIVE, text, package.use, Confidence.MEDIUM, caution=True,
                evidence=package.evidence,
            )  # fmt: skip
        return Judgement(
            Verdict.UNKNOWN, f"{package.text}; its page does not name {words.vendor}",
            package.use, Confidence.MEDIUM, evidence=package.evidence,
        )  # fmt: skip


def _is_for_types(source: PythonSource, node: ast.AST) -> bool:
    """Whether only type checkers see an import."""
    tests = (ast.unparse(test) for test in source.tests_around(node))
    return any(test.rpartition(".")[2] == "TYPE_CHECKING" for test in tests)


def _known(name: str, packages: frozenset[str]) -> str:
    """The package that a dotted name is of, where it is a known one."""
    while name:
        if name in packages:
            return name
        name = name.rpartition(".")[0]
    return ""


def _handled(source: PythonSource, node: ast.AST, package: str) -> str:
    """What takes over where a package is missing; "" for nothing."""
    caught = source.caught(node)
    if caught:
        return caught
    for test in source.tests_around(node):
        asked = ast.unparse(test)
        if package in asked or "available" in asked.lower():
            return "the other branch"
    return ""
