"""Load whatever source a text names, in a process that is ours: torchvision is prepared in it."""

from msgspec.structs import replace

from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.select import select


def load(text: str, options: LoadOptions) -> Loaded:
    """Give the model that ``text`` names, ready to be traced."""
    source = select(text)
    source.check(text, options)
    from opcheck.source.building import processes, torchvision_schemas  # torch, only for work

    torchvision_schemas.prepare()
    processes.prepare()
    stand_ins = None
    if options.libraries is not None:
        from opcheck.source.building.stand_ins import finder

        stand_ins = finder.install(options.libraries)
    if options.weights:
        torchvision_schemas.compute()
    loaded = source.load(text, options)
    torchvision_schemas.settle()
    absent = stand_ins.notes() if stand_ins is not None else ()
    return replace(loaded, notes=(*loaded.notes, *absent, *processes.notes()))
