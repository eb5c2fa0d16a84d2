"""Parts of a CPU's forms: how they are registered, and calls while they are made: operands, parameters and text."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.uma.cpu_form import CpuForm, KernelCall, NotOffered

__all__ = ["RANGES", "SATURATIONS", "CallBuilder", "Cpu", "KernelCall", "Layer", "Tensor", "forms", "kernel"]
__all__ += ["offer_if", "structure"]

# Limits of values, and limits of results that an instruction saturates to with the names of functions for them.
RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
SATURATIONS = {(-128, 127): "s8", (0, 255): "u8", (0, 127): "u7"}

_FORMS: dict[str, list[CpuForm]] = {}
_Make = Callable[[Layer, Cpu], KernelCall]


def forms(operator: str) -> tuple[CpuForm, ...]:
    """Forms of an operator's layers, in the order in which they are asked."""
    return tuple(_FORMS.get(operator, ()))


def kernel(operator: str, name: str, *, takes_spare_flash: bool = False) -> Callable[[_Make], _Make]:
    """Decorator of a function that makes the call for a layer: a form of the operator, behind those known already."""

    def known(make: _Make) -> _Make:
        _FORMS.setdefault(operator, []).append(CpuForm(name, make, takes_spare_flash))
        return make

    return known


def offer_if(condition: object, otherwise: str) -> None:
    """Go on if a condition holds; else the form is not offered, for a reason that users read."""
    if not condition:
        raise NotOffered(otherwise)


class CallBuilder:
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
