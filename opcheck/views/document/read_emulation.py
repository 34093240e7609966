"""Read what happened on an emulated device back from the JSON that this package writes."""

from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import (
    SCHEMA,
    Agreement,
    Caution,
    Difference,
    Disagreement,
    Emulation,
    HostCalls,
    Refusal,
    Site,
)
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.views.document.reading import (
    Node,
    opened,
    read_gap,
    read_kernel,
    read_model,
    read_reason,
)

HINT = Sentence("an emulation is what opcheck emulate --format json writes")


def emulation_from_json(text: str, name: str = "emulation") -> Emulation:
    """The run that ``text`` holds; keys that this version does not know are passed over.

    ``name`` says in messages which document it was.
    """
    root = opened(text, name, SCHEMA, HINT)
    error = root.optional("error")
    site = error.optional("site") if error else None
    differences, agreement = root.optional("differences"), root.optional("agreement")
    return Emulation(
        opcheck_version=root.text("opcheck_version"),
        torch_version=root.text("torch_version"),
        target=root.text("target"),
        database_digest=root.at("database").text("digest"),
        model=read_model(root.at("model")),
        mode=root.text("mode"),
        values=root.truth("values"),
        finished=root.truth("finished"),
        error=error.text("text") if error else "",
        error_site=_site(site) if site else None,
        refusals=tuple(map(_refusal, root.items("refusals"))),
        host_calls=tuple(map(_host_calls, root.items("host_calls"))),
        cautions=tuple(map(_caution, root.items("cautions"))),
        islands=root.number("islands"),
        kernels=tuple(map(read_kernel, root.items("kernels"))),
        differences=(
            None if differences is None else tuple(map(_difference, root.items("differences")))
        ),
        agreement=_agreement(agreement) if agreement else None,
        notes=root.sentences("notes"),
        error_source=error.text("source") if error else "",
        gaps=tuple(map(read_gap, root.items("gaps"))) if root.has("gaps") else (),
        memory_peak=root.number("memory_peak") if root.has("memory_peak") else 0,
    )


def _refusal(node: Node) -> Refusal:
    return Refusal(
        op=node.text("op"),
        reason=read_reason(node.at("reason")),
        error=node.text("error"),
        count=node.number("count"),
        phase=node.member("phase", Phase),
        sites=_sites(node),
    )


def _host_calls(node: Node) -> HostCalls:
    return HostCalls(
        op=node.text("op"),
        reason=read_reason(node.at("reason")),
        count=node.number("count"),
        nbytes=node.number("bytes"),
        phase=node.member("phase", Phase),
        sites=_sites(node),
    )


def _caution(node: Node) -> Caution:
    return Caution(
        op=node.text("op"),
        reason=read_reason(node.at("reason")),
        count=node.number("count"),
        phase=node.member("phase", Phase),
        sites=_sites(node),
        verdict=node.member("verdict", Verdict) if node.has("verdict") else Verdict.NATIVE,
    )


def _sites(node: Node) -> tuple[Site, ...]:
    return tuple(map(_site, node.items("sites")))


def _site(node: Node) -> Site:
    return Site(node.text("module"), node.text("file"), node.number("line"))


def _difference(node: Node) -> Difference:
    largest = node.optional("largest")
    return Difference(
        name=node.text("name"),
        shape=tuple(size.as_number() for size in node.items("shape")),
        dtype=node.text("dtype"),
        largest=None if largest is None else largest.as_size(),
    )


def _agreement(node: Node) -> Agreement:
    return Agreement(
        native=node.number("native"),
        missing=node.number("missing"),
        refused=node.number("refused"),
        disagreements=tuple(map(_disagreement, node.items("disagreements"))),
        ended=node.text("ended"),
    )


def _disagreement(node: Node) -> Disagreement:
    return Disagreement(
        op=node.text("op"),
        kind=node.text("kind"),
        phase=node.member("phase", Phase),
        predicted=node.number("predicted"),
        asked=node.number("asked"),
    )
