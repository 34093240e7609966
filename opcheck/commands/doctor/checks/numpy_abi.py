"""A torch that was built before NumPy 2, beside NumPy 2."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import at_least


class NumpyAbi(Check):
    """``Tensor.numpy()`` and ``torch.from_numpy`` fail there, the rest runs."""

    name = "numpy-abi"
    about = "a torch built before NumPy 2, beside NumPy 2"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Compare torch and NumPy."""
        torch, numpy = ground.here.torch, ground.here.distributions.get("numpy")
        said = ground.torch
        if torch is None or numpy is None or at_least(torch.version, said.numpy_torch):
            return
        if at_least(numpy.version, said.numpy_from):
            text = (
                f"torch {torch.version} was built against NumPy before {said.numpy_from}: "
                "Tensor.numpy() and torch.from_numpy raise"
            )
            mends = (f"pip install 'numpy<{said.numpy_from}'",)
            yield self.finding(
                Severity.ERROR, f"numpy {numpy.version}", text, mends, said.numpy_evidence
            )
