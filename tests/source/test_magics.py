"""Cells of notebooks as Python."""

import ast

import pytest

from opcheck.source.magics import as_python


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("x = 1\n", "x = 1\n"),
        (
            "%matplotlib inline\nx = 1",
            "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1",
        ),
        ("if a:\n    !ls 'it'", "if a:\n    get_ipython().system(\"ls 'it'\")"),
        ("!!ls", "get_ipython().getoutput('ls')"),
        ("x = !ls", "x = get_ipython().getoutput('ls')"),
        ("x = %env HOME", "x = get_ipython().run_line_magic('env', 'HOME')"),
        ("net?", "get_ipython().run_line_magic('pinfo', 'net')"),
        ("??net.fit", "get_ipython().run_line_magic('pinfo', 'net.fit')"),
        ("pip install timm", "get_ipython().run_line_magic('pip', 'install timm')"),
        ("cd ..", "get_ipython().run_line_magic('cd', '..')"),
        ("%time f(x)", "f(x)"),
        ("%timeit -n 10 -r3 f(x)", "f(x)"),
        ("%time", "pass"),
        ("!pip install a \\\n  b\ny = 2", "get_ipython().system('pip install a   b')\n\ny = 2"),
        ("%%time\nx = 1\n%time f(x)", "\nx = 1\nf(x)"),
        ("\n%%capture out\n%%time\nf(x)", "\n\n\nf(x)"),
        ("%%timeit -n 3 x = 1\nf(x)", "x = 1\nf(x)"),
        ("%%opcheck -t ascend-910b\nf(x)", "\nf(x)"),
        ("%opcheck -t ascend-910b --values f(x)", "f(x)"),
        ("%%bash -e\nls\n", "get_ipython().run_cell_magic('bash', '-e', 'ls\\n')\n"),
        ("a = 1\r\n!ls\r\n", "a = 1\nget_ipython().system('ls')\n"),
    ],
)
def test_what_ipython_adds_becomes_python(text: str, python: str) -> None:
    assert as_python(text) == python
    ast.parse(python)


@pytest.mark.parametrize(
    "text",
    [
        'x = """\n%no\n!no\n"""\n',
        "x = '''it's\n!no'''",
        "x = 'a\\\n%no'",
        "z = (5\n % 3)",
        "z = 5 \\\n % 3",
        "f(\n  # a ) here\n  [')'],\n  '%')",
        "r = f'{x['a']}'\na != b",
        "# why?\ny = 'why?'",
        "mv = 3\nrm = f(\n 1)\nls -= f(\n 2)\nif cd in (\n 3,): ...",
        "x %= 3",
        "\\",
        "'''",
        "x = '",
    ],
)
def test_python_stays_as_it_is(text: str) -> None:
    assert as_python(text) == text


def test_a_cell_of_many_magics_is_read_at_once() -> None:
    assert as_python("%%time\n" * 20_000) == "\n" * 20_000
    assert as_python("!ls \\\n" * 20_000).count("\n") == 20_000
    for line in ("x" + " " * 50_000, "x?" + " " * 50_000 + "x", "%timeit " + "-n " * 20_000):
        as_python(line)
    assert as_python("x = (\n" * 20_000).count("\n") == 20_000
