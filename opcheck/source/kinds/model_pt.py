"""``model.pt``: a checked TorchScript archive or, with ``--trust``, a module saved whole."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.source import base
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.sniff import FACTORY_HINT, Form, holds, sniff


class TorchScript(Source):
    """Loads what ``torch.jit.save`` wrote."""

    name = "torchscript"
    help = "path/to/model.pt (TorchScript)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it is a file that holds TorchScript, whatever it is called."""
        return holds(Path(text), Form.TORCHSCRIPT)

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Load it; a traced one tells its inputs."""
        from opcheck.source.building.build import build, make
        from opcheck.source.building.ready import ready
        from opcheck.source.building.torchscript import load_script
        from opcheck.source.building.weightless import check_room

        path = Path(text)
        read = partial(load_script, path, trust=options.trust)
        if options.weights:
            check_room(text, path.stat().st_size)
            module = make(verbatim(text), read)
        else:
            module, _ = build(verbatim(text), read)
        return ready(module, None, options, kind=self.name, digest=base.digest_of_file(path))


_USUAL_KEYS = ("ema", "model", "net", "module")
"""Where training scripts keep the module in a checkpoint; the averaged one is what they deploy."""


class Pickled(Source):
    """Unpickles a module, if the user trusts whoever wrote the file."""

    name = "pickle"
    help = "path/to/model.pt with --trust (a module saved whole; runs code stored in the file)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it is a file with a pickle that builds more than tensors."""
        return holds(Path(text), Form.PICKLED)

    def check(self, text: str, options: LoadOptions) -> None:
        """Refuse it unless trusted; its opcodes were read, not run."""
        if not options.trust:
            raise SourceError(
                Sentence(
                    "{text} is {kind}: reading it runs code stored in the file",
                    text=text,
                    kind=sniff(Path(text)).detail,
                ),
                Sentence(
                    "--trust reads it, if you know who wrote it; or {said}", said=FACTORY_HINT
                ),
            )

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Unpickle it and find the module in what comes out."""
        import torch

        from opcheck.source.building.build import build, make
        from opcheck.source.building.ready import ready
        from opcheck.source.building.weightless import check_room

        self.check(text, options)
        path = Path(text)
        sys.path[:0] = [str(Path.cwd()), str(path.resolve().parent)]  # where its classes may lie

        def read() -> Any:
            return torch.load(path, map_location="cpu", weights_only=False)

        notes: tuple[str, ...] = ()
        if options.weights:
            check_room(text, path.stat().st_size)  # torch.save packs nothing
            made = make(verbatim(text), read, FACTORY_HINT)
        else:
            made, notes = build(verbatim(text), read, FACTORY_HINT)
        return ready(
            _module(made, path),
            None,
            options,
            kind=self.name,
            digest=base.digest_of_file(path),
            notes=notes,
        )


def _module(made: Any, path: Path) -> Any:
    """The module itself, or the one that a checkpoint's dict holds."""
    from torch import nn

    if isinstance(made, nn.Module):
        return made
    if isinstance(made, Mapping):
        for key in (*_USUAL_KEYS, *made):
            if isinstance(made.get(key), nn.Module):
                return made[key]
    raise SourceError(
        Sentence(
            "{text} holds a {type} without a torch.nn.Module in it",
            text=path,
            type=type(made).__name__,
        ),
        FACTORY_HINT,
    )
