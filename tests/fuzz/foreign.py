"""Hostile scripts, configs and manifests by a grammar: names, paths and code where values stand."""

import json
import re
from random import Random
from typing import Any

from tests.fuzz.mutate import spoiled_archive, spoiled_bytes, spoiled_value, spoiled_yaml
from tests.fuzz.programs import expression, path, spoiled_program, target, text

_LINES = (
    '_0 = torch.save({value}, "{path}")', '_0 = ops.aten.save({value}, "{path}")',
    'y = torch.from_file("{path}", True, 3, dtype=0)', "_1 = torch.fill_({value}, 66)",
    'ops.prim.RaiseException("{text}")', 'print("{text}")', 'torch.warn("{text}", 2)',
    "_0 = ops.{word}({value})", "_0 = {word}({value})", "_0 = annotate(Any, {value})",
    "_0 = ^system({value})", "_0 = unchecked_cast(Tensor, {value})", "for i in range(2):",
    "if True:", "while bool({value}):", "_0 = self.{word}", "_0 = (self).{word}({value})",
    '_0 = torch.add("{path}", "{text}")', "_0 = __torch__.torch.classes.{word}.{word}()",
    "_0 = torch.as_strided({value}, [9], [9], 1000000)", "_0 = uninitialized(Tensor)",
)  # fmt: skip
_VALUES = ("input", "x", "1", "True", '"hostile"', "[1, 2]", "None", "3.5", "torch.ones([2])", "_0")
_KEYS = (
    "auto_map", "architectures", "model_type", "trust_remote_code", "_attn_implementation",
    "quantization_config", "torch_dtype", "hidden_act", "_name_or_path", "_class_name", "act_fn",
    "backbone", "use_timm_backbone", "down_block_types", "__class__", "attribute_map", "nc",
    "activation", "scales", "trust", "source", "inputs", "schemas", "baseline", "step", "timeout",
)  # fmt: skip


def spoiled_code(random: Random, data: bytes) -> bytes:
    """A member of a TorchScript archive: lines more where it is code, else its bytes."""
    if not re.search(rb"^ +return ", data, re.MULTILINE):
        return spoiled_bytes(random, data)
    lines = data.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 4))):
        statements = [n for n, line in enumerate(lines) if re.match(r" {2,}(\w+ = |return )", line)]
        at = random.choice(statements or [0])
        indent = len(lines[at]) - len(lines[at].lstrip())
        made = random.choice(_LINES).format(
            value=random.choice(_VALUES), path=path(random), word=target(random),
            text=text(random).encode("unicode_escape").decode().replace('"', ""),
        )  # fmt: skip
        lines.insert(at, " " * indent + made)
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def spoiled_script(random: Random, data: bytes) -> bytes:
    """A TorchScript archive whose code has other lines, or that is spoiled as any archive is."""
    return _SCRIPT(random, data)


def spoiled_export(random: Random, data: bytes) -> bytes:
    """An archive of an exported program whose graph is hostile."""
    return _PROGRAM(random, data)


def spoiled_config(random: Random, data: bytes) -> bytes:
    """A config with names, paths and code as values, and with keys that libraries look up."""
    document = json.loads(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        key = random.choice((*_KEYS, *document)) if isinstance(document, dict) else 0
        if isinstance(document, dict):
            document[key] = _value(random)
    if random.randrange(4) == 0:
        document = spoiled_value(random, document)
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def spoiled_settings(random: Random, data: bytes) -> bytes:
    """A YAML file with names, paths and code as values, or that is spoiled as any is."""
    if random.randrange(2):
        return spoiled_yaml(random, data)
    lines = data.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(lines))
        value = json.dumps(_value(random))
        words = re.split(r"(\[|, |: |\]|\{|\})", lines[at])
        places = [n for n, word in enumerate(words) if re.search(r"\w", word)]
        if random.randrange(3) == 0 or not places:
            lines.insert(at, f"{random.choice(_KEYS)}: {value}")
        else:
            words[random.choice(places)] = random.choice((value, target(random).split(".")[-1]))
            lines[at] = "".join(words)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


_SCRIPT = spoiled_archive(spoiled_code, lambda name: name.endswith(".py"))
_PROGRAM = spoiled_archive(
    spoiled_program, lambda name: name.endswith(("models/model.json", "exported_program.json"))
)


def _value(random: Random) -> Any:
    return random.choice((
        text, text, target, expression, path, lambda r: [text(r), path(r)], lambda r: True,
        lambda r: {text(r): target(r)}, lambda r: [target(r)], lambda r: r.choice((0, -1, 2**62)),
        lambda r: {"AutoModel": "hostile_import.A", "AutoConfig": f"{path(r)}--hostile.A"},
        lambda r: f"{target(r)}({expression(r)})",
    ))(random)  # fmt: skip
