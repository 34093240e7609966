"""Gradients that the model itself records in inference."""

from collections.abc import Iterator

from opcheck.commands.tune.base import THE_MODEL, Advisor, Ground, first
from opcheck.commands.tune.values import Advice, Gain
from opcheck.model.text import plural


class Gradients(Advisor):
    """A forward that switches gradients on again."""

    name = "gradients-in-inference"
    about = "a forward that switches gradients on although nothing is trained"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak in inference, of calls that the trace saw with gradients on."""
        if ground.step is not None:
            return
        uses = [ground.running.trace.uses[i] for i in ground.running.costs.grad_enabled]
        if not uses:
            return
        where = sorted({f"{use.file}:{use.line}" if use.file else use.module for use in uses})
        yield self.advice(
            "Do not record gradients in inference",
            first([place or THE_MODEL for place in where]),
            f"{plural(sum(use.count for use in uses), 'call')} with gradients switched on by the "
            "model itself; what they take lives until the output is dropped",
            Gain(text="not known: it depends on which tensors need gradients"),
            lines=("with torch.no_grad():",),
        )
