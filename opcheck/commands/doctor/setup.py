"""A set of versions that goes together: the commands, and the files, that set it up."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping

from opcheck.commands.doctor.installation import Build
from opcheck.commands.doctor.pairing import at_least, public
from opcheck.commands.doctor.values import Component, DoctorTarget, Setup
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.environment import Environment, Image, Pairing, Step, TorchEnvironment

UNSAID = "(no source says which)"
"""What stands in a sentence for a version that nobody speaks of."""
_NAME = re.compile(r"\{([^{}]+)\}")


def set_up(
    vendor: Environment,
    torch: TorchEnvironment,
    chip: str = "",
    here: Build | None = None,
    row: Pairing | None = None,
) -> Setup:
    """What goes with a row of the vendor's table; without one, the newest that suits this torch."""
    chosen = row or _suiting(vendor, torch, here)
    if chosen is None:
        return Setup("", (), systems=vendor.systems.names, unknown=("what goes together",))
    versions = _versions(vendor, torch, chosen)
    unknown: list[str] = []
    image = _image(vendor, chip, chosen)
    commands = tuple(_filled(vendor.install, chosen.torch, versions, unknown))
    by_hand = tuple(_filled(vendor.by_hand, chosen.torch, versions, unknown, drop=False))
    if not commands and not vendor.install:
        unknown.append("a command that installs it from a public index")
    if image is not None and image.floating:
        unknown.append(Sentence("which versions are in {image}, whose tag moves", image=image.name))
    if image is None:
        unknown.append("a container image of these versions")
    pythons = _pythons(vendor, torch, chosen.torch)
    if not pythons:
        unknown.append(
            Sentence(
                "which versions of Python there are packages for with torch {version}",
                version=chosen.torch,
            )
        )
    return Setup(
        release=chosen.release,
        components=tuple(_components(vendor, torch, chosen)),
        pythons=pythons,
        systems=vendor.systems.names,
        image=image.name if image else "",
        complete_image=bool(image and image.holds),
        by_hand=by_hand,
        commands=commands,
        settings=_settings(vendor),
        unknown=tuple(dict.fromkeys(unknown)),
    )


def _suiting(vendor: Environment, torch: TorchEnvironment, here: Build | None) -> Pairing | None:
    """The newest row of the torch that is here, or else the newest that can be installed."""
    rows = vendor.pairings
    own = [row for row in rows if here and row.torch == public(here.version)]
    known = [row for row in rows if installable(vendor, torch, row)]
    return next(iter((*own, *known, *rows)), None)


def _versions(vendor: Environment, torch: TorchEnvironment, row: Pairing) -> Mapping[str, str]:
    """What stands for each name in a command; a name that nobody speaks of is missing."""
    found = {**row.packages, "torch": row.torch}
    release = torch.releases.get(row.torch)
    if release is not None:
        found["torchvision"] = release.torchvision
        rocm = [build.removeprefix("rocm") for build in release.builds if build.startswith("rocm")]
        if rocm:
            found["rocm_wheel"] = rocm[-1]
    if vendor.driver and "cuda" in row.packages:
        major = row.packages["cuda"].partition(".")[0]
        if major in vendor.driver.least:
            found["driver_least"] = vendor.driver.least[major]
    return found


def _filled(
    steps: tuple[Step, ...],
    torch: str,
    versions: Mapping[str, str],
    unknown: list[str],
    *,
    drop: bool = True,
) -> Iterator[str]:
    """The steps of a torch, with versions in them; what cannot be said is noted as unknown."""
    for step in steps:
        if not _is_of(step, torch):
            continue
        missing = [name for name in _NAME.findall(step.text) if name not in versions]
        unknown += [
            Sentence("which {text} goes with torch {version}", text=_spoken(name), version=torch)
            for name in missing
        ]
        if missing and drop:
            continue
        yield from_data(_NAME.sub(lambda match: versions.get(match[1], UNSAID), step.text))


def _spoken(name: str) -> str:
    return {"rocm_wheel": "public wheel for ROCm", "driver_least": "driver"}.get(name, name)


def _is_of(step: Step, torch: str) -> bool:
    since = not step.since or at_least(torch, step.since)
    return since and not (step.until and at_least(torch, step.until))


def installable(vendor: Environment, torch: TorchEnvironment, row: Pairing) -> bool:
    """Whether the sources say everything that the vendor's commands need to know of a row."""
    versions = _versions(vendor, torch, row)
    steps = [step for step in vendor.install if _is_of(step, row.torch) and not step.optional]
    return all(name in versions for step in steps for name in _NAME.findall(step.text))


def _pythons(vendor: Environment, said: TorchEnvironment, torch: str) -> tuple[str, ...]:
    for step, versions in vendor.pythons:
        if step.text == torch or (not step.text and _is_of(step, torch)):
            return versions
    if vendor.plugin is not None or not vendor.install:
        return ()  # the wheels of the plugin, or of a torch of the vendor's own, decide
    least = next((python for since, python in said.pythons if at_least(torch, since)), "")
    return (f">={least}",) if least else ()


def _image(vendor: Environment, chip: str, row: Pairing) -> Image | None:
    for image in vendor.images:
        suits = not image.chips or chip in image.chips
        if suits and all(row.packages.get(name) == said for name, said in image.packages.items()):
            return image
    return None


def _components(vendor: Environment, torch: TorchEnvironment, row: Pairing) -> Iterator[Component]:
    yield Component("torch", row.torch, row.evidence)
    names = {vendor.toolkit.package: vendor.toolkit.name} if vendor.toolkit else {}
    for name, version in row.packages.items():
        yield Component(names.get(name, name), version, row.evidence)
    release = torch.releases.get(row.torch)
    if release is not None and any("{torchvision}" in step.text for step in vendor.install):
        yield Component("torchvision", release.torchvision, release.evidence)


def _settings(vendor: Environment) -> tuple[str, ...]:
    setup = (vendor.toolkit.setup,) if vendor.toolkit and vendor.toolkit.setup else ()
    return tuple(dict.fromkeys((*setup, *(setting.command for setting in vendor.settings))))


_PIP = ("pip", "install")
_WHEEL = ".whl"
"""A file that the vendor gives to those who ask, and that no index has."""
_AND = " && "
_EXEC = 'exec "$@"'


def file_text(name: str, target: DoctorTarget, setup: Setup) -> str:
    """The text of one of the files by its name, which is one of :data:`WRITERS`."""
    lines = [*_head(target, setup), *WRITERS[name](setup)]
    return "".join(f"{line}\n" for line in lines)


def _head(target: DoctorTarget, setup: Setup) -> Iterator[str]:
    together = ", ".join(f"{part.name} {part.version}" for part in setup.components)
    yield f"# {target.title}, {target.name}: {together}."
    for step in setup.by_hand:
        yield f"# By hand: {step}"
    for what in setup.unknown:
        yield f"# No source says: {what}."


def _dockerfile(setup: Setup) -> Iterator[str]:
    if setup.image:
        yield f"FROM {setup.image}"
    else:
        yield "# Give an image that has what is to be done by hand: --build-arg BASE_IMAGE=..."
        yield "ARG BASE_IMAGE"
        yield "FROM ${BASE_IMAGE}"
    for command in () if setup.complete_image else setup.commands:
        wheel = command.split()[-1]
        if wheel.endswith(_WHEEL):
            yield f"COPY {wheel} /tmp/"
            command = command.replace(wheel, f"/tmp/{wheel}")
        yield f"RUN {command.replace('pip install ', 'pip install --no-cache-dir ', 1)}"
    exported = [each for each in setup.settings if each.startswith("export ")]
    for each in exported:
        yield f"ENV {each.removeprefix('export ')}"
    sourced = [each for each in setup.settings if each.startswith("source ")]
    if sourced:  # by the entry point: what docker runs is seldom a shell that reads a profile
        yield f"ENTRYPOINT {json.dumps(['bash', '-c', _AND.join([*sourced, _EXEC]), 'bash'])}"
        yield 'CMD ["bash"]'


def _requirements(setup: Setup) -> Iterator[str]:
    wanted: list[str] = []
    indexes: list[str] = []
    for command in setup.commands:
        words = iter(shlex.split(command)[len(_PIP) :])
        for word in words:
            if word == "--index-url":
                indexes.append(next(words))
            elif not word.startswith("-") and not word.endswith(_WHEEL):
                wanted.append(word)
    for index in dict.fromkeys(indexes):
        yield f"--extra-index-url {index}"
    yield from dict.fromkeys(wanted)


def _script(setup: Setup) -> Iterator[str]:
    yield from setup.settings


WRITERS: Mapping[str, Callable[[Setup], Iterator[str]]] = {
    "Dockerfile": _dockerfile,
    "requirements.txt": _requirements,
    "env.sh": _script,
}
"""File name -> what is written into it below the head."""
