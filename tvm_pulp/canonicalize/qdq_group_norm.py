"""GroupNorm and InstanceNorm of a quantize/dequantize graph, as importers write them.

    quantize((x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias)   becomes   group_norm(x, weight, bias)

Groups are channels of their own, or the second axis of what was reshaped for the purpose and is reshaped back.
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import is_op, needed, or_none, require, single_value, spec_of

# Sums of squares stay inside 32 bits.
_MOST_VALUES = (1 << 31) // 255**2


# A normalization without weights: the integers, how many groups lie along their second axis, and epsilon.
_Core = tuple[QuantizedTensor, int, float]


@or_none
def group_norm(fold: QdqRewriter, real: Any, target: IntegerTarget) -> Any:
    """The operator for the island that ends in `real`, or None."""
    shape = spec_of(real).shape
    require(len(shape) >= 3 and target.dtype in qnn.BYTES)
    inner, weight, bias = _without_affine(fold, real)
    if is_op(fold.definition(inner), "relax.reshape"):
        inner, one, zero = _without_affine(fold, fold.definition(inner).args[0])
        require((one == 1).all() and not zero.any())
    x, groups, epsilon = _core(fold, inner)
    channels, n = shape[1], int(np.prod(shape[1:])) // groups
    require(x.dtype in qnn.BYTES and x.shape[0] == shape[0] and channels % groups == 0 and n <= _MOST_VALUES)
    require({weight.size, bias.size} <= {1, channels})
    attributes = {
        "groups": groups,
        "statistic": (float(x.scale) / n) ** 2,
        "gain": float(x.scale) / n,
        "epsilon": epsilon,
        "zero_point": target.zero_point,
        "low": target.low,
        "high": target.high,
        "dtype": target.dtype,
    }
    per_unit = [(v.astype(np.float64) / float(target.scale)).astype(np.float32).reshape(-1) for v in (weight, bias)]
    constants = [np.broadcast_to(v, (channels,)) for v in per_unit]
    value = x.value if x.shape == shape else fold.emit(relax.op.reshape(x.value, shape))
    return qnn.emit("group_norm", [value, *constants], attributes)


def _without_affine(fold: QdqRewriter, real: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """The value that is multiplied by a weight and has a bias added, both per channel or one for all."""
    found = {"relax.add": np.zeros(1, np.float32), "relax.multiply": np.ones(1, np.float32)}
    for name in found:
        call = fold.definition(real)
        if not is_op(call, name):
            continue
        for data, constant in (call.args, reversed(call.args)):
            values = fold.real_constant(constant)
            if values is not None and _per_channel(values, len(spec_of(real).shape)):
                real, found[name] = data, values.reshape(-1)
                break
    return real, found["relax.multiply"], found["relax.add"]


def _per_channel(values: np.ndarray, rank: int) -> bool:
    shape = [1] * (rank - values.ndim) + list(values.shape)
    return len(shape) == rank and all(size == 1 for axis, size in enumerate(shape) if axis != 1)


def _core(fold: QdqRewriter, real: Any) -> _Core:
    call = fold.definition(real)
    if is_op(call, "relax.nn.group_norm"):
        return _operator(fold, call)
    require(is_op(call, "relax.divide"))
    centred, root = (fold.definition(a) for a in call.args)
    require(is_op(centred, "relax.subtract") and is_op(root, "relax.sqrt"))
    mean, total = fold.definition(centred.args[1]), fold.definition(root.args[0])
    require(is_op(mean, "relax.mean") and is_op(total, "relax.add"))
    variance, epsilon = fold.definition(total.args[0]), fold.real_constant(total.args[1])
    require(is_op(variance, "relax.variance"))
    x, rank = centred.args[0], len(spec_of(centred.args[0]).shape)
    axes = [sorted(int(a) % rank for a in c.attrs.axis) for c in (mean, variance) if c.attrs.axis is not None]
    require(axes == [list(range(2, rank))] * 2 and mean.args[0].same_as(x) and variance.args[0].same_as(x))
    held = needed(fold.quantized(x))
    return held, held.shape[1], float(needed(single_value(epsilon)))


def _operator(fold: QdqRewriter, call: Any) -> _Core:
    """relax.nn.group_norm whose own weights do nothing."""
    attrs, held = call.attrs, needed(fold.quantized(call.args[0]))
    rank = len(spec_of(call).shape)
    require(fold.is_all(call.args[1], 1) and fold.is_all(call.args[2], 0))
    axes = sorted(int(a) % rank for a in attrs.axes)
    require(int(attrs.channel_axis) % rank == 1 and axes == list(range(2, rank)))
    return held, int(attrs.num_groups), float(attrs.epsilon)
