"""A call of a CPU's kernels while it is made: operands of the layer's function, its parameters and text."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec

# The name of the function, which is known when all are.
FUNCTION = "@FUNCTION@"
# Limits of values, and limits of results that an instruction saturates to with the names of functions for them.
RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
SATURATIONS = {(-128, 127): "s8", (0, 255): "u8", (0, 127): "u7"}


@dataclass(frozen=True)
class KernelCall:
    """The layer with the operands of the call, and the function's parameters, helpers before it and body.

    `overwrites`: operands whose place the result may take.
    """

    layer: Layer
    parameters: list[str]
    before: list[str]
    body: list[str]
    header: str
    overwrites: tuple[int, ...] = ()


class Call:
    """Operands in the order of the function's parameters: tensors, constants, the result, memory to work in."""

    def __init__(self, layer: Layer, inputs: Sequence[Tensor], names: Sequence[str] = ()) -> None:
        self._layer = layer
        self._inputs, self._workspaces = list(inputs), list[Tensor]()
        names = names or (("x",) if len(inputs) == 1 else ("a", "b"))
        self._parameters = [
            f"const {tensor.spec.dtype}_t *restrict {name}" for name, tensor in zip(names, inputs, strict=True)
        ]
        self.is_unsigned = int(inputs[0].spec.dtype == "uint8")
        # As kernels take them, whatever their sign.
        self.x = "(const int8_t *)x" if self.is_unsigned else "x"
        self.y = "y" if layer.outputs[0].spec.dtype == "int8" else "(int8_t *)y"

    def constant(self, name: str, data: np.ndarray) -> None:
        """Constants that the function knows by the name."""
        self._inputs.append(self._tensor(name, TensorSpec(tuple(data.shape), str(data.dtype)), "constant", data))
        self._parameters.append(f"const {data.dtype}_t *restrict {name}")

    def result(self) -> None:
        """The result, behind all constants."""
        self._parameters.append(f"{self._layer.outputs[0].spec.dtype}_t *restrict y")

    def workspace(self, name: str, count: int, dtype: str = "int8") -> None:
        """Memory to work in; the function knows it by the name."""
        self._workspaces.append(self._tensor(name, TensorSpec((max(1, count),), dtype), "workspace"))
        self._parameters.append(f"{dtype}_t *restrict {name}")

    def _tensor(self, name: str, spec: TensorSpec, kind: str, data: np.ndarray | None = None) -> Tensor:
        return Tensor(f"{self._layer.name}_kernel_{name}", spec, kind, data=data)

    def made(
        self, body: list[str], header: str, before: Sequence[str] = (), overwrites: Sequence[int] = ()
    ) -> KernelCall:
        """The finished call; where the result may take an operand's place, the compiler must not think otherwise."""
        layer = replace(self._layer, inputs=self._inputs, workspaces=self._workspaces)
        ends = {*overwrites, len(self._inputs)} if overwrites else set()
        parameters = [p.replace("*restrict ", "*") if i in ends else p for i, p in enumerate(self._parameters)]
        return KernelCall(layer, parameters, list(before), body, header, tuple(overwrites))


def structure(declaration: str, values: dict[str, Any]) -> list[str]:
    """A structure with named members, in lines that can be read."""
    members = ", ".join(f".{name}~=~{value}" for name, value in values.items())
    lines = textwrap.wrap(members, 110, break_long_words=False, break_on_hyphens=False)
    return [f"  {declaration} = {{", *(f"      {line.replace('~', ' ')}" for line in lines), "  };"]
