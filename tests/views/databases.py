"""One answer of each kind that the database gives of itself, by hand."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.model.database import (
    AdditionStatus,
    Audit,
    CellChange,
    CollectedFile,
    ConditionGroup,
    Contents,
    DatabaseStatus,
    DatabaseView,
    ImportedFile,
    Imports,
    MatrixDiff,
    MatrixDiffs,
    ModelChange,
    Problem,
    Refreshed,
    ReleaseStatus,
    SourceFile,
    VendorStatus,
)
from opcheck.model.matrix import Condition, Fallback
from opcheck.model.predicates import Dtype, OneOf, Outside, Size
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

PLUGIN = Evidence(
    Method.REGISTERED, "Ascend/op-plugin", "config/fallback.cpp", 12, "cd46cfb" + "0" * 33,
    "2026-05-12",
)  # fmt: skip


def _release(name: str, date: str, age: int, torch: tuple[str, ...]) -> ReleaseStatus:
    return ReleaseStatus(name, date, age, torch, {Method.REGISTERED: 1204}, 96, f"{age:016x}")


STATUS = DatabaseStatus(
    today="2026-06-01",
    digest="0123456789abcdef",
    vendors=(
        VendorStatus(
            "ascend",
            "Huawei Ascend",
            ("ascend-910a", "ascend-910b"),
            "2026-05-12",
            20,
            (
                replace(_release("26.1.0", "2026-05-12", 20, ("2.12", "2.9", "2.7")), edited=True),
                _release("26.0.0", "2026-02-01", 120, ("2.9", "2.7")),
                _release("7.3.0", "2025-12-01", 182, ("2.7",)),
                _release("7.2.0", "2025-09-01", 273, ("2.7", "2.1")),
            ),
        ),
        VendorStatus(
            "acme",
            "Acme NPU",
            ("acme",),
            "2025-06-01",
            365,
            (
                ReleaseStatus(
                    release="1.0",
                    date="2025-06-01",
                    age=365,
                    torch_versions=("2.7",),
                    entries={Method.REGISTERED: 80, Method.DOCUMENTED: 12, Method.INFERRED: 1},
                    conditions=3,
                    digest="fedcba9876543210",
                    origin="team/acme/1.0.yaml",
                ),
            ),
        ),
        VendorStatus("dateless", "Dateless", ("dateless",), "", None, ()),
    ),
    overlays=(
        AdditionStatus("team/gelu.yaml", "ascend", "Measured in our laboratory.", 1, 2),
        AdditionStatus("team/more.yaml", "ascend", "Nothing yet.", 0, 0),
    ),
    advisories=("npu-index-put-mask-310p", "mps-where-layout"),
)

ON_910B = Target("ascend", "910b", "26.1.0", "2.12", "npu")
_DTYPE = Condition(
    "dtype-not-supported",
    Verdict.UNSUPPORTED,
    "{argument} has dtype {actual}, which {chip} does not take",
    Confidence.MEDIUM,
    (Dtype("self", OneOf(frozenset({"float64"}))),),
)
_SLOW = Condition(
    "runs-on-aicpu",
    Verdict.NATIVE,
    "large inputs are slow",
    Confidence.HIGH,
    (Size("self", Outside(maximum=1024)),),
)

CONTENTS = Contents(
    target=ON_910B,
    device_name="Ascend 910B",
    dispatch_key="PrivateUse1",
    date="2026-05-12",
    digest="0123456789abcdef",
    entries={Method.REGISTERED: 3, Method.TESTED: 1},
    operators=("aten::abs", "aten::add.Tensor", "aten::gelu", "aten::mm"),
    conditions=(
        ConditionGroup("dtype-not-supported", Verdict.UNSUPPORTED, 1200),
        ConditionGroup("computed-on-host", Verdict.FALLBACK, 6),
        ConditionGroup("runs-on-aicpu", Verdict.NATIVE, 1),
    ),
    gradients=18,
    fallback=Fallback(
        True, "{op} will fall back to run on the CPU.", (PLUGIN,), "FALLBACK=0 in the environment"
    ),
    advisories=(
        Condition("torch-not-paired", Verdict.NATIVE, "{chip} has no package", Confidence.MEDIUM),
    ),
    sources=(
        SourceFile(
            "Ascend/op-plugin", "26.1.0", "cd46cfb" + "0" * 33, "config/a.yaml", "2026-05-12"
        ),
        SourceFile("Ascend/pytorch", "issues/153", "", "issues/153", "2026-07-27"),
        SourceFile("acme/lab", "", "", "report.md", "", "team/gelu.yaml"),
        *(SourceFile("Ascend/pytorch", f"v{n}", "", f"docs/{n}.md", "") for n in range(8)),
    ),
)

_DIFF = MatrixDiff(
    before=Target("ascend", "910b", "26.0.0", "2.9", "npu"),
    after=ON_910B,
    added=tuple(f"aten::new_{n:02}" for n in range(60)),
    removed=("npu::old",),
    changed=(
        CellChange("*", None, None, (), (_SLOW,)),
        CellChange("aten::abs", None, (("acl_op",), ("acl_op", "op_api")), (_DTYPE,), ()),
        CellChange("aten::neg", None, (("acl_op",), ("acl_op", "op_api")), (_DTYPE,), ()),
        CellChange("aten::sum", (("PrivateUse1",), ("AutogradPrivateUse1",)), None, (), (_DTYPE,)),
    ),
)
DIFFS = MatrixDiffs(
    (
        _DIFF,
        replace(
            _DIFF,
            before=replace(_DIFF.before, chip="950"),
            after=replace(_DIFF.after, chip="950"),
        ),
        MatrixDiff(ON_910B, ON_910B, (), (), ()),
    )
)

SOUND = Audit(115, ())
UNSOUND = Audit(
    115,
    (
        Problem("ascend/26.1.0.yaml", 0, "edited", "it is not what its importer wrote"),
        Problem("ascend/26.1.0.yaml", 7, "schema", "expected a list, found 'yes'"),
        *(Problem("team/gelu.yaml", 0, "unknown-name", f"PyTorch never had aten::x{n}")
          for n in range(10)),
    ),
)  # fmt: skip
IMPORTS = Imports(
    (ImportedFile("compat_db/ascend/26.1.0.yaml", True), ImportedFile("compat_db/x.yaml", False))
)

REFRESHED = Refreshed(
    vendor="acme",
    before="2.0",
    release="2.1",
    collected=(
        CollectedFile("ops@2.1.yaml", "v2.1", "cd46cfb" + "0" * 33, "csrc/ops.yaml", "2026-05-12"),
    ),
    by_hand=("checks@2.0.yaml",),
    files=IMPORTS.files,
    diffs=DIFFS.diffs,
    audit=SOUND,
    models=(
        ModelChange("torchvision:resnet50", "acme", before=True, after=True),
        ModelChange("timm:dla102", "acme", before=False, after=True),
        ModelChange("model.pt2", "acme", before=None, after=False),
        ModelChange("model.pt2", "acme-mini", before=True, after=None),
    ),
)
VIEWS: Mapping[str, DatabaseView] = {
    "status": STATUS,
    "show": CONTENTS,
    "diff": DIFFS,
    "check-sound": SOUND,
    "check-unsound": UNSOUND,
    "import": IMPORTS,
    "refresh": REFRESHED,
    "refresh-alike": replace(
        REFRESHED, by_hand=(), models=REFRESHED.models[:1], audit=UNSOUND, diffs=()
    ),
}
