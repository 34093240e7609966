"""``opcheck probe``: samples of every operator, run on a device."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress
from opcheck.lang.sentence import Sentence
from opcheck.model.probe import ProbeRequest
from opcheck.model.trace import DTYPE_BYTES

_SECONDS, _SAMPLES, _FOLDER = 60.0, 3, "probe"


def _dtype(text: str) -> str:
    if text not in DTYPE_BYTES:
        raise typer.BadParameter(
            Sentence("not a dtype of PyTorch: {text}, as in float32", text=repr(text))
        )
    return text


def _samples(text: str) -> int:
    if not text.isdecimal() or len(text) > 6 or not int(text):
        raise typer.BadParameter(Sentence("not a number of samples: {text}", text=repr(text[:40])))
    return int(text)


Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="TYPE",
        help="cpu, cuda, npu, mlu, …, as tensors report it.",
        show_default="that of the target",
    ),
]
Emulate = Annotated[
    bool,
    typer.Option("--emulate", help="Try the emulated device.", show_default="the real one"),
]
Operators = Annotated[
    list[str] | None,
    typer.Option(
        "--op",
        metavar="PATTERN",
        help="Only operators of this name, as PyTorch's tests name them: add, fft_*. Repeatable.",
        show_default="all",
    ),
]
Dtypes = Annotated[
    list[str] | None,
    typer.Option(
        "--dtype",
        parser=_dtype,
        metavar="DTYPE",
        help="Only this dtype, repeatable.",
        show_default="every one that the host knows",
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        "--samples",
        parser=_samples,
        metavar="N",
        help="How many of each operator, dtype and direction.",
        show_default=str(_SAMPLES),
    ),
]
ForwardOnly = Annotated[
    bool,
    typer.Option("--forward-only", help="Take no gradients.", show_default="take them, too"),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        parser=Path,
        metavar="DIR",
        help="The folder for the overlay and the journal.",
        show_default=_FOLDER,
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        parser=model_options.positive,
        metavar="SECONDS",
        help="Take a sample that takes longer for one that hangs.",
        show_default=f"{_SECONDS:g}",
    ),
]
Restart = Annotated[
    bool,
    typer.Option(
        "--restart",
        help="Forget what the journal there has.",
        show_default="go on where it ends",
    ),
]


def probe(
    device: Device = "",
    target: options.OneTarget = None,
    emulate: Emulate = False,
    op: Operators = None,
    dtype: Dtypes = None,
    samples: Samples = None,
    forward_only: ForwardOnly = False,
    into: Into = None,
    restart: Restart = False,
    output: options.OutputFile = None,
    database: options.Databases = None,
    timeout: Limit = None,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.probe import answer
    from opcheck.commands.probe.views.text import probe_page  # rich, which others do without

    out = Output(output)
    request = ProbeRequest(
        device, options.only(target) if target else None, emulate, tuple(op or ()),
        tuple(dtype or ()), samples or _SAMPLES, not forward_only, timeout or _SECONDS,
        str(into or _FOLDER), restart, tuple(database or ()),
    )  # fmt: skip
    with Progress() as progress:
        found = answer.probe(request, progress)
    out.write(probe_page(found, out.page(Detail(verbose))))
