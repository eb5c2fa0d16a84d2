"""Pass: float islands between dequantize and quantize become operators of the integer dialect.

Expects Relax as TVM's TFLite and ONNX importers write it: each layer's operands dequantized, its result quantized,
sometimes much later. Guarantees that every island it knows is integers only, with the arithmetic it was given;
whatever it does not know stays float, between the dequantize and quantize it had.

    quantize(relu(conv2d(dequantize(x), dequantize(w)) + dequantize(b)))   becomes   qnn.conv2d(x, w, b, requant)

It works in two directions. Operators that only move data are done on integers at once, the dequantize after them.
At each quantize it looks back, through the activation and the bias, for a layer whose operands are dequantized.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize import (
    qdq_accumulators,
    qdq_concat,
    qdq_elementwise,
    qdq_group_norm,
    qdq_layers,
    qdq_norm,
    qdq_reductions,
    qdq_resize,
    qdq_transposed,
    qdq_unary,
)
from tvm_pulp.canonicalize.accumulators import Accumulators
from tvm_pulp.canonicalize.qdq_movement import MOVEMENTS, moved_constant, padded, window
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, target_of
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.qnn.operator import PREFIX, spec_of
from tvm_pulp.qnn.tensor_spec import RANGES

LAYERS: dict[str, Callable[..., Any]] = {
    "relax.nn.conv1d": qdq_layers.conv1d,
    "relax.nn.conv2d": qdq_layers.conv2d,
    "relax.nn.conv1d_transpose": qdq_transposed.conv1d_transpose,
    "relax.nn.conv2d_transpose": qdq_transposed.conv2d_transpose,
    "relax.matmul": qdq_layers.matmul,
}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **LAYERS,
    "relax.subtract": qdq_elementwise.subtract,
    "relax.multiply": qdq_elementwise.multiply,
    "relax.maximum": qdq_elementwise.extreme(relax.op.maximum),
    "relax.minimum": qdq_elementwise.extreme(relax.op.minimum),
    "relax.where": qdq_elementwise.where,
    "relax.concat": qdq_concat.concat,
    "relax.mean": qdq_reductions.mean,
    "relax.nn.avg_pool1d": qdq_reductions.avg_pool1d,
    "relax.nn.avg_pool2d": qdq_reductions.avg_pool,
    "relax.nn.softmax": qdq_reductions.softmax,
}
# Operators of two tensors that may turn out to be one function of a single byte.
_OF_TWO = {f"relax.{name}" for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")}


def integer_operators() -> frozenset[str]:
    """Operators that have a rule here; functions of one byte and the forms of norms and attention need none."""
    return frozenset((*_OPERATORS, *MOVEMENTS, *_OF_TWO, "relax.split"))


class FoldQdq(QdqRewriter):
    """The pass; `arithmetic` decides how results are rounded."""

    def start(self, function: Any) -> None:
        super().start(function)
        self._done: dict[Any, Any] = {}

    def run(self, module: Any) -> Any:
        # The float values that islands replaced had taken their names; now that they are gone, the names are free.
        folded = super().run(module)
        return _Renamed(self.wanted_names).run(folded)

    def visit(self, variable: Any, value: Any) -> Any:
        if not isinstance(value, relax.Call) or not isinstance(value.op, tvm.ir.Op) or qnn.is_qnn(value):
            return value
        # Rewritten operands leave a call without its type; the rules below ask for it.
        value = self.builder.normalize(value)
        if is_op(value, "relax.quantize"):
            return self._quantize(value, variable.name)
        if is_op(value, "relax.concat"):
            return self._concat(value, variable.name)
        if is_op(value, "relax.split"):
            return self._split(value, variable.name)
        if value.op.name in MOVEMENTS:
            return self._moved(value, variable.name)
        if is_op(value, "relax.astype"):
            return self._average_of_integers(value)
        if is_op(value, "relax.clip") and spec_of(value).dtype in RANGES:
            return self._clipped_integers(value, variable.name)
        return value

    def _quantize(self, value: Any, name: str) -> Any:
        real, target = value.args[0], target_of(value)
        if constant(real) is not None:
            return self._quantized_constant(value)
        if target is None:
            return value
        found = self.island(real, target, name)
        return value if found is None else found

    def island(self, real: Any, target: IntegerTarget, name: str = "") -> Any:
        """The integer form of a float value, bound, the same for everyone who asks; None where it stays float."""
        key = (real, target)
        if key not in self._done:
            try:
                result = self._island(real, target)
            except OverflowError:  # a ratio of scales no 64-bit product can hold: stay float
                result = None
            # An operator of TFLite ends in its quantize, which has the tensor's name; ONNX names operators.
            wanted = name if self.arithmetic.name == "tflite" else self._name_of(real, target) or name
            self._done[key] = self.bound(result, wanted) if isinstance(result, relax.Call) else result
        return self._done[key]

    def _quantized_constant(self, value: Any) -> Any:
        """Weights stored as floats in front of a quantize."""
        real, scale, zero_point = (constant(a) for a in value.args)
        dtype = str(value.attrs.out_dtype)
        if scale is None or zero_point is None or dtype not in RANGES:
            return value
        shape = [1] * real.ndim
        if scale.size > 1:
            shape[int(value.attrs.axis)] = scale.size
        zero_point = zero_point.astype(np.int64).reshape(shape if zero_point.size > 1 else ())
        rounded = np.rint(real / scale.reshape(shape if scale.size > 1 else ())).astype(np.int64) + zero_point
        return relax.const(np.clip(rounded, *RANGES[dtype]).astype(dtype))

    def _island(self, real: Any, target: IntegerTarget) -> Any:
        """The integer form of a float value on its way to `target`, or None."""
        inner, inner_target, scaled = self._without_activation(real, target)
        if self.arithmetic.name == "onnx":
            known = self._onnx_island(real, inner, inner_target, target)
            if known is not None:
                return known
        x = self.operands.quantized(inner)
        if x is not None:
            rescaled = None if scaled else qdq_elementwise.requantize(self, x, inner_target)
            return rescaled if rescaled is not None else qdq_unary.lookup(self, real, target)
        call = self.definition(inner)
        if is_op(call, "relax.add") and self.arithmetic.name == "onnx":
            resized = qdq_resize.resize(self, inner, inner_target)
            if resized is not None:
                return resized
        if is_op(call, "relax.add"):
            found = _first(self._biased(call, inner_target), qdq_elementwise.add(self, call, inner_target))
            if found is None and self.arithmetic.name == "onnx":
                found = qdq_accumulators.add(self, call, inner_target)
        elif _is_operator(call) and call.op.name in MOVEMENTS:
            # Rounding first and moving afterwards is the same.
            held = self.operands.real_constant(call.args[0]) if self.arithmetic.name == "onnx" else None
            rows = None if held is None else relax.const(inner_target.quantize(held))
            source = self._island(call.args[0], inner_target) if rows is None else rows
            if source is None:
                return None
            if is_op(call, "relax.nn.pad"):
                return padded(
                    call, self.bound(source), int(target.quantize(np.array(call.attrs.pad_value, np.float32)))
                )
            return MOVEMENTS[call.op.name](call, self.bound(source), target.zero_point)
        else:
            rule = _OPERATORS.get(call.op.name) if _is_operator(call) else None
            found = rule(self, call, inner_target) if rule else None
        return found if found is not None else qdq_unary.lookup(self, real, target)

    def _onnx_island(self, real: Any, inner: Any, inner_target: IntegerTarget, target: IntegerTarget) -> Any:
        """What float32 computes exactly is preferred: a function of one byte, a normalization."""
        calls = (self.definition(real), self.definition(inner))
        if any(_is_operator(call) and call.op.name in _OF_TWO for call in calls):
            table = qdq_unary.lookup(self, real, target)
            if table is not None:
                return table
        return _first(qdq_norm.norm(self, inner, inner_target), qdq_group_norm.group_norm(self, inner, inner_target))

    def _without_activation(self, real: Any, target: IntegerTarget) -> tuple[Any, IntegerTarget, bool]:
        """Look through clips (rounding is monotone, so they limit the integers instead) and constant factors."""
        scaled = False
        while True:
            call = self.definition(real)
            factor = self._factor(call)
            if is_op(call, "relax.nn.relu"):
                target = target.within(self.arithmetic.bound(0.0, target), None)
            elif is_op(call, "relax.clip"):
                low, high = (float(a.value) for a in call.args[1:])
                target = target.within(self.arithmetic.bound(low, target), self.arithmetic.bound(high, target))
            elif factor is not None:
                target, scaled = replace(target, scale=float(target.scale) / factor[1]), True
                real = factor[0]
                continue
            else:
                return real, target, scaled
            real = call.args[0]

    def _factor(self, call: Any) -> tuple[Any, float] | None:
        """Operand and factor of a product with one positive constant."""
        if not self.arithmetic.folds_factors or not (is_op(call, "relax.multiply") or is_op(call, "relax.divide")):
            return None
        left, right = (constant(a) for a in call.args)
        if right is not None and right.size == 1 and spec_of(call).shape == spec_of(call.args[0]).shape:
            value = float(right.reshape(-1)[0])
            if value > 0 and math.isfinite(value):
                return call.args[0], 1 / value if is_op(call, "relax.divide") else value
        if left is not None and left.size == 1 and is_op(call, "relax.multiply"):
            value = float(left.reshape(-1)[0])
            if value > 0 and math.isfinite(value) and spec_of(call).shape == spec_of(call.args[1]).shape:
                return call.args[1], value
        return None

    def _name_of(self, real: Any, target: IntegerTarget) -> str:
        """An island is called after the layer inside it, not after its activation or its quantization."""
        inner = self._without_activation(real, target)[0]
        call = self.definition(inner)
        if is_op(call, "relax.add"):
            layers = [a for a in call.args if _is_operator(self.definition(a)) and self.definition(a).op.name in LAYERS]
            inner = layers[0] if layers else inner
        return str(inner.name) if isinstance(inner, relax.Var) and self.operands.quantized(inner) is None else ""

    def _biased(self, call: Any, target: IntegerTarget | Accumulators) -> Any:
        """layer + constant."""
        for data, bias in (call.args, reversed(call.args)):
            layer = self.definition(data)
            rule = LAYERS.get(layer.op.name) if _is_operator(layer) else None
            if rule is not None:
                return rule(self, layer, target, bias)
        return None

    def layer(self, real: Any, target: Accumulators) -> Any:
        """The accumulators of a layer with or without bias, or None."""
        call = self.definition(real)
        if is_op(call, "relax.add"):
            return self._biased(call, target)
        rule = LAYERS.get(call.op.name) if _is_operator(call) else None
        return rule(self, call, target) if rule is not None else None

    def layer_name(self, real: Any) -> str:
        """The operator behind a layer with or without bias; empty where there is none."""
        call = self.definition(real)
        candidates = [call, *(self.definition(a) for a in call.args)] if is_op(call, "relax.add") else [call]
        names = [c.op.name for c in candidates if _is_operator(c) and c.op.name in LAYERS]
        return names[0] if names else ""

    def _moved(self, value: Any, name: str) -> Any:
        """Movement of integers, or of what a dequantize gave."""
        rule, data = MOVEMENTS[value.op.name], value.args[0]
        if spec_of(value).dtype in RANGES:
            return self.bound(_first(moved_constant(value, data), rule(value, data, 0), value))
        x = self.operands.quantized(data)
        if x is None or (constant(x.value) is not None and not _is_table(value)):
            return value
        moved = rule(value, x.value, x.zero_point)
        return value if moved is None else self._dequantize(moved, self.definition(data), name)

    def _dequantize(self, integers: Any, like: Any, name: str) -> Any:
        scale, zero_point = like.args[1:]
        return relax.op.dequantize(
            self.bound(integers, name), scale, zero_point, axis=0, out_dtype=like.attrs.out_dtype
        )

    def _concat(self, value: Any, name: str) -> Any:
        """Operands of one quantization are joined as integers."""
        parts = list(value.args[0].fields) if isinstance(value.args[0], relax.Tuple) else []
        if not parts or value.attrs.axis is None:
            return value
        axis = int(value.attrs.axis) % len(spec_of(value).shape)
        if spec_of(value).dtype in RANGES:
            return qnn.emit("concat", parts, {"axis": axis})
        found = [self.operands.quantized(p) for p in parts]
        known = [x for x in found if x is not None]
        alike = all(x.same_as(known[0].scale, known[0].zero_point) for x in known)
        types = {spec_of(x.value).dtype for x in known}
        if len(known) != len(parts) or not alike or len(types) != 1:
            return value
        like = next((d for d in map(self.definition, parts) if is_op(d, "relax.dequantize")), None)
        joined = qnn.emit("concat", [x.value for x in known], {"axis": axis})
        return value if like is None else self._dequantize(joined, like, name)

    def _split(self, value: Any, name: str) -> Any:
        """Pieces of integers, dequantized one by one."""
        data = value.args[0]
        x, shape = self.operands.quantized(data), spec_of(data).shape
        is_integer = spec_of(data).dtype in RANGES
        if (x is None and not is_integer) or not isinstance(value.ty, relax.TupleType):
            return value
        axis, first, pieces = int(value.attrs.axis) % len(shape), 0, []
        for field in value.ty.fields:
            size = tuple(int(d) for d in field.shape.values)
            begin = [first if a == axis else 0 for a in range(len(shape))]
            first += size[axis]
            if 0 in size:
                return value
            attributes = {"begin": begin, "stride": [1] * len(shape), "size": list(size)}
            piece = qnn.emit("slice", [data if x is None else x.value], attributes)
            pieces.append(self.emit(piece if x is None else self._dequantize(piece, self.definition(data), name)))
        return relax.Tuple(pieces)

    def _average_of_integers(self, value: Any) -> Any:
        """astype(avg_pool2d(astype(x, int32)), int8): the importer forgets to round; TFLite rounds half away."""
        pool = self.definition(value.args[0])
        widened = self.definition(pool.args[0]) if is_op(pool, "relax.nn.avg_pool2d") else None
        if widened is None or not is_op(widened, "relax.astype") or bool(pool.attrs.count_include_pad):
            return value
        x, attributes = widened.args[0], window(pool)
        spec = spec_of(x)
        if spec.dtype != spec_of(value).dtype or spec.dtype not in ("int8", "uint8", "int16") or attributes is None:
            return value
        return qnn.emit("avg_pool", [x], {**attributes, "low": spec.range[0], "high": spec.range[1]})

    def _clipped_integers(self, value: Any, name: str) -> Any:
        """A clip after a layer narrows the layer's own range."""
        data = value.args[0]
        low, high = (int(float(a.value)) for a in value.args[1:])
        smallest, largest = spec_of(data).range
        if low <= smallest and largest <= high:
            if self.arithmetic.name == "tflite" and isinstance(data, relax.Var):
                self.wanted_names[data.name] = name
            return data
        layer = self.definition(data)
        if qnn.is_qnn(layer) and self.uses(data) <= 1:
            attributes = qnn.attributes(layer)
            prefix = "requant_" if attributes.get("requant", "none") != "none" else ""
            if f"{prefix}low" in attributes:
                attributes[f"{prefix}low"] = max(attributes[f"{prefix}low"], low)
                attributes[f"{prefix}high"] = min(attributes[f"{prefix}high"], high)
                return qnn.emit(layer.op.name.removeprefix(PREFIX), layer.args, attributes)
        return _first(qdq_elementwise.clip(data, low, high), value)


class _Renamed(Rewriter):
    """Gives values the names they were meant to have."""

    def __init__(self, wanted: dict[str, str]) -> None:
        self._wanted = wanted

    def emit(self, value: Any, name: str = "") -> Any:
        return super().emit(value, self._wanted.get(name, name))


def _is_table(value: Any) -> bool:
    """Rows of a constant that are known at run time only: an embedding, which must not be float as a whole."""
    return is_op(value, "relax.take") and constant(value.args[1]) is None


def _is_operator(call: Any) -> bool:
    return isinstance(call, relax.Call) and isinstance(call.op, tvm.ir.Op)


def _first(*candidates: Any) -> Any:
    """The first that is not None; expressions have no truth value."""
    return next((c for c in candidates if c is not None), None)
