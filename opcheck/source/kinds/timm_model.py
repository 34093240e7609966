"""``timm:NAME``: a timm model by name, without its weights."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.source import base
from opcheck.source.base import Loaded, LoadOptions, Source

_PREFIX = "timm:"


class TimmModel(Source):
    """Builds what ``timm.create_model(NAME)`` gives."""

    name = "timm"
    help = "timm:NAME (as timm.list_models() has it)"
    libraries = ("timm", "torchvision")
    lists = True

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it starts with ``timm:``."""
        return text.startswith(_PREFIX)

    @classmethod
    def path(cls, text: str) -> Path | None:
        """None: timm knows it by name."""
        return None

    @classmethod
    def names(cls) -> Sequence[str]:
        """Every architecture, in timm's order."""
        from opcheck.source.building import torchvision_operators
        from opcheck.source.building.failures import import_library

        torchvision_operators.prepare()
        names: list[str] = import_library("timm").list_models()
        return names

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model; its own default config tells the image size."""
        from opcheck.source.building.build import build
        from opcheck.source.building.example import image_of
        from opcheck.source.building.failures import import_library
        from opcheck.source.building.ready import ready

        timm = import_library("timm")
        name = text.removeprefix(_PREFIX)
        # hf-hub: and local-dir: names would be looked up elsewhere
        if not timm.is_model(name) or ":" in name or "/" in name:
            near = difflib.get_close_matches(name.partition(".")[0], timm.list_models(), 3)
            hint = (
                Sentence("did you mean {text}?", text=", ".join(near))
                if near
                else Sentence("timm.list_models() lists them")
            )
            raise SourceError(
                Sentence(
                    "timm {version} has no model {name}", version=timm.__version__, name=repr(name)
                ),
                hint,
            )
        model, notes = build(
            verbatim(text),
            lambda: timm.create_model(name, pretrained=False),
            weights=options.weights,
        )
        return ready(
            model,
            image_of(model, options.batch),
            options,
            kind=self.name,
            digest=base.digest_of_text(f"{text} {timm.__version__}"),
            notes=(*notes, *options.random_weights),
        )
