"""What vendors ship against findings: which targets they are for, and damaged files."""

from pathlib import Path

import pytest

from opcheck.db.audit.audit import audit
from opcheck.db.by_hand.advice import remedies
from opcheck.db.files.layers import Layer
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.target import TargetSpec

SHIPPED = Database.open()
FOLDER = SHIPPED.root / "remedies"
XLA = ("masked-select", "nms", "nonzero")
COMPILE = {"compile-aot-eager", "compile-disabled", "compile-suppress-errors"}
EAGER = {*COMPILE, "compile-eager"}
"""From torch 2.6 on."""
NPU = {"npu-msmodelslim", *(f"npu-fused-{name}" for name in ("adam", "adamw", "sgd"))}


def ids(spec: str) -> set[str]:
    target = SHIPPED.resolve(TargetSpec.parse(spec))
    return {remedy.id for remedy in SHIPPED.remedies(target)}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("apple-mps", {"mps-host-fallback", *EAGER}),
        ("intel-arc", {"xpu-host-fallback", "xpu-relaxed-allocation", *EAGER}),
        ("intel-arc@2.7.1", {"xpu-host-fallback", *EAGER}),
        ("intel-max", {"xpu-host-fallback", *EAGER}),
        ("ascend-910b@7.2.0+torch2.6", {"npu-torchvision", "compile-npu", *NPU, *EAGER}),
        ("ascend-910b@7.2.0+torch2.7", {"compile-npu", *NPU, *EAGER}),
        ("ascend-910a@7.2.0+torch2.7", {"compile-npu", *NPU, *EAGER} - {"npu-msmodelslim"}),
        ("moorethreads-s5000@2.7.1",
         {"musa-double-cast", "musa-fused-adam", "musa-fused-adamw", *EAGER}),
        ("moorethreads-s5000@2.0.1", {"musa-fused-adam", *COMPILE}),
        ("moorethreads-s4000@1.0.0", COMPILE),
        ("cambricon-mlu590@r2.4_develop", {"mlu-retry-on-host", *COMPILE}),
        ("nvidia-a100", EAGER),
        ("nvidia-tensorrt@2.2.0",
         {"tensorrt-truncate-long-and-double", "tensorrt-truncate-long-and-double-inside"}),
        ("nvidia-tensorrt@2.6.0", {"tensorrt-truncate-double", "tensorrt-truncate-double-inside"}),
        ("google-tpu-v4@r2.10",
         {*(f"xla-experimental-{name}" for name in XLA), "compile-openxla", *EAGER}),
        ("google-tpu-v4@r2.3",
         {*(f"xla-experimental-{name}" for name in XLA if name != "nms"), "compile-openxla",
          *COMPILE}),
    ],
)  # fmt: skip
def test_each_is_for_its_vendors_own_releases(spec: str, found: set[str]) -> None:
    assert ids(spec) == found


@pytest.mark.slow
def test_every_file_is_for_some_target_and_cites_its_source() -> None:
    seen = {
        remedy.id: remedy
        for name in SHIPPED.names()
        for target in SHIPPED.releases(name)
        for remedy in SHIPPED.remedies(target)
    }
    assert set(seen) == {path.stem for path in FOLDER.glob("*.yaml")}
    for remedy in seen.values():
        assert remedy.evidence
        assert all(fact.commit and fact.path for fact in remedy.evidence)
        assert remedy.codes or remedy.ops
        assert remedy.on_device or remedy.gives_up


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("id: mps-host-fallback", "id: other", "expected the id mps-host-fallback"),
        ("on_device: false\n", "", "on_device"),
        ("label: exact", "label: close", "label"),
    ],
)
def test_a_damaged_file_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = (FOLDER / "mps-host-fallback.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "remedies" / "mps-host-fallback.yaml"
    path.parent.mkdir()
    path.write_text(text.replace(old, new), encoding="utf-8")
    target = SHIPPED.resolve(TargetSpec("apple-mps"))
    with pytest.raises(DatabaseError, match=told) as caught:
        list(remedies(Layer(tmp_path, ""), target, None))
    assert str(path) in caught.value.message


@pytest.mark.slow
def test_the_audit_reads_them(tmp_path: Path) -> None:
    overlay = tmp_path / "team"
    (overlay / "remedies").mkdir(parents=True)
    text = (FOLDER / "npu-torchvision.yaml").read_text(encoding="utf-8")
    spoiled = text.replace("torchvision::nms", "torchvision::nmss").replace(
        "at: [README]", "at: [X]"
    )
    (overlay / "remedies" / "npu-torchvision.yaml").write_text(spoiled, encoding="utf-8")
    (overlay / "note.yaml").write_text(
        "schema: opcheck.overlay/1\nvendor: ascend\nreason: a test\nmethod: tested\n"
        "sources:\n  t: {repo: team/notes, ref: main, commit: abc, path: notes.md}\n",
        encoding="utf-8",
    )
    found = audit(Database.open(overlays=(overlay,)))
    told = {(Path(p.file).name, p.code) for p in found.problems}
    assert ("npu-torchvision.yaml", "no-evidence") in told
