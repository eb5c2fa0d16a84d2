"""Matrix products of bytes and constant weights."""

from schedules.cpu.base import Cpu, KernelCall, Layer, kernel
from schedules.cpu.product import BYTES, WIDE, begin_product
from schedules.cpu.rules import check_product, rule_function


@kernel("dense", BYTES)
def dense(layer: Layer, cpu: Cpu) -> KernelCall:
    """Weights as they are."""
    return _dense(layer, cpu, wide=False)


@kernel("dense", WIDE, takes_spare_flash=True)
def wide_dense(layer: Layer, cpu: Cpu) -> KernelCall:
    """Weights that need no widening in the loop."""
    return _dense(layer, cpu, wide=True)


def _dense(layer: Layer, cpu: Cpu, *, wide: bool) -> KernelCall:
    check_product(layer)
    channels, depth = layer.inputs[1].spec.shape
    rows = layer.outputs[0].spec.elements // channels
    call, body, rule = begin_product(layer, cpu, rows, wide=wide)
    end = f"{call.is_unsigned}, &product, &results, {call.x}, patch, line);"
    is_one = rows == 1
    body.append(
        f"  tvm_pulp_multiply_row({depth}, {end}" if is_one else f"  tvm_pulp_multiply_rows({rows}, {depth}, {end}"
    )
    return call.made(body, "convolution.h", rule_function(layer, rule), [0] if channels <= depth else [])
