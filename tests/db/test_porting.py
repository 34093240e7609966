"""How code for CUDA is written for each vendor: every file says so, and cites it."""

from pathlib import Path

import pytest

from opcheck.db.by_hand.porting import porting
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.porting import Porting
from opcheck.model.target import TargetSpec

SHIPPED = Database.open()
FOLDER = SHIPPED.root / "lint"
VENDORS = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "cuda")


def words(vendor: str) -> Porting:
    target = next(t for t in SHIPPED.targets() if t.vendor == vendor)
    return SHIPPED.porting(target)


def test_there_are_vendors() -> None:
    assert len(VENDORS) > 6


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_device_is_the_vendors_own_and_is_cited(vendor: str) -> None:
    found = words(vendor)
    target = next(t for t in SHIPPED.targets() if t.vendor == vendor)
    assert found.device == target.device_type
    assert all(fact.commit and fact.path for facts in found.cited.values() for fact in facts)
    told = (*found.deprecated.values(), *found.unsupported.values())
    assert all(fact.commit for each in told for fact in each.evidence)
    assert found.cited["device"]
    assert found.cited["collectives"]


def test_a_vendor_without_a_file_answers_by_its_device_type() -> None:
    assert words("nvidia") == Porting("nvidia", "cuda")
    assert words("nvidia").answers_cuda


def test_names_have_counterparts() -> None:
    assert words("ascend").counterpart("CUDAGraph") == "torch.npu.NPUGraph"
    assert words("cambricon").counterpart("synchronize") == "torch.mlu.synchronize"
    assert words("google").counterpart("synchronize") == "torch_xla.sync"
    assert words("apple").counterpart("Stream") == ""


def test_what_vendors_gave_up_is_known() -> None:
    told = words("ascend").deprecated["torch_npu.npu_bmmV2"]
    assert told.use == "torch.bmm and torch.view"
    assert told.evidence[0].path == "op_plugin/config/deprecated.yaml"


def test_a_file_of_another_vendor_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lint").mkdir()
    text = (FOLDER / "apple.yaml").read_text()
    (tmp_path / "lint" / "intel.yaml").write_text(text)
    target = SHIPPED.resolve(TargetSpec("intel-max"))
    with pytest.raises(DatabaseError, match="expected the vendor intel"):
        porting(tmp_path, target, None)
