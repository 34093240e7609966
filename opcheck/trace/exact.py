"""Which overloads a device with just one target's registrations is asked to run, and how often.

To C++ its tensors are subclasses, as an emulated device's are (a dispatch mode makes them so):
``reshape`` of one that is not contiguous asks ``view``, where a plain tensor of the device would
ask ``_reshape_alias``; ``_scaled_dot_product_attention_math`` adds its mask out of place.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from opcheck.model.names import OpName
from opcheck.model.trace import Kernel
from opcheck.trace.dispatcher import ALIASES, OverloadFacts, facts
from opcheck.trace.engine import Engine
from opcheck.trace.higher_order import branches
from opcheck.trace.leaf import Plan
from opcheck.trace.modules import ModuleStack
from opcheck.trace.signature import Call

_Key = tuple[OpName, bool, bool]
"""(overload, missing on the target, known to the CPU)"""


class Exact(Engine):
    """Walks the dispatcher's rule while the model runs: registered, else composite, else missing.

    A composite really runs in place of its kernel, so what follows sees its strides. What one
    signature runs as is remembered, unless values decide it.
    """

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        registered: frozenset[str],
        learned: Mapping[tuple[Any, ...], Plan],
        modules: ModuleStack,
    ) -> None:
        super().__init__(device, casts, modules)
        self.leaves.learned.update(learned)
        self._registered = registered
        self._counts: Counter[_Key] = Counter()
        self._memo: dict[tuple[Any, ...], tuple[Counter[_Key], Plan]] = {}

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Overloads that reach the device or are missing on it, sorted."""
        return tuple(
            Kernel(op, count, missing, runs_on_cpu)
            for (op, missing, runs_on_cpu), count in sorted(self._counts.items())
        )

    def answer(self, call: Call) -> Any:
        """Run the call as the target would."""
        known = facts(call.func)
        asked = call.ours or known.backend_select
        if asked and str(known.name) in self._registered:
            self._counts[(known.name, False, known.cpu_kernel)] += 1
            return self.leaves.run(call)
        if call.func in ALIASES:
            return self.leaves.run(call)
        if known.composite is not None:
            return self._composite(call, known)
        if asked:
            self._counts[(known.name, True, known.cpu_kernel)] += 1
        return self.leaves.run(call)

    def _composite(self, call: Call, known: OverloadFacts) -> Any:
        remembered = self._memo.get(call.key)
        if remembered is not None and not call.known:
            counts, plan = remembered
            self._counts.update(counts)
            return self.leaves.replay(plan, call)
        outer, self._counts = self._counts, Counter()
        assert known.composite is not None
        try:
            result = self.inside(call.func, known.composite, call.args, call.kwargs)
        except NotImplementedError:
            if self._counts:
                raise
            self._counts[(known.name, True, known.cpu_kernel)] += 1
            result = self.leaves.run(call)
        finally:
            inner, self._counts = self._counts, outer
            self._counts.update(inner)
        if not call.known and not self.took_assumption():
            self._memo[call.key] = (inner, self.leaves.plan_of(result, call))
        return result

    def higher_order(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run what the operator holds."""
        with self:
            return branches(func, args, kwargs)
