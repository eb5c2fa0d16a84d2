"""Least and largest accumulator of a layer, for every channel: those that its requantization has to be right for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_bound
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.operator import spec_of


def accumulator_interval(call: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both ends, bias included; one element, or one per channel of a layer with constant weights."""
    attributes = qnn.attributes(call)
    weights = constant(call.args[1]) if qnn.is_qnn(call, "conv2d", "dense") else None
    if weights is not None:
        return _weighted(call, attributes, weights)
    if qnn.is_qnn(call, "requantize"):
        low, high = spec_of(call.args[0]).range
        return np.array([low - attributes["zero_point"]]), np.array([high - attributes["zero_point"]])
    if qnn.is_qnn(call, "avg_pool"):
        taps = math.prod(attributes["kernel"])
        low, high = (taps * (limit - attributes["zero_point"]) for limit in spec_of(call.args[0]).range)
        return np.array([min(low, 0)]), np.array([max(high, 0)])
    bound = accumulator_bound(call)
    reach = bound if bound is not None else 1 << 31
    return np.array([-reach]), np.array([reach])


def _weighted(call: Any, attributes: dict[str, Any], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Padding adds nothing, so that it lies between."""
    ends = [limit - attributes["zero_point"] for limit in spec_of(call.args[0]).range]
    flat = weights.astype(np.int64).reshape(weights.shape[0], -1)
    products = [flat * min(ends[0], 0), flat * max(ends[1], 0)]
    low, high = np.minimum(*products).sum(axis=1), np.maximum(*products).sum(axis=1)
    if attributes["has_bias"]:
        bias = constant(call.args[2]).astype(np.int64)
        low, high = low + bias, high + bias
    return low, high
