"""Calls in a user's source replaced: what is found, what is left, and that the rest stays."""

import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from opcheck.rewrite.source.call_sites import UnreadableError, call_sites, tail, text_lines
from opcheck.rewrite.source.changing import Form
from opcheck.rewrite.source.layers import forms_of
from opcheck.rewrite.source.swapping import Helpers, Swap, Swapped, swapped
from tests.rewrite.reasons import reads

HELPER = Form("def turned(self, shifts, dims=()):\n    return self\n", "turned")
FORMS = {"torch.roll": HELPER, "Tensor.roll": HELPER}
ISIN = {
    "torch.isin": Form(
        "import math\n\nfrom torch import Tensor\n\n\n"
        "def isin(elements: Tensor, test_elements, *, invert=False):\n    return math.nan\n",
        "isin",
    )
}


def swap(text: str, line: int, forms: dict[str, Form] = FORMS) -> Swapped:
    return swapped(text, [Swap(line, forms)])


def changed(before: str, after: str, line: int = 2, head: str = "import torch\n") -> None:
    """One statement after one import: what becomes of it."""
    found = swap(f"{head}{before}\n", line)
    assert found.left == {}
    helper = "def turned(self, shifts, dims=()):\n    return self\n"
    assert found.text == f"{head}\n\n{helper}\n\n{after}\n"


@pytest.mark.parametrize(
    ("head", "before", "after"),
    [
        ("import torch\n", "y = torch.roll(x, 1)", "y = turned(x, 1)"),
        ("import torch as t\n", "y = t.roll(x, 1)", "y = turned(x, 1)"),
        ("from torch import roll\n", "y = roll(x, 1)", "y = turned(x, 1)"),
        ("from torch import roll as r\n", "y = r(x, shifts=1)", "y = turned(x, shifts=1)"),
        ("import torch\n", "y = torch.roll(input=x, shifts=1)", "y = turned(self=x, shifts=1)"),
        ("import torch\n", "y = torch.roll( x,1 , dims = 0 )", "y = turned( x,1 , dims = 0 )"),
        ("import torch\n", "y = x.roll(1, 0)", "y = turned(x, 1, 0)"),
        ("import torch\n", "y = f(x)[0].roll(shifts=1,)", "y = turned(f(x)[0], shifts=1,)"),
        ("import torch\n", "y = (a + b).roll(1)", "y = turned((a + b), 1)"),
        ("import torch\n", "y = x.roll(1).roll(2)", "y = turned(turned(x, 1), 2)"),
        ("import torch\n", "y = torch.Tensor.roll(x, 1)", "y = turned(x, 1)"),
        ("import torch\n", "y = torch.roll(torch.roll(x, 1), 2)", "y = turned(turned(x, 1), 2)"),
        ("import torch\n", "y = f'{x.roll(1)} of {y}'", "y = f'{turned(x, 1)} of {y}'"),
        ("import torch\n", "a = x.roll(1); b = 'roll(1)'", "a = turned(x, 1); b = 'roll(1)'"),
        ("import torch\n", "y = lambda: x.roll(1)  # roll", "y = lambda: turned(x, 1)  # roll"),
    ],
)
def test_a_call_is_found_however_it_is_written(head: str, before: str, after: str) -> None:
    changed(before, after, head=head)


def test_names_of_numpy_become_those_that_the_function_has() -> None:
    least = Form("def least(self, dim, keepdim=False):\n    return self\n", "least")
    found = swap("y = x.amin(axis=1, keepdims=True)\n", 1, {"Tensor.amin": least})
    assert found.text.endswith("y = least(x, dim=1, keepdim=True)\n")


def test_a_function_may_take_any_number_of_arguments() -> None:
    einsum = Form("def einsum(equation, *operands):\n    return operands\n", "einsum")
    text = "import torch\ny = torch.einsum('i,i,i', a, b, c)\n"
    found = swap(text, 2, {"torch.einsum": einsum})
    assert found.text.endswith("y = einsum('i,i,i', a, b, c)\n")


CHAIN = """\
y = (
    x.float()
    .roll(
        1,  # by one
    )
    .abs()
)"""


@pytest.mark.parametrize("line", [4, 5, 6])
def test_a_call_may_span_lines(line: int) -> None:
    found = swap(f"import torch\n{CHAIN}\n", line)
    assert found.left == {}
    assert found.text.endswith(
        "y = (\n    turned(\n        x.float(), 1,  # by one\n    )\n    .abs()\n)\n"
    )


INTO = '''\
def _into(out, result):
    """Write a result to ``out``, which takes its size."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)
'''


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.roll(x, 1, out=y)", "_into(y, turned(x, 1))"),
        ("y = torch.roll(x, out=self.y, shifts=1)", "y = _into(self.y, turned(x, shifts=1))"),
        ("torch.roll(x, 1, out=f(x)[0],)", "_into(f(x)[0], turned(x, 1))"),
    ],
)
def test_a_result_goes_where_out_says(before: str, after: str) -> None:
    found = swap(f"import torch\n{before}\n", 2)
    assert found.left == {}
    assert found.text == f"import torch\n\n\n{HELPER.code}\n\n{INTO}\n\n{after}\n"


def test_out_takes_the_size_of_the_result() -> None:
    space: dict[str, Any] = {}
    exec(INTO, space)
    there, other = torch.zeros(2), torch.empty(0)
    assert space["_into"](there, torch.ones(2)) is there
    assert space["_into"](other, torch.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert there.tolist() == [1.0, 1.0]


IN_PLACE = {"Tensor.roll_": Form(HELPER.code, "turned", in_place=True)}
IN_PLACE["torch.roll_"] = IN_PLACE["Tensor.roll_"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.roll_(1)", "x.copy_(turned(x.clone(), 1))"),
        ("y = self.x.roll_(shifts=1)", "y = self.x.copy_(turned(self.x.clone(), shifts=1))"),
        ("torch.roll_(x, 1)", "x.copy_(turned(x.clone(), 1))"),
        ("x.roll_(1).abs_()", "x.copy_(turned(x.clone(), 1)).abs_()"),
    ],
)
def test_a_call_in_place_copies_into_what_it_was_called_of(before: str, after: str) -> None:
    found = swap(f"import torch\n{before}\n", 2, IN_PLACE)
    assert found.left == {}
    assert found.text.endswith(f"\n\n{after}\n")


def test_a_call_in_place_keeps_its_gradient() -> None:
    """A function may keep what it was given for the backward, and finds it as it was."""
    form = forms_of("erfinv-by-newton")["Tensor.erfinv_"]
    text = "import torch\n\ndef net(x):\n    y = x * 0.5\n    y.erfinv_().mul_(2)\n    return y\n"
    gradients: list[Tensor] = []
    for source in (text, swapped(text, [Swap(5, {"Tensor.erfinv_": form})]).text):
        space: dict[str, Any] = {}
        exec(source, space)
        x = torch.linspace(-1, 1, 5).requires_grad_()
        gradients += torch.autograd.grad(space["net"](x).sum(), x)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("before", ["x[0].roll_(1)", "f(x).roll_(1)", "x.t().roll_(1)"])
def test_a_call_in_place_on_what_is_computed_is_left(before: str) -> None:
    found = swap(f"import torch\n{before}\n", 2, IN_PLACE)
    reason = "what it writes to is no name, and would be computed twice"
    reads(found.left[0], f"Tensor.roll_ on line 2 stays: {reason}")


def test_rules_know_how_calls_in_place_are_written() -> None:
    forms = forms_of("erfinv-by-newton")
    assert {name for name, form in forms.items() if form.in_place} == {"Tensor.erfinv_"}
    assert forms["Tensor.erfinv_"].code == forms["Tensor.erfinv"].code


def test_functions_that_are_long_go_into_a_module_beside() -> None:
    text = "import torch\ny = torch.roll(x, 1)\n"
    for most, name in ((2, ""), (1, "helpers"), (1, ".helpers")):
        found = swapped(text, [Swap(2, FORMS)], Helpers(name or "helpers", "", most))
        assert bool(found.helpers) is bool(name)
    assert found.text == (
        "import torch\nfrom .helpers import turned\ny = turned(x, 1)\n"
    )  # fmt: skip
    head = (
        '"""Functions in place of operators that a device lacks; written by opcheck fix --diff."""'
    )
    assert found.helpers == f"{head}\n\n\n{HELPER.code}"


def test_a_module_beside_keeps_what_it_has_and_names_keep_their_meaning() -> None:
    mine = "def turned():\n    return 1\n"
    text = "import torch\n\nturned_2 = 1\ny = torch.roll(x, 1)\n"
    found = swapped(text, [Swap(4, FORMS)], Helpers("helpers", mine, 0))
    assert mine in found.helpers
    space: dict[str, Any] = {}
    exec(found.helpers, space)
    assert space["turned"]() == 1
    assert space["turned_2"]("x", 1) == "x"
    assert "turned_2 = 1\n" in found.text
    again = swapped(text, [Swap(4, FORMS)], Helpers("helpers", found.helpers, 0))
    assert again.helpers == found.helpers


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("y = torch.roll(*given)", "it passes * or **, which may be anything"),
        ("y = x.roll(**given)", "it passes * or **, which may be anything"),
        ("y = torch.roll(x, 1, 2, 3)", "it passes 4 arguments where turned() takes at most 3"),
        ("torch.roll(x, 1, out=(a, b))", "it passes several tensors as out="),
        ("y = torch.roll(x, 1, shifts=2)", "it passes shifts= twice"),
        ("y = x.roll(dims=0)", "it passes no shifts=, which turned() needs"),
        ("y = x.roll(i for i in x)", "it passes a generator without parentheses"),
    ],
)
def test_a_call_of_another_form_is_left(before: str, reason: str) -> None:
    text = f"import torch\n{before}\n"
    spelling = "Tensor.roll" if "x.roll" in before else "torch.roll"
    found = swap(text, 2)
    assert found == Swapped(text, frozenset(), {0: f"{spelling} on line 2 stays: {reason}"})
    reads(found.left[0], f"{spelling} on line 2 stays: {reason}")


def test_a_comment_between_an_object_and_its_method_is_kept() -> None:
    text = "y = (x  # mine\n    .roll(1))\n"
    reason = "Tensor.roll on line 2 stays: a comment stands between the object and the method"
    found = swap(text, 2)
    assert found == Swapped(text, frozenset(), {0: reason})
    reads(found.left[0], reason)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ny = 1\n",
        "import torch\nf = torch.roll\n",
        "import other as torch\ny = torch.roll(x, 1)\n",
        "try:\n    from torch import roll\nexcept ImportError:\n    from mine import roll\n"
        "y = roll(x, 1)\n",
        "from torch import *\ny = roll(x, 1)\n",
        "import torch\n",
        "",
    ],
)
def test_what_is_no_plain_call_of_it_is_left(text: str) -> None:
    lines = max(len(text.splitlines()), 2)
    found = swap(text, lines, {"torch.roll": HELPER})
    assert found == Swapped(
        text, frozenset(), {0: f"line {lines} has no plain call of torch.roll; use --shim"}
    )


def test_a_layer_is_no_call_of_it() -> None:
    text = "y = self.unfold(x)\n"
    assert swap(text, 1, {"torch.nn.functional.unfold": HELPER}) == Swapped(
        text,
        frozenset(),
        {0: "line 1 calls a layer or another method, not torch.nn.functional.unfold; use --shim"},
    )


@pytest.mark.parametrize("text", ["def f(:\n", "y = 'open\n", "\0", "  y = 1\n"])
def test_what_is_no_python_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        swap(text, 1)


def test_a_file_that_begins_with_a_page_break_is_refused() -> None:
    with pytest.raises(UnreadableError) as raised:
        call_sites("\x0cx = 1\n")
    reads(str(raised.value), "its whitespace cannot be kept")


# --- where the function goes ---------------------------------------------------------------------

PLACED = [
    ('"""Doc."""\nx.roll(1)\n', '"""Doc."""\n', ""),
    ("x.roll(1)\n", "", ""),
    ("import a\nimport b\n\nC = 1\nx.roll(1)\n", "import a\nimport b\n", "\nC = 1\n"),
    (
        "import a\nif a:\n    import b\nelse:\n    b = 1\nx.roll(1)\n",
        "import a\nif a:\n    import b\nelse:\n    b = 1\n",
        "",
    ),
    ("import a\ny = x.roll(1)\nimport b\n", "import a\n", ""),
    ("import a\n@a.b\ndef f(): pass\nimport b\nx.roll(1)\n", "import a\n", "@a.b\ndef f(): pass"),
    ("from a import (\n    b,\n)\nx.roll(1)\n", "from a import (\n    b,\n)\n", ""),
]


@pytest.mark.parametrize(("text", "before", "after"), PLACED)
def test_the_function_stands_after_the_imports_and_before_all_that_needs_it(
    text: str, before: str, after: str
) -> None:
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "roll" in row)
    found = swap(text, line).text
    assert found.startswith(before)
    blank = "\n\n" if before else ""
    rest = found.removeprefix(before).removeprefix(blank)
    assert rest.startswith(
        "def turned(self, shifts, dims=()):\n    return self\n\n\n" + after.lstrip("\n")
    )


def test_names_that_the_file_has_keep_their_meaning() -> None:
    text = "import torch\nfrom torch import isin\nmath = 3\ny = isin(x, isin)\n"
    assert swap(text, 4, ISIN).text == (
        "import torch\nfrom torch import isin\nfrom torch import Tensor\n\n\n"
        "def _make_isin_2():\n    import math\n\n"
        "    def isin(elements: Tensor, test_elements, *, invert=False):\n"
        "        return math.nan\n\n    return isin\n\n\nisin_2 = _make_isin_2()\n\n\n"
        "math = 3\ny = isin_2(x, isin)\n"
    )


def test_imports_that_the_file_has_are_not_added() -> None:
    text = "import math\nimport torch\nfrom torch import Tensor, nn\ny = torch.isin(x, y)\n"
    helper = ISIN["torch.isin"].code.partition("\n\n\n")[2]
    assert swap(text, 4, ISIN).text == (
        f"import math\nimport torch\nfrom torch import Tensor, nn\n\n\n{helper}\n\ny = isin(x, y)\n"
    )


@pytest.mark.parametrize("head", ["import torch\n", "import torch\nfrom torch import isin\n"])
def test_a_function_that_is_there_already_is_used_again(head: str) -> None:
    once = swap(f"{head}y = torch.isin(x, y)\n", len(text_lines(head)) + 1, ISIN).text
    more = f"{once}z = torch.isin(x, z)\n"
    twice = swap(more, len(text_lines(more)), ISIN)
    name = re.findall(r"y = (\w+)\(x, y\)", once)[0]
    assert twice.text == f"{once}z = {name}(x, z)\n"


# --- everything else stays -----------------------------------------------------------------------

_ROWS = st.sampled_from(
    ["", "  ", "# roll(x)", "A = 1  # é", "B = '''a\n\tb'''", "if A:\n\tpass", "C = (1,\n\n  2)",
     "class D:\n    def e(self):\n      return self.roll", "F = 'x.roll(1)' \\\n  'y'", "G = 1;",
     "\f", "async def h(): pass", "I = [j for j in 'k']", "print ( 'l' )"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(_ROWS), st.lists(_ROWS), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_other_character_stays(
    above: list[str], below: list[str], end: str, last: bool
) -> None:
    head = "import torch\n"
    text = head + "\n".join([*above, "y = torch.roll(x,  1)", *below]) + "\n" * last
    text = text.replace("\n", end)
    line = next(n for n, row in enumerate(text_lines(text), 1) if row.startswith("y = torch"))
    found = swap(text, line)
    assert found.left == {}
    helper = f"def turned(self, shifts, dims=()):{end}    return self{end}"
    before, _, after = found.text.partition(helper)
    assert before.strip() == "import torch"
    assert text == head.replace("\n", end) + text.removeprefix(head.replace("\n", end))
    rest = text.removeprefix(head.replace("\n", end)).replace("torch.roll(x,  1)", "turned(x,  1)")
    assert after.removesuffix(rest).strip("\r\n") == ""
    assert after.endswith(rest)
    assert swap(found.text, 1).text == found.text
    compile(found.text, "changed", "exec")


@settings(deadline=None)
@given(st.text(alphabet="a=1 (\n\r\t'#.:)", max_size=40))
def test_whatever_the_text_is_it_comes_back_or_is_refused(text: str) -> None:
    try:
        module, _ = call_sites(text)
    except UnreadableError:
        return
    assert module.code + tail(text) == text
    assert "".join(text_lines(text)) == text
