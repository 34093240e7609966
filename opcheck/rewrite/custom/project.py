"""The files of a project, from an overload, a target and the calls that a model makes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from opcheck.model.matrix import SupportMatrix
from opcheck.model.names import OpName
from opcheck.model.trace import Node
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.custom.base import Body, Toolchain
from opcheck.rewrite.custom.cases import Cases, cases, complex_numbers
from opcheck.rewrite.custom.expressions import TABLE, functions
from opcheck.rewrite.custom.signature import Argument, Form, Signature, signature
from opcheck.rewrite.variants import functional
from opcheck.version import __version__


@dataclass(frozen=True, slots=True)
class Project:
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
        for path, template in {**_COMMON, **chain.files}.items()
    }
    function = _function(chain, pointwise=found.pointwise)
    place = chain.left.format(name=name)
    left = "" if body.written else f"{function}() in {place}: {body.left}"
    return Project(found.op, name, dict(sorted(files.items())), left, made)


def package_name(op: str) -> str:
    """A name for Python and C++: ``opcheck_special_erfcx``, ``opcheck_lerp_scalar``."""
    namespace, _, rest = functional(op).partition("::")
    text = rest if namespace == "aten" else f"{namespace}_{rest}"
    return "opcheck_" + re.sub(r"[\W_]+", "_", text).strip("_").lower()


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n")) + "\n"


def _environment() -> jinja2.Environment:
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
        "tile": chain.tile,
        "rule": rule,
        "reference_code": code.rstrip(),
        "reference_name": entry,
        "forms": [_form(form, s, optional) for form in forms],
        **_cpp(s, optional),
        **_calls(s),
        **_ascend(s, name, target.chip),
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
    if not s.pointwise or not body.written:
        return True
    fraction = re.search(r"\b(inf|nan)\b|[./]", TABLE[s.op])
    return not fraction and functions(s.op) <= {"where"}


def _older(torch: str, than: tuple[int, int]) -> bool:
    numbers = tuple(int(part) for part in torch.split(".")[:2] if part.isdigit())
    return bool(numbers) and numbers < than


def _reference(op: str) -> tuple[str, str, str]:
    """Rule, code and function that say in PyTorch what the overload computes, if any do."""
    for candidate in candidates(op):
        if candidate.code and not candidate.rule.startswith(("pytorch-", "float32-")):
            return candidate.rule, candidate.code, candidate.entry
    return "", "", ""


# --- C++ -----------------------------------------------------------------------------------------


def _cpp(s: Signature, optional: str) -> dict[str, Any]:
    results = "at::Tensor" if s.results == 1 else _tuple(["at::Tensor"] * s.results)
    return {
        "optional": optional,
        "result": results,
        "parameters": _parameters(s.arguments, optional),
        "names": ", ".join(a.name for a in s.arguments),
        "first": s.arguments[0].name,
        "lists": any(a.passed and a.value_type == "List" for a in s.arguments),
        "packet": f"{s.name.namespace}::{s.name.base}",
        "overload": s.name.overload,
    }


def _parameters(arguments: Iterable[Argument], optional: str) -> str:
    return ", ".join(f"{_cpp_type(a, optional)} {a.name}" for a in arguments)


def _cpp_type(argument: Argument, optional: str) -> str:
    plain = {
        "Tensor": "at::Tensor", "int": "int64_t", "float": "double", "bool": "bool",
        "number": "at::Scalar", "int[]": "at::IntArrayRef", "ScalarType": "at::ScalarType",
    }[argument.kind.rstrip("?")]  # fmt: skip
    if argument.kind == "int[]?":
        return "at::OptionalIntArrayRef"
    text = f"{optional}<{plain}>" if argument.optional else plain
    return f"const {text}&" if plain in ("at::Tensor", "at::Scalar") else text


def _torch_name(op: str) -> str:
    name = OpName.parse(op)
    return f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}"


def _tuple(types: Iterable[str]) -> str:
    return f"std::tuple<{', '.join(types)}>"


def _form(form: Form, s: Signature, optional: str) -> dict[str, Any]:
    outs = form.outs or (s.arguments[0].name,)
    places = [f"at::Tensor& {name}" for name in form.outs]
    if form.outs:
        parameters = ", ".join([_parameters(s.arguments, optional), *places])
    else:
        rest = _parameters(s.arguments[1:], optional)
        parameters = ", ".join(filter(None, [f"at::Tensor& {outs[0]}", rest]))
    one = len(outs) == 1
    return {
        "op": form.op,
        "outs": outs,
        "place": outs[0],
        "python_name": _torch_name(form.op),
        "parameters": parameters,
        "result": "at::Tensor&" if one else _tuple(["at::Tensor&"] * len(outs)),
        "python": ", ".join([_python_signature(s), *_keyword_only(s, form.outs)]),
    }


# --- the languages -------------------------------------------------------------------------------


def _calls(s: Signature) -> dict[str, Any]:
    """Parameters and arguments of ``compute`` for one place of the result."""

    def typed(a: Argument, number: str) -> str:
        kind = number if a.value_type == "double" else a.value_type
        return f"Optional<{kind}> {a.name}" if a.optional else f"{kind} {a.name}"

    tensors = s.tensors
    numbers = [a for a in s.values if a.value_type == "double" and not a.optional]
    parameters = [f"T {a.name}" for a in tensors]
    parameters += [typed(a, "T" if a in numbers else "double") for a in s.values]
    arguments = [
        f"given.{a.name}.data ? at<T>(given.{a.name}, i) : T(0)"
        if a.optional
        else f"at<T>(given.{a.name}, i)"
        for a in tensors
    ]
    arguments += [f"T(given.{a.name})" if a in numbers else f"given.{a.name}" for a in s.values]
    both = [*tensors, *s.values]
    metal = [f"T {a.name}" for a in tensors]
    metal += [f"{_METAL.get(a.value_type, 'T')} {a.name}" for a in s.values]
    text = " ".join(str(TABLE.get(s.op, "")).split())
    return {
        "compute_parameters": ", ".join(parameters),
        "compute_arguments": ", ".join(arguments),
        "metal_parameters": ", ".join(metal),
        "metal_arguments": ", ".join(
            [f"{a.name}_at[i]" for a in tensors]
            + [a.name if a.value_type in _METAL else f"T({a.name})" for a in s.values]
        ),
        "python_parameters": ", ".join(a.name for a in both),
        "python_arguments": ", ".join(a.name for a in both),
        "python_signature": _python_signature(s),
        "python_names": ", ".join(
            f"{a.name}={a.name}" if a.keyword else a.name for a in s.arguments
        ),
        "python_dict": "{" + ", ".join(f'"{a.name}": {a.name}' for a in s.arguments) + "}",
        "library": any(f"{name}(" in text for name in _LIBRARY.split()),
    }


_METAL = {"int64_t": "long", "bool": "bool"}
_LIBRARY = """
    acos acosh asin asinh atan atan2 atanh copysign cosh erfc expm1 fmod hypot lgamma log10 log1p
    pow rint sinh tan tanh trunc
"""
"""What Triton takes from the vendor's device library."""


def _python_signature(s: Signature) -> str:
    parts: list[str] = []
    for argument in s.arguments:
        if argument.keyword and "*" not in parts:
            parts.append("*")
        default = f"={argument.default}" if argument.default else ""
        parts.append(f"{argument.name}{default}")
    return ", ".join(parts)


def _keyword_only(s: Signature, outs: Iterable[str]) -> list[str]:
    outs = list(outs)
    star = [] if any(a.keyword for a in s.arguments) or not outs else ["*"]
    return [*star, *outs]


# --- Ascend C ------------------------------------------------------------------------------------

_ATTRIBUTES = {
    "int64_t": ("int", "Int", "int64_t"), "double": ("float", "Float", "float"),
    "bool": ("bool", "Bool", "uint8_t"), "List": ("list_int", "ListInt", ""),
}  # fmt: skip
_INTEGERS = re.compile(r"index|indices|mask|target|condition|offsets|lengths|lookup")


def _ascend(s: Signature, name: str, chip: str) -> dict[str, Any]:
    operator = "".join(part.capitalize() for part in name.split("_"))
    whole = {a.name: not s.pointwise and bool(_INTEGERS.search(a.name)) for a in s.tensors}
    results = ["float", *["int64" if not s.pointwise else "float"] * (s.results - 1)]
    attributes: list[dict[str, str]] = []
    for a in s.values:
        json, getter, tiling = _ATTRIBUTES[a.value_type]
        if a.optional:
            attributes.append(
                {"name": f"has_{a.name}", "json": "bool", "getter": "Bool", "tiling": "uint8_t"}
            )
        attributes.append({"name": a.name, "json": json, "getter": getter, "tiling": tiling})
    return {
        "operator": operator,
        "attributes": attributes,
        "ascend_types": {n: "int64" if is_whole else "float" for n, is_whole in whole.items()},
        "ascend_cpp": {n: "int64_t" if is_whole else "float" for n, is_whole in whole.items()},
        "ascend_results": results,
        "ascend_results_cpp": ["int64_t" if kind == "int64" else kind for kind in results],
        **_SOC.get(chip, {"soc": f"ascend{chip}", "config": f"ascend{chip}"}),
    }


_SOC = {
    "910a": {"soc": "ascend910a", "config": "ascend910"},
    "910b": {"soc": "ascend910b1", "config": "ascend910b"},
    "910c": {"soc": "ascend910_9391", "config": "ascend910_93"},
    "a3": {"soc": "ascend910_9391", "config": "ascend910_93"},
    "310p": {"soc": "ascend310p1", "config": "ascend310p"},
    "310b": {"soc": "ascend310b1", "config": "ascend310b"},
}  # fmt: skip
