"""Environment variables of CUDA's, programs of NVIDIA's, and packages made for CUDA."""

import ast
import re
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

_VARIABLE = re.compile(r"(?:CUDA|CUDNN|CUBLAS|NCCL|TORCH_NCCL|TORCH_CUDA|PYTORCH_CUDA|NVIDIA)_\w+")
_CALLS = frozenset(
    {"os.getenv", "os.putenv", "os.unsetenv", "os.environ.get", "os.environ.setdefault",
     "os.environ.pop"}
)  # fmt: skip


class CudaEnvironment(Check):
    """``os.environ["CUDA_VISIBLE_DEVICES"]``, ``os.getenv("NCCL_DEBUG")``."""

    name = "cuda-environment"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such variable that is read or set."""
        for node in source.nodes:
            key: ast.AST | None = None
            match node:
                case ast.Subscript(value=value, slice=key):
                    key = key if source.meaning(value) == "os.environ" else None
                case ast.Call(func=function, args=[key, *_]):
                    key = key if source.meaning(function) in _CALLS else None
                case _:
                    continue
            if isinstance(key, ast.Constant) and _VARIABLE.fullmatch(str(key.value)):
                yield Sighting(source.span(key), str(key.value), "", "", _spot(source, key))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Another vendor's runtime reads variables of its own."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        use = words.environment.get(seen.written, "")
        return Judgement(
            Verdict.NATIVE, Sentence("is not read on {device}", device=words.device),
            use, caution=True, edit=use or None,
            evidence=words.known_by("environment") if use else (),
        )  # fmt: skip


def _spot(source: PythonSource, node: ast.Constant) -> Spot | None:
    """The name in its quotes."""
    place = source.exactly(node)
    if place is None or source.text[place[0] + 1 : place[1] - 1] != node.value:
        return None
    start, end = place
    return Spot(start + 1, end - 1, str(node.value))


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
            text = Sentence(
                "{said}; where it is missing, {said_other} takes over",
                said=package.text, said_other=seen.topic,
            )  # fmt: skip
            return Judgement(
                Verdict.NATIVE, text, package.use, Confidence.MEDIUM, caution=True,
                evidence=package.evidence,
            )  # fmt: skip
        return Judgement(
            Verdict.UNKNOWN,
            Sentence(
                "{said}; its page does not name {vendor}", said=package.text, vendor=words.vendor
            ),
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
