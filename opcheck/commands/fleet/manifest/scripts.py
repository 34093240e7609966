"""Rows of a manifest that are scripts, with the options of ``opcheck run`` by name."""

import shlex
from collections.abc import Callable

from msgspec.structs import replace

from opcheck.commands.fleet.manifest.fields import SCRIPT_FIELDS, FieldError
from opcheck.commands.fleet.manifest.rows import SCRIPT, Row, field_problem, values_of
from opcheck.commands.fleet.values import Entry
from opcheck.errors import OpcheckError, UsageError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence, sentence_of, verbatim
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.script import Data, ScriptRequest, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.source.notebook import MOST_NOTEBOOK_BYTES

_EACH = TargetSpec("")
"""Stands for the target, which a run puts in for each of its own."""
_MODULE = ("-m", "--module")


def script_entry(row: Row, within: Callable[[str], str]) -> Entry:
    """The script that a row names; ``within`` gives a path of the manifest as it is from here.

    Raises:
        UsageError: it names none that can be read, or an option that is none of a script's.
    """
    given = values_of(row, SCRIPT, SCRIPT_FIELDS)
    try:
        words = _words(row.script)
        spec = _spec(words)
    except FieldError as error:
        raise field_problem(row, SCRIPT, sentence_of(error)) from error
    except OpcheckError as error:
        raise field_problem(row, SCRIPT, error.message) from error
    if not spec.module:
        spec = replace(spec, name=within(spec.name))
        _require_file(row, spec)
    if ranks := given.get("ranks"):
        spec = replace(spec, processes=ranks)
    model = ModelSpec(
        spec.name,
        schemas=given.get("schemas", ()),
        timeout=given.get("timeout"),
        memory=given.get("memory"),
    )
    script = ScriptRequest(
        spec,
        model,
        _EACH,
        values=given.get("values", False),
        as_cuda=given.get("as-cuda", True),
        steps=given.get("steps"),
        forwards=given.get("forwards"),
        data=given.get("data", Data.NONE),
    )
    return Entry(row.name or shlex.join(words), ScanRequest(model, ()), row.where, script)


def _words(value: object) -> list[str]:
    """A command line, split as a shell would, or the words themselves."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:  # a quotation without an end
            raise FieldError(verbatim(error)) from error
    if not (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
        raise FieldError(
            Sentence(
                "expected a command line or a list of its words, found {value}",
                value=f"{value!r:.60}",
            )
        )
    if value[0] in _MODULE and len(value) == 1:
        raise FieldError(Sentence("expected the name of a module after {text}", text=value[0]))
    return value


def _spec(words: list[str]) -> ScriptSpec:
    """The script of a command line, which may begin with ``-m`` or a launcher."""
    if words[0] in _MODULE:
        return ScriptSpec.parse(words[1:], module=True)
    return ScriptSpec.parse(words)


def _require_file(row: Row, script: ScriptSpec) -> None:
    most = MOST_NOTEBOOK_BYTES if script.notebook else MOST_SOURCE_BYTES
    try:
        require_regular(script.name, most)
    except OSError as error:
        said = Sentence(
            "cannot read {text_file}: {text}", text_file=script.name, text=error.strerror
        )
        raise UsageError(
            field_problem(row, SCRIPT, said).message,
            Sentence("paths of scripts begin at the manifest: script: train.py --lr 0.1"),
        ) from error
