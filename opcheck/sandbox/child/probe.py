"""The process that tries a device: ``python -m opcheck.sandbox.child.probe``.

A job comes on stdin, and messages go to stdout as JSON lines, each before what it tells of begins:
if the device ends the process, the last of them say at which call.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opcheck.errors import EmulationError, OpcheckError, missing_library
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, to_json
from opcheck.model.emulation import Event, Happened
from opcheck.model.probe import ProbeJob
from opcheck.sandbox.child.process import private_channel

if TYPE_CHECKING:
    from opcheck.runtime.probe.compare import Tries


def main() -> None:
    """Do the one job."""
    job = from_json(ProbeJob, json.load(sys.stdin))
    send = _sender()
    try:
        _answer(job, send)
    except OpcheckError as error:
        send(_as_message(error))
    except Exception as failure:
        if isinstance(failure, ModuleNotFoundError) and (missing := missing_library(failure)):
            send(_as_message(missing))
        else:  # a bug of ours, and no crash of the device's
            send({"bug": traceback.format_exc()})
    send({"end": True})
    os._exit(0)  # what a vendor's runtime does at exit is no part of any sample


def _as_message(error: OpcheckError) -> dict[str, Any]:
    return {"error": [type(error).__name__, to_json(error.message), to_json(error.hint)]}


def _sender() -> Callable[[dict[str, Any]], None]:
    """What writes to the stdout that this process was given; others' output goes to stderr."""
    out = private_channel()

    def send(message: dict[str, Any]) -> None:
        out.write(f"{json.dumps(message)}\n")
        out.flush()

    return send


def _answer(job: ProbeJob, send: Callable[[dict[str, Any]], None]) -> None:
    from opcheck.runtime.probe.run import finished, tried, units

    with _opened(job) as on:
        send({"device": to_json(tried(on.device, job.emulated))})
        if job.units is None:
            found = list(units(job.operators, job.dtypes))
            send({"units": [to_json(unit) for unit in found]})
            return
        every = finished(
            job, on,
            lambda sample: send({"begins": to_json(sample)}),
            lambda call: send({"calls": to_json(call)}),
        )  # fmt: skip
        for each in every:
            send({"finished": to_json(each)})


@contextmanager
def _opened(job: ProbeJob) -> Iterator["Tries"]:
    if not job.emulated:
        yield _real(job)
        return
    from opcheck.emulate.session import Emulator
    from opcheck.runtime.probe.compare import Tries

    emulator = Emulator(job.emulated, values=True, stop=True, databases=job.databases)
    with emulator as device:
        entries, left = emulator.device.matrix.entries, list[str]()

        def hear(event: Event) -> None:
            if event.kind is Happened.LEFT:
                left.append(event.op)

        def fell_back() -> tuple[str, ...]:
            found = tuple(dict.fromkeys(left))
            left.clear()
            return found

        emulator.device.record.told = hear

        def registered(name: str) -> bool:
            return name in entries and "PrivateUse1" in entries[name].keys

        yield Tries(device, registered, fell_back, emulator.device.is_quiet)


def _real(job: ProbeJob) -> "Tries":
    import torch

    from opcheck.runtime.probe.compare import Tries, has_kernel
    from opcheck.runtime.probe.run import Warnings

    try:
        if job.module:
            importlib.import_module(job.module)
        made = torch.empty(1, device=job.device_type)
    except Exception as error:  # whatever a plugin or a driver says when there is no device
        raise EmulationError(
            Sentence(
                "there is no {type} device here: {kind}: {text}",
                type=job.device_type,
                kind=type(error).__name__,
                text=error,
            ),
            Sentence("opcheck doctor says what is installed, and what is missing"),
        ) from error
    return Tries(
        made.device, lambda name: has_kernel(job.device_type, name), Warnings(job.fallback)
    )


if __name__ == "__main__":
    main()
