"""What importers of export targets share: what converters take, and conditions of what they refuse.

Beside such an importer stand files that were extracted from wheels; they are its sources, and
PyTorch's list of operators is the only one that is read from a folder.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, loaded
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

Functions = Mapping[str, operator_list.Function]
"""PyTorch's operators by name without namespace."""
Operators = Mapping[str, Mapping[str, Any]]
"""Overload -> entry of a matrix file."""
Condition = dict[str, Any]
_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a converter has no dispatch key."""
RESHAPED = "aten::_reshape_alias"
"""What a captured graph has in place of some views."""
_NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
"""Of the overloads that models call; others are met inside of decompositions alone."""
COMPLEX = ("complex64", "complex128")


class ConverterImporter(Importer):
    """Writes what the libraries of one exporter convert and run."""

    title: str
    """What the exporter is called."""
    device_type: str
    about: str
    """What the operators of ``{release}`` are, for the first line of a file."""
    code_file: Path
    """Releases with their sources, chips, texts and facts that were read in code."""

    @property
    def code(self) -> Mapping[str, Any]:
        """What ``code_file`` says."""
        return loaded(self.code_file)

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases whose wheels were asked or read."""
        return tuple(sorted(self.code["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("nothing of {name} {version} was read", name=self.title, version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return self._release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": self._vendor().text()}

    @abstractmethod
    def registered(self, known: Functions, release: str) -> Operators:
        """Give the entry of each overload that is converted, by itself or as another form."""

    @abstractmethod
    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what is refused, or is so by way of other operators."""

    def cited(self, release: str) -> Mapping[str, Any]:
        """What entries and conditions of a release cite."""
        found: Mapping[str, Any] = self.code["releases"][release]["sources"]
        return found

    def _release(self, sources: Path, release: str) -> ReleaseFile:
        said = self.code["releases"][release]
        known = operator_list.functions(sources / "pytorch", said["torch"])
        operators = self.registered(known, release)
        served = {name: entry["impl"][0] for name, entry in operators.items() if "method" in entry}
        found = facts.for_every_form(self.conditions(operators, known, release), served)
        chips = list(self.code["chips"])
        return ReleaseFile(
            vendor=self.name,
            release=release,
            about=self.about.replace("{release}", release),
            torch=(said["torch"],),
            sources=self.cited(release),
            operators=operators,
            conditions=tuple({**one, "ops": list(dict.fromkeys(one["ops"]))} for one in found),
            advisories=tuple(
                {**each, "chips": each.get("chips", chips)} for each in self.code["advisories"]
            ),
            key=_KEY,
            opsets=said.get("opsets"),
        )

    def _vendor(self) -> VendorFile:
        code = self.code
        return VendorFile(
            vendor=self.name,
            name=self.title,
            device_type=self.device_type,
            dispatch_key=_KEY,
            inherits=("CIA",),
            kind="export",
            sources=code["sources"],
            chips=code["chips"],
            fallback=code["fallback"],
            pairing=tuple(code["paired"]),
            notes=tuple(code["notes"]),
        )


def models_call(name: str, known: Functions) -> bool:
    """Whether models call an overload, and not decompositions alone."""
    namespace, _, rest = name.partition("::")
    return namespace in _NAMESPACES and (namespace != "aten" or rest in known)


def is_implicit(name: str, known: Functions) -> bool:
    """Whether PyTorch takes it apart by its arguments, so that a call's own parts decide."""
    function = _function(name, known)
    return function is not None and function.kind == operator_list.IMPLICIT


def writes(name: str, known: Functions) -> bool:
    """Whether it writes to an argument: torch.export puts the functional form in its place."""
    function = _function(name, known)
    return function is not None and function.writes


def argument_of(name: str, known: Functions) -> str:
    """The first tensor of a call, whose dtype was noted."""
    function = _function(name, known)
    return function.tensors[0] if function is not None and function.tensors else "*"


def _function(name: str, known: Functions) -> operator_list.Function | None:
    return known.get(name.removeprefix("aten::"))


def with_forms(found: Operators, own: Iterable[str], known: Functions) -> dict[str, Any]:
    """The entries with those of what is served by another form: ``add_.Tensor`` by ``add.Tensor``.

    ``own``: the overloads whose forms are served.
    """
    functional = dict.fromkeys(  # in order, for several overloads may share a form
        name.removeprefix("aten::") for name in own if name.startswith("aten::")
    )
    forms = operator_list.written_forms(functional, known)
    served = {f"aten::{name}": _served(found, f"aten::{form}") for name, form in forms.items()}
    return {**found, **served}


def with_reshaped(found: Operators) -> dict[str, Any]:
    """The entries with that of what stands for a view in a captured graph, where views have one."""
    reshaped = {RESHAPED: _served(found, "aten::view")} if "aten::view" in found else {}
    return {**found, **reshaped}


def _served(found: Operators, form: str) -> dict[str, Any]:
    return {"at": found[form]["at"], "impl": [form], "method": "dispatcher"}


def own_entries(listed: Operators, operators: Operators) -> dict[str, Mapping[str, Any]]:
    """What was extracted of overloads that have an entry of their own."""
    return {
        name: said
        for name, said in listed.items()
        if name in operators and "method" not in operators[name]
    }


def of_dtypes(argument: str, dtypes: Collection[str], bound: str = "one_of") -> dict[str, Any]:
    """The tests of a condition on the dtype of an argument; none where it holds for every one."""
    tests = [{"subject": "dtype", "argument": argument, bound: list(dtypes)}]
    return {"tests": tests} if dtypes else {}


def apart(names: list[str], text: str, at: str) -> Condition:
    """What is decomposed before converters are looked up, and comes through."""
    return {
        "ops": names,
        "code": "decomposed-before-conversion",
        "verdict": "decomposed",
        "confidence": "high",
        "method": "registered",
        "text": text,
        "at": [at],
    }


def unsure(condition: Condition) -> Condition:
    """A condition under which nobody has said what becomes of a call."""
    return {**condition, "verdict": "unknown", "confidence": "low", "method": "inferred"}


def not_looked_up(names: list[str], text: str, at: str) -> Condition:
    """What no call was tried of in some numbers; the caller adds which."""
    return {
        "ops": names,
        "code": "numbers-not-looked-up",
        "verdict": "unknown",
        "confidence": "low",
        "method": "inferred",
        "text": text,
        "at": [at],
    }
