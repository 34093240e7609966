"""What every test of one process shares."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from opcheck.db.files import index
from opcheck.python_state import freeze
from opcheck.sandbox.parent.preloaded import Template, copied_from, loaded_anew
from tests import said
from tests.preloaded import libraries

if said.FOLDER in os.environ:  # a worker of such a run
    said.begin()
gc.disable()  # until all is collected: what is imported stays
os.environ["OPCHECK_LANG"] = "en"  # whatever language the machine speaks
# before torch is loaded: with a test at work on each core, threads would only wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

LONGEST = (
    "hostile/test_corpus.py", "emulate/test_agreement_operators.py", "lang/test_pseudo_locale.py",
    "test_readme.py", "emulate/test_agreement_models.py", "commands/fleet/test_ray.py",
    "runtime/test_probe.py", "test_isolate.py", "test_cut_short.py", "test_pytest_plugin.py",
    "rewrite/test_rules.py", "rewrite/custom/test_bindings.py", "rewrite/custom/test_families.py",
    "rewrite/custom/test_families_vectors.py", "app/test_fix_graph.py",
    "commands/fleet/test_local.py", "commands/fleet/test_script_outcomes.py", "test_copies.py",
    "app/test_fix.py", "commands/run/test_compare.py", "commands/run/test_run.py",
    "sandbox/test_command.py", "trace/test_exact.py", "trace/test_training.py",
    "trace/test_strides.py", "db/test_importers.py", "rewrite/test_spellings.py",
)  # fmt: skip
"""Files that take a third of a minute or more: the last to be begun would be waited for alone."""
COLLECTED_EVERY = 20_000
"""Objects more, as in opcheck's own processes: by Python's 700 the collector takes a tenth."""
LEFT_OUT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Have a run of all tests note which messages it has the package say."""
    chosen = config.option.keyword or config.option.markexpr or config.option.collectonly
    by_default = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if by_default and not chosen and said.FOLDER not in os.environ:
        os.environ[said.FOLDER] = tempfile.mkdtemp(prefix="opcheck-said-")
        said.begin()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell what messages a run of all tests left out, and fail it for more than a few new ones.

    Told where tests failed too: to hear of it after they are mended takes another run.
    """
    config = session.config
    if said.FOLDER not in os.environ:
        return
    said.write()
    if hasattr(config, "workerinput"):
        return
    folder, left = Path(os.environ[said.FOLDER]), said.unsaid()
    shutil.rmtree(folder)
    config.stash[LEFT_OUT] = left
    if len(left) > said.FEW:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    """Name those messages last: whoever reads the end of a log sees why all that passed failed."""
    if left := config.stash.get(LEFT_OUT, []):
        where = said.UNSAID.relative_to(config.rootpath)
        lines = "\n".join(f"  {text}" for text in left)
        sys.stderr.write(
            f"\nno test has these messages said, and {where} has them not ({len(left)}; more than"
            f" {said.FEW} fail a run):\n{lines}\n"
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the files that take the longest come first."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    assert all(map(Path.is_file, places))
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Leave every test and what is loaded until the end: the collector need not look at it."""
    gc.collect()
    freeze()
    gc.enable()
    gc.set_threshold(COLLECTED_EVERY)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a newer torch than this one: ``since("2.10")``."""
    for mark in item.iter_markers("since"):
        import torch

        if Version(torch.__version__).release[:2] < Version(mark.args[0]).release:
            pytest.skip(f"needs torch {mark.args[0]} or newer")


@pytest.fixture(scope="session", autouse=True)
def device_is_known() -> None:
    """Name the device before any test runs a backward: autograd learns of devices only then."""
    from opcheck.trace.device.tensors import prepare

    prepare("npu")


@pytest.fixture(scope="session", autouse=True)
def no_index_is_shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have tests begin without the index of an editable installation, as wheels bring one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "SHIPPED", tmp_path_factory.mktemp("shipped"))
        yield


@pytest.fixture(scope="session", autouse=True)
def workers_are_copies() -> Iterator[None]:
    """Load PyTorch once for the workers of all tests: most of what each would take is that."""
    template = Template(libraries.OF_RUNS)
    with copied_from(template):
        yield
    template.close()


@pytest.fixture(scope="session")
def with_libraries() -> Iterator[Template]:
    """A process that has loaded the models' libraries, too, for the folders that ask for it."""
    template = libraries.template()
    yield template
    template.close()


@pytest.fixture(scope="module")
def libraries_are_loaded(with_libraries: Template) -> Iterator[None]:
    """Load the models' libraries once for the workers of such tests: seconds for each of them."""
    with copied_from(with_libraries):
        yield


@pytest.fixture(scope="module", autouse=True)
def what_is_kept_is_left() -> Iterator[None]:
    """Have the collector leave what a module of tests keeps: each scan looks through the rest."""
    yield
    if state := sys.modules.get("opcheck.trace.running.model_state"):
        state.forget()
    gc.collect()
    freeze()
    if state := sys.modules.get("opcheck.trace.device.state"):
        state.count_from_here()


@pytest.fixture(autouse=True)
def gradients_are_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """Begin with gradients on, whatever the tests before left; say of a test that left them off."""
    _turn_on("before")
    yield
    _turn_on(f"by {request.node.nodeid}")


def _turn_on(where: str) -> None:
    torch = sys.modules.get("torch")
    if torch is not None and not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        warnings.warn(f"gradients were left off: {where}", stacklevel=1)


@pytest.fixture
def workers_are_started() -> Iterator[None]:
    """Have each worker of a test load PyTorch itself, as a command's only one does."""
    with loaded_anew():
        yield


@pytest.fixture
def no_process(workers_are_started: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test where a process is started."""

    class Started(subprocess.Popen[Any]):
        """A class still: modules that are imported only now name it in annotations."""

        def __init__(self, *_: object, **__: object) -> None:
            pytest.fail("a process was started")

    monkeypatch.setattr(subprocess, "Popen", Started)
