"""Pass: channels-last activations.

Expects dialect convolutions and pools with `layout` NCHW; guarantees NHWC everywhere, weights OHWI, with a transpose
only where a value enters or leaves a region that has a layout.

    conv2d(NCHW) -> requantize(axis 1) -> conv2d(NCHW)   becomes
    transpose -> conv2d(NHWC) -> requantize(axis 3) -> conv2d(NHWC) -> transpose
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.float_followers import follows
from tvm_pulp.canonicalize.rewriter import constant, spec_of
from tvm_pulp.canonicalize.twin_rewriter import TwinRewriter
from tvm_pulp.qnn.record import Attributes, NoAttributes

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]

_WINDOWED = {"conv2d", "max_pool", "avg_pool", "resize"}
_FOLLOWERS = {"requantize", "add", "sub", "mul", "hardswish", "gelu", "concat", "pad"}
_FOLLOWERS |= {"lookup", "dilate", "slice", "gather", "add_accumulators"}
# Attributes with one entry per axis, by operator.
_PER_AXIS = {"pad": ("before", "after"), "dilate": ("strides",), "slice": ("begin", "stride", "size")}


class ToNhwc(TwinRewriter):
    there, back = TO_NHWC, TO_NCHW

    def _binding(self, binding: Any) -> None:
        """Decide per binding before operands are made plain."""
        variable, value, name = binding.var, binding.value, qnn.name_of(binding.value)
        attributes = qnn.attributes(value) if name else NoAttributes()
        if name in _WINDOWED and attributes["layout"] == "NCHW":
            self._windowed(variable, value, name, attributes)
        elif name in _FOLLOWERS and self._can_follow(value):
            self._follow(variable, value, name, attributes)
        elif name == "transpose" and attributes["axes"] == TO_NCHW:
            self._twins[variable] = self._substitute(value.args[0])
        elif name == "transpose" and attributes["axes"] == TO_NHWC and isinstance(value.args[0], relax.Var):
            self._values[variable] = self._twin(value.args[0])
            self._merge_origin(variable, self._values[variable])
        elif name == "reduce" and self._is_only_twin(value.args[0]):
            self._reduce(variable, value.args[0], attributes)
        elif follows(value) and any(self._is_only_twin(a) for a in value.args):
            self._follow_floats(variable, value)
        else:
            super()._binding(binding)

    def _windowed(self, variable: Any, call: Any, name: str, attributes: Attributes) -> None:
        arguments = [self._twin(call.args[0]), *call.args[1:]]
        if name == "conv2d":
            arguments[1] = constant(call.args[1]).transpose(TO_NHWC)
        self._define(variable, qnn.emit(name, arguments, {**attributes, "layout": "NHWC"}))

    def _can_follow(self, call: Any) -> bool:
        """Element-wise operators stay in NHWC when a 4-D operand already is; constants must be per tensor."""
        data = [a for a in call.args if isinstance(a, relax.Var)]
        if not any(self._is_only_twin(a) for a in data) or spec_of(call).dtype == "float32":
            return False  # floats that a table gives: their bytes are moved before, a quarter as many
        full = all(len(spec_of(a).shape) == 4 for a in (*data, call))
        loose = call.args[:2] if qnn.is_qnn(call, "add", "sub", "mul") else []
        return full and all(constant(a) is None or constant(a).size == 1 for a in loose)

    def _follow(self, variable: Any, call: Any, name: str, attributes: Attributes) -> None:
        moved = dict(attributes)
        arguments = [self._twin(a) if isinstance(a, relax.Var) else a for a in call.args]
        if "axis" in attributes:
            moved["axis"] = self._place(attributes["axis"])
        for key in _PER_AXIS.get(name, ()):
            moved[key] = [attributes[key][a] for a in TO_NHWC]
        self._define(variable, qnn.emit(name, arguments, moved))

    def _reduce(self, variable: Any, operand: Any, attributes: Attributes) -> None:
        """Reduce the same axes where they are now."""
        reduced = sorted(map(self._place, attributes["axes"]))
        call = qnn.emit("reduce", [self._twins[operand]], {**attributes, "axes": reduced})
        self._define_reduced(variable, call, reduced, attributes["keepdims"])
