"""Change: a convolution that takes much as a depthwise one and a 1x1."""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, plan_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import spec_of

# Fewer input channels are few products already.
_LEAST_CHANNELS = 8


def separable_convolution(base: Compilation, rank: int = 0) -> Change | None:
    """A change of the model, which has to be trained again; of the convolution that takes most, or of a next one."""
    found = [
        (layer.added_cycles, part)
        for layer in plan_of(base).layers
        for part in layer.layer.parts or (layer.layer,)
        if part.operator == "conv2d" and part.variables and _is_full(part)
    ]
    if len(found) <= rank:
        return None
    cycles, layer = sorted(found, key=lambda entry: -entry[0])[rank]
    kernel = "x".join(map(str, layer.inputs[1].spec.shape[1:3]))
    return Change(
        "separable-convolution",
        f"a depthwise {kernel} and a 1x1 in place of the {kernel} convolution '{layer.name}', trained again",
        cycles,
        lambda found: found.varied(rewrite=_Separated(layer.variables[-1].name).run),
    )


def _is_full(layer: Layer) -> bool:
    _, height, width, channels = layer.inputs[1].spec.shape
    return layer.attributes["groups"] == 1 and height * width > 1 and channels >= _LEAST_CHANNELS


class _Separated(Rewriter):
    def __init__(self, layer: str) -> None:
        self._layer = layer

    def visit(self, variable: Any, value: Any) -> Any:
        if variable.name != self._layer or not qnn.is_qnn(value, "conv2d"):
            return value
        weight = constant(value.args[1])
        if weight is None:
            return value
        attributes, (outputs, height, width, channels) = qnn.attributes(value), weight.shape

        def per_channel(operand: Any) -> Any:
            data = constant(operand)
            return operand if data is None or data.size != outputs else relax.const(np.resize(data, channels))

        spread = np.resize(weight[..., :1], (channels, height, width, 1))
        operands = [value.args[0], relax.const(spread), *map(per_channel, value.args[2:])]
        middle = self.emit(
            qnn.emit("conv2d", operands, {**attributes, "groups": channels}), f"{variable.name}_depthwise"
        )
        if spec_of(middle).dtype != spec_of(value.args[0]).dtype:
            return value
        points = np.ascontiguousarray(weight[:, height // 2 : height // 2 + 1, width // 2 : width // 2 + 1, :])
        plain = {"strides": [1, 1], "dilation": [1, 1], "pads": [0, 0, 0, 0]}
        return qnn.emit("conv2d", [middle, relax.const(points), *value.args[2:]], {**attributes, **plain})
