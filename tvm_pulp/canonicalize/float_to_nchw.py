"""Pass: channels-second pictures of floats, as the cores' float kernels want them.

Expects convolutions and pools of floats with channels last, as TFLite files have them; guarantees channels second for
those with constant weights, with a transpose only where a value enters or leaves a region of them. Integers stay as
they are.

    conv2d(NHWC) -> add(bias) -> relu -> max_pool2d(NHWC) -> mean(1, 2)   becomes
    transpose -> conv2d(NCHW) -> add(bias) -> relu -> max_pool2d(NCHW) -> mean(2, 3)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.float_followers import follows
from tvm_pulp.canonicalize.qdq_movement import axes_of
from tvm_pulp.canonicalize.rewriter import constant, integers, is_op, relax_name, spec_of
from tvm_pulp.canonicalize.to_nhwc import TO_NCHW, TO_NHWC
from tvm_pulp.canonicalize.twin_rewriter import TwinRewriter

# Axes of filters as OIHW, by their layout.
_FILTERS = {"HWIO": (3, 2, 0, 1), "HWOI": (2, 3, 0, 1)}
_POOLS = {"relax.nn.max_pool2d": relax.op.nn.max_pool2d, "relax.nn.avg_pool2d": relax.op.nn.avg_pool2d}
_REDUCTIONS = {f"relax.{name}": getattr(relax.op, name) for name in ("max", "mean", "min", "sum")}


class FloatToNchw(TwinRewriter):
    there, back = TO_NCHW, TO_NHWC

    def _binding(self, binding: Any) -> None:
        """Decide per binding before operands are made plain."""
        variable, value = binding.var, binding.value
        if isinstance(value, relax.Call) and _is_float(value) and (made := self._moved(value)) is not None:
            self._define(variable, made)
        elif relax_name(value) in _REDUCTIONS and self._is_only_twin(value.args[0]) and _keeps_order(value):
            self._reduce(variable, value)
        elif follows(value) and any(self._is_only_twin(a) for a in value.args):
            self._follow_floats(variable, value)
        else:
            super()._binding(binding)

    def _moved(self, call: Any) -> Any:
        """A call on twins whose result is one; None for what has no such form or gains nothing from it."""
        a = call.attrs
        if is_op(call, "relax.nn.conv2d") and _layouts(a.data_layout, a.out_layout) and _is_known(call):
            filters = constant(call.args[1]).transpose(_FILTERS[str(a.kernel_layout)])
            return relax.op.nn.conv2d(
                self._twin(call.args[0]), relax.const(np.ascontiguousarray(filters)),
                strides=integers(a.strides), padding=integers(a.padding), dilation=integers(a.dilation),
                groups=int(a.groups), data_layout="NCHW", kernel_layout="OIHW",
            )  # fmt: skip
        if is_op(call, "relax.nn.conv2d_transpose") and _layouts(a.data_layout, a.out_layout):
            return relax.op.nn.conv2d_transpose(
                self._twin(call.args[0]), self._substitute(call.args[1]),
                strides=integers(a.strides), padding=integers(a.padding), dilation=integers(a.dilation),
                output_padding=integers(a.output_padding), groups=int(a.groups),
                data_layout="NCHW", kernel_layout=str(a.kernel_layout),
            )  # fmt: skip
        if relax_name(call) in _POOLS and _layouts(a.layout, a.out_layout):
            return _POOLS[relax_name(call)](
                self._twin(call.args[0]), integers(a.pool_size), strides=integers(a.strides),
                padding=integers(a.padding), dilation=integers(a.dilation), ceil_mode=bool(a.ceil_mode),
                count_include_pad=bool(a.count_include_pad), layout="NCHW",
            )  # fmt: skip
        if is_op(call, "relax.nn.pad") and self._is_only_twin(call.args[0]):
            sides = np.reshape(integers(a.pad_width), (4, 2))[TO_NCHW]
            return relax.op.nn.pad(
                self._twin(call.args[0]), sides.ravel().tolist(), str(a.pad_mode), float(a.pad_value)
            )
        if is_op(call, "relax.concat") and a.axis is not None:
            parts = list(call.args[0].fields) if isinstance(call.args[0], relax.Tuple) else []
            if any(self._is_only_twin(p) for p in parts) and all(isinstance(p, relax.Var) for p in parts):
                return relax.op.concat([self._twin(p) for p in parts], self._place(int(a.axis)))
        return None

    def _reduce(self, variable: Any, call: Any) -> None:
        """Reduce the same axes where they are now."""
        axes, keeps = sorted(map(self._place, axes_of(call, range(4)))), bool(call.attrs.keepdims)
        made = _REDUCTIONS[relax_name(call)](self._twins[call.args[0]], axes, keeps)
        self._define_reduced(variable, made, axes, keeps)


def _keeps_order(reduction: Any) -> bool:
    """Tell if axes that a reduction leaves are in the same order in a twin."""
    kept = [a for a in TO_NCHW if a not in axes_of(reduction, range(4))]
    return bool(reduction.attrs.keepdims) or kept == sorted(kept)


def _is_float(call: Any) -> bool:
    if not isinstance(call.ty, relax.TensorType):
        return False
    spec = spec_of(call)
    return spec.dtype == "float32" and len(spec.shape) == 4


def _layouts(data: Any, result: Any) -> bool:
    return str(data) == "NHWC" and str(result) in ("", "NHWC")


def _is_known(call: Any) -> bool:
    """Tell if filters are constants in an order that can be turned."""
    return constant(call.args[1]) is not None and str(call.attrs.kernel_layout) in _FILTERS
