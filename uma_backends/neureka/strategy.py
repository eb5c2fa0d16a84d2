"""Which forms NEUREKA offers for a layer, or why none."""

from __future__ import annotations

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.neureka.forms import DenseForm, Direct3x3Form, Im2colForm, PointwiseForm
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.layer_arithmetic import Arithmetic, arithmetic_of
from uma_backends.neureka.neureka_form import ENGINE, Context


def dense_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """Fully connected layers and matrix products with constant weights."""
    arithmetic = arithmetic_of(layer, native_rounding=context.native_tflite)
    if isinstance(arithmetic, str):
        return Refusal(ENGINE, arithmetic)
    return [DenseForm(layer, arithmetic, context, Mode.POINTWISE, "1x1 over rows")]


def conv2d_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """Convolutions: directly where the array has the kernel, by im2col otherwise."""
    arithmetic = arithmetic_of(layer, native_rounding=context.native_tflite)
    if isinstance(arithmetic, str):
        return Refusal(ENGINE, arithmetic)
    a = layer.attributes
    outputs, kh, kw, per_group = layer.inputs[1].spec.shape
    groups, inputs = a["groups"], layer.inputs[0].spec.shape[3]
    if groups > 1:
        return _grouped(layer, arithmetic, context, (outputs, kh, kw, per_group), inputs)
    forms: list[Form] = []
    plain = list(a["dilation"]) == [1, 1]
    if (kh, kw) == (1, 1) and not any(a["pads"]):
        forms.append(PointwiseForm(layer, arithmetic, context, Mode.POINTWISE, "1x1"))
    elif (kh, kw) == (3, 3) and plain:
        name = "3x3" if list(a["strides"]) == [1, 1] else "3x3 at stride 1, discarding"
        forms.append(Direct3x3Form(layer, arithmetic, context, Mode.DENSE_3X3, name))
    if (kh, kw) != (1, 1) or any(a["pads"]):
        forms.append(Im2colForm(layer, arithmetic, context, Mode.POINTWISE, "im2col + 1x1"))
    return forms


def _grouped(layer: Layer, arithmetic: Arithmetic, context: Context, shape: Any, inputs: int) -> list[Form] | Refusal:
    outputs, kh, kw, per_group = shape
    if per_group != 1 or outputs != inputs:
        return Refusal(
            ENGINE, "grouped convolutions other than depthwise do not map onto the array", "split the groups"
        )
    if (kh, kw) != (3, 3) or list(layer.attributes["dilation"]) != [1, 1]:
        return Refusal(ENGINE, f"a depthwise {kh}x{kw} kernel is not 3x3", "use a 3x3 depthwise kernel")
    name = "3x3 depthwise" if list(layer.attributes["strides"]) == [1, 1] else "3x3 depthwise at stride 1, discarding"
    return [Direct3x3Form(layer, arithmetic, context, Mode.DEPTHWISE_3X3, name)]
