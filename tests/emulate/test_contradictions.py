"""What a document alone denies, on the emulated device: it runs, with a caution, as a scan says."""

import json

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

import opcheck
from opcheck.commands.emulate.views import text
from opcheck.emulate.run import emulate_model
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.matrix import DOUBTED, OVERRULED
from opcheck.model.report import ModelInfo
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.views.document.emulation import emulation_document
from opcheck.views.document.read_emulation import emulation_from_json
from opcheck.views.formats import Page
from opcheck.views.order import arranged_emulation
from tests.emulate.matrices import matrix_of

TARGET = "ascend-950"


class Net(nn.Module):
    """A call of each kind: listed by its kernel's page, denied by it too, told of by none."""

    def __init__(self, last: str) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.last = last

    def forward(self, tokens: Tensor) -> Tensor:
        x = F.hardsigmoid(self.embed(tokens))
        if self.last == "attention":
            x = x[:, None]
            return F.scaled_dot_product_attention(x, x, x)
        return F.softplus(x)


TOKENS = torch.tensor([[1, 2, 3]])


def emulated(model: nn.Module) -> Emulation:
    matrix = matrix_of(TARGET)
    return emulate_model(
        model, (TOKENS,), {},
        request=EmulationRequest(ModelSpec("tests"), TargetSpec.parse(TARGET), check=True),
        target=matrix.target, matrix=matrix, model=ModelInfo("tests", "module", ""),
        progress=lambda text: None,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "op", "verdict", "runs"),
    [
        ("attention", "aten::scaled_dot_product_attention", Verdict.UNKNOWN, None),
        ("softplus", "aten::softplus", Verdict.UNSUPPORTED, False),
    ],
)
def test_scan_and_device_tell_the_same(
    last: str, op: str, verdict: Verdict, runs: bool | None
) -> None:
    model = Net(last).eval()
    (scanned,) = opcheck.scan(model, (TOKENS,), targets=[TARGET]).targets
    resolutions = {
        finding.op: (finding.verdict, finding.reason.code) for finding in scanned.findings
    }
    assert scanned.summary.runs is runs
    assert resolutions["aten::embedding"] == (Verdict.NATIVE, OVERRULED)
    assert resolutions["aten::hardsigmoid"] == (Verdict.NATIVE, OVERRULED)
    assert resolutions[op][0] is verdict

    device = emulated(model)
    assert [refusal.op for refusal in device.refusals] == ([] if runs is None else [op])
    assert device.agreement is not None
    assert device.agreement.disagreements == ()
    cautions = {(caution.op, caution.reason.code) for caution in device.cautions}
    assert ("aten::embedding", OVERRULED) in cautions
    assert ((op, DOUBTED) in cautions) is (runs is None)


@pytest.mark.slow
def without_counts(found: Emulation) -> Emulation:
    """The same without how many calls came from each place, which the document leaves out."""
    cautions = tuple(replace(item, counts=()) for item in found.cautions)
    return replace(found, cautions=cautions)


def test_a_device_of_which_nobody_has_said_so_is_no_proof() -> None:
    device = emulated(Net("attention").eval())
    assert device.finished
    assert device.runs is None
    assert {item.op for item in device.unknown} == {"aten::scaled_dot_product_attention"}
    page = text.render(device, Page())
    head = page.split("\n\n")[0]
    assert "cannot tell, 1 operator unknown: tests on an emulated" in " ".join(head.split())
    assert "Unknown · 1 operator, nobody has said" in page
    document = emulation_document(device)
    assert document["runs"] is None
    read = emulation_from_json(json.dumps(document))
    assert read == arranged_emulation(without_counts(device))
    alone = emulated(nn.Embedding(10, 8))
    assert alone.runs is True
    assert [item.verdict for item in alone.cautions] == [Verdict.NATIVE]
