"""Arguments of exported graph nodes as values, and how nodes pass their inputs."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import DTYPE_BYTES, Constant, TensorMeta, Value, coarse_offset
from opcheck.source.pt2.symbols import Sizes

# Codes of torch/_export/serde/schema.py, version 8.20 (torch 2.13); unchanged since 5.0.
DTYPES: Mapping[int, str] = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32",
    8: "float64", 9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16",
    28: "uint16", 29: "float8_e4m3fn", 30: "float8_e5m2", 31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
}  # fmt: skip
LAYOUTS: Mapping[int, str] = {
    1: "sparse_coo", 2: "sparse_csr", 3: "sparse_csc", 4: "sparse_bsr", 5: "sparse_bsc",
    6: "_mkldnn", 7: "strided",
}  # fmt: skip
MEMORY_FORMATS: Mapping[int, str] = {
    1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format",
}  # fmt: skip
_STRIDED = 7
MOST_BYTES = 2**47
"""Of one tensor's memory: what a process can address on today's 64-bit processors. The weights of a
model of a trillion parameters are a hundredth of it."""
_ACCELERATOR_FREE = frozenset({"cpu", "meta"})

Variant = tuple[str, Any]
"""The one set member of a schema union and what it holds."""


def variant(union: Mapping[str, Any]) -> Variant:
    """The one member that a union holds; older schemas wrote the empty ones too."""
    if len(union) == 1:
        [only] = union.items()
        if only[1] is not None:
            return only
    held = [item for item in union.items() if item[1] is not None]
    if len(held) == 1:
        return held[0]
    if not held:
        raise ValueError(Sentence("an empty union: {text}", text=union))
    raise ValueError(
        Sentence(
            "a union of {count} members: {text}",
            count=len(held),
            text=", ".join((kind for kind, _ in held))[:80],
        )
    )


class Surprises:
    """What the file holds and the tables above do not, collected while it is read."""

    def __init__(self) -> None:
        self.codes: dict[str, None] = {}
        """Descriptions of codes, in the order met."""

    def name(self, kind: str, code: int, names: Mapping[int, str]) -> str:
        """The name of a code; an unknown one is noted and spelled out."""
        if type(code) is not int:
            raise TypeError(f"a {kind} is {str(code)[:40]}, expected a code")
        if code not in names:
            self.codes[Sentence("{kind} code {code}", kind=kind, code=code)] = None
            return f"unknown_{code}"
        return names[code]


class GraphValues:
    """Reads the values that one graph (the program's or a subgraph) names."""

    def __init__(
        self, graph: Mapping[str, Any], sizes: Sizes, surprises: Surprises, inner: bool = False
    ) -> None:
        """``inner``: it is a subgraph, which is handed views as they are."""
        self._placed = frozenset() if inner else frozenset(map(_tensor_name, graph["inputs"]))
        """What is put on the device, as tensors of their own; views of it begin where it did."""
        self._metas: Mapping[str, Any] = graph["tensor_values"]
        self._sym_ints: Mapping[str, Any] = graph["sym_int_values"]
        self._other_numbers = (
            *graph.get("sym_bool_values", {}).values(),
            *graph.get("sym_float_values", {}).values(),
        )
        self._sizes = sizes
        self._surprises = surprises
        devices = {meta["device"]["type"] for meta in self._metas.values()}
        self.device_type: str = min(devices - _ACCELERATOR_FREE, default="cpu")
        """What the graph's tensors are on: the accelerator if there is one."""
        self._tensors: dict[str, TensorMeta] = {}
        self.sparse: dict[str, None] = {}
        """Layouts other than strided that were met."""

    def of(self, graph: Mapping[str, Any]) -> "GraphValues":
        """The same for another graph of the program."""
        same = graph["tensor_values"] is self._metas
        return self if same else GraphValues(graph, self._sizes, self._surprises, inner=True)

    @property
    def used(self) -> frozenset[str]:
        """Names of the tensors read so far."""
        return frozenset(self._tensors)

    def read_all(self) -> None:
        """Read tensors and numbers that nothing reads, too, so that one that cannot be is found."""
        for name in self._metas:
            self.tensor(name)
        for size in self._sym_ints.values():
            self._sizes.resolve(size)
        for number in self._other_numbers:
            expression = number.get("as_expr")
            if expression is not None:
                self._sizes.expression(expression["expr_str"])

    def tensor(self, name: str) -> TensorMeta:
        """The tensor of that name."""
        known = self._tensors.get(name)
        if known is None:
            known = self._read_tensor(self._metas[name])
            known = replace(known, offset=0) if name in self._placed else known
            self._tensors[name] = known
        return known

    def depends_on_data(self, name: str) -> bool:
        """Whether a size of that tensor was not known before the model ran."""
        return any(map(self._sizes.depends_on_data, self._metas[name]["sizes"]))

    def read(self, argument: Mapping[str, Any]) -> Value:
        """The value of a schema ``Argument``."""
        kind, payload = variant(argument)
        match kind:
            case "as_tensor":
                return self.tensor(payload["name"])
            case "as_int" | "as_bool" | "as_string":
                return payload  # type: ignore[no-any-return]  # JSON's own types
            case "as_float":
                return float(payload)  # inf and nan are written as text
            case "as_none":
                return None
            case "as_ints" | "as_bools" | "as_strings":
                return tuple(payload)
            case "as_floats":
                return tuple(map(float, payload))
            case "as_tensors":
                return tuple(self.tensor(item["name"]) for item in payload)
            case "as_optional_tensor":
                return self._optional_tensor(payload)
            case "as_optional_tensors":
                return tuple(map(self._optional_tensor, payload))
            case "as_sym_int" | "as_sym_float" | "as_sym_bool":
                return self._symbolic(payload)
            case "as_sym_ints" | "as_sym_floats" | "as_sym_bools":
                return tuple(map(self._symbolic, payload))
            case "as_complex":
                return str(complex(float(payload["real"]), float(payload["imag"])))
            case "as_nested_tensors":
                return tuple(tuple(self.tensor(t["name"]) for t in row) for row in payload)
            case "as_int_lists" | "as_float_lists":
                return tuple(map(tuple, payload))
            case "as_string_to_argument":
                return tuple((key, self.read(item)) for key, item in payload.items())
            case _:
                return self._constant(kind, payload)

    def _constant(self, kind: str, payload: Any) -> Constant:
        match kind:
            case "as_scalar_type":
                return Constant("dtype", self._surprises.name("dtype", payload, DTYPES))
            case "as_memory_format":
                name = self._surprises.name("memory format", payload, MEMORY_FORMATS)
                return Constant("memory_format", name)
            case "as_layout":
                return Constant("layout", self._surprises.name("layout", payload, LAYOUTS))
            case "as_device":
                return Constant("device", payload["type"])
            case "as_graph":
                return Constant("other", payload["name"])
            case "as_custom_obj":
                return Constant("other", payload["class_fqn"])
            case "as_operator":
                return Constant("other", str(payload))
            case _:
                self._surprises.codes[Sentence("argument kind {kind}", kind=kind)] = None
                return Constant("other", kind)

    def _optional_tensor(self, union: Mapping[str, Any]) -> TensorMeta | None:
        kind, payload = variant(union)
        if kind == "as_none":
            return None
        return self.tensor(payload if isinstance(payload, str) else payload["name"])

    def _symbolic(self, union: Mapping[str, Any]) -> Value:
        """A Python number that the program computed; only whole ones are worth resolving."""
        kind, payload = variant(union)
        if kind != "as_name":
            return payload  # type: ignore[no-any-return]  # JSON's own number
        size = self._sym_ints.get(payload)
        return Constant("other", "computed") if size is None else self._sizes.resolve(size)

    def _read_tensor(self, meta: Mapping[str, Any]) -> TensorMeta:
        if meta["layout"] != _STRIDED:
            self.sparse[self._surprises.name("layout", meta["layout"], LAYOUTS)] = None
        resolve = self._sizes.resolve
        shape = tuple([resolve(size) for size in meta["sizes"]])
        stride = tuple([resolve(stride) for stride in meta["strides"]])
        if len(shape) != len(stride) or not all(map(_is_count, (*shape, *stride))):
            raise ValueError(
                Sentence(
                    "a tensor has the sizes {text} and the strides {text_b}",
                    text=shape,
                    text_b=stride,
                )
            )
        stored = meta.get("storage_offset")
        offset = resolve(stored) if stored else 0
        dtype = self._surprises.name("dtype", meta["dtype"], DTYPES)
        if _extent(shape, stride, offset) * DTYPE_BYTES.get(dtype, 1) > MOST_BYTES:
            raise ValueError(
                Sentence("a tensor of the sizes {text} has more bytes than any memory", text=shape)
            )
        return TensorMeta(
            dtype,
            shape,
            stride,
            host=self.device_type != "cpu" and meta["device"]["type"] == "cpu",
            offset=coarse_offset(offset * DTYPE_BYTES.get(dtype, 1)) if stored else None,
        )


def _tensor_name(argument: Mapping[str, Any]) -> str:
    """The name of a graph's input; "" of one that is no tensor."""
    kind, payload = variant(argument)
    return str(payload["name"]) if kind == "as_tensor" else ""


def _extent(shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> int:
    """Elements of the memory that a tensor lies in; beyond all bounds if 64 bits cannot count."""
    if 0 in shape:
        return 0
    if math.prod(shape) >= 2**63:
        return MOST_BYTES + 1
    return offset + 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


_KEYWORD = 2


def all_graphs(graph: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A graph and those inside it, each after the one that holds it."""
    yield graph
    for node in graph["nodes"]:
        for item in node["inputs"]:
            kind, payload = variant(item["arg"])
            if kind == "as_graph":
                yield from all_graphs(payload["graph"])


def all_nodes(graph: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node, those of subgraphs after all of the graph that holds them."""
    for one in all_graphs(graph):
        yield from one["nodes"]


def by_name(item: Mapping[str, Any]) -> bool:
    """Whether a node passes an input by its name; where an old schema does not say, it may."""
    return bool(item["name"]) and item.get("kind") in (None, _KEYWORD)
