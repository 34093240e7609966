"""What a check of the database finds in the folders that are written by hand, and in the tables."""

import shutil
from pathlib import Path

import pytest

from opcheck.db.audit.audit import audit
from opcheck.db.files import digests
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.database import Problem
from opcheck.model.target import TargetSpec
from tests.db.overlays import OVERLAY, ROOT, written
from tests.db.test_schemas import GOOD as SCHEMAS

EDITS = (
    ("advisories/apple/mps-any-rank.yaml", "id: mps-any-rank", "id: mps-any", "name",
     "its id is mps-any, and it is named mps-any-rank"),
    ("advisories/apple/mps-argmax-large.yaml", "{vendor: apple", "{vendor: amd", "name",
     "its vendor is amd, and it is named apple"),
    ("advisories/apple/mps-scan-axis.yaml", "effect: ", "effect: bad-", "schema", None),
    ("remedies/npu-fused-sgd.yaml", "at: [class:19]", "at: [klass:19]", "no-evidence",
     "'klass:19' cites no source of the file"),
    ("remedies/npu-fused-adam.yaml", "ops: [aten::", "ops: [aten::no_such, aten::", "unknown-name",
     "PyTorch never had aten::no_such"),
    ("remedies/npu-torchvision.yaml", "  - {vendor: ascend,", "  - {vendor: ascent,",
     "unknown-name", "there is no vendor 'ascent'"),
    ("dynamic/eager-cuda.yaml", "how: fine", "how: well", "schema", None),
    ("dynamic/eager-plugins.yaml", "    at: [dynamic_shapes]", "    at: [static_shapes]",
     "no-evidence", "'static_shapes' cites no source of the file"),
    ("dynamic/xla-graphs.yaml", "id: xla-graphs", "id: graphs", "name",
     "its id is graphs, and it is named xla-graphs"),
    ("dynamic/npu-binaries.yaml", 'chips: ["', 'chips: ["910x", "', "unknown-name",
     "no chip of ascend is 910x"),
    ("lint/ascend.yaml", "at: warning_patches:9}", "at: warnings:9}", "no-evidence",
     "'warnings:9' cites no source of the file"),
    ("lint/apple.yaml", "vendor: apple", "vendor: orange", "name",
     "its vendor is orange, and it is named apple"),
    ("lint/apple.yaml", "vendor: apple", "vendor: orange", "unknown-name",
     "there is no vendor 'orange'"),
    ("lint/cambricon.yaml", "cited: {device: [", "cited: {device: [nowhere:1, ", "no-evidence",
     "'nowhere:1' cites no source of the file"),
    ("lint/cuda.yaml", "vendors: [nvidia, amd]", "vendors: [nvidia, arm]", "unknown-name",
     "there is no vendor 'arm'"),
    ("models/tpu-inference.yaml", "name: tpu-inference", "name: tpu", "name",
     "its name is tpu, and it is named tpu-inference"),
    ("models/tpu-inference.yaml", "2.5-VL-7B-Instruct, says: supported, chips: [tpu-v6e]",
     "2.5-VL-7B-Instruct, says: supported, chips: [tpu-v8]", "unknown-name",
     "no chip of google is tpu-v8"),
    ("models/tpu-inference.yaml", "at: v6e:8}", "at: v5e:8}", "no-evidence",
     "'v5e:8' cites no source of the file"),
    ("models/tpu-inference.yaml", "31B-it, says: supported,", "31B-it,", "says-nothing",
     "the row says nothing"),
    ("models/vllm-ascend.yaml", 'chips: ["950"]', 'chips: ["9 50"]', "schema", None),
    ("names/ascend.yaml", "  310b: [", "  310d: [", "unknown-name", "no chip of ascend is 310d"),
    ("names/nvidia.yaml", "at: [jetson-6.2]", "at: [jetson-7]", "no-evidence",
     "'jetson-7' cites no source of the file"),
    ("names/others.yaml", "also: [ipu]", "also: [ipu, wse]", "name",
     "'wse' is a name of cerebras too"),
    ("schemas/spconv.yaml", "library: spconv", "library: conv", "name",
     "its library is conv, and it is named spconv"),
    ("schemas/apex.yaml", "source: {repo:", "sources: {repo:", "schema", None),
    ("schemas/mamba_ssm.yaml", "    sizes:", "    size:", "schema", None),
    ("schemas/mmcv.yaml", "      ascend: {at:", "      ascent: {at:", "unknown-name",
     "there is no vendor 'ascent'"),
    ("pytorch/choices@2.13.yaml", 'torch: "2.13"', 'torch: "2.12"', "name",
     "its torch is 2.12, and it is named 2.13"),
    ("pytorch/collectives.yaml", "at: [no-mccl:91]", "at: [mccl:91]", "no-evidence",
     "'mccl:91' cites no source of the file"),
    ("pytorch/collectives.yaml", 'has: [BAND, BOR, MAX, MIN, PRODUCT, SUM], releases: ["r2.9"]',
     'releases: ["r2.9"]', "form", "expected either has or lacks"),
    ("pytorch/collectives.yaml", "{backend: CNCL, lacks: [AVG, BAND",
     "{backend: CNCCL, lacks: [AVG, BAND", "unknown-name", "no backend is called 'CNCCL'"),
    ("pytorch/compilers.yaml", "at: [mps-2.7]", "at: [mps-9.7]", "no-evidence",
     "'mps-9.7' cites no source of the file"),
    ("pytorch/compilers.yaml", "npu: {vendors: [ascend]", "npu: {vendors: [ascent]",
     "unknown-name", "there is no vendor 'ascent'"),
    ("pytorch/compilers.yaml", 'releases: ["2.7.1"]\n    note', 'releases: ["2.6.0"]\n    note',
     "duplicate", "apple: entry 2 tells of inductor there as well"),
    ("pytorch/deterministic.yaml", "vendors: [nvidia]", "vendors: [nvidea]", "unknown-name",
     "there is no vendor 'nvidea'"),
    ("pytorch/deterministic.yaml", "ops: [aten::put_]", "ops: [aten::puts_]", "unknown-name",
     "PyTorch never had aten::puts_"),
    ("pytorch/deterministic.yaml", 'at: ["xpu-2.5:', 'at: ["xpu-1.5:', "no-evidence",
     "'xpu-1.5:src/ATen/native/xpu/sycl/HistogramddKernels.cpp:172' cites no source of the file"),
    ("pytorch/triton.yaml", "  google: {error", "  goggle: {error", "unknown-name",
     "there is no vendor 'goggle'"),
    ("pytorch/triton.yaml", "at: [triton-macos, ", "at: [triton-mac, ", "no-evidence",
     "'triton-mac' cites no source of the file"),
    ("pytorch/triton.yaml", "  - vendor: apple", "  - vendor: appel", "unknown-name",
     "there is no vendor 'appel'"),
    ("pytorch/triton.yaml", "languages: [flagtree-hcu]", "languages: [flagtree-dcu]",
     "unknown-name", "hygon: there is no language 'flagtree-dcu'"),
    ("pytorch/triton.yaml", "    package: FlagTree\n    releases:",
     "    package: FlagTree\n    error: none\n    releases:", "duplicate",
     "moorethreads: it has either a package or an error"),
    ("pytorch/earlier.yaml", "  aten::_fused_rms_norm:", "  aten::rms_norms:", "unknown-name",
     "PyTorch never had aten::rms_norms"),
    ("pytorch/extensions.yaml", "at: deform_conv2d}", "at: deform}", "no-evidence",
     "'deform' cites no source of the file"),
    ("pytorch/composites@2.13-npu.yaml", "device: npu", "device: mlu", "name",
     "its device is mlu, and it is named npu"),
    ("pytorch/sparse.yaml", '  SparseMPS: {"2.0": torch-2.0,', '  SparseMPS: {"2.0": torch-1.9,',
     "no-evidence", "'torch-1.9' cites no source of the file"),
    ("pytorch/sparse.yaml", 'aten::_coalesce: {SparseCUDA: "2.0 torch-2.0:',
     'aten::_coalesce: {SparseCUDA: "1.9 torch-2.0:', "span",
     "no list of SparseCUDA of torch 1.9 was looked at"),
    ("pytorch/history.yaml", 'aten::__and__.Scalar: ["1.12"', 'aten::__and__.Scalar: ["9.12"',
     "span", "aten::__and__.Scalar: 9.12..2.15 ends before it begins"),
)  # fmt: skip
"""File, what is replaced in it and by what, and what is told at that line; None: just something."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> set[Problem]:
    """What is told of a database with all these edits, and with files that nothing reads."""
    root = tmp_path_factory.mktemp("edited") / "compat_db"
    shutil.copytree(ROOT, root)
    for name, old, new, _, _ in EDITS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        assert old in text or new in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
    for name in (
        "advisory/mine.yaml", "advisories/amd/mine.yml", "remedies/mine.yml", "loose.yaml",
        "pytorch/strange.yaml",
    ):  # fmt: skip
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a: 1\n")
    listed = "".join(f"{d}  {n}\n" for n, d in digests.of_files(root / "pytorch").items())
    (root / "pytorch" / digests.NAME).write_text(listed)
    return set(audit(Database.open(root, cached=False)).problems)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0]}-{edit[3]}")
def test_an_edit_is_told_with_its_line(edit: tuple[str, ...], found: set[Problem]) -> None:
    name, old, _, code, text = edit
    original = (ROOT / name).read_text(encoding="utf-8")
    line = original[: original.index(old)].count("\n") + 1
    told = {(p.line, p.code, p.text) for p in found if p.file == name}
    if text is None:
        assert (line, code) in {(at, what) for at, what, _ in told}
    else:
        assert (line, code, text) in told


def test_nothing_else_is_told(found: set[Problem]) -> None:
    edited = {name for name, *_ in EDITS}
    unread = "nothing reads it: no vendor and no part of the database has this name"
    assert {problem for problem in found if problem.file not in edited} == {
        Problem("advisory/mine.yaml", 0, "unread", unread),
        Problem("advisories/amd/mine.yml", 0, "unread", unread),
        Problem("loose.yaml", 0, "unread", unread),
        Problem("pytorch/strange.yaml", 0, "unread", unread),
        Problem("remedies/mine.yml", 0, "unread", unread),
    }


@pytest.mark.slow
def test_an_overlay_of_schemas_that_tell_of_kernels_without_a_source_is_refused(
    tmp_path: Path,
) -> None:
    kernels = SCHEMAS.replace("    sizes:", "    kernels: {ascend: {at: a.cpp}}\n    sizes:")
    folder = written(tmp_path, schemas__mine=kernels)
    database = Database.open(ROOT, cached=False, overlays=(folder,))
    expected = "expected the key 'source' in this file, as it tells of kernels"
    with pytest.raises(DatabaseError, match=rf"schemas/mine\.yaml:6: {expected}"):
        database.matrix(database.resolve(TargetSpec.parse("ascend-910b")))
    problems = audit(database).problems
    assert [(p.line, p.code) for p in problems] == [(6, "schema")]


@pytest.mark.slow
def test_chips_that_an_overlay_names_are_known(tmp_path: Path) -> None:
    odd = OVERLAY.replace("impl: [acme]}", 'impl: [acme], chips: ["910x"]}')
    folder = written(tmp_path, team=odd)
    line = OVERLAY.splitlines().index('  aten::lgamma: {at: "lab:12", impl: [acme]}') + 1
    wanted = Problem(
        f"{folder.as_posix()}/team.yaml", line, "unknown-name", "no chip of ascend is 910x"
    )
    assert audit(Database.open(ROOT, cached=False, overlays=[folder])).problems == (wanted,)
