"""Load whatever source a text names, in a process that is ours: torchvision is prepared in it."""

from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.select import select


def load(text: str, options: LoadOptions) -> Loaded:
    """Give the model that ``text`` names, ready to be traced."""
    source = select(text)
    source.check(text, options)
    from opcheck.source.building import torchvision_schemas  # torch, once there is work for it

    torchvision_schemas.prepare()
    if options.libraries is not None:
        from opcheck.source.building.stand_ins import finder

        finder.install(options.libraries)
    if options.weights:
        torchvision_schemas.compute()
    loaded = source.load(text, options)
    torchvision_schemas.settle()
    return loaded
