"""Programs of NVIDIA's that a source runs."""

import ast
import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_RUNS = ("subprocess.", "os.system", "os.popen", "shutil.which", "asyncio.create_subprocess")
_TOOL = re.compile(r"(?:^|[\s/;|&])(nvidia-smi|nvcc|nsys|ncu)(?:$|[\s;|&])")


class NvidiaTool(Check):
    """``subprocess.run(["nvidia-smi"])``, ``os.system("nvcc ...")``."""

    name = "nvidia-tool"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such program in a call that runs or looks for one."""
        for call in source.calls():
            if not source.meaning(call.func).startswith(_RUNS):
                continue
            for node in (node for argument in call.args for node in ast.walk(argument)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    match = _TOOL.search(node.value)
                    if match is not None:
                        yield Sighting(source.span(node), match[1], "", source.guard(node))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """It comes with NVIDIA's driver or toolkit."""
        words = ground.porting
        if words.answers_cuda and not words.hip:
            return ground.answered
        use = words.monitor if seen.written == "nvidia-smi" else ""
        return Judgement(Verdict.UNSUPPORTED, "is not there: it is NVIDIA's", use)
