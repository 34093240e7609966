"""What the templates of Ascend C fill in: the operator, its attributes and its types."""

import re
from typing import Any

from opcheck.rewrite.custom.signature import Signature

_ATTRIBUTES = {
    "int64_t": ("int", "Int", "int64_t"), "double": ("float", "Float", "float"),
    "bool": ("bool", "Bool", "uint8_t"), "List": ("list_int", "ListInt", ""),
}  # fmt: skip
_INTEGERS = re.compile(r"index|indices|mask|target|condition|offsets|lengths|lookup")


def ascend_names(s: Signature, name: str, chip: str) -> dict[str, Any]:
    """Operator, attributes and types for a project of this name on this chip."""
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
