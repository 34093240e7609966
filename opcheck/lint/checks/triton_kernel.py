"""Kernels in Triton."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

_JIT = frozenset({"triton.jit", "triton.runtime.jit.jit"})
_PACKAGE = "triton"


class TritonKernel(Check):
    """A function under ``@triton.jit``."""

    name = "triton-kernel"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such function."""
        for node in source.nodes:
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(called) in _JIT:
                    yield Sighting(source.span(decorator), f"@triton.jit {node.name}")

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Triton itself compiles for some; others have a fork of it, or nothing."""
        package, words = ground.names.packages[_PACKAGE], ground.porting
        if words.vendor in package.vendors:
            return Judgement(Verdict.NATIVE, package.text, evidence=package.evidence)
        return Judgement(
            Verdict.UNKNOWN, f"Triton {package.text}; {words.vendor} needs a back end of its own",
            "", Confidence.MEDIUM, evidence=package.evidence,
        )  # fmt: skip
