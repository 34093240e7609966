"""``model.gguf`` or a folder that holds one: a transformers model from the file's header alone."""

from pathlib import Path

from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.gguf_file import PREFIX, files_of, model_header, only


class GgufFile(Source):
    """Builds the model that ``from_pretrained(gguf_file=…)`` would; no weights are read."""

    name = "gguf"
    help = "path/to/model.gguf, or DIR that holds one (transformers, from its header alone)"
    libraries = ("transformers",)

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it is a GGUF file, or a folder with GGUF files and no config."""
        return bool(files_of(text))

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The file or the folder."""
        return Path(text.removeprefix(PREFIX))

    def check(self, text: str, options: LoadOptions) -> None:
        """Read the header, and find that it is one of a model."""
        model_header(only(files_of(text)))

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the class that transformers takes for the architecture."""
        from opcheck.source.building.huggingface.gguf_model import model_of
        from opcheck.source.building.ready import ready

        path = only(files_of(text))
        header = model_header(path)
        model, notes, unseen = model_of(path, header, options)
        return ready(
            model,
            None,
            options,
            kind=self.name,
            digest=header.digest,
            notes=notes,
            unseen=unseen,
        )
