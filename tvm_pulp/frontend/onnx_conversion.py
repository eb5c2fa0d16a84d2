"""A node of an ONNX graph as the converter of its operator sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.frontend.relax_values import constant, dtype_of, shape_of


@dataclass(frozen=True)
class Conversion:
    """One node, its operands as Relax expressions, and the importer that asks; operands left out are None."""

    importer: Any
    op_type: str
    inputs: list[Any]
    attributes: dict[str, Any]
    opset: int

    def operands(self, count: int) -> list[Any]:
        """Exactly so many operands."""
        return (self.inputs + [None] * count)[:count]

    def constant(self, place: int) -> np.ndarray | None:
        """Values of an operand that is given and constant."""
        return constant(self.operands(place + 1)[place])

    def shape(self, place: int = 0) -> list[int]:
        return shape_of(self.inputs[place])

    def known_shape(self, place: int) -> tuple[int, ...] | None:
        """Shape of an operand; None of one that is left out or is no tensor."""
        given = self.operands(place + 1)[place]
        return tuple(shape_of(given)) if given is not None and isinstance(given.ty, relax.TensorType) else None

    def known_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of all operands that have one."""
        found = [self.known_shape(place) for place in range(len(self.inputs))]
        return [shape for shape in found if shape is not None]

    @property
    def results(self) -> int:
        return int(self.attributes["tvm_custom"]["num_outputs"])

    def text(self, name: str, default: str) -> str:
        value = self.attributes.get(name, default)
        return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)

    @property
    def auto_pad(self) -> str:
        return self.text("auto_pad", "NOTSET")

    def numbers(self, name: str, default: Sequence[int]) -> list[int]:
        return [int(v) for v in self.attributes.get(name, default)]

    def emit(self, call: Any) -> Any:
        """A variable bound to a call."""
        return self.importer.bb.emit(call)

    def take(self, x: Any, indices: np.ndarray, axis: int) -> Any:
        """Rows along an axis."""
        return self.emit(relax.op.take(x, relax.const(np.asarray(indices, np.int64)), axis=axis))

    def from_end(self, indices: Any, sizes: Any) -> Any:
        """Indices in axes of these sizes, those below zero counted from the end."""
        dtype = dtype_of(indices)
        below = relax.op.less(indices, relax.const(0, dtype))
        return self.emit(relax.op.where(below, relax.op.add(indices, relax.const(sizes, dtype)), indices))

    def stock(self, **changes: Any) -> Any:
        """TVM's own conversion, with some attributes changed; one that becomes None is left out."""
        attributes = {name: value for name, value in {**self.attributes, **changes}.items() if value is not None}
        return self.importer.stock(self.op_type, self.inputs, attributes, self.opset)

    def standard(self, op_type: str, operands: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
        """The result of a standard operator."""
        return self.importer.standard(op_type, operands, attributes or {}, self.opset)
