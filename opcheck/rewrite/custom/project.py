"""The files of a project, from an overload, a target and the calls that a model makes."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from msgspec import Struct

from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Node
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.custom.base import Body, Toolchain
from opcheck.rewrite.custom.expressions import TABLE, called, functions, lines_of
from opcheck.rewrite.custom.families.folds import Fold
from opcheck.rewrite.custom.families.interface import interface, layout, operands
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.signature import Cases, Signature, cases, complex_numbers, signature
from opcheck.rewrite.custom.template_names import ascend_names, compute_calls, cpp_names, form_names
from opcheck.rewrite.variants import functional
from opcheck.source.building import torchvision_operators
from opcheck.version import __version__


class Project(Struct, frozen=True):
    """What is to be written into a folder."""

    op: str
    """The overload that it serves."""
    name: str
    """Of the Python package in it."""
    files: Mapping[str, str]
    """Path in the folder -> text, sorted."""
    left: str
    """What is left to write, and where; "" for nothing."""
    cases: Cases


_COMMON = {
    "README.md": "README.md.j2",
    "cases.py": "cases.py.j2",
    "reference.py": "reference.py.j2",
    "test_{name}.py": "test.py.j2",
    "{name}/__init__.py": "init.py.j2",
}
_GRADIENT = {"{name}/gradient.py": "gradient.py.j2"}


def project(
    op: str, matrix: SupportMatrix, chain: Toolchain, nodes: Iterable[Node], source: str
) -> Project | str:
    """Write a project for an overload; a sentence where none can be written.

    Args:
        op: the overload that the target does not run.
        matrix: of the target.
        chain: what to build with.
        nodes: calls of ``op`` that the model makes.
        source: what to call the model.
    """
    torchvision_operators.prepare()
    nodes = tuple(nodes)
    found = signature(op)
    if isinstance(found, str):
        return found
    if reason := complex_numbers(nodes):
        return reason
    name = package_name(op)
    body = chain.body(found, matrix.target.chip)
    made = cases(found, nodes)
    context = _context(op, matrix, chain, found, body, made, name, source)
    environment = _environment()
    files = {
        path.format(name=name): _tidy(environment.get_template(template).render(context))
        for path, template in {
            **_COMMON,
            **chain.files,
            **_of_family(chain, body),
            **(_GRADIENT if context["gradient"] else {}),
        }.items()
    }
    function = _function(chain, pointwise=found.pointwise)
    place = chain.left.format(name=name)
    left = "" if body.written else f"{function}() in {place}: {body.left}"
    return Project(found.op, name, dict(sorted(files.items())), left, made)


def _of_family(chain: Toolchain, body: Body) -> Mapping[str, str]:
    """The files that are others for the family of operators that a kernel is written for."""
    if body.family is None:
        return {}
    return {
        path: name.format(kind=body.family.kind, name="{name}")
        for path, name in chain.families.items()
    }


def package_name(op: str) -> str:
    """A name for Python and C++: ``opcheck_special_erfcx``, ``opcheck_lerp_scalar``."""
    namespace, _, rest = functional(op).partition("::")
    text = rest if namespace == "aten" else f"{namespace}_{rest}"
    return "opcheck_" + re.sub(r"[\W_]+", "_", text).strip("_").lower()


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n")) + "\n"


@cache
def _environment() -> jinja2.Environment:
    """With every template that was read: to read them takes longer than to fill them in."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _context(
    op: str,
    matrix: SupportMatrix,
    chain: Toolchain,
    s: Signature,
    body: Body,
    made: Cases,
    name: str,
    source: str,
) -> dict[str, Any]:
    target = matrix.target
    optional = "c10::optional" if _older(target.torch, (2, 5)) else "std::optional"
    forms = [f for f in s.forms if f.op == op or f.op not in matrix.entries]
    rule, code, entry = _reference(s.op)
    dtypes = [d for d in chain.dtypes if d != "int64" or _whole(s, body)]
    return {
        "s": s,
        "chain": chain,
        "body": body,
        "library": "libdevice." in str((body.lines, body.parts)),
        "cases": made,
        "name": name,
        "source": source,
        "target": str(target),
        "device": target.device_type,
        "key": matrix.dispatch_key,
        "version": __version__,
        "page": _page(chain),
        "function": _function(chain, pointwise=s.pointwise),
        "left": chain.left.format(name=name),
        "dtypes": dtypes,
        "replaced": op in matrix.entries,
        "registers_base": s.op == op or s.op not in matrix.entries,
        "python": not any(path.endswith(".cpp") for path in chain.files),
        "gpu": "csrc/kernel.h" in chain.files and hasattr(chain, "runtime"),
        "aclnn": "build.sh" in chain.files,
        "tile": chain.family_tile if body.family else chain.tile,
        "columns": chain.columns,
        "rule": rule,
        "reference_code": code.rstrip(),
        "reference_name": entry,
        "by_reference": bool(rule) and isinstance(body.family, Loops) and body.family.by_reference,
        "gradient": s.composite and (s.op == op or s.op not in matrix.entries),
        "forms": [form_names(form, s, optional) for form in forms],
        "f": body.family,
        "k": interface(body.family, s) if body.family else None,
        "layout": layout(body.family),
        "of_each": body.family.values_of_each(s) if isinstance(body.family, Fold) else (),
        "operands": operands(body.family, s) if body.family else (),
        **cpp_names(s, optional),
        **compute_calls(s),
        **ascend_names(s, name, target.chip),
    }


def _page(chain: Toolchain) -> str:
    """What a toolchain says of itself, as Markdown."""
    lines = (line.strip() for line in (type(chain).__doc__ or "").splitlines())
    return "\n".join(lines).strip().replace("``", "`")


def _function(chain: Toolchain, *, pointwise: bool) -> str:
    """The function that is left to write, where one is."""
    if chain.name == "ascend-c":
        return "Compute"
    return "run" if chain.name == "metal" and not pointwise else "compute"


def _whole(s: Signature, body: Body) -> bool:
    """Whether the kernel can be compiled for integers: C's functions are not defined for them."""
    if isinstance(body.family, Loops):
        return body.family.integers
    if body.family:
        text, used = body.family.text, called(lines_of(body.family.text))
    elif s.pointwise and body.written:
        text, used = TABLE[s.op], functions(s.op)
    else:
        return True
    return not re.search(r"\b(inf|nan)\b|[./]", text) and used <= {"where"}


def _older(torch: str, than: tuple[int, int]) -> bool:
    numbers = tuple(int(part) for part in torch.split(".")[:2] if part.isdigit())
    return bool(numbers) and numbers < than


def _reference(op: str) -> tuple[str, str, str]:
    """Rule, code and function that say in PyTorch what the overload computes, if any do."""
    for candidate in candidates(op):
        if candidate.code and not candidate.rule.startswith(("pytorch-", "float32-")):
            return candidate.rule, candidate.code, candidate.entry
    return "", "", ""
