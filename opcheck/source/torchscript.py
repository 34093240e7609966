"""``model.pt``: a TorchScript archive, read by torch's C++ reader that unpickles no Python."""

from pathlib import Path
from typing import Any

from opcheck.source import digest
from opcheck.source.archive import open_archive
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.sniff import Form, holds


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
        import torch

        from opcheck.source.building.build import build, make
        from opcheck.source.building.memory import check_room
        from opcheck.source.building.ready import ready

        path = Path(text)
        with open_archive(path) as archive:
            traced = any(member.endswith("/traced_inputs.pkl") for member in archive.members)

        def read() -> Any:
            # _restore_shapes is private; checked with torch 2.13: it reads the inputs stored there
            return torch.jit.load(path, map_location="cpu", _restore_shapes=traced)

        if options.weights:
            check_room(text, path.stat().st_size)
            module = make(text, read)
        else:
            module, _ = build(text, read)
        return ready(module, None, options, kind=self.name, digest=digest.of_file(path))
