"""The layers that NE16 takes, and the forms it offers for them."""

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Form
from uma_backends.conv_array import by_rows, conv2d_forms, known_arithmetic
from uma_backends.ne16.geometry import Mode
from uma_backends.ne16.linear_form import LinearForm
from uma_backends.ne16.ne16_form import Ne16Context
from uma_backends.ne16.patches_form import patches_forms


def dense_strategy(layer: Layer, context: Ne16Context) -> list[Form]:
    """Constant weights of up to 8 bits, 8-bit inputs, accumulators of 32 bits."""
    x = layer.inputs[0].spec
    if x.elements != x.shape[-1]:
        return [by_rows(layer, context)]
    return [LinearForm(layer, context, "one row in linear mode", known_arithmetic(layer, context), Mode.LINEAR)]


def conv2d_strategy(layer: Layer, context: Ne16Context) -> list[Form]:
    """Constant weights of up to 8 bits, 8-bit inputs; groups with any kernel, or depthwise, 3x3 and up to 9x9."""
    return [*conv2d_forms(layer, context), *patches_forms(layer, known_arithmetic(layer, context), context)]
