"""Weights whose layers would take fewer instructions if they were stored with 16 bits."""

import math

from tvm_pulp.codegen.cpu_kernels.call_kernels import kernel_call
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.soc.cpu import Cpu


def worth_widening(network: Network, cpu: Cpu) -> dict[Tensor, int]:
    """Weights with the bytes that 16 bits take more, those first whose bytes save most: with most products each."""
    if not cpu.block.wide_order:
        return {}
    found: dict[Tensor, tuple[int, int]] = {}
    for layer in network.layers:
        if layer.operator not in ("conv2d", "dense") or kernel_call(layer, cpu) is None:
            continue
        weight = layer.inputs[1]
        channels, depth = weight.spec.shape[0], weight.spec.elements // weight.spec.shape[0]
        if layer.attributes.get("groups", 1) == 1:
            more = aligned(channels, math.prod(cpu.block.channels)) * aligned(depth, math.prod(cpu.block.depth))
            found[weight] = (found.get(weight, (0, 0))[0] + layer.macs, more)
    order = sorted(found, key=lambda weight: -found[weight][0] / found[weight][1])
    return {weight: found[weight][1] for weight in order}
