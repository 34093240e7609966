"""A folder with ``adapter_config.json``: a transformers model with the adapter that PEFT saved."""

from functools import partial

from opcheck.lang.sentence import Sentence
from opcheck.source import base
from opcheck.source.adapter_folder import (
    ADAPTER,
    adapter_config,
    base_config,
    is_adapter,
    read_adapter,
)
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.config_values import checked
from opcheck.source.model_folder import quantised_weights, read_config


class PeftAdapter(Source):
    """Builds the base model from its config, and adds what the adapter's config says."""

    name = "peft"
    help = f"DIR with {ADAPTER} (a LoRA adapter as PEFT saves it, and its base model's config)"
    libraries = ("transformers",)

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it is such a folder or config."""
        return is_adapter(text)

    def check(self, text: str, options: LoadOptions) -> None:
        """Find both configs, and that the adapter is one that is known here."""
        path = adapter_config(text)
        read_adapter(path)
        base_path = base_config(path)
        if not options.trust:
            checked(base_path, read_config(base_path))

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the base model as its config has it, and put the adapter's layers into it."""
        from opcheck.source.building.build import make
        from opcheck.source.building.huggingface.transformers_model import model_of
        from opcheck.source.building.lora import add
        from opcheck.source.building.ready import ready
        from opcheck.source.building.weightless import weightless

        self.check(text, options)
        path = adapter_config(text)
        base_path = base_config(path)
        model, notes = model_of(base_path, options)
        adding = partial(add, model, read_adapter(path), str(path))
        if options.weights:
            count = make(Sentence("the adapter of {text}", text=path), adding)
        else:
            with weightless():
                count = adding()
        digests = base.digest_of_file(path) + base.digest_of_file(base_path)
        return ready(
            model,
            None,
            options,
            kind=self.name,
            digest=base.digest_of_text(digests),
            notes=(
                Sentence(
                    "the adapter adds to {count} layers of {text_file}",
                    count=count,
                    text_file=base_path,
                ),
                *notes,
            ),
            unseen=quantised_weights(base_path, read_config(base_path)),
        )
