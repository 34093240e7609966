"""PyTorch's tables, compared with the installed torch."""

from pathlib import Path

import pytest

from opcheck.db.store import Database
from opcheck.db.tables import OperatorFacts
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.model.matrix import Whole
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Composite, OpName
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.explain import explain

torch = pytest.importorskip("torch")


def test_facts_of_some_overloads(database: Database) -> None:
    facts = database.operators("2.13.0")
    assert facts["aten::conv2d"] == OperatorFacts(Composite.IMPLICIT, True)
    assert facts["aten::select.int"] == OperatorFacts(Composite.EXPLICIT, True)
    assert facts["aten::gelu"] == OperatorFacts(Composite.NON_FUNCTIONAL, True)
    assert facts["aten::gelu.out"] == OperatorFacts(None, True)
    assert facts["aten::_scaled_dot_product_efficient_attention"] == OperatorFacts(None, False)
    assert len(facts) == 3110


def test_composites_that_older_torch_versions_had_as_kernels_alone(database: Database) -> None:
    whole = database.tables.whole
    assert whole["aten::_grouped_mm"] == Whole("2.8", "2.8", cpu_kernel=False)
    assert whole["aten::argsort.stable"] == Whole("2.0", "2.4", cpu_kernel=True)
    assert whole["aten::_foreach_add.List"] == Whole("2.0", "2.3", cpu_kernel=True)


def test_the_nearest_table_serves_other_versions(database: Database) -> None:
    assert database.operators("2.7.1") == database.operators("2.13.0")
    assert database.tables.operator_versions() == ("2.13",)
    assert database.tables.release("2.7.1") == "2.13.0"


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the table is of torch 2.13")
def test_facts_are_the_dispatchers(database: Database) -> None:
    facts = database.operators(torch.__version__)
    aliases = {
        "CompositeImplicitAutograd": Composite.IMPLICIT,
        "CompositeExplicitAutograd": Composite.EXPLICIT,
        "CompositeExplicitAutogradNonFunctional": Composite.NON_FUNCTIONAL,
    }
    for op, said in facts.items():
        table = torch._C._dispatch_dump(op)  # checked with torch 2.13
        kernels = {line.split(":", 1)[0].removesuffix("[alias]") for line in table.splitlines()}
        found = {kind for alias, kind in aliases.items() if alias in kernels}
        assert (said.composite in found) if said.composite else not found, op
        computed = torch._C._dispatch_has_computed_kernel_for_dispatch_key(op, "CPU")
        assert said.cpu_kernel == computed, op


def test_history_knows_every_overload_of_the_installed_torch(database: Database) -> None:
    outside_the_declarations = {"get_gradients", "quantized_lstm", "quantized_gru"}
    unknown = {
        name.partition(".")[0].removeprefix("aten::")
        for name in torch._C._dispatch_get_all_op_names()  # checked with torch 2.13
        if name.startswith("aten::") and database.history(name) is None
    }
    assert unknown <= outside_the_declarations


def test_extensions(database: Database) -> None:
    extensions = database.tables.extensions
    assert extensions["torchvision::nms"]
    assert extensions["torchvision::_roi_align_backward"]
    assert "torchvision::_nms_backward" not in extensions
    assert len(extensions) == 12


def test_composites_of_a_recorded_device(tmp_path: Path) -> None:
    folder = tmp_path / "pytorch"
    folder.mkdir()
    (folder / "composites@2.13-npu.yaml").write_text(
        'schema: opcheck.composites/1\ntorch: "2.13"\ndevice: npu\ncomposites:\n'
        "  aten::linear: [[aten::addmm, aten::t], [aten::matmul, aten::t]]\n  aten::t: [[]]\n"
    )
    database = Database(tmp_path)
    recorded = {
        "aten::linear": (("aten::addmm", "aten::t"), ("aten::matmul", "aten::t")),
        "aten::t": ((),),
    }
    assert database.composites("2.13.0", "npu") == recorded
    assert database.composites("2.13.0", "mlu") == recorded  # another name of PrivateUse1
    assert database.composites("2.12.0", "npu") == {}


def test_a_damaged_composites_table_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "pytorch"
    folder.mkdir()
    (folder / "composites@2.13-npu.yaml").write_text(
        'schema: opcheck.composites/1\ntorch: "2.13"\ndevice: npu\ncomposites:\n'
        "  aten::linear: [aten::addmm]\n"
    )
    with pytest.raises(DatabaseError, match=r"npu\.yaml:5: expected a list, found 'aten::addmm'"):
        Database(tmp_path).composites("2.13", "npu")


_LEFT_OUT = {"aten::_linalg_eigvals", "aten::_to_sparse", "aten::_to_sparse.sparse_dim"}
"""Newer than what runs as them: of sparse tensors alone, or a kernel that nothing stands in for."""


def test_every_composite_that_is_older_than_what_it_runs_as_says_what_it_ran_as(
    database: Database,
) -> None:
    history = database.tables.history
    newer = {
        inner
        for op, branches in database.composites("2.13", "npu").items()
        for inner in {inner for branch in branches for inner in branch}
        if op in history and inner in history
        if version_key(history[inner][0]) > max(version_key(history[op][0]), (2, 0))
    }
    assert newer - _LEFT_OUT == set(database.tables.earlier)


def test_what_stood_in_for_a_newer_overload_is_among_what_that_runs_as(
    database: Database,
) -> None:
    composites = database.composites("2.13", "npu")
    assert database.tables.earlier
    for op, said in database.tables.earlier.items():
        (branch,) = composites[op]
        assert set(said.asks) <= set(branch)
        assert said.text
        for seen in said.evidence:
            assert seen.method is Method.INFERRED
            assert (len(seen.commit), seen.path.endswith(".cpp")) == (40, True)


@pytest.mark.parametrize("target", ["ascend-910a@5.0.0+torch2.1", "cambricon-mlu370@r2.1_develop"])
def test_attention_on_an_old_torch_is_known(target: str, database: Database) -> None:
    op, torch_version = OpName.parse("aten::_safe_softmax"), "2.13"
    matrix = database.matrix(database.resolve(TargetSpec.parse(target)))
    found = explain(
        op, matrix, database.operators(torch_version),
        database.composites(torch_version, "npu"), torch_version, (),
    )  # fmt: skip
    assert (found.verdict, found.confidence) == (Verdict.DECOMPOSED, Confidence.MEDIUM)


@pytest.mark.parametrize("device", ["npu", "mlu", "musa", "cuda", "xla"])
def test_one_recording_of_composites_serves_every_device_type(
    device: str, database: Database
) -> None:
    assert database.tables.recorded_on("2.13.0", device) == "npu"
    assert database.composites("2.13.0", device) == database.composites("2.13.0", "npu")
    assert database.tables.recorded_on("2.12", device) == ""
