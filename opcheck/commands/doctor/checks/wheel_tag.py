"""Wheels of another Python, machine or C library than those that are here."""

from collections.abc import Iterator

from packaging.tags import parse_tag

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.packages import family
from opcheck.commands.doctor.values import DoctorFinding, Severity


class WheelTag(Check):
    """Files that were copied from another machine, or installed past pip's own check."""

    name = "wheel-tag"
    about = "a package whose wheel is of another Python, machine or C library (glibc)"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Hold each wheel's own tags against those that this Python can install."""
        here = ground.here
        for one in family(here) if here.tags else ():
            tags = {str(tag) for text in one.tags for tag in parse_tag(text)}
            if tags and not tags & here.tags:
                libc = f", glibc {here.libc}" if here.libc else ""
                text = (
                    f"its wheel is {', '.join(sorted(one.tags))}; here is Python {here.python}, "
                    f"{here.system} {here.machine}{libc}"
                )
                mends = (f"pip install --force-reinstall --no-deps {one.name}=={one.version}",)
                yield self.finding(Severity.ERROR, f"{one.name} {one.version}", text, mends)
