"""Names that PyTorch or a vendor has given up."""

from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict


class DeprecatedName(Check):
    """``torch_npu.npu_conv2d``, ``torch.cuda.amp.autocast``, ``torch.set_default_tensor_type``."""

    name = "deprecated-name"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every use of a name that the database tells of, and imports that nothing uses."""
        used: set[str] = set()
        for node, meant in source.dotted():
            if meant in source.watched:
                used.add(meant)
                yield Sighting(source.span(node), meant)
        for imported, name in source.imports():
            if name in source.watched and name not in used:
                yield Sighting(source.span(imported), name)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement | None:
        """It runs, and warns; of CUDA's own on another device other checks tell."""
        words = ground.porting
        told = words.deprecated.get(seen.written)
        if told is None:
            told = ground.names.deprecated.get(seen.written)
            if told is None or (seen.written.startswith("torch.cuda") and not words.answers_cuda):
                return None
            if seen.written.startswith("torch.backends.cuda") and not words.answers_cuda:
                return None
            text = "PyTorch has given it up"
        else:
            text = f"its vendor has given it up, as {told.evidence[0].path} says"
        return Judgement(Verdict.NATIVE, text, told.use, caution=True, evidence=told.evidence)
