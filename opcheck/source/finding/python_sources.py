"""Models in a project's Python files: factories and classes, and what their inputs are."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.project import Candidate, Kind, Lacks
from opcheck.source.finding.facts import ClassFacts, FileFacts, FunctionFacts
from opcheck.source.finding.folders import is_test
from opcheck.source.finding.names import Meant, Names
from opcheck.source.finding.written import calls_in, inputs_of

_CALLED = re.compile(r"(?i)(^|_)(model|net|network)($|_|\d)")
"""Names of functions that make models, of those that take arguments."""
_SETTINGS = re.compile(r"(?i)conf|cfg|args|params|settings")
"""Parameters that are a record of settings."""
_FURTHEST = 4
"""Steps from a function that returns what another does."""
_GET_INPUTS = "get_inputs"
_HUB = "hubconf.py"
_Key = tuple[str, str]
"""File and name of a class or function."""


class _Inputs(Struct, frozen=True):
    """Inputs that are written down, and where."""

    inputs: tuple[str, ...]
    source: Sentence


class PythonSources:
    """The models in the Python files of a project."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._names = Names(files)
        self._written = dict(reversed([*self._inputs()]))  # the first of each counts
        self._parts = {*self._used_in_modules(), *self._handed_on()}
        self._returned, self._returned_by_any = self._of_functions()

    def candidates(self, file: FileFacts) -> Iterator[Candidate]:
        """Those of one file."""
        if is_test(file.path) or file.script.works:
            return
        yield from self._factories(file)
        for found in file.classes.values():
            key = file.path, found.name
            if key in self._parts or key in self._returned or not self._is_model(file, found):
                continue
            one = self._class(file, found)
            made = key in self._returned_by_any or found.name in file.mentioned
            if one.lacks is not Lacks.ARGUMENTS or not made:
                yield one

    def _of_functions(self) -> tuple[set[_Key], set[_Key]]:
        """What functions return that are sources themselves, and what any function returns."""
        found: tuple[set[_Key], set[_Key]] = set(), set()
        for file in self._files.values():
            for one in file.functions.values() if not is_test(file.path) else ():
                made = self._comes_to(file, one.makes)
                if made is not None:
                    key = made[0].path, made[1].name
                    found[1].add(key)
                    if not (one.needs or one.name.startswith("_") or file.script.works):
                        found[0].add(key)
        return found

    def _comes_to(self, file: FileFacts, name: str) -> Meant | None:
        """The class or last function that a name leads to, through functions that return others."""
        found = self._names.meant(file, name) if name else None
        for _ in range(_FURTHEST):
            if found is None or not isinstance(found[1], FunctionFacts) or not found[1].makes:
                break
            further = self._names.meant(found[0], found[1].makes)
            if further is None:
                break
            found = further
        return found

    def _inputs(self) -> Iterator[tuple[_Key, _Inputs]]:
        """What each model is called on somewhere in the project."""
        for file in self._files.values():
            for call in calls_in(file.tree) if file.writes_tensors else ():
                found = self._names.meant(file, call.made_by)
                if found is not None:
                    where = Sentence("{file}:{line} calls it so", file=file.path, line=call.line)
                    yield (found[0].path, found[1].name), _Inputs(call.inputs, where)

    def _used_in_modules(self) -> Iterator[_Key]:
        """The classes that other classes of modules are made of."""
        for file in self._files.values():
            for one in file.classes.values():
                for name in one.makes | one.names if self._names.is_module(file, one) else ():
                    found = self._names.meant(file, name)
                    if found is not None and not self._is_base(found, file, one):
                        yield found[0].path, found[1].name

    def _is_base(self, found: Meant, file: FileFacts, one: ClassFacts) -> bool:
        """Whether what a class names is itself, or a base of it: these are no parts."""
        return any(base is found[1] for _, base in self._names.bases(file, one))

    def _handed_on(self) -> Iterator[_Key]:
        """The classes that are arguments of calls: blocks that a model is made of."""
        for file in self._files.values():
            for name in file.handed_on:
                found = self._names.meant(file, name)
                if found is not None and isinstance(found[1], ClassFacts):
                    yield found[0].path, found[1].name

    def _is_model(self, file: FileFacts, found: ClassFacts) -> bool:
        return (
            not found.name.startswith("_")
            and not found.name.endswith(("Loss", "Criterion", "Mixin"))
            and self._names.is_module(file, found)
            and self._names.forward(file, found) is not None
            and (self._names.has_layers(file, found) or (file.path, found.name) in self._written)
        )

    def _factories(self, file: FileFacts) -> Iterator[Candidate]:
        for one in file.functions.values():
            if one.name.startswith("_") or not self._is_factory(file, one):
                continue
            what = one.makes or one.annotation
            reason = Sentence("a function that returns {name}", name=what)
            made = self._comes_to(file, one.makes)
            yield self._candidate(file, one, Kind.FACTORY, reason, made or (file, one))

    def _is_factory(self, file: FileFacts, one: FunctionFacts) -> bool:
        """Whether it returns a model; one that takes arguments has to be called as such are."""
        made = self._comes_to(file, one.makes)
        if made is not None and isinstance(made[1], ClassFacts):
            makes = self._names.is_module(made[0], made[1])
        else:
            where, last = made or (file, one)
            called = last.makes if isinstance(last, FunctionFacts) else ""
            makes = bool(called) and self._names.makes_model(where, called)
        makes = makes or self._names.is_model_type(file, one.annotation)
        if one.needs:
            return makes and bool(one.makes) and _CALLED.search(one.name) is not None
        return makes or file.path.rpartition("/")[2] == _HUB

    def _class(self, file: FileFacts, found: ClassFacts) -> Candidate:
        reason = Sentence("a class of modules")
        return self._candidate(file, found, Kind.CLASS, reason, (file, found))

    def _candidate(
        self,
        file: FileFacts,
        one: ClassFacts | FunctionFacts,
        kind: Kind,
        reason: Sentence,
        model: Meant,
    ) -> Candidate:
        """A source with what is known of its inputs; ``model`` is what it comes to."""
        needs = self._names.needs(file, one) if isinstance(one, ClassFacts) else one.needs
        conventional = _GET_INPUTS in file.functions and isinstance(one, ClassFacts)
        known = self._known(file, one, model, conventional=conventional)
        made = model[1]
        forward = self._names.forward(model[0], made) if isinstance(made, ClassFacts) else None
        lacks, names = Lacks.NOTHING, tuple[str, ...]()
        if needs and not conventional:
            lacks, names = Lacks.ARGUMENTS, needs
        elif known is None and forward is not None and len(forward) > 1:
            lacks, names = Lacks.INPUTS, forward
        elif known is None and forward is not None:
            known = _Inputs((), Sentence("its first layer tells what it takes"))
        return Candidate(
            f"{file.path}:{one.name}", kind, reason, one.line,
            inputs=known.inputs if known else (),
            inputs_from=known.source if known else None,
            lacks=lacks, names=names,
            made_as=_made_as(file, one) if lacks is Lacks.ARGUMENTS else "",
        )  # fmt: skip

    def _known(
        self,
        file: FileFacts,
        one: ClassFacts | FunctionFacts,
        model: Meant,
        *,
        conventional: bool,
    ) -> _Inputs | None:
        """Inputs that somebody has written down; with none where the source gives them itself."""
        if isinstance(one, FunctionFacts) and one.gives_inputs:
            return _Inputs((), Sentence("it returns them with the model"))
        if conventional:
            return _Inputs((), Sentence("{name} gives them", name=_GET_INPUTS))
        made = model[1]
        if isinstance(made, ClassFacts) and made.example is not None:
            found = inputs_of([made.example], {}, {})
            if found:
                return _Inputs(found, Sentence("its example_input_array is such"))
        keys = (file.path, one.name), (model[0].path, model[1].name)
        return next((self._written[key] for key in keys if key in self._written), None)


def _made_as(file: FileFacts, one: ClassFacts | FunctionFacts) -> str:
    """How it is made of the one settings of its file that have a value for everything."""
    plain = [found.name for found in file.classes.values() if found.is_plain]
    needs = one.needs or ()
    if len(needs) != 1 or not plain or not _SETTINGS.search(needs[0]):
        return ""
    near = [name for name in plain if one.name.lower() in name.lower()]
    name = near[0] if near else plain[0]
    return f"{one.name}({name}())" if near or len(plain) == 1 else ""
