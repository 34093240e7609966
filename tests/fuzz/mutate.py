"""Ways to spoil a valid file: its bytes, the members of an archive, the values of a document."""

import io
import json
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Mutation = Callable[[Random, bytes], bytes]


def either(*mutations: Mutation) -> Mutation:
    """One of several ways, as often as any other."""

    def spoil(random: Random, data: bytes) -> bytes:
        return random.choice(mutations)(random, data)

    return spoil


HOSTILE_TEXTS = (
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "[bold]markup[/bold]", "[/]", "line\nbreak\r",
    "\u202eright to left", "\u2066isolate", "\x00", "\ud800", "a" * 100_000, "../../etc/passwd",
    "/absolute", "C:\\windows", "NaN", "aten::", "::", "{0.__class__}", "%s%n", "\ufeff", "",
)  # fmt: skip
HOSTILE_NUMBERS = (
    float("nan"), float("inf"), -1, 0, 1, -(2**63), 2**63, 2**64, 10**400, 1e308, -0.0, 0.5,
)  # fmt: skip
_DEPTHS = (10, 500, 5000, 100_000)


def hostile_value(random: Random) -> Any:
    """What no field should hold, or what one holds elsewhere."""
    return random.choice(
        (
            None, True, [], {}, [[]], {"": None}, random.choice(HOSTILE_TEXTS),
            random.choice(HOSTILE_NUMBERS), [random.choice(HOSTILE_NUMBERS)] * 50,
        )
    )  # fmt: skip


def spoiled_bytes(random: Random, data: bytes) -> bytes:
    """Some bytes changed, cut, doubled or put in."""
    content = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        place = random.randrange(len(content) + 1)
        match random.randrange(6):
            case 0 if place < len(content):
                content[place] = random.randrange(256)
            case 1:
                del content[place:]
            case 2:
                del content[place : place + random.choice((1, 4, 100))]
            case 3:
                content[place:place] = random.randbytes(random.choice((1, 4, 100)))
            case 4:
                content[place : place + 4] = random.choice((b"\xff" * 4, b"\0" * 4, b"\x7f" * 4))
            case _:
                content[place:place] = content[place : place + 200]
    return bytes(content)


def spoiled_value(random: Random, document: Any) -> Any:
    """A JSON value with some of its parts replaced, left out, repeated or swapped."""
    places = list(_places(document))
    for _ in range(random.choice((1, 1, 2, 5))):
        if not places:
            return hostile_value(random)
        holder, key = random.choice(places)
        if isinstance(holder, list) and not 0 <= key < len(holder):
            continue
        if isinstance(holder, dict) and key not in holder:
            continue
        _spoil(random, holder, key, places)
    return document


def _spoil(random: Random, holder: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    match random.randrange(6):
        case 0 | 1:
            holder[key] = hostile_value(random)
        case 2:
            del holder[key]
        case 3 if isinstance(holder, dict):
            holder[random.choice(HOSTILE_TEXTS)] = holder.pop(key)
        case 3:
            holder *= 3
        case 4:
            other, where = random.choice(places)
            if where in other if isinstance(other, dict) else 0 <= where < len(other):
                holder[key] = json.loads(_text(other[where]))
        case _ if isinstance(holder[key], int | float):
            holder[key] = random.choice(HOSTILE_NUMBERS)
        case _ if isinstance(holder[key], str):
            holder[key] += random.choice(HOSTILE_TEXTS)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    todo = [value]
    while todo:
        holder = todo.pop()
        if isinstance(holder, dict):
            keys: Any = holder
        elif isinstance(holder, list):
            keys = range(len(holder))
        else:
            continue
        for key in keys:
            yield holder, key
            todo.append(holder[key])


def spoiled_json(random: Random, data: bytes) -> bytes:
    """A JSON document with other values, or with other bytes, or nested without end."""
    match random.randrange(10):
        case 0:
            return spoiled_bytes(random, data)
        case 1:
            return nested(random, data)
        case _:
            text = _text(spoiled_value(random, json.loads(data)))
    return text.encode("utf-8", "surrogatepass")


def nested(random: Random, data: bytes) -> bytes:
    """The document, or part of it, within very many brackets."""
    depth = random.choice(_DEPTHS)
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    if random.randrange(2):
        return opening * depth + data + closing * depth
    before, colon, after = data.partition(b":")
    return before + colon + opening * depth + b"1" + closing * depth + b"," + after


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def spoiled_header(random: Random, data: bytes) -> bytes:
    """A safetensors file with another header, or with another length of it."""
    size = int.from_bytes(data[:8], "little")
    header, rest = data[8 : 8 + size], data[8 + size :]
    if random.randrange(4) == 0:
        claimed = random.choice((0, 1, size - 1, size + 1, 2**31, 2**63, 2**64 - 1))
        return claimed.to_bytes(8, "little") + header + rest
    header = spoiled_json(random, header)
    return len(header).to_bytes(8, "little") + header + rest


def spoiled_archive(inner: Mutation, chosen: Callable[[str], bool] | None = None) -> Mutation:
    """Spoil a zip archive; ``inner`` spoils the JSON in it.

    Where members are ``chosen``, three of four inputs have one of these spoilt and nothing else.
    """

    def spoil(random: Random, data: bytes) -> bytes:
        if chosen is None and random.randrange(4) == 0:
            return spoiled_bytes(random, data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
        if chosen is not None and random.randrange(4):
            at = random.choice([n for n, (name, _) in enumerate(members) if chosen(name)])
            members[at] = (members[at][0], inner(random, members[at][1]))
            return _stored(members)
        packed = _packed(random, _spoiled_members(random, members, inner))
        return _lying(random, packed) if random.randrange(4) == 0 else packed

    return spoil


def _spoiled_members(
    random: Random, members: list[tuple[str, bytes]], inner: Mutation
) -> list[tuple[str, bytes]]:
    at = random.randrange(len(members))
    name, content = members[at]
    match random.randrange(8):
        case 0:
            del members[at]
        case 1:
            members.append((name, spoiled_bytes(random, content)))
        case 2:
            members[at] = (random.choice(HOSTILE_TEXTS), content)
        case 3:
            members.append((f"{'../' * random.randrange(1, 4)}{name}", content))
        case 4:
            members[at] = (name, b"\0" * random.choice((1, 2**20, 2**26)))
        case 5:
            members[at] = (name, spoiled_bytes(random, content))
        case _:
            found = [i for i, (_, text) in enumerate(members) if text[:1] == b"{"] or [at]
            at = random.choice(found)
            name, content = members[at]
            members[at] = (name, inner(random, content) if content[:1] == b"{" else content)
    return members


def _packed(random: Random, members: list[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", method, compresslevel=1) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of names that are there twice
        for given, content in members:
            name = given.encode("utf-8", "replace").decode().strip("\0")
            archive.writestr(name[:60_000] or " ", content)
    return made.getvalue()


def _stored(members: list[tuple[str, bytes]]) -> bytes:
    """The archive as torch writes it: to pack it takes longer than to read it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


_FIELDS = ((8, "<H"), (10, "<H"), (20, "<L"), (24, "<L"), (28, "<H"), (30, "<H"), (42, "<L"))
"""Of an entry of a zip's directory: flags, method, sizes, lengths of name and extra, offset."""


def _lying(random: Random, data: bytes) -> bytes:
    """The archive with a directory that says what is not so."""
    content = bytearray(data)
    starts = [found.start() for found in re.finditer(rb"PK\x01\x02.{42}", data, re.DOTALL)]
    if starts:
        place, form = random.choice(_FIELDS)
        value = random.choice((0, 1, 0x0809, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF))
        size = struct.calcsize(form)
        struct.pack_into(form, content, random.choice(starts) + place, value % 2 ** (8 * size))
    return bytes(content)


_YAML_BITS = (
    "&a [*a]", "*missing", "!!python/object/apply:os.system ['false']", "!!binary aGk=", "? [a]",
    "!!set {a}", "<<: *a", ".nan", "1e400", "0x" + "f" * 5000, "2026-99-99", "\t", "- - - -",
    '"\\x1b[31m"', "|\n  text", "{[a]: b}", "[" * 5000, "{a: " * 2000, "~", "---\n", "...\n",
    "1" * 5000, "12:30:45", "2001-01-01T99:99:99Z", "%TAG",
)  # fmt: skip


def spoiled_yaml(random: Random, data: bytes) -> bytes:
    """A YAML file with other lines and values, and aliases that grow."""
    if random.randrange(5) == 0:
        return spoiled_bytes(random, data)
    if random.randrange(12) == 0:
        return _laughing(random) + data
    lines = data.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(lines))
        key, colon, value = lines[at].partition(":")
        bit = random.choice((*_YAML_BITS, *HOSTILE_TEXTS[:-1], str(hostile_value(random))))
        match random.randrange(5):
            case 0:
                lines[at] = f"{key}{colon} {bit}"
            case 1:
                del lines[at]
                lines = lines or [""]
            case 2:
                lines.insert(at, lines[random.randrange(len(lines))])
            case 3:
                lines[at] = f"{' ' * random.randrange(6)}{lines[at]}"
            case _:
                lines[at] = f"{key}{bit}{colon}{value}"
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _laughing(random: Random) -> bytes:
    """Nine words that become a billion, or more."""
    levels = range(1, random.choice((5, 9, 30)))
    lines = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in levels]
    return "".join(["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n", *lines]).encode()


def spoiled_text(random: Random, data: bytes) -> bytes:
    """An argument as a user types it, spoiled."""
    text = data.decode()
    for _ in range(random.choice((1, 2, 4))):
        at = random.randrange(len(text) + 1)
        bit = random.choice((*HOSTILE_TEXTS, *"[](){}=x:,.@+-*", "9" * 30, "1x", "\u0661"))
        text = text[:at] + bit + text[at + random.randrange(3) :]
    return text.encode("utf-8", "surrogatepass")


_CODE_BITS = (
    "(" * 300, "-" * 5000, "x." * 3000, "[" * 99, '"""', "f'{", "\\", "\t  ", "# coding: utf-7\n",
    "async ", "lambda: " * 200, "\x0c", "/*", "*/", "<<<", ">>>", "#define A A\n", "//\\\n", "R\"(",
)  # fmt: skip


def spoiled_source(random: Random, data: bytes) -> bytes:
    """A source with other pieces of code, or with other bytes."""
    if random.randrange(4) == 0:
        return spoiled_bytes(random, data)
    text = data.decode()
    for _ in range(random.choice((1, 2, 4))):
        at, other = random.randrange(len(text) + 1), random.randrange(len(text) + 1)
        piece = text[other : other + random.choice((1, 10, 80))]
        bit = random.choice((*HOSTILE_TEXTS, *_CODE_BITS, piece, piece))
        text = text[:at] + bit + text[at + random.choice((0, 0, 1, 20)) :]
    return text.encode("utf-8", "surrogatepass")
