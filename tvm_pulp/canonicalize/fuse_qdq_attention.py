"""Pass: scores, scale, mask, softmax and values of a quantize/dequantize graph become one operator.

Expects the integer dialect with functions of bytes as tables. Matches

    matmul(q, k) -> tables, sums with constants, choices by constants -> softmax(table) -> matmul(., v) -> [transpose]

where nothing in between has another reader. q, k and v may have been moved in any way that leaves a head's elements
side by side: reshapes, transposes, slices and repeated heads are read where they come from. What happens between scores
and softmax is a table for every distinct constant: a causal mask has two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.canonicalize.strided_view import strided_view
from tvm_pulp.qnn.operator import OPERATORS, spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec

_SWAP = [0, 2, 1, 3]
_BYTES = ("int8", "uint8")
# Distinct mask values that get a table each.
_MOST_CLASSES = 16


class FuseQdqAttention(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "matmul"):
            # Rewritten operands leave a call without its type.
            fused = self._attention(self.builder.normalize(value))
            return value if fused is None else fused
        if qnn.is_qnn(value, "transpose") and qnn.attributes(value)["axes"] == _SWAP:
            inner = self._single(value.args[0], "qdq_attention")
            if inner is not None:
                attributes = qnn.attributes(inner)
                attributes["y_layout"] = "shd" if attributes["y_layout"] == "hsd" else "hsd"
                return qnn.emit("qdq_attention", list(inner.args), attributes)
        return value

    def _single(self, expression: Any, name: str) -> Any:
        """The defining call of an operand that nobody else reads."""
        call = self.definition(expression)
        return call if qnn.is_qnn(call, name) and self.uses(expression) == 1 else None

    def _attention(self, value: Any) -> Any:
        outer, softmax = qnn.attributes(value), self._single(value.args[0], "softmax")
        if softmax is None or qnn.attributes(softmax)["form"] != "table" or not _rounds(value):
            return None
        weights = qnn.attributes(softmax)
        if weights["zero_point"] != outer["zero_point_a"]:
            return None
        steps, scores = self._steps(softmax.args[0])
        if scores is None or not _rounds(scores):
            return None
        inner, shape = qnn.attributes(scores), spec_of(scores).shape
        size = spec_of(scores.args[0]).shape[-1]
        if len(shape) > 4 or (len(shape) == 4 and shape[0] != 1) or spec_of(value).shape[-1] != size:
            return None
        heads, (queries, keys) = math.prod(shape[:-2]), shape[-2:]
        tables = _tables(steps, scores, (heads, queries, keys))
        if tables is None:
            return None
        classes, table = tables
        attributes: dict[str, Any] = {
            "heads": heads, "queries": queries, "keys": keys, "size": size,
            "logit_scale": _ratio(scores), "logit_low": inner["requant_low"] - inner["requant_zero_point"],
            "logit_high": inner["requant_high"] - inner["requant_zero_point"], "gain": weights["gain"],
            "probability_high": weights["high"] - weights["zero_point"], "value_scale": _ratio(value),
            "low": outer["requant_low"] - outer["requant_zero_point"],
            "high": outer["requant_high"] - outer["requant_zero_point"], "zero_point": outer["requant_zero_point"],
            "dtype": spec_of(value).dtype, "y_layout": "hsd", "has_mask": int(len(table) > 1),
            "zero_point_q": inner["zero_point_a"], "zero_point_k": inner["zero_point_b"],
            "zero_point_v": outer["zero_point_b"],
        }  # fmt: skip
        sources = self._operands(scores, value, heads, attributes)
        if sources is None:
            return None
        constants = [*([classes] if len(table) > 1 else []), table, constant(softmax.args[1])]
        fused = qnn.emit("qdq_attention", [*sources, *(relax.const(c) for c in constants)], attributes)
        if len(shape) == 4:
            return fused
        return relax.op.reshape(self.emit(fused), spec_of(value).shape)

    def _operands(self, scores: Any, value: Any, heads: int, attributes: dict[str, Any]) -> list[Any] | None:
        """q, k and v where they come from; their strides as attributes."""
        turned = {"q": False, "k": not qnn.attributes(scores)["transpose_b"]}
        turned["v"] = bool(qnn.attributes(value)["transpose_b"])
        group, sources, tables = 1, [], []
        for name, expression in (("q", scores.args[0]), ("k", scores.args[1]), ("v", value.args[1])):
            if spec_of(expression).dtype not in _BYTES or math.prod(spec_of(expression).shape[:-2]) != heads:
                return None
            view = strided_view(self, expression, turned=turned[name])
            if view is None or (name == "q" and view.group != 1 and heads > 1):
                return None
            if name == "k":
                group = view.group
            if name == "v" and view.group != group:
                return None
            attributes |= {f"{name}_offset": view.offset, f"{name}_head_stride": view.head_stride}
            attributes |= {f"{name}_stride": view.stride}
            source, table = view.source, view.table
            # A table for the whole source is a layer for all cores; inside, it serves only what is read.
            partly = 2 * spec_of(expression).elements < spec_of(source).elements * (view.group if name == "k" else 1)
            if table is not None and (name == "v" or not partly):
                source, table = self.emit(qnn.emit("lookup", [source, relax.const(table)])), None
            if name != "v":
                attributes[f"has_{name}_table"] = int(table is not None)
                tables += [] if table is None else [relax.const(np.ascontiguousarray(table))]
            sources.append(source)
        attributes["group"] = group
        return [*sources, *tables]

    def _steps(self, expression: Any) -> tuple[list[Any], Any]:
        """What lies between softmax and scores, first step first, and the product of the scores or None."""
        steps: list[Any] = []
        while True:
            call = self.definition(expression)
            if call is None or self.uses(expression) > 1:
                return steps, None
            if qnn.is_qnn(call, "matmul"):
                return steps[::-1], self.builder.normalize(call)
            if qnn.is_qnn(call, "lookup"):
                inner = call.args[0]
            elif qnn.is_qnn(call, "add") or is_op(call, "relax.where"):
                moving = [a for a in call.args[:3] if constant(a) is None]
                if len(moving) != 1 or (is_op(call, "relax.where") and constant(call.args[0]) is None):
                    return steps, None
                inner = moving[0]
            else:
                return steps, None
            steps.append((call, inner))
            expression = inner


def _rounds(product: Any) -> bool:
    """Whether a product is requantized to bytes, half to even, by one factor."""
    rule = qnn.Requant.of(qnn.attributes(product))
    return rule.kind == "half_even" and rule.out_dtype in _BYTES and constant(product.args[2]).size == 1


def _ratio(product: Any) -> float:
    """The factor of a requantization."""
    mul, shift = (int(constant(a).reshape(-1)[0]) for a in product.args[2:4])
    return float(np.float32(math.ldexp(mul, -shift)))


def _tables(steps: list[Any], scores: Any, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray] | None:
    """Class of every (head or 1, query or 1, key), and a table of the steps' results for each class."""
    low, high = TensorSpec((), spec_of(scores).dtype).range
    every = np.arange(low, high + 1).astype(spec_of(scores).dtype)
    limits = qnn.attributes(scores)
    every = every[(every >= limits["requant_low"]) & (every <= limits["requant_high"])]
    masks = [m for call, inner in steps for m in _masks(call, inner)]
    try:
        places = np.broadcast_arrays(*(_as_places(m, shape) for m in masks)) if masks else []
    except ValueError:
        return None
    stacked = np.stack([p.reshape(-1) for p in places]) if masks else np.zeros((1, 1), np.int64)
    kinds, numbers = np.unique(stacked, axis=1, return_inverse=True)
    if kinds.shape[1] > _MOST_CLASSES:
        return None
    rows = []
    for column in range(kinds.shape[1]):
        values, place = every, 0
        for call, inner in steps:
            count = len(_masks(call, inner))
            values = _applied(call, inner, values, kinds[place : place + count, column])
            place += count
        rows.append(values.astype(np.int64) - TensorSpec((), str(values.dtype)).range[0])
    table = np.zeros((len(rows), 256), np.uint8)
    table[:, : len(every)] = np.stack(rows)
    classes = numbers.reshape(places[0].shape).astype(np.uint8) if masks else np.zeros((1, 1, shape[2]), np.uint8)
    return np.ascontiguousarray(np.broadcast_to(classes, (*classes.shape[:2], shape[2]))), table


def _masks(call: Any, inner: Any) -> list[np.ndarray]:
    """Constants of a step that may differ from place to place."""
    if qnn.is_qnn(call, "lookup"):
        return []
    count = 3 if is_op(call, "relax.where") else 2
    return [constant(a) for a in call.args[:count] if not a.same_as(inner)]


def _as_places(mask: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """[heads or 1, queries or 1, keys or 1]."""
    lead = mask.shape[:-2]
    heads = math.prod(lead)
    if mask.ndim > 2 and heads not in (1, shape[0]):
        raise ValueError
    rows = mask.reshape(heads, *mask.shape[-2:]) if mask.ndim > 2 else mask.reshape((1,) * (3 - mask.ndim) + mask.shape)
    return rows.astype(np.int64)


def _applied(call: Any, inner: Any, values: np.ndarray, constants: np.ndarray) -> np.ndarray:
    """A step done to a vector of values, with its constants."""
    if qnn.is_qnn(call, "lookup"):
        return OPERATORS["lookup"].reference({}, [values, constant(call.args[1])])
    if is_op(call, "relax.where"):
        given = iter(constants)
        condition, a, b = (values if arg.same_as(inner) else next(given) for arg in call.args)
        return np.where(condition, a, b).astype(values.dtype)
    given = iter(constants)
    pair = [
        values if arg.same_as(inner) else np.full(values.shape, next(given)).astype(spec_of(arg).dtype)
        for arg in call.args[:2]
    ]
    rest = [constant(a) for a in call.args[2:]]
    return OPERATORS["add"].reference(qnn.attributes(call), [*pair, *rest])
