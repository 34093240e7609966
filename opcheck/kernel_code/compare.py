"""A kernel in Triton's language, compared with what the compiler of a target has."""

from collections.abc import Iterable, Iterator, Sequence

from opcheck.kernel_code.judged import Judged
from opcheck.kernel_code.limits import beyond, doubted
from opcheck.kernel_code.shared_memory import too_large
from opcheck.lang.sentence import Sentence
from opcheck.model.launches import IMPORT, Launch, Operation, TritonCompiler, TritonOperation
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

COMPILES = "kernel-compiles"
NO_COMPILER = "kernel-compiler-missing"
NO_OPERATION = "kernel-operation-missing"
NO_DTYPE = "kernel-dtype-not-supported"
TOO_MANY = "kernel-grid-too-large"
NOT_KNOWN = "kernel-not-known"
NOT_INSTALLED = "kernel-language-not-installed"


def judge(launch: Launch, compiler: TritonCompiler | None, vendor: str, chip: str) -> Judged:
    """The worst of what a launch meets: nothing is native of which a part is not known."""
    if compiler is None:
        text = Sentence(
            "nobody has said whether there is a Triton for {vendor}'s devices", vendor=vendor
        )
        return Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)
    if not compiler.package:
        text = Sentence(
            'no Triton compiles for {vendor}\'s devices: a launch raises, "{text}"',
            vendor=vendor, text=compiler.error,
        )  # fmt: skip
        return _unsupported(NO_COMPILER, text, compiler.evidence)
    if compiler.error:
        text = Sentence(
            'Triton does not compile for {chip}: a launch raises, "{text}"',
            chip=chip, text=compiler.error,
        )  # fmt: skip
        return _unsupported(NO_COMPILER, text, compiler.evidence)
    refused = [*_refused(launch, compiler, chip)]
    if refused:
        return _first(refused)
    unknown = [*_unknown(launch, compiler), *doubted(launch, compiler, chip)]
    if unknown:
        return _first(unknown)
    return _native(launch, compiler)


def judge_import(launch: Launch, compiler: TritonCompiler | None) -> Judged | None:
    """What becomes of an import that a file cannot do without; None where nothing is against it."""
    assert launch.kernel.name == IMPORT
    if compiler is None or not compiler.not_installed:
        return None
    text = Sentence(
        "the model imports {package}, which is not published for the hosts of this device: "
        '"{text}"',
        package=launch.kernel.language.value, text=compiler.not_installed,
    )  # fmt: skip
    return _unsupported(NOT_INSTALLED, text, compiler.evidence)


def _native(launch: Launch, compiler: TritonCompiler) -> Judged:
    text = Sentence(
        "{package} has every operation that the kernel calls; nothing compiled it here",
        package=compiler.package,
    )
    followed = all(
        known.dtypes is None or _dtypes(each, launch)
        for each, known in _looked_up(launch, compiler)
        if known is not None
    )
    inferred = _sure(compiler.evidence) is Confidence.LOW
    sure = Confidence.LOW if inferred or not followed else Confidence.MEDIUM
    return Judged(Verdict.NATIVE, COMPILES, text, sure, compiler.evidence)


def _first(found: Sequence[Judged]) -> Judged:
    """The first of several, with how many more there are."""
    if len(found) == 1:
        return found[0]
    text = Sentence("{said} (and {count} more)", said=found[0].text, count=len(found) - 1)
    first = found[0]
    return Judged(first.verdict, first.code, text, first.confidence, first.evidence)


def _looked_up(
    launch: Launch, compiler: TritonCompiler
) -> Iterator[tuple[Operation, TritonOperation | None]]:
    for each in sorted(launch.kernel.operations, key=lambda each: each.line):
        yield each, compiler.operation(each.name)


def _refused(launch: Launch, compiler: TritonCompiler, chip: str) -> Iterator[Judged]:
    """What the compiler's tables refuse, in the order of the kernel's lines."""
    named = {*launch.kernel.dtypes}
    named |= {dtype for _, dtype in launch.dtypes} - compiler.computed
    for dtype in sorted(named & {*compiler.without}):
        text = Sentence(
            "{package} has no {dtype} on {chip}", package=compiler.package, dtype=dtype, chip=chip
        )
        yield _unsupported(NO_DTYPE, text, compiler.without[dtype])
    if compiler.most_programs and launch.programs > compiler.most_programs:
        yield _unsupported(TOO_MANY, _too_many(launch, compiler), compiler.at_most)
    yield from too_large(launch, compiler, chip)
    for each, known in _looked_up(launch, compiler):
        if known is not None:
            yield from _refused_operation(each, known, launch, compiler.package)
    yield from beyond(launch, compiler, chip)


def _refused_operation(
    each: Operation, known: TritonOperation, launch: Launch, package: str
) -> Iterator[Judged]:
    dtypes = _dtypes(each, launch)
    if dtypes and dtypes <= known.refuses:
        text = Sentence(
            "{package} has no {op} of {dtype}, which the kernel calls in line {count}",
            package=package, op=each.name, dtype=min(dtypes), count=each.line,
        )  # fmt: skip
        yield _unsupported(NO_DTYPE, text, known.evidence)
    for name, value in each.given:
        if value not in known.texts.get(name, (value,)):
            text = Sentence(
                "{package} has no {op} with {argument}={text}, which the kernel calls in line "
                "{count}",
                package=package, op=each.name, argument=name, text=repr(value), count=each.line,
            )  # fmt: skip
            yield _unsupported(NO_OPERATION, text, known.evidence)


def _unsupported(code: str, text: Sentence, evidence: tuple[Evidence, ...]) -> Judged:
    return Judged(Verdict.UNSUPPORTED, code, text, _sure(evidence), evidence)


def _too_many(launch: Launch, compiler: TritonCompiler) -> Sentence:
    said = Sentence(
        "the grid has {count} programs, and {package} launches at most {count_most}",
        count=launch.programs, package=compiler.package, count_most=compiler.most_programs,
    )  # fmt: skip
    if not compiler.unless:
        return said
    return Sentence("{said}, unless {setting} is set", said=said, setting=compiler.unless)


def _unknown(launch: Launch, compiler: TritonCompiler) -> Iterator[Judged]:
    """What nobody has said anything of, and what was not read."""
    if not launch.kernel.file:
        text = Sentence("the kernel's source was not read")
        yield Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)
    if compiler.doubt:
        text = Sentence("{package} {said}", package=compiler.package, said=compiler.doubt)
        yield Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW, compiler.evidence)
    for each, known in _looked_up(launch, compiler):
        yield from _unknown_operation(each, known, launch, compiler.package)
    for name in launch.kernel.unread:
        text = Sentence("the kernel calls {name}, whose source was not read", name=name)
        yield Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)


def _unknown_operation(
    each: Operation, known: TritonOperation | None, launch: Launch, package: str
) -> Iterator[Judged]:
    if known is None:
        text = Sentence(
            "nobody has said whether {package} has {op}, which the kernel calls in line {count}",
            package=package, op=each.name, count=each.line,
        )  # fmt: skip
        yield Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)
        return
    dtypes = _dtypes(each, launch)
    if known.dtypes is not None and dtypes and not dtypes & known.dtypes:
        text = Sentence(
            "the pages of {package} list no {op} of {dtype}, which the kernel calls in line "
            "{count}",
            package=package, op=each.name, dtype=min(dtypes), count=each.line,
        )  # fmt: skip
        yield Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW, known.evidence)


def _dtypes(each: Operation, launch: Launch) -> frozenset[str]:
    """The dtypes that an operation is called with; none where they were not followed."""
    given = dict(launch.dtypes)
    parameters = frozenset(launch.kernel.parameters)
    return frozenset(
        given.get(source, source)
        for source in each.of
        if source in given or source not in parameters
    )


def _sure(evidence: Iterable[Evidence]) -> Confidence:
    methods = {found.method for found in evidence}
    if methods & {Method.REGISTERED, Method.TESTED}:
        return Confidence.HIGH
    return Confidence.MEDIUM if Method.DOCUMENTED in methods else Confidence.LOW
