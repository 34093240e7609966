"""Where sizes depend on data, and how targets take such places."""

from collections.abc import Callable

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.db.store import Database
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.dynamic import READ_BY_PYTHON, Site, SiteKind, SiteTaken, SizeRule, Taking
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Composite
from opcheck.model.verdict import Confidence
from opcheck.resolve.dynamic import SIZED_BY_DATA, sites, taken
from opcheck.trace import trace_model
from tests.resolve import made

DATABASE = Database.open()
SIZE, READ = SiteKind.DATA_SIZE, SiteKind.DATA_READ


def kinds(model: Callable[[Tensor], object], tensor: Tensor) -> list[tuple[str, str]]:
    trace = trace_model(model, (tensor,), {}, device_type="npu")
    return [(site.kind.value, site.op) for site in sites(trace)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
@pytest.mark.parametrize(
    ("model", "found"),
    [
        (lambda x: x[x > 0], [(SIZE, "aten::index.Tensor")]),
        (torch.nonzero, [(SIZE, "aten::nonzero")]),
        (lambda x: torch.where(x > 0), [(SIZE, "aten::where")]),
        (lambda x: torch.argwhere(x), [(SIZE, "aten::argwhere")]),
        (lambda x: torch.unique(x), [(SIZE, "aten::_unique2")]),
        (lambda x: torch.masked_select(x, x > 0), [(SIZE, "aten::masked_select")]),
        (lambda x: x.sum().item(), [(READ, "aten::item")]),
        (lambda x: float(x.sum()), [(READ, "aten::item")]),
        (lambda x: 1 if x.sum() > 3 else 2, [(READ, "aten::is_nonzero")]),
        (lambda x: x[:, torch.tensor([0, 2], device=x.device)], []),
        (lambda x: torch.where(x > 0, x, 1), []),
        (lambda x: x.masked_fill(x > 0, 1), []),
    ],
)
def test_what_depends_on_values(
    model: Callable[[Tensor], object], found: list[tuple[str, str]], dtype: torch.dtype
) -> None:
    assert kinds(model, torch.ones(2, 4, dtype=dtype)) == found


def test_every_overload_that_torch_tags_is_known() -> None:
    sized = {torch.Tag.dynamic_output_shape: SIZED_BY_DATA}
    read = {torch.Tag.data_dependent_output: READ_BY_PYTHON}
    by_values_alone = {
        "aten::_ctc_loss",  # lengths that are given as numbers
        "aten::linalg_lstsq",  # residuals that depend on the rank
        "aten::index.Tensor",  # with masks alone
    }
    composites = {"aten::argwhere", "aten::one_hot"}  # known by what they become
    for tag, known in (sized | read).items():
        for name in torch._C._dispatch_get_all_op_names():
            namespace, _, rest = name.partition("::")
            base, _, overload = rest.partition(".")
            packet = getattr(torch.ops.aten, base, None) if namespace == "aten" else None
            op = getattr(packet, overload or "default", None)
            if op is not None and tag in op.tags:
                family = f"aten::{base}"
                assert name in known or {name, family} & (by_values_alone | composites), name


def answer(target: str, site: Site) -> SiteTaken:
    resolved = DATABASE.resolve(TargetSpec.parse(target))
    trace = trace_model(torch.relu, (torch.ones(2, 4),), {}, device_type="npu")
    marked = replace(trace, dynamic=(site,))
    (found,) = taken(marked, DATABASE.matrix(resolved), DATABASE.size_rules(resolved))
    return found


RELU = Site(SiteKind.DYNAMIC_SIZE, "aten::relu", "", "m.py", 3, 1, "self becomes other")
BRANCH = Site(SiteKind.SHAPE_BRANCH, "", "", "m.py", 3, 1, "16 > 128 is False")
FIXED = Site(SiteKind.FIXED_SIZE, "", "", "m.py", 3, 1, "fails with x:1 = 17")


@pytest.mark.parametrize(
    ("target", "relu", "branch"),
    [
        ("google-tpu-v4", Taking.RECOMPILES, Taking.RECOMPILES),
        ("nvidia-tensorrt", Taking.RECOMPILES, Taking.NOT_ALLOWED),
        ("nvidia-a100", Taking.FINE, Taking.FINE),
        ("ascend-910a", Taking.RECOMPILES, Taking.FINE),
        ("ascend-310p", Taking.RECOMPILES, Taking.FINE),
        ("ascend-910b", Taking.FINE, Taking.FINE),
        ("cambricon-mlu590", Taking.FINE, Taking.FINE),
        ("apple-mps", Taking.FINE, Taking.FINE),
    ],
)
def test_targets_take_sizes_differently(target: str, relu: Taking, branch: Taking) -> None:
    for site, how in ((RELU, relu), (BRANCH, branch)):
        found = answer(target, site)
        assert (found.site, found.how) == (site, how)
        assert found.evidence
        assert found.text


def test_what_the_model_itself_does_not_take_no_target_takes() -> None:
    found = answer("nvidia-a100", FIXED)
    said = "the model itself takes no other size here, on any target"
    assert (found.how, found.text) == (Taking.NOT_ALLOWED, said)
    with speaking(Language.CHINESE):
        assert tell(found.text) == "模型自身在此不接受其他尺寸，任何目标上都如此"


def test_what_nobody_has_said_is_unknown() -> None:
    resolved = DATABASE.resolve(TargetSpec.parse("nvidia-a100"))
    trace = trace_model(torch.nonzero, (torch.ones(2, 4),), {}, device_type="npu")
    (found,) = taken(trace, DATABASE.matrix(resolved), ())
    assert (found.how, found.text) == (Taking.UNKNOWN, "nobody has said")


def test_a_rule_for_an_operator_is_not_for_others() -> None:
    resolved = DATABASE.resolve(TargetSpec.parse("nvidia-a100"))
    trace = trace_model(torch.nonzero, (torch.ones(2, 4),), {}, device_type="npu")
    rule = SizeRule(
        frozenset({SIZE}), frozenset({"aten::masked_select"}), Taking.FINE, "so", Confidence.LOW, ()
    )
    (found,) = taken(trace, DATABASE.matrix(resolved), (rule,))
    assert found.how is Taking.UNKNOWN


def test_a_rule_for_what_varies_is_for_that_alone() -> None:
    chunk = Site(SiteKind.DYNAMIC_SIZE, "aten::chunk", "", "m.py", 3, 1, "self becomes other")
    for varies, how in (
        (("dim", "self"), Taking.NOT_ALLOWED),
        (("self",), Taking.RECOMPILES),
        ((), Taking.RECOMPILES),
    ):
        found = answer("onnxruntime-cpu", replace(chunk, varies=varies))
        assert (found.how, bool(found.evidence)) == (how, True)


@pytest.mark.parametrize("target", DATABASE.names())
def test_every_target_has_an_answer_with_evidence(target: str) -> None:
    resolved = DATABASE.resolve(TargetSpec.parse(target))
    said = {kind for rule in DATABASE.size_rules(resolved) for kind in rule.kinds}
    assert said == set(SiteKind) - {SiteKind.FIXED_SIZE}
    assert all(rule.evidence and rule.text for rule in DATABASE.size_rules(resolved))


def test_an_operator_that_is_unknown_is_so_with_any_size() -> None:
    node = made.node("aten::nonzero", composite=Composite.IMPLICIT, opaque=True)
    (found,) = taken(made.trace(node), made.matrix(), ())
    assert (found.how, found.text) == (
        Taking.UNKNOWN,
        "aten::nonzero is unknown with any size: what aten::nonzero runs as could not be "
        "recorded: no reason given",
    )
