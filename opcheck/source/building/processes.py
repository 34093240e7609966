"""Groups of processes that the user's code opens: each is the traced process among none.

A group of ``nccl`` needs a GPU, and any other waits for its peers. torch's ``fake`` backend has the
size that was asked for, no peers and no network; its collectives reach the dispatcher as others do.
Private torch API used here, checked on 2.13.0: ``torch.testing._internal.distributed.fake_pg``, and
that ``torch.distributed.device_mesh`` takes ``init_process_group`` from ``distributed_c10d``.
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import parse_qs, urlsplit

import torch

from opcheck.lang.sentence import Sentence

_FAKE = "fake"
_MODULES = (
    "torch.distributed",
    "torch.distributed.distributed_c10d",
    "torch.distributed.device_mesh",
)
"""Where the functions are found that open groups."""
_MARK = "_opcheck_without_peers"
_opened: dict[tuple[str, int], str] = {}
"""Where a group was opened, and what is to be said of it."""


def prepare() -> None:
    """Have groups that are opened from now on be without peers; once per process."""
    import torch.distributed as dist

    if not dist.is_available() or hasattr(dist.init_process_group, _MARK):
        return
    for name, answering in (("init_process_group", _opening), ("new_group", _adding)):
        made = answering(getattr(dist, name))
        setattr(made, _MARK, True)
        for module in filter(None, map(sys.modules.get, _MODULES)):
            if hasattr(module, name):
                setattr(module, name, made)
    if not torch.cuda.is_available():
        torch.cuda.set_device = _set_device


def notes() -> tuple[str, ...]:
    """What is to be said of the groups that were opened."""
    return tuple(dict.fromkeys(_opened.values()))


def _opening(original: Callable[..., Any]) -> Callable[..., Any]:
    """``init_process_group`` for a group without peers."""

    @wraps(original)
    def init_process_group(
        backend: str | None = None,
        init_method: str | None = None,
        timeout: Any = None,
        world_size: int = -1,
        rank: int = -1,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        if backend == _FAKE:
            original(backend, init_method, timeout, world_size, rank, *args, **kwargs)
            return
        caller = sys._getframe(1)
        place = caller.f_code.co_filename, caller.f_lineno
        if torch.distributed.is_initialized() and place in _opened:
            return  # by a forward that is run once more
        size = _stated(world_size, init_method, "world_size", 1)
        own = _stated(rank, init_method, "rank", 0)
        store: Any = FakeStore()
        original(_FAKE, world_size=size, rank=own, store=store)
        group = "opens a group" if backend is None else "opens a group of {backend}"
        processes = "process" if size == 1 else "processes"
        _opened[place] = Sentence(
            f"{group} for {{count}} {processes}: run as number {{count_own}} of them, the others "
            "are not there",
            backend=backend,
            count=size,
            count_own=own,
        )

    return init_process_group


def _adding(original: Callable[..., Any]) -> Callable[..., Any]:
    """``new_group`` for a part of such a group, whatever backend it asks for."""

    @wraps(original)
    def new_group(
        ranks: Any = None, timeout: Any = None, backend: Any = None, **kwargs: Any
    ) -> Any:
        return original(ranks, **kwargs)

    return new_group


def _stated(given: int, init_method: str | None, name: str, otherwise: int) -> int:
    """A number as the call, its address or the environment says it, as torch looks for it."""
    if given >= 0:
        return given
    asked = parse_qs(urlsplit(init_method or "").query).get(
        name, [os.environ.get(name.upper(), "")]
    )
    return int(asked[0]) if asked[0].isdecimal() else otherwise


def _set_device(device: Any) -> None:
    """Choose no GPU where there is none: what asks for one later is told."""
