"""What must be on a machine, for every vendor: cited, paired, and of its own vendor."""

import re
from pathlib import Path

import pytest

from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.environment import Environment
from opcheck.model.target import mode_of
from opcheck.model.verdict import Evidence

SHIPPED = Database.open()
FOLDER = SHIPPED.root / "environment"


def of(vendor: str) -> Environment:
    found = SHIPPED.environment(vendor)
    assert found is not None
    return found


def test_every_vendor_has_a_file() -> None:
    files = {path.stem for path in FOLDER.glob("*.yaml")} - {"torch"}
    assert files == {mode_of(name)[0] for name in SHIPPED.vendors}


@pytest.mark.parametrize("vendor", sorted(SHIPPED.vendors))
def test_everything_is_cited(vendor: str) -> None:
    found = of(vendor)
    told: list[tuple[Evidence, ...]] = [found.systems.evidence, found.torch.evidence]
    told += [each.evidence for each in (found.plugin, found.toolkit, found.driver) if each]
    for group in (found.pairings, found.settings, found.install, found.by_hand, found.images):
        told += [each.evidence for each in group]
    told += [step.evidence for step, _ in found.pythons]
    assert all(told)
    assert all(fact.path and (fact.commit or fact.source.count(".") or fact.date)
               for facts in told for fact in facts)  # fmt: skip


@pytest.mark.parametrize("vendor", sorted(SHIPPED.vendors))
def test_patterns_are_expressions_and_rows_are_newest_first(vendor: str) -> None:
    found = of(vendor)
    for part in (found.toolkit, found.driver):
        assert part is None or re.compile(part.pattern) is not None
    assert found.pairings
    if found.plugin:
        assert all(found.plugin.package in row.packages for row in found.pairings)


def test_a_row_of_a_table_is_as_its_vendor_says() -> None:
    row = next(row for row in of("ascend").pairings if row.packages["torch_npu"] == "2.7.1.post8")
    assert (row.release, row.torch, row.packages["cann"]) == ("26.1.0", "2.7.1", "9.1.0")
    assert (row.evidence[0].path, row.evidence[0].line) == ("COMPATIBILITY.en.md", 24)
    tpu = of("google").pairings[0]
    assert tpu.packages == {"torch_xla": tpu.torch}
    pt25 = next(row for row in of("moorethreads").pairings if row.release == "2.0.0-pt25")
    assert (pt25.torch, pt25.packages["torch_musa"]) == ("2.5.0", "2.0.0")


def test_releases_of_torch_are_cited() -> None:
    said = SHIPPED.torch_environment()
    assert len(said.releases) > 15
    assert all(release.evidence for release in said.releases.values())
    assert said.releases["2.9.1"].torchvision == "0.24.1"
    assert "rocm6.4" in said.releases["2.9.1"].builds


def test_a_file_of_another_vendor_is_refused(tmp_path: Path) -> None:
    for name in ("intel", "pytorch"):
        (tmp_path / name).symlink_to(SHIPPED.root / name)
    (tmp_path / "environment").mkdir()
    text = (FOLDER / "apple.yaml").read_text()
    (tmp_path / "environment" / "intel.yaml").write_text(text)
    with pytest.raises(DatabaseError, match="expected the vendor intel, found 'apple'"):
        Database.open(tmp_path, cached=False).environment("intel")
    (tmp_path / "environment" / "intel.yaml").unlink()
    assert Database.open(tmp_path, cached=False).environment("intel") is None
