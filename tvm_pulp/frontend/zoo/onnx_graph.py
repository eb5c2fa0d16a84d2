"""Collects nodes and constants and writes them as an ONNX model, of the PULP integer dialect or of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

# Domain of the operators that only this dialect has.
PRIVATE_DOMAIN = "PACTOps"
DIALECT_OPSET, STANDARD_OPSET = 13, 17
_IR_VERSION = 8


def number(value: float, *shape: int) -> Any:
    """A number stored as a float tensor attribute, as the exporters of this dialect do."""
    return numpy_helper.from_array(np.full(shape, value, np.float32))


class OnnxGraph:
    """A graph under construction; tensors are names."""

    def __init__(self, name: str, opset: int = DIALECT_OPSET) -> None:
        self._name, self._opset = name, opset
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Declare a graph input with its real type."""
        self._inputs.append(_declared(name, dtype, shape))

    def output(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Declare a graph output with its real type."""
        self._outputs.append(_declared(name, dtype, shape))

    def store(self, name: str, values: Any) -> str:
        """Store values as they are."""
        self._constants.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def constant(self, name: str, values: np.ndarray) -> str:
        """Store integers as float32, the dialect's storage type."""
        stored = np.asarray(values, np.float32)
        if not np.array_equal(stored.astype(np.int64), values):
            raise ValueError(f"constant '{name}' has values that float32 cannot hold exactly")
        return self.store(name, stored)

    def shape(self, name: str, values: Sequence[int]) -> str:
        """Store a shape operand."""
        return self.store(name, np.array(values, np.int64))

    def node(self, kind: str, inputs: Sequence[str], output: str, private: bool = False, **attributes: Any) -> str:
        """Append a node named like its output."""
        domain = PRIVATE_DOMAIN if private else "" if self._opset == DIALECT_OPSET else None
        self._nodes.append(helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes))
        return output

    def model(self) -> Any:
        """The finished model."""
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._constants)
        domains = {"": self._opset} | ({PRIVATE_DOMAIN: 1} if self._opset == DIALECT_OPSET else {})
        opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="tvm_pulp.zoo")


def _declared(name: str, dtype: str, shape: Sequence[int]) -> Any:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, list(shape))
