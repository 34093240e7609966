"""What the templates write in Python: an overload's name, and the parameters that it takes."""

from collections.abc import Iterable

from opcheck.model.trace import OpName
from opcheck.rewrite.custom.signature import Signature


def torch_name(op: str) -> str:
    """The overload as Python calls it: ``torch.ops.aten.lerp.Scalar``."""
    name = OpName.parse(op)
    return f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}"


def python_signature(s: Signature) -> str:
    """The parameters of a function that takes what the overload takes."""
    parts: list[str] = []
    for argument in s.arguments:
        if argument.keyword and "*" not in parts:
            parts.append("*")
        default = f"={argument.default}" if argument.default else ""
        parts.append(f"{argument.name}{default}")
    return ", ".join(parts)


def keyword_only(s: Signature, outs: Iterable[str]) -> list[str]:
    """Parameters for places of results, behind those of the overload."""
    outs = list(outs)
    star = [] if any(a.keyword for a in s.arguments) or not outs else ["*"]
    return [*star, *outs]
