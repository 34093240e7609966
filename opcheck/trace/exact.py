"""Counts of the kernels that one target is asked for, beside the tree that holds for all."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap, Kernel
from opcheck.trace.calls.kernel_counter import KernelCounter
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.outputs.plan import Plan
from opcheck.trace.running.model_state import Later, forget

Progress = Callable[[str], None]


class Counted(Struct, frozen=True):
    """The exact kernels of one run."""

    kernels: tuple[Kernel, ...]
    gaps: tuple[Gap, ...]
    """Where modules failed."""


Apart = Callable[[Sequence[Callable[[], Counted]]], Sequence[Later[Counted]]]
"""Has works begun that are to find nothing of what other runs left."""


class Counts:
    """Runs that count kernels, one for all targets that register the same overloads."""

    def __init__(
        self,
        make: Callable[..., KernelCounter],
        run: Callable[[Callable[[ModuleStack], KernelCounter]], Any],
        targets: Mapping[str, frozenset[str]],
        apart: Apart,
    ) -> None:
        """Begin them.

        Args:
            make: an engine of the traced device, given what it counts, what was learned of
                outputs and the modules.
            run: has the model run with an engine that is made for it, and gives that engine.
            targets: each target (its text) -> the overloads that it registers.
            apart: how the runs are kept from what others leave in caches.
        """
        self._make, self._run, self._targets = make, run, targets
        self._learned: dict[tuple[Any, ...], Plan] = {}
        sets = [*dict.fromkeys(targets.values())]
        works = apart([partial(self._count, names) for names in sets])
        self._begun = dict(zip(sets, works, strict=True))

    def beside(
        self, tree: CallTreeRecorder, progress: Progress
    ) -> tuple[Mapping[str, tuple[Kernel, ...]], Sequence[Sentence]]:
        """The kernels of each target, and a note on each whose run went otherwise than the tree."""
        self._learned.update(tree.leaves.learned)
        gaps = tuple(tree.modules.gaps)
        done: dict[frozenset[str], Counted] = {}
        kernels, notes = {}, []
        for target, names in self._targets.items():
            if names not in done:
                progress(Sentence("counting the kernels called on {target}", target=target))
                done[names] = self._counted(names, gaps)
            if done[names].gaps == gaps:
                kernels[target] = done[names].kernels
            else:
                notes.append(_failed(target, done[names].gaps))
        return kernels, notes

    def _counted(self, names: frozenset[str], gaps: tuple[Gap, ...]) -> Counted:
        counted = self._begun[names]()
        if self._learned and counted.gaps != gaps:
            forget()  # in a copy of the process, nothing was learned
            return self._count(names)
        return counted

    def _count(self, names: frozenset[str]) -> Counted:
        engine = self._run(partial(self._engine, names))
        return Counted(engine.kernels, tuple(engine.modules.gaps))

    def _engine(self, names: frozenset[str], modules: ModuleStack) -> KernelCounter:
        made = self._make(names, self._learned, modules)
        made.leaves.follows_sparse = True
        return made


def _failed(target: str, gaps: Sequence[Gap]) -> Sentence:
    said = Sentence(
        "the run that counts them failed: {text}",
        text=gaps[0].reason if gaps else Sentence("too early"),
    )
    return Sentence("no exact kernels for {target}: {said}", target=target, said=said)
