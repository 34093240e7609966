"""A test run with an emulated device: opens it, counts what each test uses of it, and reports."""

from collections.abc import Generator
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

from opcheck.errors import OpcheckError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.codec import from_json, to_json
from opcheck.model.emulation import HostCalls
from opcheck.pytest_plugin import summary, usage
from opcheck.pytest_plugin.language import in_language_of_run, translated
from opcheck.pytest_plugin.options import Options
from opcheck.pytest_plugin.usage import OUTSIDE, Test, Used
from opcheck.views.terminal.wide import columns

if TYPE_CHECKING:
    import torch

    from opcheck.emulate.session import Emulator


_KERNELS = frozenset(
    {
        "opcheck.trace.torch_internals.autocast",
        "opcheck.emulate.registration",
        "opcheck.trace.torch_internals.overrides",
    }
)
"""Modules whose functions C++ calls as the kernels of the device."""


def end_at_device(trace: TracebackType | None) -> None:
    """Cut off, in place, what runs inside a kernel of the emulated device."""
    while trace is not None:
        below = trace.tb_next
        if below is not None and below.tb_frame.f_globals.get("__name__") in _KERNELS:
            trace.tb_next = below = None
        trace = below


_KEY = "opcheck"
"""Where a worker process puts what it counted."""
_FINAL = ("failed", "error")
"""Outcomes that a later phase, or the test around a failed subtest, does not better."""


class DeviceRun:
    """pytest's plugin while there is a device."""

    def __init__(self, options: Options, config: pytest.Config) -> None:
        """Open the device; pytest closes it when it is done with ``config``.

        Raises:
            pytest.UsageError: there is no such target, or it cannot be emulated here.
        """
        self._options = options
        self._config = config
        self._undo = ExitStack()
        config.add_cleanup(self._undo.close)
        try:
            self._emulator = self._opened()
        except OpcheckError as error:
            raise pytest.UsageError(_text(error)) from error
        self._outcomes: dict[str, str] = {}
        self._tests: list[Test] = []
        self._outside: list[Test] = []

    @property
    def device(self) -> "torch.device":
        """The device that is open."""
        return self._emulator.device.torch_device

    def _opened(self) -> "Emulator":
        from opcheck.emulate.session import Emulator

        options = self._options
        emulator = Emulator(
            options.target,
            values=not options.shapes,
            confidence=options.confidence,
            databases=options.databases,
        )
        device = self._undo.enter_context(emulator)
        if options.as_cuda:
            from opcheck.emulate.patches import as_cuda

            self._undo.enter_context(as_cuda(device))
        if options.default:
            import torch

            self._undo.callback(torch.set_default_device, None)
            torch.set_default_device(device)
        return emulator

    # hooks, in the order in which pytest calls them

    def pytest_report_header(self) -> str:
        """Say in the first lines what the tests run on."""
        header = "opcheck: emulated {target}, computing on the host"
        if self._options.shapes:
            header = "opcheck: emulated {target}, shapes only"
        return translated(Sentence(header, target=self._emulator.target))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Count anew for each test."""
        self._set_aside()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fail a test that ran operators on the host and must not."""
        result = yield
        if self._options.strict or item.get_closest_marker("opcheck_no_fallback"):
            on_host = self._emulator.host_calls
            if on_host:
                pytest.fail(_forbidden(on_host), pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """End tracebacks at the user's line; give the last report what the whole test asked."""
        if call.excinfo is not None and not self._config.getoption("fulltrace"):
            end_at_device(call.excinfo.tb)
        report = yield
        if call.when == "teardown":
            setattr(report, _KEY, to_json(self._taken()))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test asked; its report may come from a worker process."""
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        category = status[0] if status else report.outcome  # nobody says without a terminal
        before = self._outcomes.get(report.nodeid, "passed")
        outcome = before if before in _FINAL else category or before
        self._outcomes[report.nodeid] = outcome
        used = getattr(report, _KEY, None)
        if used is not None:
            del self._outcomes[report.nodeid]
            self._tests.append(Test(report.nodeid, outcome, from_json(Used, used)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker of pytest-xdist did outside tests."""
        for used in getattr(node, "workeroutput", {}).get(_KEY, ()):
            self._outside.append(Test(OUTSIDE, "", from_json(Used, used)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Hand over what happened outside tests, or write the report."""
        self._set_aside()
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_KEY] = [to_json(test.used) for test in self._outside]
        elif self._options.report is not None:
            usage.write(self._options.report, self._header(), self._tests, self._outside)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what the tests asked of the device, if any ran."""
        if not self._tests and not self._outside:
            return
        title = translated(Sentence("opcheck: emulated {target}", target=self._emulator.target))
        wide = columns(title) - len(title)  # pytest counts characters, and some take two columns
        width = self._config.get_terminal_writer().fullwidth
        terminalreporter.write_sep("=", title, fullwidth=width - wide)
        with in_language_of_run():
            for line in summary.lines(self._tests, self._outside):
                terminalreporter.write_line(line)

    def _header(self) -> usage.Header:
        return usage.Header(
            self._emulator.target, not self._options.shapes, self._options.confidence
        )

    def _taken(self) -> Used:
        """What was asked since it was last taken."""
        return Used.of(self._emulator.device.record.cut())

    def _set_aside(self) -> None:
        used = self._taken()
        if used.any:
            self._outside.append(Test(OUTSIDE, "", used))


def _text(error: OpcheckError) -> str:
    return f"opcheck: {translated(error.message)}\n{translated(error.hint)}".rstrip()


def _forbidden(on_host: tuple[HostCalls, ...]) -> str:
    with in_language_of_run():
        lines = [tell("opcheck: runs on the host, where this test may run nothing")]
        lines += summary.host_lines(on_host)
    return "\n".join(lines)
