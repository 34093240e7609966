"""A user's suite under ``pytest --opcheck-device``; every run is a process of its own.

But for runs without a device, they are copies of one that has PyTorch loaded.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

import opcheck.emulate.session  # noqa: F401  # pytester drops what a test loads first
from opcheck.lang.speech import Language, speaking
from opcheck.model.emulation import Caution, HostCalls, Refusal, Site
from opcheck.model.report import KernelCount, Reason
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.pytest_plugin import summary
from opcheck.pytest_plugin.options import Options
from opcheck.pytest_plugin.run import DeviceRun
from opcheck.pytest_plugin.usage import OUTSIDE, Test, Used
from tests.db.overlays import OVERLAY, written
from tests.preloaded import python

pytest_plugins = ("pytester",)

ROOT = Path(__file__).parent.parent
SUITE = ROOT / "examples" / "npu_suite"
MODULE = "opcheck.pytest_plugin"
DEVICE = "--opcheck-device=ascend-910b"

Run = Callable[..., pytest.RunResult]


OTHERS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio")
"""What else is installed here takes longer to load than most suites below."""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest in a process of its own, with the plugin whether it is installed or not."""
    return _runs(pytester, monkeypatch, python("torch"))


@pytest.fixture
def run_anew(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same in a process that has not loaded anything."""
    return _runs(pytester, monkeypatch, (sys.executable,))


def _runs(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, program: tuple[str, ...]
) -> Run:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("NO_COLOR", "1")
    installed = any(e.value == MODULE for e in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", MODULE)
    place = f"--basetemp={pytester.path.parent / 'of-the-run'}"

    def call(*arguments: str, **files: str) -> pytest.RunResult:
        if files:
            pytester.makepyfile(**files)
        return pytester.run(*program, "-m", "pytest", place, *plugin, *OTHERS, *arguments)

    return call


def report_of(run: Run, *arguments: str, **files: str) -> Any:
    run(*arguments, "--opcheck-report=out/report.json", **files)
    return json.loads(Path("out/report.json").read_text())


def outcomes(document: Any) -> dict[str, str]:
    """Test, without its file, and how it ended."""
    return {test["test"].partition("::")[2]: test["outcome"] for test in document["tests"]}


def asked(document: Any) -> dict[str, dict[str, int]]:
    """Test, and how often it asked for what."""
    return {
        test["test"].partition("::")[2]: {k["op"]: k["count"] for k in test["kernels"]}
        for test in document["tests"]
    }


def failure(result: pytest.RunResult) -> list[str]:
    """The lines of the first failure that is shown, without marks below the code."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if re.fullmatch(r"_+ test_\w+ _+", line))
    end = next(i for i, line in enumerate(lines) if i > start and re.match(r"===|___", line))
    return [line for line in lines[start + 1 : end] if not set(line) <= set(" ^")]


# without a device


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"opcheck": MODULE}


@pytest.mark.slow
def test_without_a_device_nothing_is_loaded(run_anew: Run) -> None:
    result = run_anew(
        test_plain="""
            import sys

            def test_nothing_is_loaded():
                ours = {name for name in sys.modules if name.partition(".")[0] == "opcheck"}
                assert ours == {
                    "opcheck", "opcheck.emulate", "opcheck.lang", "opcheck.lang.sentence",
                    "opcheck.version", "opcheck.pytest_plugin", "opcheck.pytest_plugin.options",
                }
                assert "torch" not in sys.modules

            def test_a_device(opcheck_device): ...
        """
    )
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.no_fnmatch_line("*opcheck: *")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--opcheck-device=ascend-910z"],
            "ERROR: opcheck: unknown target 'ascend-910z'\n"
            "did you mean ascend-910b or ascend-910c or ascend-910a?",
        ),
        (
            ["--opcheck-strict"],
            "ERROR: --opcheck-strict says how to emulate a device, but no device is named; "
            "add --opcheck-device TARGET",
        ),
        (
            [DEVICE, "--opcheck-confidence=sure"],
            "ERROR: --opcheck-confidence: 'sure' is no confidence; it is one of high, medium, low",
        ),
        (
            [DEVICE, "--opcheck-report=."],
            "ERROR: --opcheck-report: {here} is a directory; name a file",
        ),
        (
            [DEVICE, f"--opcheck-report={__file__}/report.json"],
            f"ERROR: --opcheck-report: [Errno 17] File exists: {__file__!r}; name a file elsewhere",
        ),
    ],
)
def test_bad_options_are_usage_errors(
    run_anew: Run, pytester: pytest.Pytester, arguments: list[str], message: str
) -> None:
    result = run_anew(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().strip() == message.format(here=pytester.path)


# with a device


@pytest.mark.slow
def test_the_device_is_open_from_the_first_import_to_the_end(
    run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest("import torch\nassert torch.npu.is_available()")
    pytester.makepyfile(
        test_it="""
            import torch
            HERE = torch.ones(2, device="npu")

            def test_it(opcheck_device):
                assert HERE.device == opcheck_device
        """,
        two_runs=f"""
            import sys
            import pytest
            plugins = ["-p", {MODULE!r}] if len(sys.argv) > 1 else []
            for target in ("ascend-910b", "ascend-910a"):
                code = pytest.main(["-q", "--opcheck-device", target, "test_it.py", *plugins])
                import torch
                assert (code, torch.npu.is_available()) == (0, False)
        """,
    )
    installed = any(e.value == MODULE for e in entry_points(group="pytest11"))
    result = pytester.runpython_c(
        f"import sys; sys.argv = ['x'] + ['not installed'] * {int(not installed)};"
        "exec(open('two_runs.py').read())"
    )
    assert result.ret == 0


COUNTED = """
    import pytest
    import torch

    HERE = torch.ones(2, device="npu")

    @pytest.fixture(scope="module")
    def shared(opcheck_device):
        return HERE + HERE

    def test_first(shared):
        assert (shared * 2).tolist() == [4, 4]

    def test_second(shared):
        shared * 2

    def test_host(shared):
        torch.heaviside(shared, shared)

    def test_breaks_in_a_step():
        torch.optim.SGD([torch.nn.Parameter(HERE)]).step(lambda: 1 / 0)

    def test_after_it(shared):
        shared - 1
"""


@pytest.mark.slow
def test_each_test_counts_what_it_asked_for(run: Run) -> None:
    document = report_of(run, DEVICE, test_it=COUNTED)
    counts = asked(document)
    assert counts == {
        "test_first": {"aten::_to_copy": 1, "aten::add.Tensor": 1, "aten::mul.Tensor": 1},
        "test_second": {"aten::mul.Tensor": 1},
        "test_host": {"aten::empty.memory_format": 1, "aten::heaviside.out": 1},
        "test_breaks_in_a_step": {},
        "test_after_it": {"aten::sub.Tensor": 1},
    }
    (outside,) = document["outside_tests"]
    assert {kernel["op"]: kernel["count"] for kernel in outside["kernels"]} == {"aten::ones": 1}
    phases = {t["test"]: {k["phase"] for k in t["kernels"]} for t in document["tests"]}
    assert phases["test_it.py::test_after_it"] == {"forward"}


REFUSED = """
    import torch

    def served(x):
        return x.to(torch.bfloat16)

    def test_refused(opcheck_device):
        served(torch.ones(2, device=opcheck_device))

    def test_wrong_shapes(opcheck_device):
        x = torch.ones(2, 3, device=opcheck_device)
        x @ x

    def test_host(opcheck_device):
        x = torch.ones(2, device=opcheck_device)
        torch.heaviside(x, x)
        torch.heaviside(x, x)

    def test_host_again(opcheck_device):
        x = torch.ones(2, device=opcheck_device)
        torch.heaviside(x, x)
"""


@pytest.fixture(scope="module")
def kept() -> dict[str, pytest.RunResult]:
    return {}


@pytest.fixture
def refused(run: Run, kept: dict[str, pytest.RunResult]) -> pytest.RunResult:
    """One run for all that is asked about it."""
    if not kept:
        kept["refused"] = run("--opcheck-device=ascend-910a", "--tb=short", test_it=REFUSED)
    return kept["refused"]


@pytest.mark.slow
def test_a_refused_call_fails_in_the_users_line(refused: pytest.RunResult) -> None:
    assert failure(refused) == [
        "test_it.py:7: in test_refused",
        "    served(torch.ones(2, device=opcheck_device))",
        "test_it.py:4: in served",
        "    return x.to(torch.bfloat16)",
        "E   RuntimeError: the result is bfloat16, which 910a does not have: bfloat16 needs "
        "Ascend910B1 or a newer SoC",
    ]
    shown = "\n".join(refused.outlines)
    assert "opcheck/emulate" not in shown
    assert "opcheck/trace" not in shown


@pytest.mark.slow
def test_a_fallback_warns_once_in_the_summary(refused: pytest.RunResult) -> None:
    said = [line.strip() for line in refused.outlines if "CAUTION" in line]
    (warning,) = said
    assert warning.endswith(
        "test_it.py:15: UserWarning: CAUTION: The operator 'aten::heaviside.out' is not currently "
        "supported on the NPU backend and will fall back to run on the CPU. This may have "
        "performance implications."
    )


def test_the_run_ends_with_a_section(refused: pytest.RunResult) -> None:
    lines = refused.outlines
    start = next(i for i, line in enumerate(lines) if re.match("=+ opcheck: ", line))
    end = next(i for i, line in enumerate(lines) if i > start and line.startswith("==="))
    assert re.fullmatch(r"=+ opcheck: emulated ascend-910a@[\d.]+\+torch[\d.]+ =+", lines[start])
    assert re.fullmatch(r"4 of 4 tests used the device: \d+ kernels in \d+ calls", lines[start + 1])
    assert lines[start + 2 : end] == [
        "",
        "on the host:",
        "  aten::heaviside.out  3 calls  96 B  test_it.py::test_host and 1 other",
        "",
        "refused:",
        "  aten::_to_copy  1 call  test_it.py::test_refused  RuntimeError: the result is "
        "bfloat16, which 910a does not have: bfloat16 needs Ascend910B1 or a newer SoC",
    ]


STRICT = """
    import pytest
    import torch

    @pytest.mark.opcheck_no_fallback
    def test_marked(opcheck_device):
        x = torch.ones(2, device=opcheck_device)
        torch.heaviside(x, x)

    def test_not_marked(opcheck_device):
        x = torch.ones(2, device=opcheck_device)
        torch.heaviside(x, x)

    @pytest.mark.opcheck_no_fallback
    def test_stays(opcheck_device):
        torch.ones(2, device=opcheck_device) + 1
"""


@pytest.mark.slow
def test_a_marked_test_fails_on_the_host(run: Run) -> None:
    result = run(DEVICE, "--strict-markers", test_it=STRICT)
    result.assert_outcomes(failed=1, passed=2, warnings=1)
    assert failure(result) == [
        "opcheck: runs on the host, where this test may run nothing",
        "  aten::heaviside.out  1 call  32 B  test_it.py:7",
    ]


@pytest.mark.slow
def test_every_test_fails_on_the_host_when_strict(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nopcheck_device = ascend-910b\nopcheck_strict = true")
    document = report_of(run, test_it=STRICT)
    assert outcomes(document) == {
        "test_marked": "failed",
        "test_not_marked": "failed",
        "test_stays": "passed",
    }


@pytest.mark.slow
def test_outcomes_are_those_that_pytest_tells(run: Run) -> None:
    document = report_of(
        run,
        DEVICE,
        test_it="""
            import unittest
            import pytest

            @pytest.fixture
            def breaks():
                yield
                raise RuntimeError

            def test_error(breaks): ...
            def test_skipped(): pytest.skip()
            @pytest.mark.xfail
            def test_xfailed(): assert False

            class Old(unittest.TestCase):
                def test_subtests(self):
                    for i in range(2):
                        with self.subTest(i=i):
                            assert i
        """,
    )
    assert outcomes(document) == {
        "test_error": "error",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "Old::test_subtests": "failed",
    }


@pytest.mark.slow
def test_a_run_without_tests_tells_nothing(run: Run) -> None:
    result = run(DEVICE, "--collect-only", test_it="def test_it(): ...")
    result.stdout.no_fnmatch_line("=* opcheck: *")


LGAMMA = """
    import torch

    def test_lgamma(opcheck_device):
        torch.lgamma(torch.ones(2, device=opcheck_device))
"""


@pytest.mark.slow
@pytest.mark.parametrize("configured", [False, True])
def test_the_device_holds_to_overlays(
    configured: bool, run: Run, pytester: pytest.Pytester
) -> None:
    (plain,) = report_of(run, DEVICE, test_it=LGAMMA)["tests"]
    assert [call["op"] for call in plain["host_calls"]] == ["aten::lgamma.out"]
    written(Path("over"), team=OVERLAY)
    if configured:
        pytester.makeini("[pytest]\nopcheck_db = over")
    arguments = () if configured else ("--opcheck-db=over",)
    (layered,) = report_of(run, DEVICE, *arguments)["tests"]
    assert (layered["outcome"], layered["host_calls"]) == ("passed", [])


@pytest.mark.slow
def test_a_folder_that_holds_no_overlay_is_a_usage_error(run: Run) -> None:
    result = run(DEVICE, "--opcheck-db=.", test_it="def test_it(): ...")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "holds nothing that opcheck reads" in result.errlines[0]


@pytest.mark.slow
def test_new_tensors_go_to_the_device_by_default(run: Run) -> None:
    result = run(
        DEVICE,
        "--opcheck-default",
        test_it="""
            import torch

            def test_it(opcheck_device):
                linear = torch.nn.Linear(2, 2)
                assert linear.weight.device == torch.ones(2).device == opcheck_device
                assert torch.ones(2, device="cpu").device.type == "cpu"
                linear(torch.ones(1, 2)).sum().backward()
                assert linear.weight.grad.device == opcheck_device
        """,
    )
    result.assert_outcomes(passed=1)


AS_CUDA = """
    import io
    import torch
    from torch import nn

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def test_tensors():
        assert device.type == "cuda"
        for made in (torch.ones(2).to(device), torch.ones(2, device="cuda:0"),
                     torch.ones(2).cuda(), torch.ones(2, device=device).new_zeros(2)):
            assert made.is_cuda and made.device.type == "npu"
        assert not torch.ones(2).is_cuda and not torch.ones(2).cuda().cpu().is_cuda

    def test_modules():
        for made in (nn.Linear(2, 2).cuda(), nn.Linear(2, 2).to("cuda"),
                     nn.Linear(2, 2, device=device)):
            made(torch.ones(1, 2, device="cuda")).sum().backward()
            assert made.weight.grad.is_cuda

    def test_the_module_answers():
        assert torch.cuda.device_count() == 1
        assert torch.cuda.get_device_name() == torch.npu.get_device_name()
        before = torch.cuda.memory_allocated()
        kept = torch.ones(1024, device="cuda")
        assert torch.cuda.memory_allocated() - before == 4096
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.manual_seed_all(0)

    def test_training():
        linear = nn.Linear(2, 2).cuda()
        optimizer = torch.optim.AdamW(linear.parameters())
        scaler = torch.amp.GradScaler("cuda")
        for autocast in (torch.autocast("cuda"), torch.cuda.amp.autocast()):
            with autocast:
                out = linear(torch.ones(1, 2, device=device))
            assert out.dtype == torch.float16
            scaler.scale(out.float().sum()).backward()
            scaler.step(optimizer)
            scaler.update()

    def test_weights():
        file = io.BytesIO()
        torch.save(nn.Linear(2, 2).cuda().state_dict(), file)
        for place, is_there in (("cuda", True), (device, True), ("cpu", False)):
            file.seek(0)
            assert torch.load(file, map_location=place)["weight"].is_cuda == is_there
"""


@pytest.mark.slow
def test_cuda_means_the_device(run: Run) -> None:
    document = report_of(run, DEVICE, "--opcheck-as-cuda", test_it=AS_CUDA)
    assert outcomes(document) == {
        "test_tensors": "passed",
        "test_modules": "passed",
        "test_the_module_answers": "passed",
        "test_training": "passed",
        "test_weights": "passed",
    }


@pytest.mark.slow
def test_cuda_is_as_before_when_the_run_is_over(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="def test_it(): ...",
        check="""
            import torch
            from opcheck import emulate

            def state():
                owners = (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.amp,
                          torch.Tensor, torch.nn.Module, torch.autocast, torch.amp.GradScaler)
                return [dict(vars(owner)) for owner in owners]

            with emulate("ascend-910b") as device:
                from opcheck.emulate.patches import as_cuda
                before = state()
                with as_cuda(device):
                    assert state() != before
                assert state() == before
        """,
    )
    path = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "") + os.pathsep + str(ROOT)}
    subprocess.run([*python("torch"), "check.py"], check=True, env=path)


@pytest.mark.slow
def test_shapes_alone_take_no_time_for_values(run: Run) -> None:
    result = run(
        DEVICE,
        "--opcheck-shapes",
        test_it="""
            import torch

            def test_it(opcheck_device):
                big = torch.empty(1 << 20, 1 << 20, device=opcheck_device)
                assert (big @ big).shape == (1 << 20, 1 << 20)
        """,
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["opcheck: emulated ascend-910b@*, shapes only"])


# the example


def suite_on(run: Run, pytester: pytest.Pytester, target: str) -> Any:
    shutil.copytree(SUITE, pytester.path, dirs_exist_ok=True)
    document = report_of(run, f"--opcheck-device={target}")
    tests = document["tests"]
    return (
        {test["test"]: test["outcome"] for test in tests},
        [(t["test"], c["op"], c["sites"]) for t in tests for c in t["host_calls"]],
        [(t["test"], r["op"], r["error"]) for t in tests for r in t["refusals"]],
    )


PASSED = dict.fromkeys(
    [
        "test_classifier.py::test_agrees_with_the_host",
        "test_classifier.py::test_bfloat16_weights",
        "test_classifier.py::test_rotation_keeps_lengths",
        "test_classifier.py::test_scores_every_class",
        "test_classifier.py::test_weights_survive_a_file",
        "test_training.py::test_adamw_lowers_the_loss",
        "test_training.py::test_autocast",
        "test_training.py::test_every_weight_has_a_gradient",
        "test_training.py::test_loader_feeds_the_device",
    ],
    "passed",
)
ON_HOST = [
    (
        "test_classifier.py::test_rotation_keeps_lengths",
        "aten::linalg_matrix_exp",
        [{"module": "", "file": "classifier.py", "line": 76}],
    )
]


@pytest.mark.slow
def test_the_example_passes_on_910b(run: Run, pytester: pytest.Pytester) -> None:
    assert suite_on(run, pytester, "ascend-910b") == (PASSED, ON_HOST, [])


@pytest.mark.slow
def test_the_example_has_no_bfloat16_on_910a(run: Run, pytester: pytest.Pytester) -> None:
    test = "test_classifier.py::test_bfloat16_weights"
    error = (
        "RuntimeError: the result is bfloat16, which 910a does not have: bfloat16 needs "
        "Ascend910B1 or a newer SoC"
    )
    assert suite_on(run, pytester, "ascend-910a") == (
        {**PASSED, test: "failed"},
        ON_HOST,
        [(test, "aten::_to_copy", error)],
    )


@pytest.mark.slow
@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_workers_of_xdist_count_as_one_process_does(run: Run) -> None:
    alone = report_of(run, DEVICE, test_it=COUNTED)
    spread = report_of(run, DEVICE, "-n2", "--dist=loadfile")
    assert spread["tests"] == alone["tests"]


# the section, from hand-made values


def test_the_same_of_several_tests_is_said_once() -> None:
    def used(count: int, error: str = "") -> Used:
        site = Site("", "a.py", 3)
        reason = Reason("host-fallback", "no kernel")
        return Used(
            (KernelCount("aten::add.Tensor", Verdict.NATIVE, count, Phase.FORWARD),),
            (HostCalls("aten::x", reason, count, 1024 * count, Phase.FORWARD, (site,)),),
            (Refusal("aten::y", reason, error, 1, Phase.FORWARD, (site,)),) if error else (),
            (),
            ("zeros are assumed",),
        )

    tests = [Test("t.py::a", "passed", used(1)), Test("t.py::b", "failed", used(2, "E: no\n x"))]
    outside = [Test(OUTSIDE, "", used(1_000, "E: no x"))]
    assert list(summary.lines(tests, outside)) == [
        "2 of 2 tests used the device: 1 kernel in 1,003 calls",
        "",
        "on the host:",
        "  aten::x  1,003 calls  1003.0 KiB  t.py::a and 2 others",
        "",
        "refused:",
        "  aten::y  2 calls  t.py::b and 1 other  E: no x",
        "note: zeros are assumed",
    ]


def test_the_section_is_told_in_the_language_of_the_run() -> None:
    used = Used(
        (KernelCount("aten::add.Tensor", Verdict.NATIVE, 3, Phase.FORWARD),),
        (HostCalls("aten::x", Reason("host-fallback", ""), 3, 96, Phase.FORWARD, ()),),
        (),
        (),
        (),
    )
    tests = [Test("t.py::a", "passed", used), Test("t.py::b", "passed", used)]
    with speaking(Language.CHINESE):
        assert list(summary.lines(tests, [])) == [
            "2 个测试中有 2 个使用了设备：1 个 kernel，6 次调用",
            "",
            "在主机上：",
            "  aten::x  6 次调用  192 B  t.py::a 及另外 1 个",
        ]


def test_calls_with_a_caution_have_a_block() -> None:
    reason = Reason("slow", "is slow there")
    caution = Caution("aten::z", reason, 2, Phase.FORWARD, ())
    test = Test("t.py::a", "passed", Used((), (), (), (caution,), ()))
    assert list(summary.lines([test], []))[1:] == [
        "",
        "with a caution:",
        "  aten::z  2 calls  t.py::a  is slow there",
    ]
    with speaking(Language.CHINESE):
        assert list(summary.lines([test], []))[2] == "需要注意："


@pytest.mark.slow
def test_the_first_line_says_that_shapes_alone_go_on(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPCHECK_LANG", "zh")
    config = pytester.parseconfig()
    asked = Options("ascend-910b", "low", None, False, False, True, False)
    try:
        header = DeviceRun(asked, config).pytest_report_header()
    finally:
        config._ensure_unconfigure()
    assert re.fullmatch(r"opcheck：模拟的 ascend-910b@\S+，仅推导形状", header)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:CAUTION")
def test_the_first_line_and_what_fails_are_told_in_the_language_of_the_run(
    pytester: pytest.Pytester,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPCHECK_LANG", "zh")
    config = pytester.parseconfig()
    asked = Options("ascend-910b", "low", None, False, False, False, True)
    try:
        device = DeviceRun(asked, config)
        header = device.pytest_report_header()
        call = device.pytest_runtest_call(request.node)
        next(call)
        x = torch.ones(2, device=device.device)
        torch.heaviside(x, x)
        with pytest.raises(pytest.fail.Exception) as failed:
            call.send(None)
    finally:
        config._ensure_unconfigure()
    assert re.fullmatch(r"opcheck：模拟的 ascend-910b@\S+，在主机上计算", header)
    first, line = str(failed.value).splitlines()
    assert first == "opcheck：有算子在主机上运行，而此测试不允许这样"
    assert line.split()[:2] == ["aten::heaviside.out", "1"]


@pytest.mark.slow
def test_a_refusal_is_told_in_the_language_of_the_run(
    run_anew: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPCHECK_LANG", "zh")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    refused = run_anew("--opcheck-confidence=high")
    assert any(
        "--opcheck-confidence 说明如何模拟设备，但没有指定设备；请加上 --opcheck-device TARGET"
        in line
        for line in refused.errlines
    )
