"""Which layers NEUREKA takes, and why not; which forms it offers for them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.neureka.forms import DenseForm, Direct3x3Form, Im2colForm, PointwiseForm
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.layer_arithmetic import Arithmetic, arithmetic_of
from uma_backends.neureka.neureka_form import ENGINE, Context

# What checks found out, for the strategies: weights are looked at once.
_KNOWN: WeakKeyDictionary[Layer, dict[bool, Arithmetic | str]] = WeakKeyDictionary()


def known_arithmetic(layer: Layer, context: Context) -> Arithmetic | str:
    """Arithmetic of a layer, or why the array cannot do it."""
    known = _KNOWN.setdefault(layer, {})
    if context.native_tflite not in known:
        known[context.native_tflite] = arithmetic_of(layer, native_rounding=context.native_tflite)
    return known[context.native_tflite]


def dense_check(match: Any) -> bool | Refusal:
    """Constant weights of up to 8 bits, 8-bit inputs, accumulators of 32 bits."""
    arithmetic = known_arithmetic(match.layer, match.context)
    return Refusal(ENGINE, arithmetic) if isinstance(arithmetic, str) else True


def conv2d_check(match: Any) -> bool | Refusal:
    """Constant weights of up to 8 bits, 8-bit inputs; one group with any kernel, or depthwise with a 3x3 kernel."""
    answer = dense_check(match)
    layer: Layer = match.layer
    if isinstance(answer, Refusal) or layer.attributes["groups"] == 1:
        return answer
    outputs, kh, kw, per_group = layer.inputs[1].spec.shape
    if per_group != 1 or outputs != layer.inputs[0].spec.shape[3]:
        return Refusal(
            ENGINE, "grouped convolutions other than depthwise do not map onto the array", "split the groups"
        )
    if (kh, kw) != (3, 3) or list(layer.attributes["dilation"]) != [1, 1]:
        return Refusal(ENGINE, f"a depthwise {kh}x{kw} kernel is not 3x3", "use a 3x3 depthwise kernel")
    return True


def dense_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """Fully connected layers and matrix products with constant weights."""
    arithmetic = known_arithmetic(layer, context)
    if isinstance(arithmetic, str):
        return Refusal(ENGINE, arithmetic)
    return [DenseForm(layer, arithmetic, context, Mode.POINTWISE, "1x1 over rows")]


def conv2d_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """Convolutions: directly where the array has the kernel, by im2col otherwise."""
    arithmetic = known_arithmetic(layer, context)
    if isinstance(arithmetic, str):
        return Refusal(ENGINE, arithmetic)
    a = layer.attributes
    _, kh, kw, _ = layer.inputs[1].spec.shape
    unit_stride = list(a["strides"]) == [1, 1]
    if a["groups"] > 1:
        name = "3x3 depthwise" if unit_stride else "3x3 depthwise at stride 1, discarding"
        return [Direct3x3Form(layer, arithmetic, context, Mode.DEPTHWISE_3X3, name)]
    forms: list[Form] = []
    plain = list(a["dilation"]) == [1, 1]
    if (kh, kw) == (1, 1) and not any(a["pads"]):
        forms.append(PointwiseForm(layer, arithmetic, context, Mode.POINTWISE, "1x1"))
    elif (kh, kw) == (3, 3) and plain:
        name = "3x3" if unit_stride else "3x3 at stride 1, discarding"
        forms.append(Direct3x3Form(layer, arithmetic, context, Mode.DENSE_3X3, name))
    if (kh, kw) != (1, 1) or any(a["pads"]):
        forms.append(Im2colForm(layer, arithmetic, context, Mode.POINTWISE, "im2col + 1x1"))
    return forms
