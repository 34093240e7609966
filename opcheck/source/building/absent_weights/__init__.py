"""Weights that code wants from the network: what a model is made with at random stands for them.

Whether a device runs a model does not depend on what its weights are. Code that is run here has no
network, and mostly no cache of them either. A checkpoint that is there is loaded as ever.
"""

from opcheck.source.building.absent_weights import huggingface, timm, torch_hub, wanted


def prepare(*, values: bool) -> None:
    """Have code that is run from now on go on without them; for a process of a model's own.

    Args:
        values: whether weights are to have values; else memory for them is left as it is found.
    """
    wanted.prepare()
    torch_hub.prepare()
    timm.prepare()
    huggingface.prepare(values=values)


def notes() -> tuple[str, ...]:
    """What is to be said of weights that were wanted."""
    return wanted.notes()
