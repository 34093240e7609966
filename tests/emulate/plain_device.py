"""Plain tensors of a device, with a few kernels that compute on the host: enough for a small model.

It shares nothing with the emulated device, so that parts of it can be tested alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.trace.device.tensors import prepare

_CPU = torch._C.DispatchKey.CPU
_VIEWS = ("as_strided", "view", "_reshape_alias")
_COMPUTED = (
    "_to_copy", "addmm", "mm", "mv", "bmm", "exp", "pow.Tensor_Scalar", "sum", "sum.dim_IntList",
    "mul.Tensor", "mul_.Tensor", "mul.out", "add.Tensor", "add_.Tensor", "addcmul", "_softmax",
    "linalg_vector_norm", "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim_dtype", "dot", "cat",
    "index_put", "zero_", "fill_.Scalar", "copy_", "clone", "ones_like", "zeros_like",
    "native_layer_norm", "reciprocal", "div.Tensor", "_foreach_add_.Scalar",
    "_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_",
    "binary_cross_entropy_with_logits", "_local_scalar_dense",
)  # fmt: skip
_MADE = ("empty.memory_format", "empty_strided", "scalar_tensor", "full")


def on_device(host: Tensor) -> Tensor:
    """A plain device tensor that shares its memory with ``host``."""
    storage = host.untyped_storage()
    address, size = storage.data_ptr(), storage.nbytes()
    made: Any = torch._C._construct_storage_from_data_pointer(address, prepare("npu"), size)
    made.__dict__["host"] = storage
    tensor: Tensor = torch._C._acc.create_empty_tensor((0,), host.dtype)
    torch.ops.aten.set_.source_Storage_storage_offset._op_dk(
        _CPU, tensor, made, host.storage_offset(), host.shape, host.stride()
    )
    return tensor


def on_host(tensor: Tensor) -> Tensor:
    """The host tensor that shares its memory with a device tensor."""
    host = torch.empty(0, dtype=tensor.dtype)
    storage = tensor.untyped_storage().__dict__["host"]
    host.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())
    return host


@contextmanager
def plain_device() -> Iterator[None]:
    """The device's kernels are registered inside the block."""
    prepare("npu")
    library = torch.library.Library("aten", "IMPL")
    try:
        for name in _VIEWS:
            library.impl(name, _viewing(_overload(name)), "PrivateUse1")
        for name in (*_COMPUTED, *_MADE):
            library.impl(name, _computing(_overload(name)), "PrivateUse1")
        yield
    finally:
        library._destroy()


def _overload(name: str) -> Any:
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _viewing(func: Any) -> Any:
    return lambda *args, **kwargs: func._op_dk(_CPU, *args, **kwargs)


def _computing(func: Any) -> Any:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        owners: dict[int, Tensor] = {}

        def down(value: Any) -> Any:
            if isinstance(value, torch.device):
                return torch.device("cpu")
            if not isinstance(value, Tensor) or value.device.type == "cpu":
                return value
            host = on_host(value)
            owners[id(host)] = value
            return host

        stays = kwargs.get("device") == torch.device("cpu") and func.__name__.startswith("_to_copy")
        given = tree_map(down, (args, kwargs))
        result = func(*given[0], **given[1])
        if stays or not isinstance(result, Tensor | tuple | list):
            return result
        return tree_map(
            lambda v: owners.get(id(v), on_device(v)) if isinstance(v, Tensor) else v, result
        )

    return kernel
