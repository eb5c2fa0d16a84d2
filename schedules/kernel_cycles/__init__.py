"""Cost of one call of a cluster kernel: what its code does, times coefficients fitted to the simulator.

`call_cost` takes the arguments of one call (one tile) and the machine's cost model, and returns cluster cycles of the
slowest core with data in L1 and code in the instruction caches, and the cycles by which fetching its code from L2 makes
it slower; a barrier is not included. `coefficients.yaml` states for each kernel how far it was off on calls that the
fit did not see. `scripts/fit_kernel_cycles` measures all kernels again.
"""

from __future__ import annotations

from collections.abc import Callable

from schedules.kernel_cycles import attention, elementwise, matrix, movement, pairs, rows, rv32
from schedules.kernel_cycles.coefficients import COEFFICIENTS, Fit
from schedules.kernel_cycles.model import Fields, Work
from tvm_pulp.errors import UserError
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import CoreCost

WORKS: dict[str, Callable[[Fields, int], Work]] = {
    "dense": matrix.dense,
    "matmul": matrix.matmul,
    "conv2d": matrix.conv2d,
    "depthwise_conv2d": matrix.depthwise_conv2d,
    "add": elementwise.add,
    "add_accumulators": elementwise.add_accumulators,
    "mul": elementwise.mul,
    "quantize": elementwise.quantize,
    "dequantize": elementwise.dequantize,
    "qdq_mul": elementwise.qdq_mul,
    "requantize": elementwise.requantize,
    "requantize_add": elementwise.requantize_add,
    "hardswish": elementwise.unary,
    "gelu": elementwise.unary,
    "lookup": elementwise.lookup,
    "i_softmax": rows.shared_rows,
    "softmax_ita": rows.whole_rows,
    "softmax_tflite": rows.whole_rows,
    "rms_norm": rows.norm,
    "layer_norm": rows.norm,
    "qdq_norm": rows.qdq_norm,
    "attention": attention.attention,
    "qdq_attention": attention.qdq_attention,
    "past_qdq_attention": attention.past_qdq_attention,
    "rope": attention.rope,
    "rotary": attention.rotary,
    "past_attention": attention.past_attention,
    "past_scores": attention.past_scores,
    "past_mix": attention.past_mix,
    "past_mean": attention.past_mean,
    "qdq_rope": attention.qdq_rope,
    "max_pool": movement.pool,
    "avg_pool": movement.pool,
    "mean_pool": movement.mean_pool,
    "transpose": movement.transpose,
    "copy_rows": movement.copy_rows,
    "im2col": movement.im2col,
    "space_to_depth": movement.space_to_depth,
    "resize": movement.resize,
}


# Kernels that only other families have, or that do their work in another way there, by family.
_OTHER_WORKS: dict[str, dict[str, Callable[[Fields, int], Work]]] = {
    "rv32im": {"dense": pairs.dense, "add_pairs": pairs.add_pairs, "layer_norm": pairs.layer_norm},
    "rv32": rv32.WORKS,
}


def work_of(kernel: str, fields: Fields, cores: int, family: str) -> Work:
    """What the slowest core does in a call of a family's kernel."""
    return (_OTHER_WORKS.get(family, {}).get(kernel) or WORKS[kernel])(fields, cores)


def _common(a: str, b: str) -> int:
    """Characters with which both begin."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _coefficient(known: dict[str, float], name: str) -> float:
    """Work that no measured call had costs as much as the dearest of its relatives."""
    if name in known:
        return known[name]
    alike = {other: _common(name, other) for other in known}
    longest = max(alike.values())
    return max(known[other] for other, length in alike.items() if length == longest)


def _fit(kernel: str, costs: CostModel) -> Fit:
    software = costs.soc.software
    if software.core_type not in COEFFICIENTS:
        raise UserError(
            f"SoC {costs.soc.name}: software.core_type '{software.core_type}' has no kernel coefficients: choose "
            f"one of {', '.join(COEFFICIENTS)}, or leave software.kernels empty for generated C"
        )
    return COEFFICIENTS[software.core_type][kernel]


def call_cost(kernel: str, fields: Fields, costs: CostModel) -> CoreCost:
    """Cost of a call of `tvm_pulp_kernel_<kernel>`."""
    work, fit = work_of(kernel, fields, costs.cores, costs.soc.software.kernels), _fit(kernel, costs)
    cycles = sum(_coefficient(fit.cycles, name) * count for name, count in work.items() if count)
    cold = sum(_coefficient(fit.cold_cycles, name) for name, count in work.items() if count)
    return CoreCost(max(1, round(costs.core_slowdown * cycles)), round(cold), kernel)


__all__ = ["WORKS", "call_cost", "work_of"]
