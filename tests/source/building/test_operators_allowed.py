"""Only operators of tensors, numbers and known words may be called for a file."""

from collections.abc import Mapping

import pytest
import torch

from opcheck.model.trace import OpName
from opcheck.source.building.operators_allowed import (
    arguments_refusal,
    refusal,
    registered,
    schema_refusal,
)
from opcheck.source.text_arguments import TABLE, text_refusal

CELLS = "takes List[__torch__.torch.classes.rnn.CellParamsBase] as 'params'"
REFUSED: Mapping[str, str] = {
    "aten::_print": "takes str as 's'",
    "aten::_test_ambiguous_defaults.b": "takes str as 'b'",
    "aten::_test_string_default": "takes str as 'a'",
    "aten::from_file": "takes str as 'filename'",
    "aten::from_file.out": "takes str as 'filename'",
    "aten::get_gradients": "gives Dict[Tensor, Tensor]",
    "aten::qscheme": "gives QScheme",
    "aten::quantized_gru.data": CELLS,
    "aten::quantized_gru.input": CELLS,
    "aten::quantized_lstm.data": CELLS,
    "aten::quantized_lstm.input": CELLS,
    "aten::record_stream": "takes Stream as 's'",
    "aten::set.source_Storage": "takes Storage as 'source'",
    "aten::set.source_Storage_out": "takes Storage as 'source'",
    "aten::set.source_Storage_storage_offset": "takes Storage as 'source'",
    "aten::set.source_Storage_storage_offset_out": "takes Storage as 'source'",
    "aten::set_.source_Storage": "takes Storage as 'source'",
    "aten::set_.source_Storage_storage_offset": "takes Storage as 'source'",
}
"""Every overload of torch 2.13 that no file may have called, and why; a new one is to be read."""


def of_torch(*namespaces: str) -> list[OpName]:
    every = map(OpName.parse, torch._C._dispatch_get_all_op_names())
    return sorted(op for op in every if op.namespace in namespaces)


def test_the_refused_of_all_operators_are_these() -> None:
    found = {}
    for op in of_torch("aten", "prims"):
        overload = registered(op)
        assert overload is not None, op
        why = refusal(overload)
        if why and str(op) != "prims::inductor_random":  # there once something compiles
            found[str(op)] = why.removeprefix(f"{op.operator} ")
    assert found == REFUSED


def test_every_text_in_the_table_is_one_of_an_operator() -> None:
    of_schemas: dict[str, set[str]] = {}
    for op in of_torch("aten"):
        overload = registered(op)
        assert overload is not None
        for argument in overload._schema.arguments:
            if "str" in str(argument.type):
                of_schemas.setdefault(op.base, set()).add(argument.name)
    assert {base: set(words) for base, words in TABLE.items()}.items() <= of_schemas.items()


@pytest.mark.parametrize(
    "name",
    [
        "aten::save", "aten::nothing_such", "aten::add.nothing", "aten::op", "aten::__init__",
        "aten::add.op", "aten::add._schema", "load_library::__call__", "_dir::name",
    ],
)  # fmt: skip
def test_what_the_dispatcher_does_not_have_is_nothing(name: str) -> None:
    assert registered(OpName.parse(name)) is None


def test_an_operator_of_an_unknown_library_is_refused() -> None:
    library = torch.library.Library("opcheck_test_foreign", "FRAGMENT")
    library.define("touch(Tensor x) -> Tensor")
    overload = registered(OpName("opcheck_test_foreign", "touch"))
    assert overload is not None
    assert refusal(overload) == "opcheck_test_foreign::touch is of a library that is not known here"
    library._destroy()


def test_operators_of_torchscript_alone_are_judged_by_their_schema() -> None:
    (save,) = torch._C._jit_get_schemas_for_operator("aten::save")
    assert schema_refusal(save) == "aten::save takes t as 'item'"


def test_a_text_must_be_one_of_the_known() -> None:
    gelu = torch.ops.aten.gelu.default._schema
    assert arguments_refusal(gelu, (None,), {"approximate": "tanh"}) == ""
    assert (
        arguments_refusal(gelu, (None,), {"approximate": "/etc/passwd"})
        == "aten::gelu does not know '/etc/passwd' as 'approximate'"
    )
    assert arguments_refusal(gelu, (None,), {"file": "x"}) == "aten::gelu takes no text as 'file'"
    add = torch.ops.aten.add.Tensor._schema
    assert arguments_refusal(add, ("x", "y"), {}) == ""  # no text of the schema; torch refuses it
    assert text_refusal("aten::einsum", "equation", "bij,bkj->bik") == ""
    assert text_refusal("aten::einsum", "equation", "a" * 30_000) != ""
