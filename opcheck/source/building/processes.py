"""Groups of processes that the user's code opens: each is the traced process among none.

A group of ``nccl`` needs a GPU, and any other waits for its peers. torch's ``fake`` backend has the
size that was asked for, no peers and no network; its collectives reach the dispatcher as others do.
Where nothing says how many processes there are, a mesh of devices does, as large as it is.
Private torch API used here, checked on 2.13.0: ``torch.testing._internal.distributed.fake_pg``,
``DeviceMesh._setup_world_group_and_device``, ``_layout`` and ``_device_type``, and that
``torch.distributed.device_mesh`` takes ``init_process_group`` from ``distributed_c10d``.
"""

import os
import sys
from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from typing import Any
from urllib.parse import parse_qs, urlsplit

import torch

from opcheck.errors import TraceError
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
_assumed: set[tuple[str, int]] = set()
"""Those of which nothing says how large they are."""
_SETUPS = ("_setup_world_group_and_device", "_get_or_create_default_group")
"""What meshes open a group by, here and in torch 2.6."""
_DEVICE = "device_type"
"""An attribute of meshes in torch 2.6, a property here."""
_OF_OBJECTS = ("recv_object_list", "broadcast_object_list", "scatter_object_list")
"""Functions that may wait for what another process holds."""


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
    for name in _OF_OBJECTS:
        made = _waiting(getattr(dist, name))
        for module in (dist, dist.distributed_c10d):
            setattr(module, name, made)
    _prepare_meshes(vars(dist)["DeviceMesh"])
    if not torch.cuda.is_available():
        torch.cuda.set_device = _set_device


def notes() -> tuple[str, ...]:
    """What is to be said of the groups that were opened."""
    return tuple(note for note in dict.fromkeys(_opened.values()) if note)


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
        size = _stated(world_size, init_method, "world_size", 0)
        own = _stated(rank, init_method, "rank", 0)
        if not size:
            _assumed.add(place)
            size = 1
        store: Any = FakeStore()
        original(_FAKE, world_size=size, rank=own, store=store)
        _opened[place] = _note(backend, size, own)

    return init_process_group


def _adding(original: Callable[..., Any]) -> Callable[..., Any]:
    """``new_group`` for a part of such a group, whatever backend it asks for."""

    @wraps(original)
    def new_group(
        ranks: Any = None, timeout: Any = None, backend: Any = None, **kwargs: Any
    ) -> Any:
        return original(ranks, **kwargs)

    return new_group


def _note(backend: str | None, size: int, own: int) -> str:
    group = "opens a group" if backend is None else "opens a group of {backend}"
    processes = "process" if size == 1 else "processes"
    return Sentence(
        f"{group} for {{count}} {processes}: run as number {{count_own}} of them, the others "
        "are not there",
        backend=backend,
        count=size,
        count_own=own,
    )


def _prepare_meshes(kind: Any) -> None:
    """Have meshes be as large as they say, on a device that this machine has."""
    setup = next(filter(partial(hasattr, kind), _SETUPS), "")
    original: Any = getattr(kind, setup, None)

    def opened(mesh: Any) -> Any:
        _grow(mesh._layout.numel() if hasattr(mesh, "_layout") else mesh.mesh.numel())
        return original(mesh)

    def device_type(mesh: Any) -> str:
        said: str = mesh._device_type if hasattr(mesh, "_device_type") else vars(mesh)[_DEVICE]
        module = getattr(torch, said, None)
        there = said in ("cpu", "meta") or (module is not None and module.is_available())
        return said if there else "cpu"

    def keep(mesh: Any, said: str) -> None:
        vars(mesh)[_DEVICE] = said

    if original is not None:
        setattr(kind, setup, opened)
    setattr(kind, _DEVICE, property(device_type, keep))


def _grow(size: int) -> None:
    """Have a group of as many processes as a mesh has, if nothing says how many there are."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    place = ("", size)
    if dist.is_initialized():
        if not _assumed or dist.get_world_size() >= size:
            return
        dist.destroy_process_group()
        _opened.update(dict.fromkeys(_assumed, ""))
    elif "WORLD_SIZE" in os.environ:
        return
    own = _stated(-1, None, "rank", 0)
    store: Any = FakeStore()
    dist.init_process_group(_FAKE, world_size=size, rank=own, store=store)
    _opened[place] = Sentence(
        "makes a mesh of {count} devices: run as number {count_own} of as many processes, the "
        "others are not there",
        count=size,
        count_own=own,
    )
    _assumed.add(place)


def _waiting(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that waits for an object, or raises where that is another process's."""

    @wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        import torch.distributed as dist

        given = signature(original).bind(*args, **kwargs).arguments
        group = given.get("group")
        holder = given.get("group_src")
        if holder is None:
            holder, own = given.get("src", 0), dist.get_rank()
        else:
            own = dist.get_rank(group)
        if dist.get_backend(group) == _FAKE and holder != own:
            raise TraceError(
                Sentence(
                    "{function} waits for an object of process {count}, which is not there",
                    function=original.__name__,
                    count=-1 if holder is None else holder,
                ),
                Sentence(
                    "run as the process that has it, as with RANK=0 WORLD_SIZE=2 in the "
                    "environment; a PipelineStage needs none where it is given input_args and "
                    "output_args"
                ),
            )
        return original(*args, **kwargs)

    return collective


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
