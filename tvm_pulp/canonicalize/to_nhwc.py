"""Pass: channels-last activations.

Expects dialect convolutions and pools with `layout` NCHW; guarantees NHWC everywhere, weights OHWI, with a transpose
only where a value enters or leaves a region that has a layout.

    conv2d(NCHW) -> requantize(axis 1) -> conv2d(NCHW)   becomes
    transpose -> conv2d(NHWC) -> requantize(axis 3) -> conv2d(NHWC) -> transpose
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import PREFIX, spec_of

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
# Where each NCHW axis is afterwards.
AXIS = {0: 0, 1: 3, 2: 1, 3: 2}

_WINDOWED = {"conv2d", "max_pool", "avg_pool"}
_FOLLOWERS = {"requantize", "add", "sub", "mul", "hardswish", "gelu", "concat", "pad"}
_FOLLOWERS |= {"lookup", "dilate", "slice", "gather"}
# Attributes with one entry per axis, by operator.
_PER_AXIS = {"pad": ("before", "after"), "dilate": ("strides",), "slice": ("begin", "stride", "size")}


class ToNhwc(Rewriter):
    """Keeps, for each old variable, the plain value, the NHWC value, or both."""

    def start(self, function: Any) -> None:
        self._nhwc: dict[Any, Any] = {}  # old variable -> NHWC value
        self._old: dict[Any, Any] = {}  # plain value -> old variable, to find its NHWC twin

    def operand(self, variable: Any) -> Any:
        if variable not in self._values:
            twin = self._nhwc[variable]
            self._values[variable] = self._permute(twin, TO_NCHW, variable.name)
        return self._values[variable]

    def _binding(self, binding: Any) -> None:
        """Decide per binding before operands are made plain."""
        value = binding.value
        if qnn.is_qnn(value):
            name, attributes = value.op.name.removeprefix(PREFIX), qnn.attributes(value)
            if name in _WINDOWED and attributes["layout"] == "NCHW":
                self._windowed(binding.var, value, name, attributes)
                return
            if name in _FOLLOWERS and self._can_follow(value):
                self._follow(binding.var, value, name, attributes)
                return
        super()._binding(binding)

    def _permute(self, value: Any, axes: list[int], name: str) -> Any:
        shape = spec_of(value).shape
        target = [shape[a] for a in axes]
        moved = [a for a in axes if shape[a] > 1]
        if moved == sorted(moved):  # no two axes longer than one change places: the bytes stay
            return self.emit(relax.op.reshape(value, tuple(target)), name)
        return self.emit(qnn.emit("transpose", [value], {"axes": axes}), name)

    def _twin(self, variable: Any) -> Any:
        """NHWC form of an old variable."""
        if variable not in self._nhwc:
            self._nhwc[variable] = self._permute(self.operand(variable), TO_NHWC, variable.name)
        return self._nhwc[variable]

    def _define(self, variable: Any, call: Any) -> None:
        twin = self.emit(call, variable.name)
        self._nhwc[variable] = twin
        self._origin[twin] = variable

    def _windowed(self, variable: Any, call: Any, name: str, attributes: dict[str, Any]) -> None:
        arguments = [self._twin(call.args[0]), *call.args[1:]]
        if name == "conv2d":
            weight = constant(call.args[1])
            arguments[1] = relax.const(np.ascontiguousarray(weight.transpose(0, 2, 3, 1)))
        self._define(variable, qnn.emit(name, arguments, {**attributes, "layout": "NHWC"}))

    def _can_follow(self, call: Any) -> bool:
        """Element-wise operators stay in NHWC when a 4-D operand already is; constants must be per tensor."""
        data = [a for a in call.args if isinstance(a, relax.Var)]
        if not any(a in self._nhwc and a not in self._values for a in data):
            return False
        full = all(len(spec_of(a).shape) == 4 for a in (*data, call))
        operators = call.op.name.removeprefix(PREFIX)
        loose = call.args if operators in ("add", "sub", "mul") else []
        return full and all(constant(a) is None or constant(a).size == 1 for a in loose[:2])

    def _follow(self, variable: Any, call: Any, name: str, attributes: dict[str, Any]) -> None:
        arguments = [self._twin(a) if isinstance(a, relax.Var) else a for a in call.args]
        if "axis" in attributes:
            attributes["axis"] = AXIS[attributes["axis"] % 4]
        for key in _PER_AXIS.get(name, ()):
            attributes[key] = [attributes[key][a] for a in TO_NHWC]
        self._define(variable, qnn.emit(name, arguments, attributes))
