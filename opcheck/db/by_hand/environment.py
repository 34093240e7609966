"""What must be on a machine, with the pairing tables that the importers wrote."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.by_hand.overlays import ENVIRONMENT
from opcheck.db.files import document
from opcheck.db.files.document import Document
from opcheck.db.reading import Citations
from opcheck.db.schema.by_hand import ENVIRONMENT_FILE, TORCH_ENVIRONMENT_FILE
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import (
    ChipPackage,
    CompileNeed,
    Driver,
    Environment,
    Image,
    Pairing,
    Plugin,
    Setting,
    Step,
    Systems,
    Toolkit,
    TorchEnvironment,
    TorchNeed,
    TorchRelease,
)
from opcheck.model.verdict import Method

_HINT = Sentence("correct the file, or restore it from the release")
COMMON = "torch"
"""Stem of the file with what is so whatever the device."""
Said = Mapping[str, Any]


def environment(
    root: Path, vendor: Document, renamed: Mapping[str, str], cache: Path | None
) -> Environment | None:
    """What a vendor's devices ask of a machine; None where nobody has said.

    Raises:
        DatabaseError: the file is damaged, or is of another vendor.
    """
    name = str(vendor.data["vendor"])
    path = root / ENVIRONMENT / f"{name}.yaml"
    if not path.is_file():
        return None
    said = document.read(path, ENVIRONMENT_FILE, cache, _HINT).data
    if said["vendor"] != name:
        raise DatabaseError(
            Sentence(
                "{text_file}:1: expected the vendor {vendor}, found {text}",
                text_file=path,
                vendor=name,
                text=repr(said["vendor"]),
            ),
            _HINT,
        )
    return _Reader(said, vendor.data).environment(renamed)


class _Reader:
    """Reads one vendor's two files into one value."""

    def __init__(self, said: Said, common: Said) -> None:
        self._said, self._common = said, common
        self._own = Citations(said["sources"])
        self._vendor = Citations(common["sources"])

    def environment(self, renamed: Mapping[str, str]) -> Environment:
        said, common = self._said, self._common
        chips: Mapping[str, Said] = common["chips"]
        return Environment(
            vendor=common["vendor"],
            name=common["name"],
            device_type=common["device_type"],
            systems=self._systems(),
            torch=TorchNeed(**self._cited(said["torch"])),
            pairings=self._pairings(),
            plugin=self._plugin(),
            packages=tuple(said.get("packages", ())),
            pythons=tuple(self._pythons()),
            toolkit=Toolkit(**self._cited(said["toolkit"])) if "toolkit" in said else None,
            driver=Driver(**self._cited(said["driver"])) if "driver" in said else None,
            settings=tuple(Setting(**self._cited(each)) for each in said.get("settings", ())),
            compile=CompileNeed(**self._cited(said["compile"])) if "compile" in said else None,
            install=tuple(self._steps("install", "command")),
            by_hand=tuple(self._steps("by_hand", "text")),
            images=tuple(self._images()),
            chips={chip: tuple(each.get("socs", ())) for chip, each in chips.items()},
            chip_notes={chip: each.get("note", "") for chip, each in chips.items()},
            chip_evidence={
                chip: self._vendor.all(each["at"], Method.REGISTERED)
                for chip, each in chips.items()
            },
            renamed=renamed,
        )

    def _cited(self, said: Said) -> dict[str, Any]:
        """The fields of a record as they stand, lists as tuples, citations as evidence."""
        method = Method(said.get("method", Method.DOCUMENTED))
        plain = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in said.items()
            if key not in ("at", "method")
        }
        return {**plain, "evidence": self._own.all(said["at"], method)}

    def _systems(self) -> Systems:
        fields = self._cited(self._said["systems"])
        macos = tuple((each["since"], each["version"]) for each in fields.pop("macos", ()))
        return Systems(**fields, macos=macos)

    def _plugin(self) -> Plugin | None:
        if "plugin" not in self._said:
            return None
        fields = self._cited(self._said["plugin"])
        fields.pop("version", None)
        builds = fields.pop("chips", {})
        chips = {chip: ChipPackage(**self._cited(build)) for chip, build in builds.items()}
        return Plugin(**fields, chips=chips)

    def _pythons(self) -> Iterator[tuple[Step, tuple[str, ...]]]:
        for each in self._said.get("python", ()):
            cited = self._own.all(each["at"], Method.DOCUMENTED)
            step = Step("", each.get("since", ""), each.get("until", ""), evidence=cited)
            yield step, tuple(each["versions"])
        cited = self._vendor.all(["pairing"], Method.DOCUMENTED)
        for torch, versions in self._common.get("python", {}).items():
            yield Step(torch, evidence=cited), tuple(versions)

    def _steps(self, key: str, text: str) -> Iterator[Step]:
        for each in self._said.get(key, ()):
            fields = self._cited(each)
            yield Step(fields.pop(text), **fields)

    def _images(self) -> Iterator[Image]:
        for each in self._said.get("images", ()):
            fields = self._cited(each)
            yield Image(fields.pop("image"), **fields)

    def _pairings(self) -> tuple[Pairing, ...]:
        rows: Sequence[Said] = self._common["pairing"]
        return tuple(sorted(map(self._pairing, rows), key=_age, reverse=True))

    def _pairing(self, row: Said) -> Pairing:
        """A row of the vendor's table; what its plugin's version follows from is put in."""
        branch = row.get("branch", "")
        release = row.get("release", branch.removeprefix(f"v{row['torch']}-"))
        packages = {**row.get("packages", {})}
        packages |= {key: row[key] for key in ("torch_npu", "cann") if key in row}
        plugin = self._said.get("plugin", {})
        match plugin.get("version"):
            case "release":
                packages[plugin["package"]] = release.partition("-")[0]
            case "torch":
                packages[plugin["package"]] = row["torch"]
        return Pairing(
            release, row["torch"], packages, self._vendor.all([row["at"]], Method.DOCUMENTED)
        )


def _age(row: Pairing) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return version_key(row.release), version_key(row.torch)


def torch_environment(root: Path, cache: Path | None) -> TorchEnvironment:
    """What releases of torch go with, whatever the device."""
    path = root / ENVIRONMENT / f"{COMMON}.yaml"
    said = document.read(path, TORCH_ENVIRONMENT_FILE, cache, _HINT).data
    cited = Citations(said["sources"])

    def evidence(key: str) -> Any:
        return cited.all(said[key]["at"], Method.DOCUMENTED)

    return TorchEnvironment(
        releases={
            torch: TorchRelease(
                each["torchvision"],
                tuple(each.get("builds", ())),
                cited.all(each["at"], Method.DOCUMENTED),
            )
            for torch, each in said["releases"].items()
        },
        pythons=tuple((each["since"], each["python"]) for each in said["pythons"]),
        numpy_torch=said["numpy"]["torch"],
        numpy_from=said["numpy"]["numpy"],
        numpy_evidence=evidence("numpy"),
        autoload_since=said["autoload"]["since"],
        autoload_evidence=evidence("autoload"),
        one_backend_evidence=evidence("one_backend"),
        vision_evidence=evidence("vision"),
        c_evidence=evidence("c_compiler"),
        cxx_evidence=evidence("cxx_compiler"),
    )
