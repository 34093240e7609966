"""The dispatcher's rule, walked over the tree of calls for one target.

Registered for the target: its own kernel. Else, where PyTorch is known to branch otherwise on its
device than in the trace, what that branch asks for. Else a composite that the target inherits:
what it runs as. Else the vendor's fallback, if a CPU kernel exists. Else nothing runs it. Then
conditions may make it worse.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import DOUBTED, OVERRULED, Condition, SupportMatrix
from opcheck.model.trace import Composite, Node, OpName
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve import kernels, sparse
from opcheck.resolve import resolution as codes
from opcheck.resolve.choices import chosen
from opcheck.resolve.collectives import NAMESPACE as COLLECTIVES
from opcheck.resolve.collectives import collective, sent_by
from opcheck.resolve.conditions import matches, sentence, with_dtypes
from opcheck.resolve.documents import of_composite
from opcheck.resolve.kernels import absent_from, earlier, mixes_host
from opcheck.resolve.resolution import Part, Resolution, Step, listed
from opcheck.resolve.siblings import ALONE, Asked, Likeness

_NOT_INHERITED = "composite: PyTorch's is not one that this target inherits"
_BACKEND = "backend: PyTorch hands a collective to the target's backend of torch.distributed"


class Walk:
    """Resolutions of a trace's nodes on one target; each node is decided once."""

    def __init__(
        self,
        nodes: Sequence[Node],
        matrix: SupportMatrix,
        torch_version: str,
        siblings: Sequence["Walk"] = (),
        asked: Asked | None = None,
    ) -> None:
        """``siblings``: over the same nodes on other targets, of which what holds is taken over.

        ``asked``: where a walk is part of another one, what notes what that asked.
        """
        self._nodes = list(nodes)
        self.matrix = matrix
        self._asked = asked or Asked()
        self._siblings = [(one, Likeness(matrix, one.matrix)) for one in siblings]
        self._rests: dict[int, frozenset[str]] = {}
        """Node -> the overloads that its resolution rests on."""
        self._torch_version = torch_version
        self._torch = Evidence(
            kernels.DISPATCHER.method,
            kernels.DISPATCHER.source,
            path="dispatcher",
            commit=f"v{torch_version}",
        )
        self._resolutions: list[Resolution | None] = [None] * len(self._nodes)
        self._traced = len(self._nodes)
        """How many are of the trace: those after them are other ones on other targets."""
        self._unseen: dict[Node, int] = {}
        """Calls that are in no trace -> index of the node that says what they run as."""
        self._casting: dict[tuple[tuple[str, str], ...], Walk] = {}

    def resolution(self, index: int) -> Resolution:
        """The resolution of one node, children first."""
        found = self._resolutions[index] or self._taken_over(index)
        if found is None:
            with self._asked.about() as asked:
                found = self.decide(self._nodes[index])
            self._rests[index] = frozenset(asked)
        else:
            self._asked.note(self._rests[index])
        self._resolutions[index] = found
        return found

    def _taken_over(self, index: int) -> Resolution | None:
        """The resolution on a target that is alike in all that it rests on."""
        for sibling, alike in self._siblings:
            rests = sibling._rests.get(index)
            if rests is not None and index < self._traced and alike(rests):
                self._rests[index] = rests
                return sibling._resolutions[index]
        return None

    def decide(self, node: Node) -> Resolution:
        """The resolution of a node that need not be one of the trace's."""
        self._asked.note({str(node.op)})
        plain = self.plain(node)
        return self._worst(node, plain, self.matched(node, plain))

    def of_composite_itself(self, node: Node) -> Resolution | None:
        """The worst that the target asks of a composite itself, which autograd has taken apart.

        Or of the kernel that PyTorch takes there in place of the parts that autograd was shown.
        """
        plain = Resolution(Verdict.DECOMPOSED, codes.DECOMPOSES, "")
        everywhere = frozenset(map(id, self.matrix.conditions.get("*", ())))
        worst = self._worst(node, plain, (
            (condition, text)
            for condition, text in self.matched(node, plain)
            if id(condition) not in everywhere
            and (condition.harmful or condition.verdict is not Verdict.NATIVE)
        ))  # fmt: skip
        way = chosen(node, self, apart=True)
        if way is not None and way.wants_change and way.severity > worst.severity:
            return way
        return None if worst is plain else worst

    def inside_composite(self, node: Node, composites: Collection[str]) -> Resolution | None:
        """Where one of these composites, of which a call is a part, goes instead of its kernel."""
        choices = self.matrix.choices.get(str(node.op), ())
        return chosen(node, self) if any(c.inside in composites for c in choices) else None

    def _worst(
        self, node: Node, plain: Resolution, matched: Iterable[tuple[Condition, str]]
    ) -> Resolution:
        """The resolution of a call once its conditions are looked at."""
        worst = plain
        doubts: list[Evidence] = []
        for condition, text in matched:
            doubts += condition.evidence if condition.code == DOUBTED else ()
            if condition.verdict is Verdict.NATIVE and not plain.verdict.on_device:
                if plain.verdict is Verdict.UNSUPPORTED and str(node.op) in self.matrix.entries:
                    continue  # said of a kernel that this call does not come to
                plain = _remarked(plain, condition, text)
                worst = plain if worst.code == plain.code else worst
                continue
            of_parts = of_composite(node, condition, plain, self.matrix, self.runs_as)
            resolution = of_parts or self._conditioned(node, plain, condition, text)
            if resolution.severity > worst.severity:
                worst = resolution
        if worst.verdict is Verdict.UNSUPPORTED and worst is not plain:
            return _seconded(worst, doubts)
        return worst

    def plain(self, node: Node) -> Resolution:
        """The resolution of a call of which no condition holds."""
        return next(step.resolution for step in self.steps(node) if step.resolution is not None)

    def runs_as(self, node: Node) -> Sequence[Part]:
        """What a call of which no condition holds runs as; nothing where it is one kernel."""
        return next(step.parts for step in self.steps(node) if step.resolution is not None)

    def steps(self, node: Node) -> Iterator[Step]:
        """The dispatcher's questions about a call, in order; the last has the resolution."""
        apart = self.matrix.takes_apart(str(node.op), node.composite)
        if not self.matrix.exports and mixes_host(node, inside=apart):
            yield kernels.of_two_places(node)
            return
        given = sparse.sparse_in(node)
        if given is not None:
            yield from self._of_sparse(node, given)
            return
        own = kernels.own(node, self.matrix)
        yield own
        if own.resolution is None:
            yield from self._without_kernel(node)

    def _of_sparse(self, node: Node, given: sparse.Sparse) -> Iterator[Step]:
        """The questions about a call that has a sparse tensor, or makes one."""
        self._asked.note({ALONE})
        own = sparse.kernel_of(node, given, self.matrix)
        yield own
        if own.resolution is not None:
            return
        through_out = node.composite is Composite.NON_FUNCTIONAL  # which the table knows of
        taken_apart = node.composite in self.matrix.inherits and not sparse.needs_kernel(node)
        if taken_apart and not through_out:
            yield self._composite(node)
            return
        yield sparse.without_kernel(node, given, self.matrix)

    def _without_kernel(self, node: Node) -> Iterator[Step]:
        """What is asked after a kernel of the target's own."""
        way = None if kernels.only_on_host(node) else chosen(node, self)
        if way is not None:
            line = "branch: PyTorch looks at the device here: {said}"
            yield Step(Sentence(line, said=way.text), way)
            return
        absent = absent_from(self.matrix, node.op)
        if absent:
            yield Step(Sentence("torch: {said}", said=absent))
            yield self._in_older_torch(node, absent)
            return
        whole = kernels.whole(node, self.matrix)
        if whole is not None:
            yield from self._of_whole(node, whole)
            return
        if node.composite in self.matrix.inherits:
            yield self._composite(node)
            return
        yield Step(_NOT_INHERITED if node.composite else "composite: PyTorch has none")
        if node.op.namespace == COLLECTIVES:
            self._asked.note({ALONE})
            resolution = collective(str(node.op), self.matrix, sent_by(node))
            yield Step(_BACKEND, resolution)
            return
        yield kernels.of_host(node, self.matrix)

    def _of_whole(self, node: Node, whole: Node) -> Iterator[Step]:
        """What is asked about a composite of today that the target's torch has none for."""
        torch = self.matrix.target.torch
        absent = Sentence("composite: torch {version} has none yet", version=torch)
        yield Step(absent)
        if earlier(self.matrix, node.op) is not None:
            yield self._in_older_torch(node, absent)
        else:
            yield kernels.of_host(whole, self.matrix)

    def unseen(self, call: Node) -> Resolution:
        """The resolution of a call that is in no trace: tables say what it runs as."""
        return self.resolution(self._added(call))

    def _added(self, call: Node) -> int:
        index = self._unseen.get(call)
        if index is None:
            index = self._unseen[call] = len(self._nodes)
            self._nodes.append(call)
            self._resolutions.append(None)
            self._nodes[index] = self._completed(call)
        return index

    def _completed(self, call: Node) -> Node:
        """The call with what PyTorch has for it, each part taking the call's own arguments."""
        known = self.matrix.inherited.get(str(call.op))
        if known is None:
            return call
        children = None
        if known.parts is not None or known.composite is None:
            parts = (replace(call, op=OpName.parse(part)) for part in known.parts or ())
            children = tuple((self._added(part), 1) for part in parts)
        return replace(
            call,
            composite=known.composite,
            cpu_kernel=known.cpu_kernel,
            children=children,
            note="" if children is not None else "no table says what it runs as",
        )

    def recast(self, node: Node, casts: Mapping[str, str]) -> Resolution | None:
        """The resolution of a composite whose tensors have other dtypes than in the trace."""
        if node.composite not in self.matrix.inherits:
            return None
        key = tuple(sorted(casts.items()))
        walk = self._casting.get(key)
        if walk is None:
            nodes = [with_dtypes(one, casts) for one in self._nodes]
            walk = Walk(nodes, self.matrix, self._torch_version, asked=self._asked)
            self._casting[key] = walk
        return walk._composite(with_dtypes(node, casts)).resolution

    def _composite(self, node: Node) -> Step:
        if node.children is None:
            text = Sentence(
                "what {op} runs as could not be recorded: {said}",
                op=str(node.op), said=node.note or "no reason given",
            )  # fmt: skip
            resolution = Resolution(Verdict.UNKNOWN, codes.NOT_TAKEN_APART, text)
            return Step("composite: what it runs as could not be recorded", resolution)
        if not node.children:
            text = Sentence(
                "{op} runs inside PyTorch and asks the device for nothing", op=str(node.op)
            )
            resolution = Resolution(
                Verdict.DECOMPOSED, codes.NO_DEVICE_WORK, text, evidence=(self._torch,)
            )
            return Step("composite: it asks the device for nothing", resolution)
        parts = self.parts(node)
        return Step("composite: runs as {list}", self._made_of(node, parts), parts)

    def _in_older_torch(self, node: Node, absent: str) -> Step:
        """What the target's torch calls instead of what it does not have."""
        said, every = earlier(self.matrix, node.op), self.parts(node)
        called = {str(part.op) for part, _, _ in every}
        instead = kernels.called_instead(said, called, self.matrix) if said else frozenset()
        parts = [part for part in every if str(part[0].op) in instead]
        if said is None or not parts:
            unknown = Resolution(Verdict.UNKNOWN, codes.NOT_IN_TORCH, absent)
            return Step("composite: nobody has said what it runs as there", unknown)
        resolution = self._made_of(node, parts)
        resolution = replace(
            resolution,
            text=Sentence(
                "{said}: in torch {version}, {said_then}",
                said=resolution.text, version=self.matrix.target.torch, said_then=said.text,
            ),
            confidence=max(Confidence.MEDIUM, resolution.confidence, key=lambda c: c.rank),
            evidence=(*said.evidence, *resolution.evidence),
        )  # fmt: skip
        return Step("composite: runs as {list}", resolution, parts)

    def parts(self, node: Node) -> list[Part]:
        """What a composite runs as, each with its resolution; () of one that is not decomposed."""
        return [(self._nodes[i], self.resolution(i), count) for i, count in node.children or ()]

    def _made_of(self, node: Node, parts: list[Part]) -> Resolution:
        """The resolution of a call that runs as others do."""
        leaves = frozenset(leaf for part in parts for leaf in _ends(part[0], part[1]))
        moved = sum(part.fallback_bytes * count for _, part, count in parts)
        cause, worst, _ = max(parts, key=lambda part: part[1].severity)
        out = _own_out(node, parts)
        if out is not None and worst.verdict.on_device and worst.code in codes.PLAIN:
            return self._through_out(node, out, leaves)
        if worst.verdict.on_device and worst.code in codes.PLAIN:
            return self._decomposed(node, parts, leaves)
        verdict = Verdict.DECOMPOSED if worst.verdict.on_device else worst.verdict
        text, named = worst.text, worst.names_part
        if not named and cause.op != node.op:
            text = Sentence("it runs as {op}: {said}", op=str(cause.op), said=worst.text)
            named = True
        return Resolution(
            verdict, worst.code, text, worst.confidence, worst.evidence, leaves, moved,
            worst.harmful, worst.about or str(cause.op), named,
        )  # fmt: skip

    def _through_out(self, node: Node, out: Resolution, leaves: frozenset[str]) -> Resolution:
        target = next(leaf for leaf in sorted(leaves) if leaf.startswith(_stem(node)))
        text = Sentence(
            "{vendor} registers {out}, which {op} is served through",
            vendor=self.matrix.target.vendor, out=target, op=str(node.op),
        )  # fmt: skip
        evidence = (*out.evidence, self._torch)
        return Resolution(Verdict.NATIVE, codes.THROUGH_OUT, text, out.confidence, evidence, leaves)

    def _decomposed(self, node: Node, parts: Iterable[Part], leaves: frozenset[str]) -> Resolution:
        confidence = max((f.confidence for _, f, _ in parts), key=lambda c: c.rank)
        text = Sentence(
            "runs as {list}, all native" if len(leaves) > 1 else "runs as {op}, native",
            **{"list" if len(leaves) > 1 else "op": listed(sorted(leaves))},
        )
        inferred = (found for _, resolution, _ in parts for found in _chosen(resolution))
        evidence = tuple(dict.fromkeys((self._torch, *inferred)))
        return Resolution(Verdict.DECOMPOSED, codes.DECOMPOSES, text, confidence, evidence, leaves)

    def matched(self, node: Node, plain: Resolution) -> Iterable[tuple[Condition, str]]:
        """Conditions that hold for the call, with their sentence."""
        for condition in self.matrix.conditions_for(str(node.op)):
            if plain.verdict is Verdict.FALLBACK and condition.confidence is not Confidence.HIGH:
                continue  # it leaves the device anyway
            found = matches(condition, node)
            if found is not None:
                yield condition, sentence(condition, found, self.matrix.target.chip)

    def _conditioned(
        self, node: Node, plain: Resolution, condition: Condition, text: str
    ) -> Resolution:
        verdict = condition.verdict if condition.verdict is not Verdict.NATIVE else plain.verdict
        moved = plain.fallback_bytes
        if verdict is Verdict.FALLBACK and not (moved or self.matrix.fallback.elsewhere):
            moved = kernels.crossing(node)
        weighed = condition.code in (DOUBTED, OVERRULED)
        return Resolution(
            verdict, condition.code, text, condition.confidence,
            (*condition.evidence, *(plain.evidence if weighed else ())),
            plain.leaves, moved, condition.harmful,
        )  # fmt: skip


def _seconded(resolution: Resolution, documents: Iterable[Evidence]) -> Resolution:
    """An answer that documents give too, of which none would have settled it."""
    return replace(resolution, evidence=tuple(dict.fromkeys((*resolution.evidence, *documents))))


def _remarked(plain: Resolution, condition: Condition, text: str) -> Resolution:
    """An answer that stays as it is, with something to know about it."""
    evidence = (*plain.evidence, *condition.evidence)
    said = Sentence("{said}; {said_more}", said=plain.text, said_more=text)
    return replace(plain, text=said, evidence=evidence)


def _ends(node: Node, resolution: Resolution) -> frozenset[str]:
    return resolution.leaves or (
        frozenset() if resolution.code == codes.NO_DEVICE_WORK else frozenset({str(node.op)})
    )


def _chosen(resolution: Resolution) -> Iterable[Evidence]:
    """What says that PyTorch branches so on the device, where a part rests on that."""
    if resolution.code in (codes.CHOSEN, codes.DECOMPOSES):
        yield from (found for found in resolution.evidence if found.method is Method.INFERRED)


def _stem(node: Node) -> str:
    return f"{node.op.namespace}::{node.op.base.rstrip('_')}"


def _own_out(node: Node, parts: Iterable[Part]) -> Resolution | None:
    """The resolution of the ``.out`` overload behind a structured functional or in-place one."""
    if node.composite is not Composite.NON_FUNCTIONAL:
        return None
    stem = node.op.base.rstrip("_")
    return next((resolution for part, resolution, _ in parts if part.op.base == stem), None)
