"""Reports made by hand: the standard ones that every format is shown on."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.targets.values import TargetRow
from opcheck.lang.sentence import from_data
from opcheck.model.database import Explanation, Statement
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.matrix import Choice, Condition
from opcheck.model.predicates import Dtype, NoneOf, OneOf
from opcheck.model.report import (
    Finding,
    KernelCount,
    ModelInfo,
    Place,
    Reason,
    Report,
    Summary,
    TargetReport,
    TraceInfo,
)
from opcheck.model.target import Target
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

COMMIT = "cd46cfb2d372ed80fb81d40755b317a36bd499c9"
LISTED = Evidence(
    Method.REGISTERED,
    "Ascend/op-plugin",
    "op_plugin/config/op_plugin_functions.yaml",
    4211,
    COMMIT,
    "2026-05-12",
)
TABLE = Evidence(
    Method.DOCUMENTED,
    "Ascend/pytorch",
    "docs/zh/native_apis/算子清单.md",
    88,
    "1f0c9a7e5b1d4c2e8f6a3b5d7c9e1f2a4b6c8d0e",
    "2026-04-30",
)
NO_CPU = Evidence(Method.DISPATCHER, "pytorch/pytorch", commit="v2.13.0")


def place(where: str, line: int, module: str, count: int = 1, **more: tuple[str, ...]) -> Place:
    return Place(
        module=module,
        file=where,
        line=line,
        inputs=more.get("inputs", ("self: float32[1,64,80,80]",)),
        decomposed_into=more.get("decomposed_into", ()),
        count=count,
    )


def finding(
    op: str,
    verdict: Verdict,
    code: str,
    text: str,
    *uses: Place,
    confidence: Confidence = Confidence.HIGH,
    evidence: tuple[Evidence, ...] = (LISTED,),
    phase: Phase = Phase.FORWARD,
) -> Finding:
    return Finding(
        id=f"{op.partition('::')[2].replace('.', '-')}-{code}"[:24],
        op=op,
        verdict=verdict,
        confidence=confidence,
        reason=Reason(code, from_data(text)),
        count=sum(use.count for use in uses),
        phase=phase,
        uses=uses,
        evidence=evidence,
    )


def native(op: str, *uses: Place) -> Finding:
    return finding(op, Verdict.NATIVE, "registered", f"The target registers {op}.", *uses)


CONV = native("aten::conv2d", place("ultralytics/nn/modules/conv.py", 79, "model.*.conv", 64))
SILU = native("aten::silu_", place("ultralytics/nn/modules/conv.py", 79, "model.*.act", 57))
CAT = native("aten::cat", place("ultralytics/nn/modules/block.py", 238, "model.*", 9))
SPLIT = finding(
    "aten::chunk",
    Verdict.DECOMPOSED,
    "decomposes",
    "Runs as aten::split.Tensor, which is native.",
    place(
        "ultralytics/nn/modules/block.py",
        236,
        "model.*",
        8,
        decomposed_into=("aten::split.Tensor",),
    ),
    evidence=(Evidence(Method.DISPATCHER, "pytorch/pytorch", commit="v2.13.0"), LISTED),
)
NMS = finding(
    "torchvision::nms",
    Verdict.FALLBACK,
    "no-kernel",
    "The target registers no kernel for torchvision::nms and sends it to the host CPU, "
    "with a warning.",
    place("ultralytics/utils/ops.py", 312, "", 1, inputs=("boxes: float32[300,4]",)),
    evidence=(replace(LISTED, line=None), NO_CPU),
)
NOT_CONVERTED = finding(
    "aten::cat",
    Verdict.FALLBACK,
    "runs-elsewhere",
    "The compiler has no converter for aten::cat with empty tensors.",
    place("cache_utils.py", 136, "layers.*", 16),
)
COMPLEX = finding(
    "aten::view_as_complex",
    Verdict.UNSUPPORTED,
    "dtype-not-supported",
    "The result has dtype complex64, which aten::view_as_complex does not take on 910a.",
    place("examples/rope/model.py", 145, "layers.*.attention", 64),
    place("examples/rope/model.py", 171, "layers.*.attention.rotary_embedding_for_keys", 64),
    place("examples/rope/model.py", 171, "layers.*.cross_attention", 32),
    place("", 0, "final_norm", 1),
    confidence=Confidence.MEDIUM,
    evidence=(TABLE,),
)
ATTENTION = finding(
    "aten::_scaled_dot_product_efficient_attention.with_a_long_overload_name_that_is_not_cut",
    Verdict.UNSUPPORTED,
    "fallback-crashes",
    "There is no kernel on the target, and the fallback to the host would crash because no CPU "
    "kernel exists either.",
    place(
        "a/very/long/path/that/does/not/end/before/the/line/does/modeling_attention_blocks.py",
        1024,
        "encoder.layers.*.self_attention.inner_attention.scaled_dot_product",
        12,
        decomposed_into=(
            "aten::_softmax",
            "aten::bmm",
            "aten::div.Scalar",
            "aten::empty_like",
            "aten::matmul",
            "aten::mul.Tensor",
            "aten::transpose.int",
            "aten::view",
        ),
    ),
    evidence=(replace(LISTED, line=None), NO_CPU, TABLE),
)
BACKWARD = finding(
    "aten::grid_sampler_3d_backward",
    Verdict.UNKNOWN,
    "not-in-any-list",
    "No list of the vendor names it, and its torch does not have it yet.",
    place("flow/warp.py", 31, "warp", 2),
    confidence=Confidence.LOW,
    evidence=(),
    phase=Phase.BACKWARD,
)
ARANGE = finding(
    "aten::nonzero",
    Verdict.NATIVE,
    "computed-on-host",
    "Registered, but computed by the AI CPU: slow for large inputs.",
    place("ultralytics/utils/tal.py", 402, "model.*.dfl", 3),
    confidence=Confidence.MEDIUM,
    evidence=(TABLE,),
)


def summary(
    findings: tuple[Finding, ...], gaps: int = 0, islands: int = 1, moved: int = 0
) -> Summary:
    """The figures that follow from findings of which each operator has one."""
    operators = {v: len({f.op for f in findings if f.verdict is v}) for v in Verdict}
    calls = {v: sum(f.count for f in findings if f.verdict is v) for v in Verdict}
    total = sum(operators.values())
    good = operators[Verdict.NATIVE] + operators[Verdict.DECOMPOSED]
    open_ends = gaps or operators[Verdict.UNKNOWN] or not total
    return Summary(
        support_rate=round(good / total, 4) if total else None,
        runs=False if operators[Verdict.UNSUPPORTED] else None if open_ends else True,
        operators=operators,
        calls=calls,
        islands=islands if total else 0,
        fallback_bytes=moved,
    )


def target(
    chip: str, findings: tuple[Finding, ...], figures: Summary | None = None
) -> TargetReport:
    return TargetReport(
        target=f"ascend-{chip}@26.1.0+torch2.12",
        vendor="ascend",
        chip=chip,
        sdk="26.1.0",
        torch="2.12",
        database_digest="0f3a9c5d7e1b2846",
        database_date="2026-05-12",
        summary=figures or summary(findings),
        findings=findings,
        kernels=None,
    )


def report(*targets: TargetReport, source: str = "yolov8n.pt2", **trace: object) -> Report:
    findings = targets[0].findings if targets else ()
    seen = TraceInfo(
        mode="inference",
        device_type="npu",
        calls=sum(f.count for f in findings),
        operators=len({f.op for f in findings}),
        gaps=(),
        modules_not_called=(),
    )
    return Report(
        opcheck_version="0.1.0",
        torch_version="2.13.0",
        model=ModelInfo(source=source, kind="torch.export", digest="sha256:1c5e9a02f7b4d683"),
        trace=replace(seen, **trace),
        targets=targets,
    )


_MIXED = (COMPLEX, ATTENTION, NMS, ARANGE, SPLIT, CONV, SILU, CAT)
_KERNELS = (
    KernelCount("aten::cat", Verdict.NATIVE, 9, Phase.FORWARD),
    KernelCount("aten::convolution_overrideable", Verdict.NATIVE, 64, Phase.FORWARD),
    KernelCount("aten::silu_", Verdict.NATIVE, 57, Phase.FORWARD),
    KernelCount("aten::split.Tensor", Verdict.NATIVE, 8, Phase.FORWARD),
)


def _all_native() -> Report:
    one = target("910b", (CONV, SILU, CAT, SPLIT))
    return report(
        replace(one, kernels=_KERNELS), notes=("Attention was traced as the npu runs it.",)
    )


def _mixed() -> Report:
    figures = summary(_MIXED, islands=3, moved=13_107_200)
    one = target("910a", _MIXED, figures)
    kernels = (*_KERNELS, KernelCount("torchvision::nms", Verdict.FALLBACK, 1, Phase.FORWARD))
    bf16 = Reason("dtype-emulated", "bfloat16 is computed as float32 on 910a, at half the speed.")
    return report(
        replace(one, kernels=kernels, advisories=(bf16,)), source="examples/rope/model.py:build"
    )


def _unknown() -> Report:
    findings = (BACKWARD, CONV, SILU)
    gaps = (
        Gap("decoder.generate", "RuntimeError: the size of tensor a (4) must match tensor b (3)."),
        Gap("examples/flow/warp.py:88", "A custom operator without a meta kernel: my::warp."),
    )
    one = target("310p", findings, summary(findings, gaps=len(gaps)))
    unused = (
        *(f"aux_heads.{i}" for i in range(14)),
        *(f"encoder.layer.{i}.attention.self.dropout" for i in range(24)),
        *("pooler", "pooler.activation", "pooler.dense"),
    )
    return report(one, gaps=gaps, modules_not_called=unused, mode="train")


def _empty() -> Report:
    return report(target("910b", ()), source="identity.py:Identity")


def _three() -> Report:
    on_910a = replace(
        ARANGE,
        verdict=Verdict.FALLBACK,
        reason=Reason("no-kernel", "The target registers no kernel and sends it to the host."),
    )
    per_chip = {
        "910b": (CONV, SILU, CAT, SPLIT, NMS, ARANGE),
        "910a": (CONV, SILU, CAT, SPLIT, NMS, on_910a, COMPLEX),
        "310p": (
            CONV,
            SILU,
            CAT,
            BACKWARD,
            NMS,
            replace(
                COMPLEX,
                reason=replace(COMPLEX.reason, text=COMPLEX.reason.text.replace("910a", "310p")),
            ),
        ),
    }
    moved: Mapping[str, int] = {"910b": 4_816, "910a": 1_300_000, "310p": 4_816}
    slow, differs = "bfloat16 is computed as float32 on", "traced with torch 2.13.0, not 2.12"
    said = {chip: (*([f"{slow} {chip}"] if chip != "910b" else ()), differs) for chip in per_chip}
    return report(
        *(
            replace(
                target(chip, found, summary(found, islands=2, moved=moved[chip])),
                advisories=tuple(Reason("advisory", text) for text in said[chip]),
            )
            for chip, found in per_chip.items()
        )
    )


def _many() -> Report:
    verdicts = (Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.FALLBACK)
    findings = tuple(
        finding(
            f"aten::operator_{i:03}.overload",
            verdicts[i % 3],
            "no-kernel",
            f"The target registers no kernel for aten::operator_{i:03}.overload.",
            place("net.py", 10 + i, f"blocks.{i}", 1 + i % 7),
        )
        for i in range(300)
    )
    return report(target("910b", findings, summary(findings, islands=101, moved=5 * 2**30)))


def _alike() -> Report:
    """Two reasons, each of several operators, and one that stands alone."""
    tail = "is bfloat16, which 910a does not have"
    said = {
        "aten::add.Tensor": f"self {tail}",
        "aten::linear": f"it runs as aten::as_strided: weight {tail}",
        "aten::to.dtype": f"it runs as aten::_to_copy: the result {tail}",
        "aten::embedding": f"weight {tail}",
    }
    code = "transformers/models/llama/modeling_llama.py"
    places = (
        place(code, 468, "lm_head"),
        place(code, 164, "model.layers.*.mlp.down_proj", 32),
        place(code, 164, "model.layers.*.mlp.gate_proj", 32),
    )
    bf16 = [
        finding(op, Verdict.UNSUPPORTED, "dtype-not-supported", text, *places[: 1 + i % 3])
        for i, (op, text) in enumerate(said.items())
    ]
    twice = replace(
        bf16[2], id="again", reason=replace(bf16[2].reason, text=f"self {tail}"), uses=places[:1]
    )
    host = [
        finding(
            op,
            Verdict.FALLBACK,
            "host-fallback",
            f"ascend registers no kernel for {op}, so every call runs on the host CPU",
            place("detect/boxes.py", 54 + i, "roi_heads", 5 - i),
        )
        for i, op in enumerate(("torchvision::nms", "torchvision::roi_align"))
    ]
    findings = (*bf16, replace(twice, count=1), *host, COMPLEX, CONV)
    return report(target("910a", findings, summary(findings, islands=4, moved=2**20)))


def _compiled() -> Report:
    """A graph compiler alone: what it leaves out runs in PyTorch on the same device."""
    return report(_of_compiler((CONV, SILU, SPLIT, NOT_CONVERTED)), source="decoder.pt2")


def _compiler_and_host() -> Report:
    """The same operator leaves two devices, each for somewhere else."""
    host = replace(
        NOT_CONVERTED,
        reason=Reason("no-kernel", "It has no kernel, so every call goes to the host."),
    )
    plain = (CONV, SILU, SPLIT)
    figures = summary((*plain, host), islands=3, moved=4_816)
    return report(
        _of_compiler((*plain, NOT_CONVERTED)),
        target("910b", (*plain, host), figures),
        target("950", plain),
        source="decoder.pt2",
    )


def _dynamic() -> Report:
    """Places where sizes matter, of every kind, which two targets take differently."""
    plain = _all_native().targets[0].findings
    one, other = target("910b", plain), target("950", plain)
    answers = (
        (Taking.UNKNOWN, "nobody has said"),
        (Taking.NOT_ALLOWED, "a graph holds no values"),
        *[(Taking.RECOMPILES, "graphs are of one shape")] * len(SITES[2:]),
    )
    fine = (SiteTaken(s, Taking.FINE, "any size", Confidence.HIGH, (TABLE,)) for s in SITES)
    others = (
        SiteTaken(site, how, why, Confidence.LOW, ())
        for site, (how, why) in zip(SITES, answers, strict=True)
    )
    return report(replace(one, dynamic=tuple(fine)), replace(other, dynamic=tuple(others)))


SITES = (
    Site(SiteKind.DATA_SIZE, "aten::nonzero", "head", "net.py", 12, 1, "by values"),
    Site(SiteKind.DATA_READ, "aten::item", "", "net.py", 14, 2, "Python reads a value"),
    Site(SiteKind.SHAPE_BRANCH, "", "blocks.*", "net.py", 20, 4, "16 > 128 is False"),
    Site(SiteKind.DYNAMIC_SIZE, "aten::add.Tensor", "", "net.py", 21, 1, "self becomes larger"),
    Site(SiteKind.DYNAMIC_SIZE, "aten::relu", "", "net.py", 22, 1, "self becomes larger"),
    Site(SiteKind.DYNAMIC_SIZE, "aten::mm", "", "net.py", 23, 1, "self becomes larger"),
    Site(SiteKind.DYNAMIC_SIZE, "aten::sum", "", "net.py", 24, 1, "self becomes larger"),
    Site(SiteKind.FIXED_SIZE, "", "", "", 0, 1, from_data("fails with ids:1 = 17")),
)


def _of_compiler(findings: tuple[Finding, ...]) -> TargetReport:
    return replace(
        target("910b", findings, summary(findings, islands=3)),
        target="compiler@2.0+torch2.12",
        vendor="compiler",
        chip="",
        sdk="2.0",
        elsewhere="which PyTorch runs on the same GPU, between two engines",
    )


STANDARD: Mapping[str, Report] = {
    "all-native": _all_native(),
    "mixed": _mixed(),
    "unknown": _unknown(),
    "empty": _empty(),
    "three-targets": _three(),
    "many": _many(),
    "alike": _alike(),
    "compiled": _compiled(),
    "compiler-and-host": _compiler_and_host(),
    "dynamic": _dynamic(),
}
"""One report for each kind of answer, by name."""


def row(chip: str, name: str, releases: tuple[str, ...], torch: tuple[str, ...]) -> TargetRow:
    return TargetRow(
        target=Target("ascend", chip, releases[0], torch[0], "npu"),
        releases=releases,
        torch_versions=torch,
        registered=1204,
        date="2026-05-12",
        device_name=name,
        vendor_also=("huawei", "昇腾"),
    )


_RELEASES = ("26.1.0", "26.0.0", "7.3.0", "7.2.0", "6.0.0")
ROWS = (
    row("310p", "Ascend 310P", _RELEASES, ("2.12", "2.9", "2.7", "2.1")),
    replace(
        row("910b", "Ascend 910B", _RELEASES, ("2.12", "2.9", "2.7", "2.1")),
        also=("atlas a2", "a2"),
        toolkits=("cann9.1.0", "cann8.3.RC1"),
    ),
    replace(row("950", "Ascend 950", _RELEASES[:2], ("2.12",)), opsets=("20", "18", "19")),
)
"""What the database has, by hand."""

ON_910B = Target("ascend", "910b", "26.1.0", "2.12", "npu")
EXPLAINED = (
    Explanation(
        target=ON_910B,
        op="aten::gelu",
        verdict=Verdict.NATIVE,
        confidence=Confidence.HIGH,
        reason=Reason("registered", "The vendor registers a kernel for aten::gelu.out."),
        implementation=("op_api", "acl_op"),
        conditions=(
            Condition(
                "dtype-not-supported",
                Verdict.UNSUPPORTED,
                "{argument} is {actual}, which the kernel gelu is not made for",
                Confidence.MEDIUM,
                (Dtype("self", NoneOf(frozenset({"float16", "float32"}))),),
                (TABLE,),
            ),
            Condition(
                "computed-on-host",
                Verdict.NATIVE,
                "Computed by the AI CPU: slow for large inputs.",
                Confidence.HIGH,
            ),
        ),
        evidence=(LISTED,),
        branches=(),
        registered_in=("6.0.0", "26.1.0"),
        torch_range=("1.8", "2.13"),
        package="torch_npu",
    ),
    Explanation(
        target=ON_910B,
        op="aten::scaled_dot_product_attention",
        verdict=Verdict.DECOMPOSED,
        confidence=Confidence.LOW,
        reason=Reason("decomposes", "Runs as others, every one native."),
        implementation=(),
        conditions=(),
        evidence=(NO_CPU,),
        branches=(
            ("aten::_softmax", "aten::bmm", "aten::mul.Scalar"),
            ("aten::npu_fusion_attention",),
        ),
        registered_in=(),
        torch_range=None,
        statements=(
            Statement("", "registers no kernel", "", ()),
            Statement("team/a.yaml", "registers a kernel", "We wrote one.", (LISTED,)),
            Statement("team/a.yaml", "withdraws dtype-not-supported", "We wrote one.", ()),
            Statement("b.yaml", "registers no kernel", "It was taken out again.", ()),
        ),
    ),
    Explanation(
        target=Target("nvidia", "a100", "2.13.0", "2.13", "cuda"),
        op="aten::scaled_dot_product_attention",
        verdict=Verdict.DECOMPOSED,
        confidence=Confidence.MEDIUM,
        reason=Reason("chosen-by-device", "On cuda it runs as a fused kernel, native."),
        implementation=(),
        conditions=(),
        evidence=(NO_CPU,),
        branches=(("aten::_scaled_dot_product_attention_math",),),
        registered_in=(),
        torch_range=("2.0", "2.15"),
        recorded_on="npu",
        choices=(
            Choice(
                ("aten::_scaled_dot_product_flash_attention",),
                (Dtype("query", OneOf(frozenset({"bfloat16", "float16"}))),),
                True,
                "half precision without a mask is for flash attention",
                Confidence.MEDIUM,
                (NO_CPU,),
            ),
            Choice(None, (), False, "what was recorded", Confidence.HIGH, (NO_CPU,)),
        ),
    ),
)
"""Operators explained, by hand."""
