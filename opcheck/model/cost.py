"""What a run costs: operations, bytes that move, and bytes that live at once."""

from msgspec import Struct


class NodeCost(Struct, frozen=True):
    """One call, as if the device ran it whole."""

    flops: int | None
    """Of matrix products, convolutions and attention, a multiply-add being two; 0: it has none;
    None: nobody has said how many."""
    elements: int
    """Values that it computes beside those, one operation each: a lower bound."""
    read: int
    """Bytes of its tensor arguments; what a view shares is read once, and a lookup reads no more
    of a table than it gives."""
    written: int
    """Bytes of what it gives or changes; 0 for a view."""
    weights: int = 0
    """The part of ``read`` that parameters and buffers are, which a larger batch leaves as it is.
    """
    inside: int = 0
    """Bytes that live at once, beyond what it gives, where PyTorch runs it part by part."""

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.read + self.written


class Costs(Struct, frozen=True):
    """What the calls of a trace cost, and what the model held while it ran."""

    nodes: tuple[NodeCost, ...]
    """By index into ``Trace.nodes``."""
    live: tuple[int, ...]
    """Bytes alive right after each call of ``Trace.sequence``, without weights, buffers and
    inputs; gradients and optimizer states are among them from when they are made."""
    weights: int
    """Bytes of the parameters, shared ones once."""
    trained: int
    """Bytes of those that a step trains; 0 in inference."""
    buffers: int
    """Bytes of the buffers."""
    inputs: int
    """Bytes of the inputs."""
    gradients: tuple[tuple[int, int], ...] = ()
    """(index into ``Trace.sequence``, bytes): the calls that made the gradients that there are at
    the end of a step."""
    states: int = 0
    """Bytes of the optimizer's states at the end of a step."""
    batch: int | None = None
    """The first size that all inputs share; None: they share none."""
    grad_enabled: tuple[int, ...] = ()
    """Indices into ``Trace.uses`` of calls that the model makes in inference with gradients
    switched on; sorted."""
    in_training: tuple[str, ...] = ()
    """Layers that compute otherwise in training, and that the user's own model has in that mode;
    with their kind, sorted."""
