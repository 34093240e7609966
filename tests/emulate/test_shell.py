"""What stands for IPython in a notebook."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from opcheck.emulate.cells import Runner
from opcheck.emulate.record import Record
from opcheck.emulate.shell import Shell, stand_in
from opcheck.model.emulation import Site
from opcheck.source.magics import as_python


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Notebook:
    """A namespace, and what is recorded of it."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.record = Record(lambda: Site("", "", 0), lambda: 0)
        self.others: list[str] = []
        shell = Shell(self.names, self.record, self.others.append)
        self.names["get_ipython"] = lambda: shell
        self._runner = Runner(self.names)

    def run(self, text: str) -> None:
        self._runner.run(as_python(text), text, "a.ipynb#In[1]")

    def close(self) -> None:
        self._runner.close()

    @property
    def notes(self) -> list[str]:
        return [*self.record.notes]

    @property
    def gaps(self) -> list[tuple[str, str]]:
        return [(gap.where, gap.reason) for gap in self.record.gaps]


def test_what_is_left_out_is_told_with_its_place() -> None:
    book = Notebook()
    book.run("x = 1\n%load_ext autoreload\n!pip install timm\nfiles = !ls")
    book.run("%%html\n<b>x</b>")
    assert book.notes == [
        "a.ipynb#In[1]:2: %load_ext autoreload is left out",
        "a.ipynb#In[1]:3: !pip install timm is left out",
        "a.ipynb#In[1]:4: !ls is left out",
        "a.ipynb#In[1]:1: %%html is left out",
    ]
    assert (book.names["files"], book.gaps) == ([], [])
    book.run(f"!echo {'a' * 200}")
    assert len(book.notes[-1]) < 120


@pytest.mark.parametrize(
    "text",
    [
        "!python train.py", "!cd x && python3.11 -m train", "!CUDA_VISIBLE_DEVICES=0 torchrun t.py",
        "!/usr/bin/python t.py", "!accelerate launch t.py", "%cython", "%%cython\nx", "%%px\nf()",
        "%%bash\nls\npython train.py",
    ],
)  # fmt: skip
def test_what_may_use_the_device_is_a_gap(text: str) -> None:
    book = Notebook()
    book.run(text)
    first = text.partition("\n")[0]
    assert book.gaps == [("a.ipynb#In[1]:1", f"{first} is left out: what it runs is not seen")]
    assert book.notes == []


@pytest.mark.parametrize("text", ["!python -m pip install x", "%%bash\nls", "!ls mypython.txt"])
def test_other_commands_are_none(text: str) -> None:
    book = Notebook()
    book.run(text)
    assert (len(book.notes), book.gaps) == (1, [])


def test_magics_that_change_what_code_finds_do_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", "1")
    book = Notebook()
    os.mkdir("sub")
    book.run("%cd sub\nhere = %pwd")
    assert book.names["here"] == str(tmp_path / "sub")
    book.run("%env KEPT=2\n%set_env KEPT 3\nkept = %env KEPT\nwhole = %env")
    assert (book.names["kept"], book.names["whole"]["KEPT"]) == ("3", "3")
    book.run("%%writefile a.py\nimport sys\nY = sys.argv[1:]\n")
    book.run("%%writefile -a a.py\nZ = globals().get('x')\n")
    book.run("x = 5\n%run a.py 1 2")
    assert (book.names["Y"], book.names["Z"]) == (["1", "2"], None)
    book.run("%run -i a\n%run b.ipynb")
    assert (book.names["Z"], book.others) == (5, ["b.ipynb"])
    assert (book.notes, book.gaps) == ([], [])


def test_the_last_value_is_shown_and_await_may_stand_anywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    book = Notebook()
    book.run("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 7\nawait f()")
    book.run("x = await f()\nx + 1")
    book.run("x + 2;")
    book.run("")
    book.close()
    assert capsys.readouterr().out == "7\n8\n"


def test_tracebacks_show_lines_as_they_were_written() -> None:
    import traceback

    book = Notebook()
    with pytest.raises(ZeroDivisionError) as caught:
        book.run("%%time\nx = 0\n%time 1 / x")
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == ("a.ipynb#In[1]", 3, "%time 1 / x")


def test_code_finds_ipython_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, None)
    names: dict[str, Any] = {}
    book = Notebook()
    shell = book.names["get_ipython"]()
    stand_in(names, shell)
    exec(
        "from IPython import get_ipython, display as module\n"
        "from IPython.display import HTML, clear_output, display\n"
        "clear_output(wait=True)\n"
        "display(7, HTML('x'))\n"
        "get_ipython().events.register('post_execute', print)\n"
        "get_ipython().magic('%matplotlib inline')\n"
        "assert 'IPKernelApp' not in get_ipython().config\n",
        names,
    )
    assert names["get_ipython"]() is shell
    assert capsys.readouterr().out.startswith("7\n<IPython.display.HTML object at ")
    with pytest.raises(AttributeError):
        getattr(names["module"], "__wrapped__")  # noqa: B009  # it is the look-up that counts
