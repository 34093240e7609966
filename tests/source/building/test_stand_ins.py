"""Libraries that are not installed: imports, shapes, and when nothing stands in."""

import importlib.metadata
import importlib.util
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._triton import has_triton_package

from opcheck.db.by_hand.libraries import Schemas
from opcheck.db.store import Database
from opcheck.errors import SourceError
from opcheck.model.target import TargetSpec
from opcheck.source.building.stand_ins import finder
from opcheck.source.building.stand_ins.installed import Installed, plugin_of
from opcheck.source.building.stand_ins.operators import (
    OpenSizeError,
    SizeError,
    dimensions,
    value_of,
)
from opcheck.source.user_code import run_file
from opcheck.trace.device.tensors import make_way

OWN = {"user_model", "second", "inner_part"}
"""Names of the files that tests write."""
SHIPPED = Path(__file__).parents[3] / "compat_db" / "schemas"


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*shape, device="meta", dtype=dtype)


class Named(TorchDispatchMode):
    """Keeps the names of what is called."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.name())
        return func(*args, **(kwargs or {}))


@pytest.fixture
def stand_ins() -> Iterator[finder.StandIns]:
    """Installed for one test; what it imported is forgotten after it."""
    paths = list(sys.path)
    installed = finder.install(Schemas(SHIPPED))
    yield installed
    sys.meta_path.remove(installed)
    sys.path[:] = paths
    known = {path.stem for path in SHIPPED.glob("*.yaml")} | OWN | {"triton"}
    for name in [name for name in sys.modules if name.partition(".")[0] in known]:
        del sys.modules[name]
    for device_type in ("npu", "mlu", "musa", "hpu"):
        make_way(device_type)


def run(folder: Path, code: str, name: str = "user_model") -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(code))
    return run_file(path)


CALLS = {
    "flash_attn": (
        "from flash_attn import flash_attn_func as f",
        lambda m: m.f(meta(2, 5, 4, 8), meta(2, 7, 2, 8), meta(2, 7, 2, 8), causal=True),
        (2, 5, 4, 8),
    ),
    "flash_attn packed": (
        "from flash_attn.flash_attn_interface import flash_attn_qkvpacked_func as f",
        lambda m: m.f(meta(2, 5, 3, 4, 8)),
        (2, 5, 4, 8),
    ),
    "xformers": (
        "import xformers.ops as xops",
        lambda m: m.xops.memory_efficient_attention(
            meta(2, 5, 4, 8), meta(2, 7, 4, 8), meta(2, 7, 4, 6), op=None,
            attn_bias=m.xops.LowerTriangularMask(),
        ),
        (2, 5, 4, 6),
    ),
    "mmcv conv": (
        "from mmcv.ops import ModulatedDeformConv2d as f",
        lambda m: m.f(8, 12, 3, stride=2, padding=1).to("meta")(
            meta(1, 8, 9, 9), meta(1, 18, 5, 5), meta(1, 9, 5, 5)
        ),
        (1, 12, 5, 5),
    ),
    "mmcv align": (
        "from mmcv.ops import RoIAlign as f",
        lambda m: m.f((7, 5), 0.25)(meta(1, 8, 9, 9), meta(3, 5)),
        (3, 8, 7, 5),
    ),
    "mmcv function": (
        "from mmcv.ops.multi_scale_deform_attn import MultiScaleDeformableAttnFunction as f",
        lambda m: m.f.apply(
            meta(2, 20, 4, 8), meta(1, 2, dtype=torch.int64), meta(1, dtype=torch.int64),
            meta(2, 6, 4, 1, 4, 2), meta(2, 6, 4, 1, 4), 64,
        ),
        (2, 6, 32),
    ),
    "apex": (
        "from apex.normalization import FusedRMSNorm as f",
        lambda m: m.f(8).to("meta")(meta(2, 8)),
        (2, 8),
    ),
    "mamba": (
        "from mamba_ssm.ops.selective_scan_interface import selective_scan_fn as f",
        lambda m: m.f(meta(1, 6, 9), meta(1, 6, 9), meta(6, 4), meta(1, 4, 9), meta(1, 4, 9)),
        (1, 6, 9),
    ),
    "causal_conv1d": (
        "from causal_conv1d import causal_conv1d_fn as f",
        lambda m: m.f(meta(1, 6, 9), meta(6, 4), activation="silu"),
        (1, 6, 9),
    ),
    "torch_npu": (
        "from torch_npu import npu_swiglu as f",
        lambda m: m.f(meta(2, 5, 8)),
        (2, 5, 4),
    ),
    "torch_npu attention": (
        "import torch_npu",
        lambda m: m.torch_npu.npu_fusion_attention(
            *[meta(2, 5, 24)] * 3, head_num=4, input_layout="BSH"
        )[1],
        (2, 4, 5, 8),
    ),
    "torch_npu attention of packed sequences": (
        "import torch_npu",
        lambda m: m.torch_npu.npu_fusion_attention(*[meta(10, 4, 8)] * 3, 4, "TND")[2],
        (10, 4, 8),
    ),
    "torch_npu norm": (
        "import torch_npu",
        lambda m: m.torch_npu.npu_rms_norm(input=meta(2, 5, 8), gamma=meta(8))[1],
        (2, 5, 1),
    ),
    "torch_scatter": (
        "from torch_scatter import scatter as f",
        lambda m: m.f(meta(9, 4), meta(9, dtype=torch.int64), dim=0, dim_size=3, reduce="mean"),
        (3, 4),
    ),
}  # fmt: skip
"""An import as models write it, a call, and the shape of what it gives."""


@pytest.mark.parametrize("name", CALLS)
def test_a_model_imports_and_calls(name: str, stand_ins: finder.StandIns, tmp_path: Path) -> None:
    code, call, shape = CALLS[name]
    made = call(run(tmp_path, code))  # type: ignore[no-untyped-call]  # one of the lambdas
    assert tuple(made.shape) == shape


PLUGINS = {
    "torch_npu": ("npu", "from torch_npu.contrib import transfer_to_npu"),
    "torch_mlu": ("mlu", "import torch_mlu\nassert torch_mlu.mlu.device_count() == 0"),
    "torch_musa": ("musa", "import torch_musa\nassert torch_musa.device_count() == 0"),
    "torch_xla": ("xpu", "import torch_xla.core.xla_model as xm\nassert xm.mark_step() is None"),
    "intel_extension_for_pytorch": (
        "xpu", "import intel_extension_for_pytorch as ipex\nassert ipex.optimize(3, dtype=4) == 3"
    ),
    "torch_directml": ("xpu", "import torch_directml\nassert not torch_directml.is_available()"),
    "habana_frameworks": (
        "hpu", "import habana_frameworks.torch.core as htcore\nassert htcore.mark_step() is None"
    ),
}  # fmt: skip
"""Vendors' plugins: a device type that torch has after the import, and code as users write it."""


@pytest.mark.parametrize("name", PLUGINS)
def test_a_vendor_s_plugin_is_there_and_its_device_is_not(
    name: str, stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    device_type, code = PLUGINS[name]
    run(tmp_path, code)
    module = getattr(torch, device_type)
    assert (module.is_available(), module.device_count()) == (False, 0)
    assert stand_ins.notes() == (
        f"{name} is not installed here; what is known of it is taken from the database",
    )


def test_a_device_that_is_not_there_is_refused_as_torch_refuses_it(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    torch_musa = run(tmp_path, "import torch_musa").torch_musa
    for owner in (torch.ones(1), torch.nn.Linear(1, 1)):
        with pytest.raises(RuntimeError, match="device string: musa"):
            owner.musa()  # type: ignore[operator,union-attr]  # the plugin's own method
    with pytest.raises(AttributeError, match=r"torch\.musa\.current_stream needs a device"):
        _ = torch_musa.current_stream


def test_numbers_and_gradients_of_an_operator_under_its_own_names(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    torch_npu = run(tmp_path, "import torch_npu").torch_npu
    query = meta(2, 4, 5, 8).requires_grad_()
    found = torch_npu.npu_fusion_attention(query, query, query, 4, "BNSD")
    assert found[4:] == (0, 0, 0)
    with Named() as seen:
        found[0].sum().backward()
    assert "npu::npu_fusion_attention_grad" in seen.names
    with pytest.raises(RuntimeError, match="query has 4 dimensions, and its layout is 'BSH'"):
        torch_npu.npu_fusion_attention(query, query, query, 4, "BSH")


def test_triton_is_stood_in_for_where_it_is_not_installed(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    if importlib.util.find_spec("triton") is not None:
        pytest.skip("Triton is installed, and nothing stands in for it")
    model = run(
        tmp_path,
        """
        import triton
        import triton.language as tl
        import triton.language.extra.cann.extension as al
        from triton.language.extra import libdevice
        from triton.language.extra.cann.libdevice import tan
        from triton.runtime import driver

        TYPES = {"half": tl.float16, "wide": tl.float32}
        SIZE = tl.constexpr(triton.next_power_of_2(5))

        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr = SIZE):
            tl.store(x_ptr, libdevice.tanh(tl.load(x_ptr)))
        """,
    )
    assert (model.SIZE == 8, model.triton.cdiv(9, 4), len(set(model.TYPES.values()))) == (
        True,
        3,
        2,
    )
    with pytest.raises(RuntimeError, match="0 active drivers"):
        model.driver.active.get_current_target()
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        model.kernel(1, 2)
    assert not has_triton_package()
    assert stand_ins.notes() == (
        "Triton is not installed here: its kernels are read from their source, and none is run",
    )


PACK = {
    "aqlm",
    "auto_round",
    "compressed_tensors",
    "fbgemm",
    "finegrained_fp8",
    "flute",
    "fp_quant",
    "gpt_oss_triton_kernels",
    "gptqmodel",
    "mlx_quantization_metal_kernels",
    "mslk",
    "nunchaku_lite",
    "quantization_eetq",
    "quanto",
    "quark",
    "spqr_cuda",
    "vptq",
}
"""Libraries that transformers calls for packed weights, and models do not import."""


def test_every_library_has_an_import_that_is_tried_or_refuses() -> None:
    tried = {code.split()[1].partition(".")[0] for code, _, _ in CALLS.values()}
    known = {path.stem for path in SHIPPED.glob("*.yaml")}
    refused = {name for name in known if Schemas(SHIPPED)(name).refuses}  # type: ignore[union-attr]
    assert tried | refused | PLUGINS.keys() | PACK == known


OWN_WAY = {
    "try": "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None",
    "bare": "try:\n    import flash_attn\nexcept:\n    flash_attn = None",
    "with": "import contextlib\nflash_attn = None\nwith contextlib.suppress(ImportError):\n"
    "    import flash_attn",
    "look": "import importlib.util\nflash_attn = importlib.util.find_spec('flash_attn')",
    "inner": "try:\n    import inner_part\nexcept ImportError:\n    flash_attn = None",
}


@pytest.mark.parametrize("how", OWN_WAY)
def test_code_with_a_way_of_its_own_keeps_it(
    how: str, stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    (tmp_path / "inner_part.py").write_text("import flash_attn\n")
    assert run(tmp_path, OWN_WAY[how]).flash_attn is None
    assert stand_ins.used == {}


def test_code_that_only_words_the_error_anew_has_no_other_way(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    code = """
    try:
        import flash_attn
    except ImportError as error:
        raise RuntimeError("install flash-attn") from error
    """
    assert run(tmp_path, code).flash_attn.flash_attn_func is not None
    assert set(stand_ins.used) == {"flash_attn"}


def test_an_installed_library_is_never_stood_in_for(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    (tmp_path / "flash_attn.py").write_text("flash_attn_func = 'the real one'\n")
    module = run(tmp_path, "from flash_attn import flash_attn_func")
    assert module.flash_attn_func == "the real one"
    assert stand_ins.used == {}


def test_a_library_that_cannot_be_described_says_why(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="imports spconv, which is not installed: how large"):
        run(tmp_path, "import spconv.pytorch")


def test_a_library_that_nobody_knows_is_missing(stand_ins: finder.StandIns, tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        run(tmp_path, "import no_such_library")


def test_a_name_that_is_not_described_is_missing(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    with pytest.raises(ImportError, match=r"no_such_op.*mmcv\.yaml"):
        run(tmp_path, "from mmcv.ops import no_such_op")
    module = run(tmp_path, "import mmcv.ops", "second")
    with pytest.raises(AttributeError, match=r"mmcv\.ops\.other is not known"):
        _ = module.mmcv.ops.other


def test_nothing_is_there_for_who_looks(stand_ins: finder.StandIns) -> None:
    assert importlib.util.find_spec("flash_attn") is None


def test_the_device_s_own_plugin_is_found_however_code_looks(
    stand_ins: finder.StandIns, tmp_path: Path
) -> None:
    stand_ins.installed = Installed("torch_npu", "torch_npu", "2.12.0.post1")
    code = """
    import importlib.metadata, importlib.util
    looked = importlib.util.find_spec("torch_npu")
    versions = [importlib.metadata.version(name) for name in ("torch_npu", "torch-npu")]
    brings = importlib.metadata.packages_distributions()["torch_npu"]
    try:
        import torch_npu
    except ImportError:
        torch_npu = None
    """
    module = run(tmp_path, code)
    assert module.looked is not None
    assert module.versions == ["2.12.0.post1", "2.12.0.post1"]
    assert module.brings == ["torch_npu"]
    assert module.torch_npu.__version__ == "2.12.0.post1"
    assert importlib.metadata.distribution("torch_npu").files is None
    with pytest.raises(FileNotFoundError):
        importlib.metadata.distribution("torch_npu").locate_file("torch_npu/__init__.py")
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("flash_attn")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("ascend-910b@26.1.0+torch2.12", ("torch_npu", "torch_npu", "2.12.0")),
        ("ascend-910b@7.3.0+torch2.8", ("torch_npu", "torch_npu", "2.8.0.post2")),
        ("moorethreads-s5000@2.7.1+torch2.7", ("torch_musa", "torch_musa", "2.7.1")),
        ("cambricon-mlu590@r2.4_develop+torch2.4", ("torch_mlu", "torch_mlu", "1.25.0")),
        ("nvidia-h100", None),
    ],
)
def test_a_target_s_plugin_has_the_version_that_its_vendor_pairs(
    target: str, said: tuple[str, str, str] | None
) -> None:
    database = Database.open()
    resolved = database.resolve(TargetSpec.parse(target))
    found = plugin_of(database.environment(resolved.vendor), resolved)
    assert (found and (found.package, found.module, found.version)) == said


def test_what_stands_in_for_a_while_is_not_found_after_it(tmp_path: Path) -> None:
    with finder.standing_in(Schemas(SHIPPED)):
        import flash_attn  # type: ignore[import-not-found]  # stood in for

        assert flash_attn.flash_attn_func is not None
        with finder.standing_in(Schemas(SHIPPED)):
            pass
        assert "flash_attn" in sys.modules
    assert "flash_attn" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("flash_attn")


def test_shapes_that_do_not_fit_are_told(stand_ins: finder.StandIns, tmp_path: Path) -> None:
    module = run(tmp_path, "from flash_attn import flash_attn_func as f")
    with pytest.raises(RuntimeError, match="k has width = 16, and elsewhere it is 8"):
        module.f(meta(2, 5, 4, 8), meta(2, 5, 4, 16), meta(2, 5, 4, 16))
    with pytest.raises(RuntimeError, match="q has 3 dimensions, expected batch, queries"):
        module.f(meta(2, 5, 4), meta(2, 5, 4, 16), meta(2, 5, 4, 16))
    with pytest.raises(NotImplementedError, match="for return_attn_probs=False alone"):
        module.f(*[meta(2, 5, 4, 8)] * 3, return_attn_probs=True)


def test_gradients_go_through(stand_ins: finder.StandIns, tmp_path: Path) -> None:
    module = run(tmp_path, "from apex.normalization import FusedLayerNorm as f")
    layer = module.f(8).to("meta")
    x = meta(2, 8).requires_grad_()
    layer(x).sum().backward()
    gradients: list[Any] = [x.grad, layer.weight.grad, layer.bias.grad]
    assert [tuple(g.shape) for g in gradients] == [(2, 8), (8,), (8,)]


def test_sizes_are_computed() -> None:
    sizes = {"n": 7, "k": [3, 2], "lead": [4, 5], "none": None}
    assert value_of("(n + 2 * k[0] - 1) // k[1] + 1", sizes) == 7
    assert value_of("max(n, min(2, 9)) % 4", sizes) == 3
    assert dimensions(["lead...", "n", "2"], sizes) == [4, 5, 7, 2]
    with pytest.raises(OpenSizeError, match="depends on data"):
        value_of("none", sizes)


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "n.real", "n ** 9", "open(n)", "[n for n in k]", "n if n else n", "'a'",
     "lambda: 1", "n; n", "n // 0", "n - 9", "k", "k[5]", "9" * 40 + " * " + "9" * 40, "(" * 500,
     "other", "True", "min()", "min(n, key=n)", "1.5", "n << 9"],
)  # fmt: skip
def test_anything_else_is_no_size(text: str) -> None:
    with pytest.raises(SizeError):
        value_of(text, {"n": 7, "k": [3, 2]})
