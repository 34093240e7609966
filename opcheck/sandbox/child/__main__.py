"""The process that runs the user's model: one request on stdin, messages as JSON lines on stdout.

Nothing but messages reaches that stdout: before any code of the user's runs, file descriptor 1
becomes stderr and the messages go to a private copy.
"""

import faulthandler
import gc
import json
import os
import sys
import traceback

from opcheck.errors import OpcheckError, Stop
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, to_json
from opcheck.model.jobs import Job
from opcheck.model.work import WorkRequest
from opcheck.sandbox.child import streams
from opcheck.sandbox.child.answers import answers, own_files
from opcheck.sandbox.child.copies import CopyEndedError
from opcheck.sandbox.child.limits import confined
from opcheck.sandbox.child.process import Process
from opcheck.sandbox.reaper import end_as

_COLLECTED_EVERY = 20_000
"""Objects more: what is traced stays, and has no values that would fill the memory meanwhile. By
Python's 700 the collector takes a tenth of the time."""


def main() -> None:
    """Answer the one request."""
    job = from_json(Job, json.load(sys.stdin))
    if isinstance(job.request, WorkRequest):
        gc.set_threshold(_COLLECTED_EVERY)
    refusals = confined(job)
    process = Process(job)
    try:
        for answer in answers(job.request, process, refusals):
            process.send({"result": to_json(answer)})
    except CopyEndedError as copy:
        faulthandler.disable()  # the copy has told where it stood
        end_as(copy.status)
    except OpcheckError as error:
        told = [type(error).__name__, to_json(error.message), to_json(error.hint)]
        process.send({"error": told, "files": dict(own_files())})
    except MemoryError:
        what = Sentence(
            "needs more memory than the {figure} GiB that it may use",
            figure=f"{job.memory / 2**30:.1f}",
        )
        process.send({"stopped": [to_json(what), to_json(job.memory_hint), Stop.MEMORY]})
    except Exception:
        process.send({"crash": traceback.format_exc()})
    except BaseException as error:  # what SystemExit and its like end is not ours
        what = Sentence("ends the process ({text})", text=repr(error))
        hint = Sentence("take that call out")
        process.send({"stopped": [to_json(what), to_json(hint), Stop.ENDED]})
    process.end()
    streams.flush()
    # threads and exit handlers of the user's are not waited for
    os._exit(0)


if __name__ == "__main__":
    main()
