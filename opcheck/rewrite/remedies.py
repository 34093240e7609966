"""What a vendor ships against what its target does not run, and which calls are to blame."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Remedy, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk


def remedied(
    node: Node, blamed: Collection[tuple[Node, Resolution]], remedies: Sequence[Remedy]
) -> Iterator[Suggestion]:
    """Suggestions for a call: remedies that help with everything inside it that is to blame."""
    for remedy in remedies:
        if all(helps(remedy, inner, resolution) for inner, resolution in blamed):
            yield Suggestion(
                rule=remedy.id,
                tier=Tier.COMPAT,
                label=remedy.label,
                replaces=str(node.op),
                summary=Sentence(f"{remedy.summary}: {{text}}", text=remedy.write),
                gives_up=remedy.gives_up,
                unmeasured="it is the vendor's own" if remedy.on_device else "",
                on_device=remedy.on_device,
                evidence=remedy.evidence,
            )


def helps(remedy: Remedy, node: Node, resolution: Resolution) -> bool:
    """Whether a remedy is for a call that fares so."""
    dtypes = {tensor.dtype for _, tensor in node.tensors()}
    return (
        (not remedy.codes or resolution.code in remedy.codes)
        and (not remedy.ops or str(node.op) in remedy.ops)
        and (not remedy.dtypes or bool(dtypes & remedy.dtypes))
        and (remedy.on_device or node.cpu_kernel)
    )


def needed(
    nodes: Sequence[Node], index: int, walk: Walk, remedies: Sequence[Remedy]
) -> tuple[Remedy, ...]:
    """What keeps on the device all inside a call that is to blame; none where nothing does."""
    found: dict[str, Remedy] = {}
    for inner in culprits(nodes, index, walk):
        resolution = walk.resolution(inner)
        ways = [r for r in remedies if r.on_device and helps(r, nodes[inner], resolution)]
        if not ways:
            return ()
        found.setdefault(ways[0].id, ways[0])
    return tuple(found.values())


def along_with(way: Suggestion, remedies: Sequence[Remedy]) -> Suggestion:
    """A suggestion whose own calls need what the vendor ships."""
    for remedy in remedies:
        lost = way.gives_up or remedy.gives_up
        if way.gives_up and remedy.gives_up:
            lost = Sentence("{said}; {said_more}", said=way.gives_up, said_more=remedy.gives_up)
        way = replace(
            way,
            tier=max(way.tier, Tier.COMPAT),
            label=max(way.label, remedy.label, key=lambda label: label.rank),
            summary=Sentence(
                "{said}; its own calls need this as well: {text}",
                said=way.summary,
                text=remedy.write,
            ),
            gives_up=lost,
            evidence=(*way.evidence, *remedy.evidence),
        )
    return way


def culprits(nodes: Sequence[Node], index: int, walk: Walk) -> tuple[int, ...]:
    """The innermost calls that make one leave the device, each once."""
    return tuple(dict.fromkeys(_culprits(nodes, index, walk)))


def _culprits(nodes: Sequence[Node], index: int, walk: Walk) -> Iterator[int]:
    # a target that does not take a call apart is never asked for its parts
    parts = (nodes[index].children or ()) if walk.resolution(index).leaves else ()
    inner = [child for child, _ in parts if _as_bad(walk.resolution(child), walk.resolution(index))]
    # a condition on the composite itself is no fault of its parts
    if not inner or walk.resolution(index).code not in {
        walk.resolution(child).code for child in inner
    }:
        yield index
    for child in inner:
        yield from _culprits(nodes, child, walk)


def _as_bad(inner: Resolution, outer: Resolution) -> bool:
    return inner.wants_change if outer.verdict.on_device else not inner.verdict.on_device
