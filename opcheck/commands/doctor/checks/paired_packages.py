"""Other packages that the vendor pairs with the plugin: TensorRT with Torch-TensorRT."""

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.pairing import row_here
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import Fit, fit
from opcheck.model.environment import Environment


class PairedPackages(Check):
    """A library for Python that is of another release than the plugin was built with."""

    name = "paired-package"
    about = "a library that the vendor pairs with the plugin, in another release"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare each with the row of the plugin that is here."""
        row = row_here(ground.here, vendor)
        for name in vendor.packages if row else ():
            said = row.packages.get(name, "") if row else ""
            found = ground.here.distributions.get(canonicalize_name(name))
            if not (row and said):
                continue
            mends = (f"pip install {name}=={said}",)
            if found is None:
                text = f"it is not installed; the vendor pairs {said} with {row.release}"
                yield self.finding(Severity.ERROR, name, text, mends, row.evidence)
            elif fit(found.version, said) is Fit.DIFFERENT:
                text = f"the vendor pairs {said} with {row.release}"
                subject = f"{name} {found.version}"
                yield self.finding(Severity.ERROR, subject, text, mends, row.evidence)
