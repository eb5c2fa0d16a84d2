"""Depthwise convolutions of bytes and constant weights: several channels at once."""

import math

from schedules.cpu.base import Cpu, KernelCall, Layer, kernel, offer_if, structure
from schedules.cpu.pack_weights import pack_depthwise
from schedules.cpu.rules import begin_call, check_product, rule_for, rule_function
from schedules.cpu.windows import check_image, reads_first, row_bytes, window_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes


@kernel("conv2d", "depthwise windows")
def depthwise(layer: Layer, cpu: Cpu) -> KernelCall:
    """A filter for each channel."""
    check_product(layer)
    check_image(layer)
    groups, at_once = Conv2dAttributes.of(layer).groups, math.prod(cpu.depthwise.channels)
    channels, *size, _ = layer.inputs[1].spec.shape
    is_depthwise = groups == layer.inputs[0].spec.shape[3] == channels
    offer_if(is_depthwise, "channels have not one filter each")
    offer_if(groups % at_once == 0 or cpu.depthwise.tails, f"{groups} channels are no multiple of {at_once}")
    matrix = layer.inputs[1].values.reshape(channels, -1)
    rule = rule_for(layer, matrix, at_once, cpu)
    call = begin_call(layer, rule, pack_depthwise(matrix, cpu.depthwise))
    window = window_of(layer, call.is_unsigned, size)
    call.workspace("rows", row_bytes(window))
    saturation = f"TVM_PULP_{rule.suffix.upper()}"
    return call.made(
        [
            f"  /* {at_once} channels at once. */",
            *structure("const struct tvm_pulp_window window", window),
            f"  tvm_pulp_depthwise(&window, {call.x}, weight, scale, {saturation}, {rule.name}, "
            f"{rule.constants_name}, {call.y}, rows);",
        ],
        "depthwise.h",
        rule_function(layer, rule),
        reads_first(window, channels) if window["left"] + window["right"] else [],
    )
