"""Averages over small windows as depthwise convolutions with ones: the array adds and multiplies, the cores round."""

import numpy as np

from tvm_pulp.planning.tiling.forms.conv_array.array_form import ArrayContext
from tvm_pulp.planning.tiling.forms.conv_array.strategy import conv2d_forms
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Form, refuse_if

# Rows and columns of the array's depthwise kernel.
_KERNEL = 3


def average_pool_strategy(layer: Layer, context: ArrayContext) -> list[Form]:
    """Averages whose windows all count as many values, padding as zeros, and have up to 3x3 of them."""
    a, x, constants = layer.attributes, layer.inputs[0], list(layer.inputs[1:])
    rule, kernel = Requant.of(a), list(a["kernel"])
    refuse_if(rule.kind == "none", "it divides instead of multiplying")
    refuse_if(max(kernel) > _KERNEL or list(a["dilation"]) != [1, 1], "its windows are larger than 3x3, or have gaps")
    refuse_if(any(t.spec.elements > 1 for t in constants), "windows at its border count fewer values")
    channels, outputs = x.spec.shape[3], layer.outputs[0].spec.shape[1:3]
    ones = np.zeros((channels, _KERNEL, _KERNEL, 1), np.int8)
    ones[:, : kernel[0], : kernel[1]] = 1
    weights = Tensor(f"{layer.name}_ones", TensorSpec(ones.shape, "int8"), "constant", data=ones)
    top, left = a["pads"][:2]
    # What the larger kernel reads behind the image it multiplies by zero.
    behind = [
        (extent - 1) * stride + _KERNEL - before - size
        for extent, stride, before, size in zip(outputs, a["strides"], (top, left), x.spec.shape[1:3], strict=True)
    ]
    refuse_if(min(behind) < 0, "its windows leave pixels at the end of the image alone")
    window = {"layout": "NHWC", "strides": list(a["strides"]), "dilation": [1, 1], "pads": [top, left, *behind]}
    attributes = {**window, "groups": channels, "zero_point": a["zero_point"], "has_bias": 0, **rule.attributes()}
    return conv2d_forms(Layer(layer.name, "conv2d", attributes, [x, weights, *constants], layer.outputs), context)
