"""Strings that name CUDA where a device is taken."""

from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.devices import named_devices, spot_of
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_MODE = "mode"


class DeviceString(Check):
    """``device="cuda"``, ``.to("cuda:0")``, ``torch.device("cuda")``."""

    name = "device-string"
    topic = "device"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every string that names CUDA in a place that takes a device."""
        for node, is_mode in named_devices(source):
            yield Sighting(
                source.span(node),
                source.written(node),
                _MODE if is_mode else "",
                source.guard(node),
                spot_of(source, node),
            )

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Torch without CUDA refuses such a device; a mode for CUDA does nothing elsewhere."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        replacement = seen.written.replace("cuda", words.device, 1)
        if seen.topic == _MODE:
            return Judgement(
                Verdict.NATIVE, f"switches CUDA's mode, and nothing on {words.device}",
                replacement, caution=True, edit=words.device, evidence=words.known_by("device"),
            )  # fmt: skip
        return ground.raises(
            "raises where it is used: torch has no CUDA there", replacement, words.device, "device"
        )
