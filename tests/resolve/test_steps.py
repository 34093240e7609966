"""What was looked at for a finding, in order."""

from msgspec.structs import replace

from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.matrix import Earlier, Entry, Fallback, SupportMatrix
from opcheck.model.trace import Composite, Constant, Node, Use, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from tests.resolve import made


def looked_at(matrix: SupportMatrix, *nodes: Node) -> tuple[str, ...]:
    (finding,) = resolve(made.trace(*nodes), matrix, explained=True).findings
    return finding.steps


def test_nothing_is_said_unless_asked_for() -> None:
    (finding,) = resolve(made.trace(made.node("aten::odd")), made.matrix()).findings
    assert finding.steps == ()


def test_a_kernel_ends_the_search_and_conditions_follow() -> None:
    held = made.condition(Verdict.UNSUPPORTED, made.dtype("float32"), code="no-float")
    other = made.condition(Verdict.UNSUPPORTED, made.dtype("int64"))
    matrix = made.matrix("aten::add.Tensor", conditions={"aten::add.Tensor": [held, other]})
    assert looked_at(matrix, made.node("aten::add.Tensor")) == (
        "kernel: registered for aten::add.Tensor (path)",
        "conditions: of 2 known, this call meets no-float",
    )
    assert looked_at(made.matrix("aten::add.Tensor"), made.node("aten::add.Tensor")) == (
        "kernel: registered for aten::add.Tensor (path)",
        "conditions: none is known for it",
    )


def test_without_a_kernel_the_host_is_looked_at_last() -> None:
    odd, nowhere = made.node("aten::odd"), made.node("aten::odd", cpu=False)
    none = ("kernel: none is registered for aten::odd", "composite: PyTorch has none")
    end = "conditions: none is known for it"
    asks = Fallback(False, "", (), enable="X=1")
    compiler = Fallback(False, "", (), elsewhere="which PyTorch runs on the same GPU")
    for fallback, node, said in (
        (made.TO_HOST, odd, "host: a CPU kernel takes it"),
        (made.TO_HOST, nowhere, "host: there is no CPU kernel to fall back to"),
        (made.NONE, odd, "host: the target has no fallback"),
        (asks, odd, "host: the target falls back with X=1 alone"),
    ):
        assert looked_at(made.matrix(fallback=fallback), node) == (*none, said, end)
    assert looked_at(made.matrix(fallback=compiler), odd) == (
        "converter: none is registered for aten::odd",
        none[1],
        "host: what has no converter is left to PyTorch, which PyTorch runs on the same GPU",
        end,
    )


def test_the_host_gives_no_quantized_tensor_back() -> None:
    given: dict[str, Value] = {"self": made.tensor(), "dtype": Constant("dtype", "quint8")}
    node = made.node("aten::quantize_per_tensor", given=given)
    assert looked_at(made.matrix(), node)[2] == (
        "host: a quantized tensor does not come back from it"
    )
    (finding,) = resolve(made.trace(node), made.matrix()).findings
    assert finding.verdict is Verdict.UNSUPPORTED
    assert in_chinese(made.matrix(), node)[2] == "主机：量化张量无法从主机返回"


def test_the_worst_of_what_a_composite_runs_as_is_followed() -> None:
    good, bad = made.node("aten::good"), made.node("aten::bad", cpu=False)
    whole = made.node("aten::whole", 0, 1, composite=Composite.IMPLICIT)
    assert looked_at(made.matrix("aten::good"), good, bad, whole) == (
        "kernel: none is registered for aten::whole",
        "composite: runs as aten::bad, aten::good",
        "aten::bad > kernel: none is registered for aten::bad",
        "aten::bad > composite: PyTorch has none",
        "aten::bad > host: there is no CPU kernel to fall back to",
        "aten::bad > conditions: none is known for it",
        "conditions: none is known for it",
    )
    assert looked_at(made.matrix("aten::good", "aten::bad"), good, bad, whole) == (
        "kernel: none is registered for aten::whole",
        "composite: runs as aten::bad, aten::good",
        "conditions: none is known for it",
    )


def test_what_an_older_torch_asks_for_is_followed() -> None:
    inner, whole = Composite.IMPLICIT, made.node("aten::whole", 1, composite=Composite.IMPLICIT)
    nodes = (made.node("aten::old"), made.node("aten::new", 0, composite=inner), whole)
    older = Earlier(("aten::old",), "it was spelled out", (made.TABLE,))
    matrix = made.matrix("aten::old", history={"aten::new": ("2.10", "2.13")})
    assert looked_at(replace(matrix, earlier={"aten::new": older}), *nodes) == (
        "kernel: none is registered for aten::whole",
        "composite: runs as aten::new",
        "aten::new > kernel: none is registered for aten::new",
        "aten::new > torch: torch 2.9 on the target does not have aten::new yet (first in 2.10): "
        "there the same code takes another way",
        "aten::new > composite: runs as aten::old",
        "aten::new > conditions: none is known for it",
        "conditions: none is known for it",
    )
    unsaid = "aten::new > composite: nobody has said what it runs as there"
    assert looked_at(matrix, *nodes)[4] == unsaid


def test_what_autograd_takes_apart_is_asked_of_no_kernel() -> None:
    held = made.condition(Verdict.UNSUPPORTED, made.dtype("float32"), code="no-float")
    whole, part = made.node("aten::whole", composite=Composite.IMPLICIT), made.node("aten::part")
    matrix = made.matrix("aten::whole", "aten::part", conditions={"aten::whole": [held]})
    recorded = replace(made.trace(whole, part), taken_apart=(Use(0, "", "", 0, 1),))
    told = {finding.op: finding for finding in resolve(recorded, matrix, explained=True).findings}
    assert told["aten::whole"].verdict is Verdict.UNSUPPORTED
    assert told["aten::whole"].steps == (
        "autograd: takes it apart before the device is reached",
        "conditions: of 1 known, this call meets no-float",
    )
    assert told["aten::part"].steps[0] == "kernel: registered for aten::part (path)"


def test_tensors_in_two_places_end_the_search() -> None:
    given = {"self": made.tensor(), "other": made.tensor(host=True)}
    assert looked_at(
        made.matrix("aten::add.Tensor"), made.node("aten::add.Tensor", given=given)
    ) == ("tensors: one is in host memory, where the others are on the device",)


def test_what_could_not_be_taken_apart_is_said() -> None:
    opaque = made.node("aten::opaque", composite=Composite.EXPLICIT, opaque=True)
    assert looked_at(made.matrix(), opaque)[1] == "composite: what it runs as could not be recorded"
    empty = made.node("aten::empty", composite=Composite.IMPLICIT)
    assert looked_at(made.matrix(), empty)[1] == "composite: it asks the device for nothing"


def in_chinese(matrix: SupportMatrix, *nodes: Node) -> list[str]:
    with speaking(Language.CHINESE):
        return [tell(step) for step in looked_at(matrix, *nodes)]


def test_every_step_is_told_in_chinese() -> None:
    odd, nowhere = made.node("aten::odd"), made.node("aten::odd", cpu=False)
    assert in_chinese(made.matrix(), odd)[1:3] == [
        "复合算子：PyTorch 没有对应实现",
        "主机：由 CPU kernel 执行",
    ]
    assert in_chinese(made.matrix(), nowhere)[2] == "主机：没有可回退的 CPU kernel"
    assert in_chinese(made.matrix(fallback=made.NONE), odd)[2] == "主机：目标没有回退"
    given = {"self": made.tensor(), "other": made.tensor(host=True)}
    assert in_chinese(made.matrix(), made.node("aten::add.Tensor", given=given)) == [
        "张量：其中一个在主机内存中，其余在设备上"
    ]
    opaque = made.node("aten::opaque", composite=Composite.EXPLICIT, opaque=True)
    assert in_chinese(made.matrix(), opaque)[1] == "复合算子：无法录制其分解结果"
    empty = made.node("aten::empty", composite=Composite.IMPLICIT)
    assert in_chinese(made.matrix(), empty)[1] == "复合算子：不向设备请求任何算子"


def test_steps_of_older_torch_and_of_autograd_are_told_in_chinese() -> None:
    inner = made.node("aten::new", 0, composite=Composite.IMPLICIT)
    matrix = made.matrix("aten::old", history={"aten::new": ("2.10", "2.13")})
    steps = in_chinese(matrix, made.node("aten::old"), inner)
    assert steps[2] == "复合算子：没有资料说明它在那里运行为什么"
    whole, part = made.node("aten::whole", composite=Composite.IMPLICIT), made.node("aten::part")
    recorded = replace(made.trace(whole, part), taken_apart=(Use(0, "", "", 0, 1),))
    held = made.condition(Verdict.UNSUPPORTED, made.dtype("float32"), code="no-float")
    matrix = made.matrix("aten::whole", "aten::part", conditions={"aten::whole": [held]})
    told = {finding.op: finding for finding in resolve(recorded, matrix, explained=True).findings}
    with speaking(Language.CHINESE):
        assert tell(told["aten::whole"].steps[0]) == "autograd：在到达设备之前已将其分解"


def test_a_composite_of_host_tensors_is_not_dispatched_to_the_device() -> None:
    given = {"self": made.tensor(host=True)}
    node = made.node("aten::whole", composite=Composite.IMPLICIT, given=given)
    said = "kernel: not asked, for all tensors of this call are in host memory"
    assert looked_at(made.matrix("aten::whole"), node)[0] == said
    assert in_chinese(made.matrix("aten::whole"), node)[0] == (
        "kernel：无需考察，该调用的所有张量都在主机内存中"
    )


def test_a_compiler_converts_what_it_has_a_converter_for() -> None:
    compiler = Fallback(False, "", (), elsewhere="which PyTorch runs on the same GPU")
    matrix = made.matrix("aten::odd", fallback=compiler)
    matrix = replace(matrix, entries={"aten::odd": Entry("aten::odd", (made.LISTED,))})
    (finding,) = resolve(made.trace(made.node("aten::odd")), matrix, explained=True).findings
    assert (finding.steps[0], finding.reason.text) == (
        "converter: registered for aten::odd",
        "the vendor registers a converter for aten::odd",
    )
    with speaking(Language.CHINESE):
        assert tell(finding.reason.text) == "厂商为 aten::odd 注册了转换器"


def test_a_collective_is_of_the_backend_of_the_target() -> None:
    node = made.node("c10d::odd_")
    assert looked_at(made.matrix(), node)[2] == (
        "backend: PyTorch hands a collective to the target's backend of torch.distributed"
    )
    assert in_chinese(made.matrix(), node)[2] == (
        "后端：PyTorch 将集合通信交给目标的 torch.distributed 后端"
    )
