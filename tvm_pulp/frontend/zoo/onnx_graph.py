"""Collects nodes and constants and writes them as an ONNX model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tvm_pulp.frontend.onnx_graph_builder import declared
from tvm_pulp.frontend.zoo.random_stream import RandomStream

# Domain of the operators that only the PULP integer dialect has.
PRIVATE_DOMAIN = "PACTOps"
_IR_VERSION = 8


def number(value: float, *shape: int) -> Any:
    """A number stored as a float tensor attribute, as the exporters of the PULP dialect do."""
    return numpy_helper.from_array(np.full(shape, value, np.float32))


class GraphWriter:
    """A graph under construction; tensors are names. Weights come from a seed."""

    def __init__(self, name: str, seed: int = 0, weight_bits: int = 8, opset: int = 17, **domains: int) -> None:
        self.name, self.seed = name, seed
        # What calibration saw at the outputs.
        self.outputs: list[Any] = []
        self._weight_limit = (1 << (weight_bits - 1)) - 1
        self._opsets = [helper.make_opsetid(domain, version) for domain, version in {"": opset, **domains}.items()]
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def random(self, name: str) -> RandomStream:
        """Numbers that belong to one tensor, whatever else the network holds."""
        return RandomStream(self.name, self.seed, name)

    def declare_input(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Declare a graph input with its real type."""
        self._inputs.append(declared(name, dtype, shape))

    def declare_output(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Declare a graph output with its real type."""
        self._outputs.append(declared(name, dtype, shape))

    def constant(self, name: str, values: Any) -> str:
        """Store an array; a number becomes a vector of one."""
        return self._store(name, np.atleast_1d(values))

    def _store(self, name: str, values: np.ndarray) -> str:
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Append a node named like its output."""
        self._nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def model(self) -> Any:
        """The finished model."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._constants)
        producer = "tvm_pulp.zoo"
        return helper.make_model(graph, opset_imports=self._opsets, ir_version=_IR_VERSION, producer_name=producer)


class OnnxGraph(GraphWriter):
    """A graph of the PULP integer dialect."""

    def __init__(self, name: str, seed: int = 0, weight_bits: int = 8) -> None:
        super().__init__(name, seed, weight_bits, 13, **{PRIVATE_DOMAIN: 1})

    def constant(self, name: str, values: Any) -> str:
        """Store integers as float32, the dialect's storage type."""
        stored = np.asarray(values, np.float32, order="C")
        if not np.array_equal(stored.astype(np.int64), values):
            raise ValueError(f"constant '{name}' has values that float32 cannot hold exactly")
        return self._store(name, stored)

    def shape(self, name: str, values: Sequence[int]) -> str:
        """Store a shape operand."""
        return self._store(name, np.array(values, np.int64))

    def node(self, kind: str, inputs: Sequence[str], output: str, private: bool = False, **attributes: Any) -> str:
        """Append a node named like its output."""
        return super().node(kind, inputs, output, domain=PRIVATE_DOMAIN if private else "", **attributes)
