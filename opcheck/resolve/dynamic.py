"""Where sizes that are not always the same matter in a trace, and how a target takes each place."""

from collections.abc import Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import READ_BY_PYTHON, Site, SiteKind, SiteTaken, SizeRule, Taking
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Node, Trace, Use
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk

SIZED_BY_DATA = frozenset({
    "aten::nonzero", "aten::nonzero.out", "aten::masked_select", "aten::masked_select.out",
    "aten::_unique", "aten::_unique2",
    "aten::unique_consecutive", "aten::unique_dim", "aten::unique_dim_consecutive",
    "aten::repeat_interleave.Tensor", "aten::bincount", "torchvision::nms",
})  # fmt: skip
"""Overloads whose result has a size that depends on values; indexing with masks is another."""
_BY_SIZE = (SiteKind.SHAPE_BRANCH, SiteKind.DYNAMIC_SIZE, SiteKind.FIXED_SIZE)
"""What the sizes decide, and no values."""
_BY_MASK = (
    "aten::index.Tensor", "aten::index.Tensor_out", "aten::index_put", "aten::index_put_",
    "aten::_index_put_impl_",
)  # fmt: skip
_MASKS = ("bool", "uint8")
_FIXED_SHAPES = "fixed-shapes-only"
"""Code of the condition that a graph compiler's converter takes one shape alone."""

_ANY_SIZE = {
    Verdict.UNSUPPORTED: "{op} is unsupported with any size: {said}",
    Verdict.UNKNOWN: "{op} is unknown with any size: {said}",
}
_TEXTS = {
    SiteKind.DATA_SIZE: "the size of the result depends on values",
    SiteKind.DATA_READ: "Python reads a value, and may decide by it",
}


def sites(trace: Trace) -> tuple[Site, ...]:
    """Every place, those that depend on data first, in the order of the model's calls."""
    by_data: dict[tuple[str, ...], Site] = {}
    kind_of = _KindsOf(trace.nodes)
    for use in trace.uses:
        for kind in kind_of(use.node):
            site = _by_data(kind, trace.nodes[use.node], use)
            key = (kind, site.op, site.module, site.file, str(site.line))
            known = by_data.get(key)
            by_data[key] = site if known is None else replace(known, count=known.count + site.count)
    return (*by_data.values(), *trace.dynamic)


def taken(trace: Trace, matrix: SupportMatrix, rules: Sequence[SizeRule]) -> tuple[SiteTaken, ...]:
    """How one target takes every place of a trace."""
    found = [(site, (site.op, site.file, site.line, site.module)) for site in sites(trace)]
    wanted = {place for _, place in found}
    walk = Walk(trace.nodes, matrix, trace.torch_version)
    resolutions: dict[tuple[str, str, int, str], Resolution] = {}
    for use in trace.uses:
        place = (str(trace.nodes[use.node].op), use.file, use.line, use.module)
        if place not in wanted:
            continue
        resolution, worst = walk.resolution(use.node), resolutions.get(place)
        if worst is None or resolution.verdict.rank > worst.verdict.rank:
            resolutions[place] = resolution
    return tuple(_taken(site, resolutions.get(place), matrix, rules) for site, place in found)


def stays_open(found: Sequence[SiteTaken]) -> bool | None:
    """Whether a graph that is made once takes the marked sizes too; None where nobody has said.

    What is compiled anew for each size counts as taken, and so does what depends on values: the
    verdicts of the calls have that.
    """
    ways = {each.how for each in found if each.site.kind in _BY_SIZE}
    if Taking.NOT_ALLOWED in ways:
        return False
    return None if Taking.UNKNOWN in ways else True


def _taken(
    site: Site, resolution: Resolution | None, matrix: SupportMatrix, rules: Sequence[SizeRule]
) -> SiteTaken:
    if site.kind is SiteKind.FIXED_SIZE:
        fixed = "the model itself takes no other size here, on any target"
        return SiteTaken(site, Taking.NOT_ALLOWED, fixed, Confidence.HIGH, ())
    if resolution is not None and resolution.verdict in (Verdict.UNSUPPORTED, Verdict.UNKNOWN):
        how = Taking.NOT_ALLOWED if resolution.verdict is Verdict.UNSUPPORTED else Taking.UNKNOWN
        text = Sentence(_ANY_SIZE[resolution.verdict], op=site.op, said=resolution.text)
        return SiteTaken(site, how, text, resolution.confidence, resolution.evidence)
    static = _static(site, matrix)
    if static is not None:
        return static
    for rule in rules:
        if rule.holds(site):
            return SiteTaken(site, rule.how, rule.text, rule.confidence, rule.evidence)
    return SiteTaken(site, Taking.UNKNOWN, "nobody has said", Confidence.LOW, ())


def _static(site: Site, matrix: SupportMatrix) -> SiteTaken | None:
    """What a graph compiler's converter says that takes one shape alone."""
    if site.kind is not SiteKind.DYNAMIC_SIZE:
        return None
    for condition in matrix.conditions_for(site.op):
        if condition.code == _FIXED_SHAPES:
            text, sure = condition.text, condition.confidence
            return SiteTaken(site, Taking.NOT_ALLOWED, text, sure, condition.evidence)
    return None


class _KindsOf:
    """In which ways each node depends on data: by itself, or by what it becomes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._known: dict[int, frozenset[SiteKind]] = {}

    def __call__(self, index: int) -> tuple[SiteKind, ...]:
        """Every kind once, sorted."""
        return tuple(sorted(self._of(index)))

    def _of(self, index: int) -> frozenset[SiteKind]:
        known = self._known.get(index)
        if known is None:
            self._known[index] = frozenset()  # a call inside itself adds nothing
            known = self._known[index] = self._found(self._nodes[index])
        return known

    def _found(self, node: Node) -> frozenset[SiteKind]:
        op = str(node.op)
        if op in READ_BY_PYTHON:
            return frozenset({SiteKind.DATA_READ})
        if op in SIZED_BY_DATA or _by_mask(op, node):
            return frozenset({SiteKind.DATA_SIZE})
        return frozenset(kind for child, _ in node.children or () for kind in self._of(child))


def _by_mask(op: str, node: Node) -> bool:
    return op in _BY_MASK and any(
        name == "indices" and t.dtype in _MASKS for name, t in node.tensors()
    )


def _by_data(kind: SiteKind, node: Node, use: Use) -> Site:
    return Site(kind, str(node.op), use.module, use.file, use.line, use.count, _TEXTS[kind])
