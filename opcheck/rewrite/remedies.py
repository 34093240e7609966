"""What a vendor ships, as ways out of the calls that it is for."""

from collections.abc import Collection, Iterator, Sequence

from opcheck.model.plan import Remedy, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.resolve.resolution import Resolution


def remedied(
    node: Node, blamed: Collection[tuple[Node, Resolution]], remedies: Sequence[Remedy]
) -> Iterator[Suggestion]:
    """Ways out for a call: remedies that help with everything inside it that is to blame."""
    for remedy in remedies:
        if all(helps(remedy, inner, fate) for inner, fate in blamed):
            yield Suggestion(
                rule=remedy.id,
                tier=Tier.COMPAT,
                label=remedy.label,
                replaces=str(node.op),
                summary=f"{remedy.summary}: {remedy.write}",
                gives_up=remedy.gives_up,
                unmeasured="it is the vendor's own" if remedy.on_device else "",
                on_device=remedy.on_device,
                evidence=remedy.evidence,
            )


def helps(remedy: Remedy, node: Node, fate: Resolution) -> bool:
    """Whether a remedy is for a call that fares so."""
    dtypes = {tensor.dtype for _, tensor in node.tensors()}
    return (
        (not remedy.codes or fate.code in remedy.codes)
        and (not remedy.ops or str(node.op) in remedy.ops)
        and (not remedy.dtypes or bool(dtypes & remedy.dtypes))
        and (remedy.on_device or node.cpu_kernel)
    )
