"""The switch of transformers for a cache of keys and values whose size is fixed."""

import inspect
import sys
from pathlib import Path
from typing import Any

from opcheck.model.padding import StaticCache

_FLAG = "_can_compile_fullgraph"
"""What a class of transformers says of itself; private, checked on 5.23.0. ``generate`` raises for
``cache_implementation="static"`` where it is not set."""


def static_cache(model: Any) -> StaticCache | None:
    """Whether a model that generates text takes a static cache; None where it is none."""
    library = sys.modules.get("transformers")
    if library is None or not isinstance(model, library.PreTrainedModel):
        return None
    if not (model.can_generate() and getattr(model.config, "use_cache", False)):
        return None
    says = next((kind for kind in type(model).__mro__ if _FLAG in vars(kind)), None)
    if says is None:
        return None
    file, line = _place(says)
    return StaticCache(f"transformers {library.__version__}", getattr(model, _FLAG), file, line)


def _place(kind: type) -> tuple[str, int]:
    """The line of a library where a class says so."""
    file = inspect.getsourcefile(kind) or ""
    lines, first = inspect.getsourcelines(kind)
    line = next(place for place, text in enumerate(lines, first) if text.strip().startswith(_FLAG))
    parts = Path(file).parts
    return "/".join(parts[parts.index("transformers") :]), line
