"""``model.pt``: a TorchScript archive, whose code is checked before PyTorch runs any of it."""

from functools import partial
from pathlib import Path

from opcheck.source import digest
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
        from opcheck.source.building.build import build, make
        from opcheck.source.building.memory import check_room
        from opcheck.source.building.ready import ready
        from opcheck.source.building.script import load_script

        path = Path(text)
        read = partial(load_script, path, trust=options.trust)
        if options.weights:
            check_room(text, path.stat().st_size)
            module = make(text, read)
        else:
            module, _ = build(text, read)
        return ready(module, None, options, kind=self.name, digest=digest.of_file(path))
