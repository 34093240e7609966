"""Checkpoints that are loaded to where they were saved from."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict


class MapLocation(Check):
    """``torch.load(path)`` without ``map_location``."""

    name = "map-location"
    topic = "device"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every load that does not say where to."""
        for call in source.calls():
            if source.meaning(call.func) != "torch.load" or len(call.args) > 1:
                continue
            told = {keyword.arg for keyword in call.keywords}
            starred = any(isinstance(argument, ast.Starred) for argument in call.args)
            if not starred and told.isdisjoint({"map_location", None}):
                yield Sighting(source.span(call.func), "torch.load", "", source.guard(call))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """A checkpoint with tensors of CUDA's cannot be put there."""
        if ground.porting.answers_cuda:
            return ground.answered
        return Judgement(
            Verdict.NATIVE, "raises where the checkpoint holds CUDA tensors",
            'map_location="cpu"', caution=True,
        )  # fmt: skip
