"""JSON schemas as people read them."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import opcheck.views
from handbook.base import code, plain, table
from opcheck.site import SCHEMAS

FOLDER = Path(opcheck.views.__file__).parent / "schema"
FILES = tuple(sorted(FOLDER.glob("*.json")))
_ID = re.compile(r'("\$id": )"[^"]*"')
_LISTED = 8
"""Values of an enum that are listed."""


def read(path: Path) -> Mapping[str, Any]:
    """Give a schema as it is in its file."""
    loaded: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def keys(schema: Mapping[str, Any], links: str = "") -> str:
    """Give a table of the keys of an object; ``links`` leads to the parts that it refers to."""
    return table(["key", "type", ""], _rows(schema, "", links))


def parts(schema: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Give what a schema names apart, each below a heading of the third level."""
    for name, part in schema.get("$defs", {}).items():
        yield f"### {name} {{ #{prefix}{name} }}\n"
        if "description" in part:
            yield f"{plain(part['description'])}\n"
        if "properties" in part:
            yield keys(part, f"#{prefix}")
        elif "enum" in part:
            yield "One of " + ", ".join(f"`{one}`" for one in part["enum"]) + ".\n"


def _rows(schema: Mapping[str, Any], path: str, links: str) -> Iterator[list[str]]:
    required = set(schema.get("required", ()))
    for key, value in schema.get("properties", {}).items():
        missing = "" if key in required or not required else " *or absent*"
        told = [plain(value.get("description", "")), _default(value)]
        yield [code(path + key), _type(value, links) + missing, " ".join(filter(None, told))]
        inner = value.get("items", value) if value.get("type") == "array" else value
        if "properties" in inner:
            yield from _rows(inner, f"{path}{key}{'[]' if inner is not value else ''}.", links)


def _type(value: Mapping[str, Any], links: str) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}]({links}{name})" if links else name
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(dict.fromkeys(_type(one, links) for one in value[several]))
    if "const" in value:
        return code(json.dumps(value["const"]))
    if "enum" in value:
        listed = [code(json.dumps(one).strip('"')) for one in value["enum"]]
        return ", ".join(listed[:_LISTED]) + (", …" if len(listed) > _LISTED else "")
    kind = value.get("type", "any")
    if kind == "array":
        return f"list of {_type(value.get('items', {}), links)}"
    if isinstance(value.get("additionalProperties"), dict):
        return f"object of {_type(value['additionalProperties'], links)}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _default(value: Mapping[str, Any]) -> str:
    return f"Default: {code(json.dumps(value['default']))}." if "default" in value else ""


def published(path: Path) -> str:
    """Give the text of a schema with the address that it has on the site."""
    text = path.read_text(encoding="utf-8")
    return _ID.sub(lambda found: f"{found[1]}{json.dumps(SCHEMAS + path.name)}", text, count=1)


if __name__ == "__main__":
    for file in FILES:
        file.write_text(published(file), encoding="utf-8")
