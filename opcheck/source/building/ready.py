"""The last step of every source: a module and what is known of its inputs become ``Loaded``."""

from torch import nn

from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import shed, shed_values
from opcheck.source.building.example import Inputs, image_of, override, require, vocabulary
from opcheck.source.building.guess import guess
from opcheck.source.building.hf_inputs import inputs_of
from opcheck.source.building.signature import Signature


def ready(
    module: nn.Module,
    inputs: Inputs | None,
    options: LoadOptions,
    *,
    kind: str,
    digest: str,
    notes: tuple[str, ...] = (),
    signature: Signature | None = None,
) -> Loaded:
    """Put ``module`` in eval mode, its weights on meta, and settle its inputs."""
    module.eval()
    shed(module)
    signature = signature or Signature.of(module)
    note = ""
    if inputs is None:
        given = frozenset(spec.name for spec in options.inputs)
        inputs, note = inputs_of(module, given)
    inputs = inputs or image_of(module)
    if inputs is None and not options.inputs:
        inputs, note = guess(module, signature)
    ids = vocabulary(module)
    args, kwargs = override(inputs or ((), {}), options.inputs, signature, ids)
    require((args, kwargs), signature)
    args, kwargs = shed_values((args, kwargs))
    return Loaded(module, args, kwargs, kind, digest, (*notes, *filter(None, (note,))))
