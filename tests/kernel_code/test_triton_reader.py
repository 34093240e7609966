"""Functions under ``@triton.jit``, read: what they call, of which dtypes, and what was not read."""

import textwrap

from opcheck.kernel_code.triton_reader import read_kernels
from opcheck.model.launches import Called, KernelCode, Operation

HEAD = "import triton\nimport triton.language as tl\n"


def read(text: str, head: str = HEAD, name: str = "kernel") -> KernelCode:
    return read_kernels(head + textwrap.dedent(text), "net.py")[name]


def shown(kernel: KernelCode) -> list[str]:
    """``load(x)``: an operation with whose dtype its operands have."""
    return [f"{each.name}({', '.join(each.of)})" for each in kernel.operations]


def test_a_kernel_is_read_whole() -> None:
    found = read("""
        @triton.jit
        def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n)
            tl.store(y_ptr + offsets, tl.exp(x), mask=offsets < n)
        """)
    assert found == KernelCode(
        name="kernel",
        file="net.py",
        line=5,
        parameters=("x_ptr", "y_ptr", "n", "BLOCK"),
        constants=("BLOCK",),
        operations=(
            Operation("arange", 6),
            Operation("exp", 8, ("x_ptr",)),
            Operation("load", 7, ("x_ptr",)),
            Operation("program_id", 6),
            Operation("store", 8, ("y_ptr",)),
        ),
        calls=(
            Called("arange", 6, ("BLOCK",)),
            Called("block", 7, ("BLOCK",), ("*x_ptr",)),
            Called("exp", 8, dtypes=("*x_ptr",)),
        ),
    )


def test_dtypes_are_followed_through_casts_and_accumulators() -> None:
    found = read("""
        @triton.jit
        def kernel(a, b, c, K: tl.constexpr):
            acc = tl.zeros((16, 16), dtype=tl.float32)
            pointers = a + tl.arange(0, 16)
            for k in range(K):
                left = tl.load(pointers)
                right = tl.load(b).to(tl.float16)
                acc += tl.dot(left, right, acc=acc)
                pointers += 16
            acc = tl.sqrt(acc)
            tl.atomic_add(c, acc.to(c.dtype.element_ty), sem="relaxed")
        """)
    assert shown(found) == [
        "arange()", "atomic_add(c)", "dot(a, float16)", "load(a)", "load(b)", "sqrt(float32)",
        "to(b)", "to(float32)", "zeros()",
    ]  # fmt: skip
    assert found.dtypes == ("float16", "float32")
    assert found.operations[1].given == (("sem", "relaxed"),)


def test_what_a_kernel_calls_of_the_file_is_read_with_it() -> None:
    found = read("""
        from .maths import scaled

        @triton.jit
        def inner(x):
            return tl.sigmoid(x) + outer(x)

        @triton.jit
        def outer(x):
            return inner(tl.cumsum(x, 0))

        @triton.jit
        def combined(a, b):
            return tl.maximum(a, b)

        @triton.jit
        def kernel(x, ACTIVATION: tl.constexpr):
            y = inner(tl.load(x))
            tl.store(x, scaled(ACTIVATION(tl.reduce(y, 0, combined))))
        """)
    assert shown(found) == [
        "cumsum()", "load(x)", "maximum()", "reduce()", "sigmoid()", "store(x)",
    ]  # fmt: skip
    assert found.unread == ("ACTIVATION", "scaled")


def test_the_library_of_a_device_has_one_name_however_it_is_imported() -> None:
    head = """
import triton.language as tl
from triton import jit
from triton.language.extra.cuda import libdevice
from triton.language.extra.libdevice import pow as power
from triton.language import math
"""
    found = read(
        """
        @jit
        def kernel(x):
            y = libdevice.tanh(tl.load(x)) + power(tl.load(x), 2)
            tl.store(x, math.exp(y) + tl.math.erf(y) + tl.inline_asm_elementwise("x", "=r"))
        """,
        head,
    )
    assert shown(found) == [
        "extra.libdevice.pow(x)", "extra.libdevice.tanh(x)", "inline_asm_elementwise()",
        "load(x)", "math.erf(x)", "math.exp(x)", "store(x)",
    ]  # fmt: skip


def test_descriptors_and_block_pointers_stand_for_what_they_are_made_of() -> None:
    found = read("""
        @triton.jit
        def kernel(a, b, d):
            block = tl.advance(tl.make_block_ptr(base=a, shape=(8,)), (8,))
            made = tl.make_tensor_descriptor(b, shape=[8])
            x = tl.load(block) if d else made.load([0]).sum(0)
            d.store([0], tl.abs(x))
        """)
    assert shown(found) == [
        "abs(a, b)", "advance(a)", "load(a)", "load_tensor_descriptor(b)", "make_block_ptr(a)",
        "make_tensor_descriptor(b)", "store_tensor_descriptor(d)", "sum(b)",
    ]  # fmt: skip


def test_functions_under_other_decorators_are_no_kernels() -> None:
    text = HEAD + textwrap.dedent("""
        import numba

        @triton.autotune(configs=[], key=["n"])
        @triton.jit(do_not_specialize=["n"])
        def kernel(n, B: "tl.constexpr", C: tl.constexpr[int]):
            tl.device_print("n", n)

        @numba.jit
        def other(x):
            return x
        """)
    found = read_kernels(text, "net.py")
    assert list(found) == ["kernel"]
    assert found["kernel"].constants == ("B", "C")
