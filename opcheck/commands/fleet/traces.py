"""Traces as they are kept: compressed, and once where device types differ in name alone."""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from types import MappingProxyType

from msgspec.structs import replace

from opcheck.commands.fleet.values import StoredTrace
from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.script import ScriptRun
from opcheck.model.work import WorkResult
from opcheck.sandbox.parent.answers import Results, require_sound

_LEVEL = 6
_AUTOCAST = ";autocast="
_DIGITS = 16
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})


def casts_text(casts: Mapping[str, str], autocast: Mapping[str, Sequence[str]] = _NONE) -> str:
    """Casts as one text, ``float64=float32,int64=int32``, and a digest of lists for autocast."""
    text = ",".join(f"{asked}={given}" for asked, given in sorted(casts.items()))
    if not autocast:
        return text
    lists = json.dumps({name: sorted(ops) for name, ops in autocast.items()}, sort_keys=True)
    return f"{text}{_AUTOCAST}{sha256(lists.encode()).hexdigest()[:_DIGITS]}"


def casts_of(text: str) -> Mapping[str, str]:
    """Casts as :func:`casts_text` writes them, without those of autocast."""
    pairs = (pair.partition("=") for pair in text.partition(_AUTOCAST)[0].split(",") if pair)
    return {asked: given for asked, _, given in pairs}


def has_autocast(text: str) -> bool:
    """Whether the targets have lists of their own for autocast, the same for all."""
    return _AUTOCAST in text


def stored(results: Sequence[WorkResult], casts: Mapping[str, str]) -> tuple[StoredTrace, ...]:
    """The results of one model as they are kept; ``casts`` is by device type."""
    found: list[StoredTrace] = []
    base, base_text = None, ""
    for device_type, group in groupby(results, key=lambda result: result.trace.device_type):
        text = _text(list(group))
        made = StoredTrace(device_type, casts.get(device_type, ""), "")
        if base is not None and text == _renamed(base_text, base.device_type, device_type):
            found.append(replace(made, same_as=base.name))
            continue
        if base is None:
            base, base_text = made, text
        found.append(replace(made, data=_compressed(text)))
    return tuple(found)


def restored(
    traces: Sequence[StoredTrace], casts: Mapping[str, str]
) -> Mapping[str, tuple[WorkResult, ...]]:
    """Results by device type again, those that were traced with ``casts``.

    Raises:
        ValueError: what is stored was changed, or is not whole.
    """
    by_name = {trace.name: trace for trace in traces}
    wanted = [one for one in traces if casts.get(one.device_type) == one.casts]
    results = Results()
    return {one.device_type: _restored(one, by_name, results) for one in wanted}


def stored_run(found: ScriptRun, casts: str) -> StoredTrace:
    """The run of one script on one target as it is kept."""
    text = json.dumps(to_json(found), separators=(",", ":"))
    return StoredTrace(found.basis.device_type, casts, _compressed(text))


def restored_run(trace: StoredTrace) -> ScriptRun:
    """The run of a script again.

    Raises:
        ValueError: what is stored was changed, or is not whole.
    """
    try:
        return from_json(ScriptRun, json.loads(_decompressed(trace.data)))
    except (zlib.error, MalformedError) as error:
        raise ValueError(f"a stored run is damaged: {error}") from error


def _restored(
    trace: StoredTrace, by_name: Mapping[str, StoredTrace], results: Results
) -> tuple[WorkResult, ...]:
    try:
        text = _text_of(trace, by_name)
    except (zlib.error, KeyError) as error:
        raise ValueError(f"a stored trace is damaged: {error}") from error
    data = json.loads(text)
    found = tuple(results.read(one) for one in data)
    for result in found:
        require_sound(result.trace)
    return found


def _text_of(trace: StoredTrace, by_name: Mapping[str, StoredTrace]) -> str:
    if not trace.same_as:
        return _decompressed(trace.data)
    base = by_name[trace.same_as]
    return _renamed(_text_of(base, by_name), base.device_type, trace.device_type)


def _text(results: Sequence[WorkResult]) -> str:
    return json.dumps([to_json(result) for result in results], separators=(",", ":"))


def _renamed(text: str, before: str, after: str) -> str:
    """The text with one device's name in place of another; only where that gives the other's."""
    return text.replace(f'"{before}"', f'"{after}"')


def _compressed(text: str) -> str:
    return b64encode(zlib.compress(text.encode(), _LEVEL)).decode()


def _decompressed(data: str) -> str:
    return zlib.decompress(b64decode(data)).decode()
