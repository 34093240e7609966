"""Device types that share a trace: those that no code of a run could tell apart."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn

from opcheck.db.by_hand.libraries import Schemas
from opcheck.model.request import ModelSpec
from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.sandbox.parent import run
from opcheck.source.building.quantised.packed import pack
from opcheck.trace import trace_model
from opcheck.trace.running.device_asked import DeviceAsked

TYPES = ("rbln", "npu", "mlu", "musa", "cuda", "xpu", "mps", "hpu", "xla")
SHIPPED = Path(__file__).parents[2] / "compat_db"
LISTED = {"mps": 1, "cpu": 2}


class Calls(nn.Module):
    """A layer, and what ``then`` makes of it."""

    def __init__(self, then: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.then = then

    def forward(self, x: Tensor) -> Tensor:
        return self.then(self.layer(x))


def by_type(x: Tensor) -> Tensor:
    return x.sin() if x.device.type == "musa" else x.cos()


def by_flag(x: Tensor) -> Tensor:
    return x.sin() if x.is_cuda or x.is_xpu else x.cos()


def by_table(x: Tensor) -> Tensor:
    return x * LISTED.get(x.device.type, 3)


def by_module(x: Tensor) -> Tensor:
    return x.sin() if torch.backends.mps.is_available() else x.cos()


def by_name(x: Tensor) -> Tensor:
    return x.sin() if "mlu" in f"{x.device}" else x.cos()


def by_plugin(x: Tensor) -> Tensor:
    named = torch._C._get_privateuse1_backend_name()
    return x.sin() if x.device.type == named else x.cos()


def in_autocast(x: Tensor) -> Tensor:
    with torch.autocast(x.device.type, torch.bfloat16):
        return x @ x.T


def out_of_autocast(x: Tensor) -> Tensor:
    with torch.autocast(x.device.type, enabled=False):
        return x @ x.T


def by_what_there_is(x: Tensor) -> Tensor:
    if ON_MUSA and x.dim() > 1:
        return x.to("hpu")
    return x.to("xpu") if not (THERE or ON_MLU) else x.cos()


ON_MUSA, ON_MLU, THERE = False, False, True
ALIASED = {"cuda", "xpu", "mps", "hpu", "xla"}
TOLD: dict[Callable[[Tensor], Tensor], set[str]] = {
    torch.relu: set(),
    by_type: {"musa"},
    by_flag: {"cuda", "xpu"},
    by_table: {"mps"},
    by_module: {"mps"},
    by_name: {"mlu"},
    by_plugin: ALIASED,
    out_of_autocast: set(),
    by_what_there_is: {"musa"},
}


@torch.library.custom_op("opcheck_tests::asks_for_xpu", mutates_args=())
def asks_for_xpu(x: Tensor) -> Tensor:
    return x.sin() if x.is_xpu else x.cos()


@asks_for_xpu.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


_COMPOSITE = torch.library.Library("opcheck_tests", "FRAGMENT")
_COMPOSITE.define("asks_for_hpu(Tensor x) -> Tensor")


@torch.library.impl(_COMPOSITE, "asks_for_hpu", "CompositeImplicitAutograd")
def _asks_for_hpu(x: Tensor) -> Tensor:
    return x.sin() if x.device.type == "hpu" else x.cos()


def by_composite(x: Tensor) -> Tensor:
    found: Tensor = torch.ops.opcheck_tests.asks_for_hpu(x)
    return found


def branches(then: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: torch.cond(torch.tensor(True), then, torch.cos, (x,))


def by_type_in_a_branch(x: Tensor) -> Tensor:
    return x.sin() if x.device.type == "mlu" else x.cos()


def asked_by(module: nn.Module) -> DeviceAsked:
    asked = DeviceAsked(TYPES)
    trace_model(module, (torch.empty(4, 4),), {}, device_type="rbln", asked=asked)
    return asked


@pytest.mark.parametrize("then", TOLD, ids=lambda then: then.__name__)
def test_types_are_told_apart_where_code_that_runs_names_them(
    then: Callable[[Tensor], Tensor],
) -> None:
    asked = asked_by(Calls(then))
    assert asked.told_apart(TYPES) == TOLD[then]
    assert not asked.casts


@pytest.mark.parametrize(("then", "told"), [(asks_for_xpu, "xpu"), (by_composite, "hpu")])
def test_code_that_runs_within_a_call_is_heard(then: Callable[[Tensor], Tensor], told: str) -> None:
    assert asked_by(Calls(then)).told_apart(TYPES) == {told}


def test_code_of_a_branch_is_heard() -> None:
    asked_by(Calls(branches(torch.sin)))  # PyTorch imports what it branches with, which is heard
    assert asked_by(Calls(branches(torch.sin))).told_apart(TYPES) == set()
    assert asked_by(Calls(branches(by_type_in_a_branch))).told_apart(TYPES) == {"mlu"}


def test_what_a_module_holds_may_name_a_device() -> None:
    module = Calls(torch.relu)
    module.place = torch.device("xpu")  # type: ignore[assignment]  # as users do
    assert asked_by(module).told_apart(TYPES) == {"xpu"}


class Offloads(Calls):
    """Asks for a device in a line that may not run, as caches of transformers do."""

    def __init__(self, offloading: bool) -> None:
        super().__init__(torch.relu)
        self.offloading = offloading
        self.kept = self.moved

    def forward(self, x: Tensor) -> Tensor:
        return self.moved(x)

    def moved(self, x: Tensor) -> Tensor:
        if self.offloading:
            return x.sin() if x.is_xpu else x
        return x.cos()


class Keeps(Offloads):
    def forward(self, x: Tensor) -> Tensor:
        return self.kept(x)


class Debugs(Offloads):
    def moved(self, x: Tensor) -> Tensor:
        sys.settrace(None)
        if self.offloading:
            return x.sin() if x.is_xpu else x
        return x.cos()


def test_a_line_of_a_method_that_does_not_run_names_nothing() -> None:
    assert asked_by(Offloads(offloading=False)).told_apart(TYPES) == set()
    assert asked_by(Offloads(offloading=True)).told_apart(TYPES) == {"xpu"}


@pytest.mark.parametrize("kind", [Keeps, Debugs], ids=["kept from before", "heard by another"])
def test_every_line_of_a_method_counts_that_was_not_heard(kind: type[Offloads]) -> None:
    assert asked_by(kind(offloading=False)).told_apart(TYPES) == {"xpu"}


class Closed(type):
    def __setattr__(cls, name: str, value: object) -> None:
        raise RuntimeError(name)


class Asks(metaclass=Closed):
    @staticmethod
    def there(x: Tensor) -> bool:
        return False

    def asked(self, x: Tensor) -> Tensor:
        if self.there(x):
            return x.sin() if x.is_xpu else x
        return x.cos()


def test_a_class_that_does_not_let_itself_be_changed_is_heard_all_the_same() -> None:
    assert asked_by(Calls(lambda x: Asks().asked(x))).told_apart(TYPES) == set()


def test_methods_are_as_they_were_once_a_model_has_run() -> None:
    before = dict(vars(Offloads))
    asked_by(Offloads(offloading=False))
    assert dict(vars(Offloads)) == before


class Listed(Calls):
    DEVICES: ClassVar[frozenset[str]] = frozenset({"xpu", "hpu"})

    def forward(self, x: Tensor) -> Tensor:
        return x.sin() if x.device.type in self.DEVICES else x.cos()


def test_what_its_class_has_may_name_a_device() -> None:
    assert asked_by(Listed(torch.relu)).told_apart(TYPES) == {"xpu", "hpu"}


def test_a_layer_that_stands_for_a_librarys_is_the_models_own() -> None:
    net = nn.Sequential(nn.Linear(256, 128)).half()
    section = {"quant_method": "quanto", "weights": "int4"}
    assert pack(net, "quantization_config", section, Schemas(SHIPPED / "schemas"), valued=2**16)
    asked = DeviceAsked(TYPES)
    given = torch.empty(2, 256, dtype=torch.float16)
    trace_model(net, (given,), {}, device_type="rbln", asked=asked)
    assert {"mps", "cuda"} <= asked.told_apart(TYPES)


def test_a_region_that_casts_is_as_its_device_says() -> None:
    asked = asked_by(Calls(in_autocast))
    assert asked.casts
    assert asked.told_apart(TYPES) >= {"cuda", "mps"}


def test_a_profiler_of_the_models_own_leaves_nothing_sure() -> None:
    import sys

    def profiled(x: Tensor) -> Tensor:
        sys.setprofile(None)
        return x.cos()

    if sys.version_info < (3, 12):  # later ones are told by another way, which it does not end
        assert asked_by(Calls(profiled)).told_apart(TYPES) == set(TYPES)


def test_what_another_thread_runs_is_not_heard() -> None:
    import threading

    def apart(x: Tensor) -> Tensor:
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()
        return x.cos()

    assert asked_by(Calls(apart)).told_apart(TYPES) == set(TYPES)


MODELS = """
import torch
from torch import nn

class Asks(nn.Module):
    def forward(self, x):
        y = torch.arange(3, device=x.device)
        if x.device.type in ("npu", "xla"):
            return (x.sin(), y)
        return (x.reshape(3, 4).T.reshape(2, 6).cos(), y)

class Views(nn.Module):
    def forward(self, x):
        return x.reshape(3, 4).sin().reshape(4, 3).cos().reshape(12) @ x.reshape(12)

class Both(nn.Module):
    def forward(self, x):
        return x.reshape(3, 4) + x.view(3, 4)

class Offloads(nn.Module):
    offloading = False
    def forward(self, x):
        return self.moved(x)
    def moved(self, x):
        if self.offloading:
            return x.to("mps")
        return x.cos()

class Fills(nn.Module):
    def forward(self, x):
        return x + ones_like(x)

def ones_like(x, device="cuda"):
    return torch.ones(12, device=device).to(x.device)

class Masks(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, batch_first=True)
    def forward(self, x):
        return self.block(x)

class Casts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(12, 4)
    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16):
            return self.layer(x)

class Names(nn.Module):
    def forward(self, x):
        return x + torch.ones(12, device="cuda")

asks, casts, names = Asks(), Casts(), Names()
masks, views, both, fills, offloads = Masks(), Views(), Both(), Fills(), Offloads()
"""
SHAPES = {"asks": "1x12", "casts": "2x12", "names": "1x12", "masks": "2x5x8"}
SHAPES |= {"views": "1x12", "both": "1x12", "fills": "1x12", "offloads": "1x12"}


def works(types: tuple[str, ...]) -> tuple[DeviceWork, ...]:
    lists = {"lower_precision_fp": ("aten::mm",), "fp32": ("aten::addmm",)}
    return tuple(DeviceWork(name, autocast=lists if name == "mlu" else {}) for name in types)


def traced(model: ModelSpec, *types: str) -> tuple[WorkResult, ...]:
    return run.run(WorkRequest(model, (works(types),)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_traces_that_types_share_are_those_that_each_has_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODELS, encoding="utf-8")
    model = ModelSpec(f"{file}:{name}", (SHAPES[name],))
    types = ("npu", "mlu", "musa", "cuda", "mps", "xla", "hpu", "ort", "openvino")
    together = traced(model, *types)
    assert [result.trace.device_type for result in together] == [*types]
    for result in together:
        (alone,) = traced(model, result.trace.device_type)
        assert _plain(result.trace) == _plain(alone.trace)


def _plain(trace: Trace) -> Trace:
    return replace(trace, kernels={})


@pytest.mark.slow
def test_a_model_that_asks_nothing_is_run_once(tmp_path: Path) -> None:
    file = tmp_path / "counted.py"
    file.write_text(
        "from pathlib import Path\nimport torch\n"
        "class Counts(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        print('here')\n"
        "        return x.cos()\n"
        "net = Counts()\n",
        encoding="utf-8",
    )
    said: list[str] = []
    model = ModelSpec(f"{file}:net", ("1x3",))
    request = WorkRequest(model, (works(("rbln", "npu", "cuda", "mps", "xla")),))
    results = run.run(request, output=said.append)
    assert len(results) == 5
    assert said == ["here"]
