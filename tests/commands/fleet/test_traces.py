"""Traces as they are kept, and the keys that name what answers rest on."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fleet import keys
from opcheck.commands.fleet.run import targets_of
from opcheck.commands.fleet.traces import casts_of, casts_text, has_autocast, restored, stored
from opcheck.commands.fleet.values import StoredTrace
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.trace import Constant, Trace, Use
from opcheck.model.work import WorkResult
from tests.commands.fleet.made import target
from tests.emulate.matrices import matrix_of
from tests.resolve import made

CASTS = {"npu": "float64=float32", "cuda": "", "mlu": ""}


def result(device_type: str, op: str = "aten::a", where: str = "net") -> WorkResult:
    """A trace that names its device in an argument, as ``zeros(device=…)`` does."""
    node = made.node(op, given={"device": Constant("device", device_type)})
    trace = made.trace(node, uses=[Use(0, where, "net.py", 5, 1)])
    return WorkResult(replace(trace, device_type=device_type), "python", "feed")


def test_device_types_that_differ_in_name_alone_are_kept_once() -> None:
    results = [result("npu"), result("cuda"), result("mlu", "aten::b")]
    npu, cuda, mlu = stored(results, CASTS)
    assert (cuda.data, cuda.same_as) == ("", "npu float64=float32")
    assert npu.data and mlu.data and not mlu.same_as
    assert restored((npu, cuda, mlu), CASTS) == {r.trace.device_type: (r,) for r in results}


def test_a_name_of_the_users_is_no_device() -> None:
    """A module that is called as the first device is would be renamed with it."""
    results = [result("npu", where="npu"), result("cuda", where="npu")]
    kept = stored(results, CASTS)
    assert not any(trace.same_as for trace in kept)
    assert restored(kept, CASTS) == {r.trace.device_type: (r,) for r in results}


def test_traces_of_other_casts_are_not_those_that_are_asked_for() -> None:
    kept = stored([result("npu")], CASTS)
    assert restored(kept, {"npu": ""}) == {}


def test_several_traces_of_one_type_stay_together() -> None:
    pair = [replace(result("npu", op), targets=(op,)) for op in ("aten::a", "aten::b")]
    (kept,) = stored(pair, CASTS)
    assert restored((kept,), CASTS) == {"npu": tuple(pair)}


@pytest.mark.parametrize("data", ["eJxLTEpOAQAD2AGL", "eJw=", "no base64 at all", ""])
def test_what_was_changed_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        restored((StoredTrace("cuda", "", data),), CASTS)
    with pytest.raises(ValueError, match="npu"):
        restored((StoredTrace("cuda", "", "", same_as="npu"),), CASTS)


def test_casts_are_read_as_they_are_written() -> None:
    casts = {"int64": "int32", "float64": "float32"}
    assert casts_text(casts) == "float64=float32,int64=int32"
    assert casts_of(casts_text(casts)) == casts
    assert casts_of("") == {}


def test_other_lists_for_autocast_are_other_casts() -> None:
    casts = {"float64": "float32"}
    first, other = (casts_text(casts, {"fp32": ops}) for ops in (("aten::a",), ("aten::b",)))
    assert len({first, other, casts_text(casts), casts_text(casts, {"lower": ("aten::a",)})}) == 4
    assert first == casts_text(casts, {"fp32": ["aten::a"]})
    assert casts_of(first) == casts
    assert (has_autocast(first), has_autocast(casts_text(casts))) == (True, False)
    kept = stored([result("npu")], {"npu": first})
    assert restored(kept, {"npu": first})
    assert restored(kept, {"npu": other}) == {}


def test_a_run_asks_for_traces_by_the_lists_that_its_targets_share() -> None:
    npu = matrix_of("ascend-910b")
    assert npu.autocast
    changed = replace(npu, autocast={name: ops[1:] for name, ops in npu.autocast.items()})
    (one,), (other,) = targets_of([npu]), targets_of([changed])
    both = targets_of([npu, changed])
    assert one.casts != other.casts
    assert {has_autocast(target.casts) for target in both} == {False}


def test_a_key_is_of_all_that_a_trace_rests_on(tmp_path: Path) -> None:
    net = tmp_path / "net.py"
    net.write_text("def net(): ...")
    request, on = ScanRequest(ModelSpec(f"{net}:net"), ()), [target("ascend-910b@26.1.0+torch2.12")]
    newer = [target("ascend-910b@26.1.0+torch2.12", "fedcba0987654321")]
    first = keys.key_of(request, on)
    assert (
        keys.key_of(replace(request, model=replace(request.model, timeout=3.0, memory=1.0)), on)
        == first
    )
    assert keys.key_of(request, newer) == first
    assert (
        keys.key_of(replace(request, model=replace(request.model, inputs=("x=1x3",))), on) != first
    )
    step = replace(request, model=replace(request.model, step=TrainingSpec()))
    assert len({first, keys.key_of(step, on), keys.key_of(step, newer)}) == 3
    net.write_text("def net(): return 1")
    assert keys.key_of(request, on) != first


def test_a_key_is_of_the_files_of_a_folder_but_its_weights(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    request = ScanRequest(ModelSpec(f"hf:{tmp_path}"), ())
    first = keys.key_of(request, [])
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert keys.key_of(request, []) == first
    (tmp_path / "code.py").write_text("...")
    assert keys.key_of(request, []) != first


def test_libraries_are_those_that_models_surely_import(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import os\nfrom transformers import x\n# import timm\n")
    sources = ["timm:resnet18", "absent.pt2"]
    assert keys.libraries_of(ScanRequest(ModelSpec(s), ()) for s in sources) == (
        "timm",
        "torchvision",
    )
    own = [ScanRequest(ModelSpec(f"{tmp_path}/net.py:net"), ())]
    assert keys.libraries_of(own) == ("transformers",)
    trained = [ScanRequest(ModelSpec("absent.pt2", step=TrainingSpec()), ())]
    assert keys.libraries_of(trained) == ("torch._dynamo",)  # by its optimizer
    assert keys.libraries_of(own, scripts=True) == ("torch._dynamo", "transformers")


def test_a_trace_of_nothing_is_kept_too() -> None:
    empty = WorkResult(Trace("2.13.0", "npu", "inference", (), (), ()), "python", "")
    assert restored(stored([empty], CASTS), CASTS) == {"npu": (empty,)}
