"""Convolutions of bytes and constant weights over all channels."""

from schedules.cpu.base import Cpu, KernelCall, Layer, kernel, offer_if, structure
from schedules.cpu.product import BYTES, WIDE, begin_product
from schedules.cpu.rules import check_product, rule_function
from schedules.cpu.windows import check_image, reads_first, row_bytes, window_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes


@kernel("conv2d", BYTES)
def convolution(layer: Layer, cpu: Cpu) -> KernelCall:
    """Weights as they are."""
    return _convolution(layer, cpu, wide=False)


@kernel("conv2d", WIDE, takes_spare_flash=True)
def wide_convolution(layer: Layer, cpu: Cpu) -> KernelCall:
    """Weights that need no widening in the loop."""
    return _convolution(layer, cpu, wide=True)


def _convolution(layer: Layer, cpu: Cpu, *, wide: bool) -> KernelCall:
    check_product(layer)
    check_image(layer)
    groups = Conv2dAttributes.of(layer).groups
    offer_if(groups == 1, f"channels are in {groups} groups")
    channels, *size, _ = layer.inputs[1].spec.shape
    call, body, rule = begin_product(layer, cpu, cpu.block.pixels, wide=wide)
    window = window_of(layer, call.is_unsigned, size)
    call.workspace("rows", row_bytes(window))
    body += structure("const struct tvm_pulp_window window", window)
    body.append(f"  tvm_pulp_convolve(&window, &product, &results, {call.x}, patch, rows, line);")
    return call.made(body, "convolution.h", rule_function(layer, rule), reads_first(window, channels))
