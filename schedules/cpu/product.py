"""Products of a matrix as blocked kernels compute them: some pixels times some channels at once, in registers."""

import math

from schedules.cpu.base import CallBuilder, Cpu, Layer, offer_if, structure
from schedules.cpu.pack_weights import aligned, pack_matrix
from schedules.cpu.rules import ProductRule, begin_call, rule_for

BYTES, WIDE = "blocked product", "blocked product, weights of 16 bits"


def begin_product(layer: Layer, cpu: Cpu, pixels: int, *, wide: bool) -> tuple[CallBuilder, list[str], ProductRule]:
    """The call of a blocked product, what its body begins with, and its rule."""
    offer_if(cpu.block.wide_order or not wide, "the core multiplies bytes as fast")
    block, channels = cpu.block, layer.inputs[1].spec.shape[0]
    matrix = layer.inputs[1].values.reshape(channels, -1)
    at_once = math.prod(block.channels)
    rule = rule_for(layer, matrix, at_once, cpu, block.values)
    call = begin_call(layer, rule, pack_matrix(matrix, block, wide))
    depth = aligned(matrix.shape[1], math.prod(block.depth))
    blocks = -(-channels // at_once)
    # A block's results, or its sums.
    call.workspace("patch", block.pixels * depth * block.lane_bytes // 4, "uint32")
    call.workspace("line", depth)
    call.workspace("spare", block.pixels * blocks * at_once, "int32" if rule.suffix == "s32" else "int8")
    one = "one_" if pixels == 1 else ""
    function = f"tvm_pulp_product_{'wide_' if wide else ''}{one}{rule.suffix}"
    product = {
        "patch": "patch", "weight": "(const int8_t *)weight" if wide else "weight", "scale": "scale",
        "depth": depth, "blocks": blocks,
    }  # fmt: skip
    results = {
        "y": call.y, "channels": channels, "multiply": function, "rule": rule.name,
        "constants": rule.constants_name, "spare": "spare",
    }  # fmt: skip
    body = [
        f"  /* Blocks of {'one pixel' if one else f'{block.pixels} pixels'} and {at_once} channels"
        f"{', weights of 16 bits' if wide else ''}. */",
        *structure("struct tvm_pulp_product product", product),
        *structure("const struct tvm_pulp_results results", results),
    ]
    return call, body, rule
