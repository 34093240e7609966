"""Whose code failed, as one sentence with file and line, and libraries that cannot be imported."""

import importlib
import re
import traceback
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError, WriteRefusedError, out_of_memory
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.source.user_code import is_users, shown

_LONGEST = 240
_TORCHRUN = {(name,) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
"""What is looked up in the environment that a launcher sets."""
_DENIED = "Permission denied"
"""What the system says to native code that writes where it may not."""
_FIRST_FSDP = "FSDP needs a non-CPU accelerator device"
"""What ``FullyShardedDataParallel`` says where there is none, checked on torch 2.13.0."""
_IN_SCRIPT = re.compile(r"Can't get attribute '(\w+)' on <module '[^']*__main__'")
"""What pickle says of a class that stood in the program itself."""
_RUN_IT = Sentence(
    "a script that reads its command line is run as it stands: opcheck run -t TARGET FILE …"
)
_NO_DEVICE = re.compile(
    r"device type at start of device string: (\w+)|not compiled with (XPU|MPS)"
    r"|with arguments from the '(HPU|XLA)'"
)
"""What torch says of a device type that it does not know, or was not built for."""


def place(error: BaseException) -> str:
    """``file:line`` of the innermost frame that is the user's own; "" if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename and is_users(error.filename):
        return f"{shown(error.filename)}:{error.lineno}"
    for frame in reversed(frames):
        if is_users(frame.filename):
            return f"{shown(frame.filename)}:{frame.lineno}"
    return ""


def failed(what: Sentence, error: BaseException, hint: Sentence = NOTHING) -> SourceError:
    """Say that ``what`` (``build() of net.py``) raised ``error``; ``hint`` is for want of a better.

    Out of memory is passed on as MemoryError.
    """
    if out_of_memory(error):
        raise MemoryError from error
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _missing(what, error)
    if isinstance(error, SystemExit):
        return SourceError(
            _at(Sentence("{said} ends the process: {text}", said=what, text=repr(error)), error),
            _RUN_IT if _parses_arguments(error) else Sentence("take that call out of the code"),
        )
    if place(error):
        hint = Sentence("the same code must build the model in plain Python")
    named = _device_named(str(error))
    if named:
        hint = Sentence(
            "build the model on the CPU: leave out .{name}() and device='{device}'",
            name=named,
            device=named,
        )
    if found := _IN_SCRIPT.search(str(error)):
        hint = Sentence(
            "the class stood in the script that saved it: scan it where it stands, as "
            "path/to/file.py:{name}, or move it into a module and save the model again",
            name=found[1],
        )
    if _FIRST_FSDP in str(error):
        hint = Sentence(
            "leave FullyShardedDataParallel out, and scan with --train --step wrap=fsdp2"
        )
    if isinstance(error, KeyError) and error.args in _TORCHRUN:
        hint = Sentence("set RANK, LOCAL_RANK and WORLD_SIZE in the environment, as torchrun does")
    if isinstance(error, WriteRefusedError):
        return SourceError(
            Sentence(
                "{said}: opcheck runs a model's code without writing to files",
                said=_at(
                    Sentence("{said} writes to {text}", said=what, text=error.filename), error
                ),
            ),
            Sentence(
                "have the code that trains and saves run only as a program: if "
                "__name__ == '__main__'"
            ),
        )
    if _DENIED in str(error):
        hint = Sentence(
            "a model's code has no network here, and writes to no files but temporary ones"
        )
    elif isinstance(error, OSError):
        hint = Sentence(
            "weights are not needed and nothing is downloaded: build the model without them"
        )
    return SourceError(
        _at(
            Sentence(
                "{said} raised {name}: {text}",
                said=what,
                name=type(error).__name__,
                text=brief(error),
            ),
            error,
        ),
        hint,
    )


def _parses_arguments(error: BaseException) -> bool:
    """Whether a parser of command lines ended the process."""
    files = (frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return any(Path(file).name == "argparse.py" for file in files)


def brief(error: BaseException) -> str:
    """The error's text on one line, cut where it gets long."""
    text = str(error)
    if "Traceback" in text:  # of the TorchScript interpreter: what went wrong stands last
        text = text.rstrip().rpartition("\n")[2]
    text = " ".join(text.split())
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…") or "(no message)"


def _device_named(said: str) -> str:
    """The device type that code asks for and torch does not have here; "": none."""
    if "CUDA" in said:
        return "cuda"
    found = _NO_DEVICE.search(said)
    return next(filter(None, found.groups())).lower() if found else ""


def _missing(what: Sentence, error: ModuleNotFoundError) -> SourceError:
    name = str(error.name)
    return SourceError(
        _at(
            Sentence(
                "{said} needs the module {name}, which is not installed",
                said=what,
                name=repr(name),
            ),
            error,
        ),
        Sentence(
            "install {name}, or guard the import: if it is an extension with "
            "compiled kernels, only the schema of its operators is needed "
            "(torch.library.define) to scan the model",
            name=name,
        ),
    )


def _at(sentence: Sentence, error: BaseException) -> Sentence:
    """The sentence with the place in the user's code, if there is one."""
    where = place(error)
    return Sentence("{said} (at {text})", said=sentence, text=where) if where else sentence


def import_library(name: str) -> Any:
    """Give the module ``name``; SourceError naming the extra that brings it where it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise SourceError(
                Sentence(
                    "{name} cannot be imported: it needs {text}", name=name, text=repr(error.name)
                )
            ) from error
        raise SourceError(
            Sentence("{library} is not installed", library=name.partition(".")[0]),
            Sentence(
                "pip install 'opcheck[models]' brings transformers, diffusers, timm, "
                "torchvision and ultralytics"
            ),
        ) from error
    except Exception as error:  # a library beside an incompatible torch raises anything
        raise SourceError(
            Sentence(
                "{name} cannot be imported beside this torch: {text}", name=name, text=brief(error)
            ),
            Sentence("install versions of the two that belong together"),
        ) from error
