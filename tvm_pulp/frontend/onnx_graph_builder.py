"""An ONNX graph under construction: what the translation of a framework's operator may ask for."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

# Int4 and int16 in QuantizeLinear and DequantizeLinear, Gelu.
OPSET = 21


@dataclass(frozen=True)
class GraphValue:
    """A tensor of the program: its name in the graph, its shape, its type as NumPy calls it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    # How many operators read it.
    readers: int = 1

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")


@dataclass(frozen=True)
class Dequantized:
    """The integers that a float tensor comes from: their name and those of scale and zero point."""

    integers: str
    scale: str
    zero_point: str
    axis: int | None = None


Operand = GraphValue | str | np.ndarray | np.generic | None


class GraphBuilder:
    """Collects nodes and constants. All nodes of one operator carry its name; the first one carries it alone."""

    def __init__(self, beside: Container[str] = (), *, fixed: bool = True) -> None:
        # Operators that only prepare an operand: an operator's name belongs to the node that computes.
        self._beside = beside
        # Whether sizes stay as they are; else nodes and names are the same for all sizes.
        self._fixed = fixed
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        # Float tensors that are dequantized integers, by name.
        self.dequantized: dict[str, Dequantized] = {}
        # Names of tensors quantized with parameters chosen at run time: scale -> (operand, integers, zero point).
        self.dynamic: dict[str, tuple[str, str, str]] = {}
        self._result: GraphValue | None = None
        self._label, self._value, self._count, self._first = "", "", 0, 0
        self._shared: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._labels: set[str] = set()

    def enter(self, label: str, value: str, result: GraphValue | None) -> None:
        """The operator whose nodes follow: its name for people, that of its result, and what that is."""
        self._label, self._value, self._count, self._result = label, value, 0, result
        self._first = len(self.nodes)

    @property
    def result(self) -> GraphValue:
        """The tensor that the operator makes; one of several results has none."""
        assert self._result is not None
        return self._result

    def keeps(self, operand: GraphValue) -> bool:
        """Tell if the result has the shape of an operand, as far as that may be relied on."""
        return self._fixed and self.result.shape == operand.shape

    def constant(self, array: np.ndarray) -> str:
        """Name of a constant; equal small ones are one, where sizes are fixed."""
        array = np.asarray(array, order="C")
        if not self._fixed:
            name = unused(f"{self._value}.constant", self.constants)
            self.constants[name] = array
            return name
        key = (str(array.dtype), array.shape, array.tobytes() if array.nbytes <= 1024 else b"")
        if key[2] and key in self._shared:
            return self._shared[key]
        name = f"constant_{len(self._shared)}_{len(self.constants)}"
        self.constants[name] = self.constants.get(name, array)
        if key[2]:
            self._shared[key] = name
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def _name(self, operand: Operand) -> str:
        if operand is None:
            return ""
        if isinstance(operand, GraphValue):
            return operand.name
        return operand if isinstance(operand, str) else self.constant(np.asarray(operand))

    def emit_many(self, op: str, operands: Sequence[Operand], outputs: int, **attributes: Any) -> list[str]:
        """Append a node; the names of its results."""
        names = [f"{self._value}.{self._count + i}" for i in range(outputs)]
        is_free = self._label not in self._labels and op not in self._beside
        label = self._label if is_free else unused(f"{self._label}/{op}", self._labels)
        self._labels.add(label)
        self._count += outputs
        given = [self._name(o) for o in operands]
        while given and not given[-1]:
            given.pop()
        self.nodes.append(helper.make_node(op, given, names, name=label, **attributes))
        return names

    def emit(self, op: str, *operands: Operand, **attributes: Any) -> str:
        """Append a node with one result."""
        return self.emit_many(op, operands, 1, **attributes)[0]

    def cast(self, operand: Any, dtype: str) -> str:
        """A tensor or a number in a type."""
        if not isinstance(operand, GraphValue):
            return self.constant(np.asarray(operand, dtype))
        if operand.dtype == dtype:
            return operand.name
        if operand.name in self.constants:
            return self.constant(self.constants[operand.name].astype(dtype))
        return self.emit("Cast", operand, to=onnx_type(dtype))

    def typed(self, *operands: Any) -> list[str]:
        """Operands in the type of the result."""
        return [self.cast(o, self.result.dtype) for o in operands]

    def reshape(self, operand: Operand, shape: Sequence[int]) -> str:
        return self.emit("Reshape", operand, self.integers(*shape))

    def permuted(self, operand: Operand, *order: int) -> str:
        return self.emit("Transpose", operand, perm=list(order))

    def cut(self, operand: Operand, axis: int, begin: int, end: int) -> str:
        """A slice along one axis."""
        return self.emit("Slice", operand, *(self.integers(v) for v in (begin, end, axis)))

    def within(self, operand: str, sizes: Sequence[int], pads: Sequence[int], first: int = 0) -> str:
        """An operand without what pads below zero cut off; sizes and pads are of its axes from `first` on."""
        if min(pads, default=0) >= 0:
            return operand
        begins = [max(0, -p) for p in pads[: len(sizes)]]
        ends = [size + min(0, p) for size, p in zip(sizes, pads[len(sizes) :], strict=True)]
        axes = range(first, first + len(sizes))
        return self.emit("Slice", operand, self.integers(*begins), self.integers(*ends), self.integers(*axes))

    def flipped(self, operand: str, sizes: Mapping[int, int]) -> str:
        """An operand with the order along axes of these sizes turned round."""
        for axis, size in sizes.items():
            operand = self.emit("Gather", operand, np.arange(size)[::-1].copy(), axis=axis)
        return operand

    def with_part(self, operand: Operand, part: str, axis: int, size: int, begin: int, end: int) -> str:
        """An operand in which a slice along one axis of this size is replaced."""
        before = [self.cut(operand, axis, 0, begin)] if begin else []
        after = [self.cut(operand, axis, end, size)] if end < size else []
        return self.joined([*before, part, *after], axis)

    def joined(self, parts: Sequence[str], axis: int) -> str:
        """Parts along an axis; a single one as it is."""
        return parts[0] if len(parts) == 1 else self.emit("Concat", *parts, axis=axis)

    def dequantize(self, source: Dequantized) -> str:
        """Integers as floats, known as such to products."""
        made = self.emit("DequantizeLinear", source.integers, source.scale, source.zero_point, **axis_of(source.axis))
        self.dequantized[made] = source
        return made

    def array(self, value: GraphValue) -> np.ndarray | None:
        """The values of a constant."""
        return self.constants.get(value.name)

    def maker(self, name: str) -> Any:
        """The node that makes a tensor, of the latest ones; None for another."""
        return next((n for n in reversed(self.nodes[-8:]) if name in n.output), None)

    def rename(self, name: str, wanted: str) -> None:
        """Give a tensor that the latest operator made another name."""
        for node in self.nodes[self._first :]:
            for names in (node.input, node.output):
                for place, given in enumerate(names):
                    if given == name:
                        names[place] = wanted
        if name in self.dequantized:
            self.dequantized[wanted] = self.dequantized.pop(name)

    def made_now(self, name: str) -> bool:
        """Tell if the latest operator made this tensor."""
        return any(name in node.output for node in self.nodes[self._first :])

    def model(self, inputs: Sequence[Any], outputs: Sequence[Any], producer: str) -> Any:
        """The finished model; of the constants it has those that a node reads."""
        read = {name for node in self.nodes for name in node.input}
        held = [numpy_helper.from_array(a, n) for n, a in self.constants.items() if n in read]
        graph = helper.make_graph(self.nodes, "main_graph", inputs, outputs, held)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name=producer)


def unused(stem: str, taken: Container[str]) -> str:
    """A name, with a number where it is taken."""
    numbered = (f"{stem}_{again}" for again in count(2))
    return next(name for name in chain((stem,), numbered) if name not in taken)


class UniqueNames:
    """Names of the nodes of a program, each unique."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self._names: dict[Any, str] = {}

    def stem(self, node: Any) -> str:
        """The name that a node should have."""
        raise NotImplementedError

    def label(self, node: Any) -> str:
        if node not in self._names:
            self._names[node] = unused(self.stem(node), self.taken)
            self.taken.add(self._names[node])
        return self._names[node]


def numbers(given: Any) -> list[int]:
    """Axes and the like, where PyTorch allows a single number or none."""
    return [given] if isinstance(given, int) else list(given or [])


def axis_of(axis: int | None) -> dict[str, int]:
    """The attribute of a quantization per channel; none of one per tensor."""
    return {} if axis is None else {"axis": axis}


def declared(name: str, dtype: str, shape: Sequence[int | str]) -> Any:
    """An input or output of a graph."""
    return helper.make_tensor_value_info(name, onnx_type(dtype), list(shape))


def onnx_type(dtype: str) -> int:
    """ONNX's number of a NumPy type."""
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
