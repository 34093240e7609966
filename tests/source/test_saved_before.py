"""Files that older releases of torch wrote are read, run and give what the model gives."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.program import exported_program
from opcheck.source.kinds.exported_program import ExportedProgram
from opcheck.source.pt2.graph import read_trace
from opcheck.source.pt2.stack_trace import generalise
from tests.source.saved_before import SAVED, Saved
from tests.source.test_pt2_run import run
from tests.source.write_pt2 import cases

BY_TORCH = ("sym_constrain", "_assert", "scalar_tensor", "wrap_with")
each_file = pytest.mark.parametrize("saved", SAVED, ids=str)
each_plain_file = pytest.mark.parametrize(
    # a recorder of operators does not let higher-order ones through
    "saved", [saved for saved in SAVED if saved.case != "branching"], ids=str
)  # fmt: skip


def test_there_are_files_of_several_releases() -> None:
    assert len({saved.torch for saved in SAVED}) > 3
    assert {saved.case for saved in SAVED} == set(cases())


@each_file
def test_a_file_is_read_whole(saved: Saved, tmp_path: Path) -> None:
    trace = read_trace(saved.unpack(tmp_path))
    assert trace.torch_version == (saved.torch if saved.release >= (2, 5) else "")
    assert trace.calls
    assert trace.gaps == ()


@each_file
def test_each_call_has_its_line_and_module(saved: Saved, tmp_path: Path) -> None:
    calls = read_trace(saved.unpack(tmp_path)).calls
    # what torch itself puts in has no line of the user's
    own = {call for call in calls if not call.op.base.startswith(BY_TORCH)}
    noted = saved.release >= (2, 4) or "-loose" not in saved.member
    assert {call.file for call in own} == {"write_pt2.py" if noted else ""}
    modules = {generalise(name) for name, _ in cases()[saved.case]()[0].named_modules()}
    assert {call.module for call in calls} <= modules


@each_plain_file
def test_a_run_calls_what_the_graph_lists(saved: Saved, tmp_path: Path) -> None:
    path = saved.unpack(tmp_path)
    loaded = ExportedProgram().load(str(path), LoadOptions())
    assert Counter(run(loaded)) == Counter(str(call.op) for call in read_trace(path).calls)


@each_file
def test_a_run_gives_what_the_model_gives(saved: Saved, tmp_path: Path) -> None:
    loaded = ExportedProgram().load(str(saved.unpack(tmp_path)), LoadOptions(weights=True))
    stored = loaded.module
    assert isinstance(stored, nn.Module)
    torch.manual_seed(0)  # as it was exported
    module, args, given = cases()[saved.case]()
    kwargs = given.get("kwargs", {})
    module.load_state_dict({**module.state_dict(), **stored.state_dict()}, strict=False)
    with torch.no_grad():
        torch.manual_seed(1)  # one of them drops out
        wanted = tuple(tree_leaves(module.eval()(*args, **kwargs)))
        torch.manual_seed(1)
        found = tree_leaves(stored(*tree_leaves((args, kwargs))))
    found = found[-len(wanted) :]  # a functional graph gives the changed buffers first
    if saved.release < (2, 4):  # its state of an LSTM has one dimension more
        found = [one.reshape(other.shape) for one, other in zip(found, wanted, strict=True)]
    torch.testing.assert_close(tuple(found), wanted)


@pytest.mark.since("2.10")
@each_file
def test_a_program_can_be_changed_or_says_in_a_sentence_why_not(
    saved: Saved, tmp_path: Path
) -> None:
    path = saved.unpack(tmp_path)
    # other export schemas; and torch 2.13 does not take a branch as 2.6 wrote it
    refused = saved.release < (2, 6) or (saved.release < (2, 7) and saved.case == "branching")
    if not refused:
        program = exported_program(path, LoadOptions(weights=True))
        assert len(program.graph.nodes) > len(read_trace(path).calls) // 2
        return
    with pytest.raises(SourceError) as raised:
        exported_program(path, LoadOptions(weights=True))
    assert "cannot read the program again: " in raised.value.message
    assert len(raised.value.message) < 300 + len(str(path))
    assert "export the model again with this torch" in raised.value.hint
