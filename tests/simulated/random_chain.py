"""Small random networks: a layer with weights or two data operands, then a few layers that work on its result."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tests.qnn.cases_attention import attention
from tvm_pulp import qnn
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering.build_network import build_network
from tvm_pulp.qnn.network import Network
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.random_layer import random_input, random_layer

PULP = Requant("pulp", 8, 0, -128, 127, True).attributes()
SUM = {"form": "plain", "requant_a": "none", "requant_b": "none", "zero_point_a": 0, "zero_point_b": 0}


@dataclass
class Node:
    """An operator on earlier values, by number, and constants."""

    operator: str
    attributes: dict[str, Any]
    operands: list[int | np.ndarray]


@dataclass
class RandomChain:
    """Values are numbered: inputs first, then results of nodes in order. The last is the output."""

    inputs: list[TensorSpec] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    specs: list[TensorSpec] = field(default_factory=list)

    def add(self, operator: str, attributes: dict[str, Any], *operands: int | np.ndarray) -> int:
        specs = [self.specs[o] if isinstance(o, int) else TensorSpec(tuple(o.shape), str(o.dtype)) for o in operands]
        self.nodes.append(Node(operator, attributes, list(operands)))
        self.specs.append(OPERATORS[operator].infer(OPERATORS[operator].stated(attributes), specs))
        return len(self.specs) - 1

    def outputs(self) -> list[int]:
        """Numbers of the values that are returned."""
        return [len(self.specs) - 1]

    def network(self) -> Network:
        builder = relax.BlockBuilder()
        values: list[Any] = [relax.Var(f"x{i}", relax.TensorType(s.shape, s.dtype)) for i, s in enumerate(self.inputs)]
        with builder.function("main", list(values)):
            with builder.dataflow():
                for node in self.nodes:
                    operands = [
                        values[o] if isinstance(o, int) else relax.const(o, str(o.dtype)) for o in node.operands
                    ]
                    values.append(builder.emit(qnn.emit(node.operator, operands, node.attributes)))
                output = builder.emit_output(relax.Tuple([values[number] for number in self.outputs()]))
            builder.emit_func_output(output)
        names = tuple(f"x{i}" for i in range(len(self.inputs)))
        imported = Imported(builder.get(), names, tuple(f"y{i}" for i in self.outputs()), "pulp")
        return build_network(imported.module, imported, "chain")

    def references(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """The exact results in numpy."""
        values = list(inputs)
        for node in self.nodes:
            operands = [values[o] if isinstance(o, int) else o for o in node.operands]
            values.append(
                OPERATORS[node.operator].reference(OPERATORS[node.operator].stated(node.attributes), operands)
            )
        return [values[number] for number in self.outputs()]

    def reference(self, inputs: list[np.ndarray]) -> np.ndarray:
        """The exact result of the last operator."""
        return self.references(inputs)[-1]

    def __str__(self) -> str:
        nodes = [f"{n.operator}{s}" for n, s in zip(self.nodes, self.specs[len(self.inputs) :], strict=True)]
        return f"{[str(s) for s in self.inputs]} -> {' -> '.join(nodes)}"


def _vector(source: np.random.Generator, low: int, high: int) -> np.ndarray:
    return source.integers(low, high, (1,), endpoint=True).astype(np.int32)


def _scale(source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return _vector(source, 1, 200), _vector(source, -(1 << 14), 1 << 14)


def _first(source: np.random.Generator, chain: RandomChain) -> None:
    """The first node and its inputs."""
    kind = str(source.choice(["layer", "layer", "layer", "matmul", "add", "attention"]))
    size = [int(source.integers(1, 40)) for _ in range(4)]
    if kind == "matmul":
        chain.inputs = [TensorSpec((2, rows, size[1]), "int8") for rows in (size[0], size[2])]
        chain.specs = list(chain.inputs)
        attributes = {**PULP, "zero_point_a": 3, "zero_point_b": -5, "transpose_b": 1}
        chain.add("matmul", attributes, 0, 1, *_scale(source))
    elif kind == "add":
        chain.inputs = [TensorSpec((1, size[0], size[1], size[2]), "int8")] * 2
        chain.specs = list(chain.inputs)
        chain.add("add", {**SUM, **PULP}, 0, 1, *_scale(source))
    elif kind == "attention":
        case = attention(source)
        data = [TensorSpec(tuple(v.shape), str(v.dtype)) for v in case.inputs[:3]]
        chain.inputs, chain.specs = data, list(data)
        chain.add("attention", case.attributes, 0, 1, 2, *case.inputs[3:])
    else:
        layer = random_layer(source)
        chain.inputs = [layer.x]
        chain.specs = [layer.x]
        chain.add(layer.operator, layer.attributes, 0, *layer.constants)


def random_chain(source: np.random.Generator) -> RandomChain:
    """One to five nodes."""
    chain = RandomChain()
    _first(source, chain)
    for _ in range(int(source.integers(0, 4))):
        _append(source, chain)
    return chain


def _append(source: np.random.Generator, chain: RandomChain) -> None:
    """A node that reads the last value."""
    last = len(chain.specs) - 1
    spec = chain.specs[last]
    if spec.dtype not in ("int8", "uint8"):
        chain.add("requantize", {**PULP, "zero_point": 0, "axis": len(spec.shape) - 1}, last, *_scale(source))
        return
    kinds = ["requantize", "add", "lookup", "transpose", *(["max_pool"] if len(spec.shape) == 4 else [])]
    kind = str(source.choice(kinds))
    if kind == "requantize":
        chain.add("requantize", {**PULP, "zero_point": 2, "axis": len(spec.shape) - 1}, last, *_scale(source))
    elif kind == "add":
        chain.add("add", {**SUM, **PULP}, last, last, *_scale(source))
    elif kind == "lookup":
        chain.add("lookup", {}, last, source.integers(-128, 127, (256,)).astype(np.int8))
    elif kind == "transpose":
        chain.add("transpose", {"axes": [int(a) for a in source.permutation(len(spec.shape))]}, last)
    else:
        window = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1], "kernel": [3, 3]}
        chain.add("max_pool", window, last)


def random_inputs(source: np.random.Generator, chain: RandomChain) -> list[np.ndarray]:
    """One array per input."""
    return [random_input(source, spec) for spec in chain.inputs]
