"""GroupNorm and InstanceNorm of a quantize/dequantize graph, as importers write them.

    quantize((x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias)   becomes   group_norm(x, weight, bias)

Groups are channels of their own, or the second axis of what was reshaped for the purpose and is reshaped back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized
from tvm_pulp.canonicalize.rewriter import is_op
from tvm_pulp.qnn.operator import spec_of

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter

_BYTES = ("int8", "uint8")
# Sums of squares stay inside 32 bits.
_MOST_VALUES = (1 << 31) // 255**2


@dataclass(frozen=True)
class _Core:
    """A normalization without weights: the integers, groups along their second axis, and epsilon."""

    x: Quantized
    groups: int
    epsilon: float


def group_norm(fold: QdqRewriter, real: Any, target: IntegerTarget) -> Any:
    """The operator for the island that ends in `real`, or None."""
    shape = spec_of(real).shape
    if len(shape) < 3 or target.dtype not in _BYTES:
        return None
    inner, weight, bias = _without_affine(fold, real)
    if is_op(fold.definition(inner), "relax.reshape"):
        inner, one, zero = _without_affine(fold, fold.definition(inner).args[0])
        if (one != 1).any() or zero.any():
            return None
    core = _core(fold, inner)
    if core is None or core.x.dtype not in _BYTES:
        return None
    channels, n = shape[1], int(np.prod(shape[1:])) // core.groups
    if (
        core.x.shape[0] != shape[0]
        or channels % core.groups
        or n > _MOST_VALUES
        or {weight.size, bias.size} - {1, channels}
    ):
        return None
    scale, unit = float(core.x.scale), float(target.scale)
    attributes = {
        "groups": core.groups,
        "statistic": (scale / n) ** 2,
        "gain": scale / n,
        "epsilon": core.epsilon,
        "zero_point": target.zero_point,
        "low": target.low,
        "high": target.high,
        "dtype": target.dtype,
    }
    per_unit = [(v.astype(np.float64) / unit).astype(np.float32).reshape(-1) for v in (weight, bias)]
    constants = [np.ascontiguousarray(np.broadcast_to(v, (channels,))) for v in per_unit]
    value = core.x.value if core.x.shape == shape else fold.emit(relax.op.reshape(core.x.value, shape))
    return qnn.emit("group_norm", [value, *(relax.const(c) for c in constants)], attributes)


def _without_affine(fold: QdqRewriter, real: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """What is multiplied by a weight and has a bias added, both per channel or one for all."""
    found = {"relax.add": np.zeros(1, np.float32), "relax.multiply": np.ones(1, np.float32)}
    for name in found:
        call = fold.definition(real)
        if not is_op(call, name):
            continue
        for data, constant in (call.args, reversed(call.args)):
            values = fold.operands.real_constant(constant)
            if values is not None and _per_channel(values, len(spec_of(real).shape)):
                real, found[name] = data, values.reshape(-1)
                break
    return real, found["relax.multiply"], found["relax.add"]


def _per_channel(values: np.ndarray, rank: int) -> bool:
    shape = [1] * (rank - values.ndim) + list(values.shape)
    return len(shape) == rank and all(size == 1 for axis, size in enumerate(shape) if axis != 1)


def _core(fold: QdqRewriter, real: Any) -> _Core | None:
    call = fold.definition(real)
    if is_op(call, "relax.nn.group_norm"):
        return _operator(fold, call)
    if not is_op(call, "relax.divide"):
        return None
    centred, root = (fold.definition(a) for a in call.args)
    if not is_op(centred, "relax.subtract") or not is_op(root, "relax.sqrt"):
        return None
    mean, total = fold.definition(centred.args[1]), fold.definition(root.args[0])
    if not is_op(mean, "relax.mean") or not is_op(total, "relax.add"):
        return None
    variance, epsilon = fold.definition(total.args[0]), fold.operands.real_constant(total.args[1])
    if not is_op(variance, "relax.variance") or epsilon is None or epsilon.size != 1:
        return None
    x, rank = centred.args[0], len(spec_of(centred.args[0]).shape)
    axes = [sorted(int(a) % rank for a in c.attrs.axis) for c in (mean, variance) if c.attrs.axis is not None]
    if axes != [list(range(2, rank))] * 2 or not (mean.args[0].same_as(x) and variance.args[0].same_as(x)):
        return None
    held = fold.operands.quantized(x)
    return None if held is None else _Core(held, held.shape[1], float(epsilon.reshape(-1)[0]))


def _operator(fold: QdqRewriter, call: Any) -> _Core | None:
    """relax.nn.group_norm whose own weights do nothing."""
    attrs, held = call.attrs, fold.operands.quantized(call.args[0])
    rank = len(spec_of(call).shape)
    plain = _is_all(fold, call.args[1], 1) and _is_all(fold, call.args[2], 0)
    axes = sorted(int(a) % rank for a in attrs.axes)
    if held is None or not plain or int(attrs.channel_axis) % rank != 1 or axes != list(range(2, rank)):
        return None
    return _Core(held, int(attrs.num_groups), float(attrs.epsilon))


def _is_all(fold: QdqRewriter, expression: Any, value: int) -> bool:
    """Whether a constant holds nothing but ones, or nothing but zeros."""
    if is_op(fold.definition(expression), ("relax.zeros_like", "relax.ones_like")[value]):
        return True
    known = fold.operands.real_constant(expression)
    return known is not None and not (known != value).any()
