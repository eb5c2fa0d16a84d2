"""Pass: scores, scale, mask, softmax and values of a quantize/dequantize graph become one operator.

Expects the integer dialect with functions of bytes as tables. Matches

    matmul(q, k) -> tables, sums with constants, choices by constants -> softmax(table) -> matmul(., v) -> [transpose]

where nothing in between has another reader. q, k and v may have been moved in any way that leaves a head's elements
side by side: reshapes, transposes, slices and repeated heads are read where they come from. What happens between scores
and softmax is a table for every distinct constant: a causal mask has two.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.fuse_heads import FuseHeads
from tvm_pulp.canonicalize.qdq_products import factor_of, rounding_attributes, rounds_to_bytes
from tvm_pulp.canonicalize.rewriter import Mismatch, constant, is_op, needed, require, spec_of
from tvm_pulp.canonicalize.strided_view import strided_view

# Distinct mask values that get a table each.
_MOST_CLASSES = 16
# A function of one tensor between scores and softmax: its operand, constants that may differ from place to place, and
# what it makes of a vector of values and a number for each of the constants.
_Step = tuple[Any, list[np.ndarray], Callable[[np.ndarray, list[Any]], np.ndarray]]


class FuseQdqAttention(FuseHeads):
    operator = "qdq_attention"

    def attention(self, value: Any) -> Any:
        softmax = needed(self.single(value.args[0], "softmax"))
        outer, weights = qnn.attributes(value), qnn.attributes(softmax)
        require(weights["form"] == "table" and weights["zero_point"] == outer["zero_point_a"])
        steps, scores = self._steps(softmax.args[0])
        require(all(rounds_to_bytes(product, ("half_even",)) for product in (value, scores)))
        inner, shape = qnn.attributes(scores), spec_of(scores).shape
        size = spec_of(scores.args[0]).shape[-1]
        require(len(shape) < 4 or (len(shape) == 4 and shape[0] == 1))
        require(spec_of(value).shape[-1] == size)
        heads, (queries, keys) = math.prod(shape[:-2]), shape[-2:]
        classes, table = _tables(steps, scores, (heads, queries, keys))
        attributes: dict[str, Any] = {
            "heads": heads, "queries": queries, "key_count": keys, "size": size,
            "logit_scale": factor_of(scores), "logit_low": inner["requant_low"] - inner["requant_zero_point"],
            "logit_high": inner["requant_high"] - inner["requant_zero_point"], "gain": weights["gain"],
            "probability_high": weights["high"] - weights["zero_point"], "value_scale": factor_of(value),
            **rounding_attributes(qnn.Requant.of(outer)), "y_layout": "hsd", "has_mask": int(len(table) > 1),
            "zero_point_q": inner["zero_point_a"], "zero_point_k": inner["zero_point_b"],
            "zero_point_v": outer["zero_point_b"],
        }  # fmt: skip
        sources = self._operands(scores, value, heads, attributes)
        constants = [*([classes] if len(table) > 1 else []), table, constant(softmax.args[1])]
        fused = qnn.emit("qdq_attention", [*sources, *constants], attributes)
        return fused if len(shape) == 4 else relax.op.reshape(self.emit(fused), spec_of(value).shape)

    def _operands(self, scores: Any, value: Any, heads: int, attributes: dict[str, Any]) -> list[Any]:
        """q, k and v where they come from; their strides as attributes."""
        transposed = {"q": False, "k": not qnn.attributes(scores)["transpose_b"]}
        transposed["v"] = bool(qnn.attributes(value)["transpose_b"])
        group, sources, tables = 1, [], []
        for name, expression in (("q", scores.args[0]), ("k", scores.args[1]), ("v", value.args[1])):
            require(spec_of(expression).dtype in qnn.BYTES and math.prod(spec_of(expression).shape[:-2]) == heads)
            view = needed(strided_view(self, expression, transposed=transposed[name]))
            require(name != "q" or view.group == 1 or heads <= 1)
            if name == "k":
                group = view.group
            require(name != "v" or view.group == group)
            attributes |= {f"{name}_offset": view.offset, f"{name}_head_stride": view.head_stride}
            attributes |= {f"{name}_stride": view.stride}
            source, table = view.source, view.table
            # A table for the whole source is a layer for all cores; inside, it serves only what is read.
            partly = 2 * spec_of(expression).elements < spec_of(source).elements * (view.group if name == "k" else 1)
            if table is not None and (name == "v" or not partly):
                source, table = self.emit(qnn.emit("lookup", [source, table])), None
            if name != "v":
                attributes[f"has_{name}_table"] = int(table is not None)
                tables += [] if table is None else [table]
            sources.append(source)
        attributes["group"] = group
        return [*sources, *tables]

    def _steps(self, expression: Any) -> tuple[list[_Step], Any]:
        """The steps between softmax and scores, first step first, and the product of the scores."""
        steps: list[_Step] = []
        while True:
            call = self.definition(expression)
            require(call is not None and self.uses(expression) <= 1)
            if qnn.is_qnn(call, "matmul"):
                return steps[::-1], self.builder.normalize(call)
            steps.append(_step(call))
            expression = steps[-1][0]


def _step(call: Any) -> _Step:
    """A table, a sum or a choice by constants; anything else is a mismatch."""
    if qnn.is_qnn(call, "lookup"):
        table = constant(call.args[1])
        return call.args[0], [], lambda values, _: qnn.OPERATORS["lookup"].reference({}, [values, table])
    is_choice = is_op(call, "relax.where")
    require(qnn.is_qnn(call, "add") or (is_choice and constant(call.args[0]) is not None))
    operands = call.args[: 3 if is_choice else 2]
    held = [constant(a) for a in operands]
    moving = [place for place, array in enumerate(held) if array is None]
    require(len(moving) == 1)
    place = moving[0]

    def applied(values: np.ndarray, constants: list[Any]) -> np.ndarray:
        every = [*constants[:place], values, *constants[place:]]
        if is_choice:
            return np.where(*every).astype(values.dtype)
        pair = [np.full(values.shape, v).astype(spec_of(a).dtype) for v, a in zip(every, operands, strict=True)]
        return qnn.OPERATORS["add"].reference(qnn.attributes(call), [*pair, *(constant(a) for a in call.args[2:])])

    return operands[place], [h for h in held if h is not None], applied


def _tables(steps: list[_Step], scores: Any, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Class of every (head or 1, query or 1, key), and a table of the steps' results for each class."""
    every, limits = qnn.every_value(spec_of(scores).dtype), qnn.attributes(scores)
    every = every[(every >= limits["requant_low"]) & (every <= limits["requant_high"])]
    masks = [mask for _, constants, _ in steps for mask in constants]
    try:
        places = np.broadcast_arrays(*(_as_places(m, shape) for m in masks)) if masks else []
    except ValueError:
        raise Mismatch from None
    stacked = np.stack([p.reshape(-1) for p in places]) if masks else np.zeros((1, 1), np.int64)
    kinds, numbers = np.unique(stacked, axis=1, return_inverse=True)
    require(kinds.shape[1] <= _MOST_CLASSES)
    table = np.zeros((kinds.shape[1], 256), np.uint8)
    for row, kind in zip(table, kinds.T, strict=True):
        values, given = every, iter(kind)
        for _, constants, applied in steps:
            values = applied(values, [next(given) for _ in constants])
        row[: len(every)] = values.astype(np.int64) - qnn.RANGES[str(values.dtype)][0]
    classes = numbers.reshape(places[0].shape).astype(np.uint8) if masks else np.zeros((1, 1, shape[2]), np.uint8)
    return np.ascontiguousarray(np.broadcast_to(classes, (*classes.shape[:2], shape[2]))), table


def _as_places(mask: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """[heads or 1, queries or 1, keys or 1]."""
    heads = math.prod(mask.shape[:-2])
    require(heads in (1, shape[0]))
    return mask.reshape((heads, *((1,) * (2 - mask.ndim)), *mask.shape[-2:])).astype(np.int64)
