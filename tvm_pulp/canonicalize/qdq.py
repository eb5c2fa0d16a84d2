"""Pass: float islands between dequantize and quantize become operators of the integer dialect.

Expects Relax as TVM's TFLite and ONNX importers write it: each layer's operands dequantized, its result quantized,
sometimes much later. Guarantees that every island it knows is integers only, with the arithmetic it was given;
whatever it does not know stays float, between the dequantize and quantize it had.

    quantize(relu(conv2d(dequantize(x), dequantize(w)) + dequantize(b)))   becomes   qnn.conv2d(x, w, b, requant)

It works in two directions. Operators that only move data are done on integers at once, the dequantize after them.
At each quantize it looks back, through the activation and the bias, for a layer whose operands are dequantized.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize import (
    qdq_accumulators,
    qdq_channels,
    qdq_concat,
    qdq_conv3d,
    qdq_elementwise,
    qdq_group_norm,
    qdq_layers,
    qdq_norm,
    qdq_reductions,
    qdq_resize,
    qdq_transposed,
    qdq_unary,
)
from tvm_pulp.canonicalize.call_after_nodes import Renamed
from tvm_pulp.canonicalize.qdq_movement import MOVEMENTS, moved_constant, padded, window
from tvm_pulp.canonicalize.qdq_rewriter import Accumulators, IntegerTarget, QdqRewriter, target_of
from tvm_pulp.canonicalize.rewriter import (
    Mismatch,
    constant,
    first_of,
    integers,
    is_op,
    needed,
    or_none,
    relax_name,
    require,
    single_value,
    spec_of,
)
from tvm_pulp.qnn.requant import along

LAYERS: dict[str, Callable[..., Any]] = {
    "relax.nn.conv1d": qdq_layers.conv,
    "relax.nn.conv2d": qdq_layers.conv,
    "relax.nn.conv3d": qdq_conv3d.conv3d,
    "relax.nn.conv1d_transpose": qdq_transposed.conv_transpose,
    "relax.nn.conv2d_transpose": qdq_transposed.conv_transpose,
    "relax.matmul": qdq_layers.matmul,
}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **LAYERS,
    "relax.subtract": qdq_elementwise.add,
    "relax.multiply": qdq_elementwise.multiply,
    "relax.maximum": qdq_elementwise.extreme(relax.op.maximum),
    "relax.minimum": qdq_elementwise.extreme(relax.op.minimum),
    "relax.where": qdq_elementwise.where,
    "relax.concat": qdq_concat.concat,
    "relax.mean": qdq_reductions.mean,
    "relax.nn.avg_pool1d": qdq_reductions.avg_pool,
    "relax.nn.avg_pool2d": qdq_reductions.avg_pool,
    "relax.nn.softmax": qdq_reductions.softmax,
}
# Operators of two tensors that may turn out to be one function of a single byte.
_OF_TWO = {f"relax.{name}" for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")}


def _biased(fold: QdqRewriter, call: Any, target: IntegerTarget | Accumulators) -> Any:
    for data, bias in (call.args, reversed(call.args)):
        layer = fold.definition(data)
        if relax_name(layer) in LAYERS:
            return LAYERS[relax_name(layer)](fold, layer, target, bias)
    return None


# Rules of a sum by arithmetic, tried in order.
_SUMS: dict[str, tuple[Callable[..., Any], ...]] = {
    "tflite": (_biased, qdq_elementwise.add),
    "onnx": (qdq_resize.resize, _biased, qdq_elementwise.add, qdq_accumulators.add),
}


def integer_operators() -> frozenset[str]:
    """Operators that have a rule here; functions of one byte and the forms of norms and attention need none."""
    return frozenset((*_OPERATORS, *MOVEMENTS, *_OF_TWO, "relax.split"))


class FoldQdq(QdqRewriter):
    """The pass; `arithmetic` decides how results are rounded."""

    def start(self, function: Any) -> None:
        super().start(function)
        self._done: dict[Any, Any] = {}
        self._rules: dict[str, Callable[[Any, str], Any]] = {
            **dict.fromkeys(MOVEMENTS, self._moved),
            "relax.quantize": self._quantize,
            "relax.concat": self._concat,
            "relax.split": self._split,
            "relax.astype": self._average_of_integers,
            "relax.clip": self._clipped_integers,
            qnn.PREFIX + "top_k": self._ordered,
            qnn.PREFIX + "scatter": self._scatter,
        }

    def run(self, module: Any) -> Any:
        # The float values that islands replaced had taken their names; now that they are gone, the names are free.
        folded = super().run(module)
        return Renamed(self.wanted_names).run(folded)

    def visit(self, variable: Any, value: Any) -> Any:
        rule = self._rules.get(relax_name(value))
        if not relax_name(value) or (qnn.is_qnn(value) and rule is None):
            return value
        # Rewritten operands leave a call without its type; the rules ask for it.
        value = self.builder.normalize(value)
        found = rule(value, variable.name) if rule else None
        return value if found is None else found

    @or_none
    def _quantize(self, value: Any, name: str) -> Any:
        if constant(value.args[0]) is not None:
            return _quantized_constant(value)
        return self.island(value.args[0], needed(target_of(value)), name)

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

    def _island(self, real: Any, target: IntegerTarget) -> Any:
        """The integer form of a float value on its way to `target`, or None."""
        inner, inner_target, scaled = self._without_activation(real, target)
        found = self._exact_island(real, inner, inner_target, target) if self.arithmetic.name == "onnx" else None
        if found is not None:
            return found
        x, call = self.quantized(inner), self.definition(inner)
        operator = relax_name(call)
        if x is not None:
            found = None if scaled else qdq_elementwise.requantize(self, x, inner_target)
        elif operator in MOVEMENTS:
            return self._moved_island(call, inner_target, target)
        else:
            sums = _SUMS[self.arithmetic.name] if operator == "relax.add" else [_OPERATORS.get(operator)]
            found = first_of(filter(None, sums), self, call, inner_target)
        rules = [qdq_unary.lookup, *([qdq_channels.requantize] if self.arithmetic.name == "onnx" else [])]
        return found if found is not None else first_of(rules, self, real, target)

    def _exact_island(self, real: Any, inner: Any, inner_target: IntegerTarget, target: IntegerTarget) -> Any:
        """The form that float32 computes exactly is preferred: a function of one byte, a normalization."""
        of_two = not _OF_TWO.isdisjoint(relax_name(self.definition(value)) for value in (real, inner))
        table = qdq_unary.lookup(self, real, target) if of_two else None
        if table is not None:
            return table
        norm = first_of((qdq_norm.norm, qdq_group_norm.group_norm), self, inner, inner_target)
        return qdq_channels.requantize(self, real, target, any_axis=False) if norm is None and of_two else norm

    @or_none
    def _moved_island(self, call: Any, inner_target: IntegerTarget, target: IntegerTarget) -> Any:
        """Rounding first and moving afterwards is the same."""
        held = self.real_constant(call.args[0]) if self.arithmetic.name == "onnx" else None
        rows = None if held is None else relax.const(inner_target.quantize(held))
        source = needed(self._island(call.args[0], inner_target)) if rows is None else rows
        if is_op(call, "relax.nn.pad"):
            return padded(call, self.bound(source), int(target.quantize(np.array(call.attrs.pad_value, np.float32))))
        return MOVEMENTS[relax_name(call)](call, self.bound(source), target.zero_point)

    def _without_activation(self, real: Any, target: IntegerTarget) -> tuple[Any, IntegerTarget, bool]:
        """Look through clips (rounding is monotone, so they limit the integers instead) and constant factors."""
        scaled = False
        while True:
            call = self.definition(real)
            factor = self._factor(call)
            if is_op(call, "relax.nn.relu"):
                real, target = call.args[0], target.within(self.arithmetic.bound(0.0, target), None)
            elif is_op(call, "relax.clip"):
                low, high = (self.arithmetic.bound(float(a.value), target) for a in call.args[1:])
                real, target = call.args[0], target.within(low, high)
            elif factor is not None:
                real, target, scaled = factor[0], replace(target, scale=float(target.scale) / factor[1]), True
            else:
                return real, target, scaled

    @or_none
    def _factor(self, call: Any) -> tuple[Any, float]:
        """Operand and factor of a product with one positive constant."""
        divides = is_op(call, "relax.divide")
        require(self.arithmetic.folds_factors and (divides or is_op(call, "relax.multiply")))
        for data, other in [call.args] if divides else [call.args, reversed(call.args)]:
            value = float(single_value(constant(other)) or 0)
            if 0 < value < math.inf and spec_of(call).shape == spec_of(data).shape:
                return data, 1 / value if divides else value
        raise Mismatch

    def _name_of(self, real: Any, target: IntegerTarget) -> str:
        """An island is called after the layer inside it, not after its activation or its quantization."""
        inner = self._without_activation(real, target)[0]
        call = self.definition(inner)
        if is_op(call, "relax.add"):
            inner = next((a for a in call.args if relax_name(self.definition(a)) in LAYERS), inner)
        return str(inner.name) if isinstance(inner, relax.Var) and self.quantized(inner) is None else ""

    def layer(self, real: Any, target: Accumulators) -> Any:
        call = self.definition(real)
        if is_op(call, "relax.add"):
            return _biased(self, call, target)
        rule = LAYERS.get(relax_name(call))
        return rule(self, call, target) if rule is not None else None

    @or_none
    def _moved(self, value: Any, name: str) -> Any:
        """Movement of integers, or of what a dequantize gave."""
        rule, data = MOVEMENTS[relax_name(value)], value.args[0]
        if spec_of(value).dtype in qnn.RANGES:
            candidates = (moved_constant(value, data), rule(value, data, 0), value)
            return self.bound(next(c for c in candidates if c is not None))
        x = needed(self.quantized(data))
        require(constant(x.value) is None or _is_table(value))
        return self._dequantize(needed(rule(value, x.value, x.zero_point)), self.definition(data), name)

    def _dequantize(self, integers: Any, like: Any, name: str) -> Any:
        scale, zero_point = like.args[1:]
        return relax.op.dequantize(
            self.bound(integers, name), scale, zero_point, axis=0, out_dtype=like.attrs.out_dtype
        )

    @or_none
    def _concat(self, value: Any, name: str) -> Any:
        """Operands of one quantization are joined as integers."""
        parts, axis = qdq_concat.parts_and_axis(value)
        if spec_of(value).dtype in qnn.RANGES:
            return qnn.emit("concat", parts, {"axis": axis})
        found = [needed(self.quantized(p)) for p in parts]
        require(all(x.same_as(found[0].scale, found[0].zero_point) and x.dtype == found[0].dtype for x in found))
        like = needed(next((d for d in map(self.definition, parts) if is_op(d, "relax.dequantize")), None))
        return self._dequantize(qnn.emit("concat", [x.value for x in found], {"axis": axis}), like, name)

    @or_none
    def _ordered(self, value: Any, name: str) -> Any:
        """Integers have the order of the floats they stand for: scales are positive."""
        x = needed(self.quantized(value.args[0]))
        return qnn.emit("top_k", [x.value], qnn.attributes(value))

    @or_none
    def _scatter(self, value: Any, name: str) -> Any:
        """Rows of one quantization are replaced as integers."""
        x, rows = (needed(self.quantized(value.args[place])) for place in (0, 2))
        require(qnn.attributes(value)["reduction"] == "none" and x.dtype == rows.dtype)
        require(rows.same_as(x.scale, x.zero_point))
        made = qnn.emit("scatter", [x.value, value.args[1], rows.value], qnn.attributes(value))
        return self._dequantize(made, self.definition(value.args[0]), name)

    @or_none
    def _split(self, value: Any, name: str) -> Any:
        """Pieces of integers, dequantized one by one."""
        data = value.args[0]
        x, shape = self.quantized(data), spec_of(data).shape
        require((x is not None or spec_of(data).dtype in qnn.RANGES) and isinstance(value.ty, relax.TupleType))
        axis, first, pieces = int(value.attrs.axis) % len(shape), 0, []
        for field in value.ty.fields:
            size = integers(field.shape.values)
            require(0 not in size)
            begin = [first if a == axis else 0 for a in range(len(shape))]
            first += size[axis]
            attributes = {"begin": begin, "stride": [1] * len(shape), "size": size}
            piece = qnn.emit("slice", [data if x is None else x.value], attributes)
            pieces.append(self.emit(piece if x is None else self._dequantize(piece, self.definition(data), name)))
        return relax.Tuple(pieces)

    @or_none
    def _average_of_integers(self, value: Any, name: str) -> Any:
        """astype(avg_pool2d(astype(x, int32)), int8): the importer forgets to round; TFLite rounds half away."""
        pool = self.definition(value.args[0])
        require(is_op(pool, "relax.nn.avg_pool2d") and not bool(pool.attrs.count_include_pad))
        widened = self.definition(pool.args[0])
        require(is_op(widened, "relax.astype"))
        x, attributes = widened.args[0], needed(window(pool))
        spec = spec_of(x)
        require(spec.dtype == spec_of(value).dtype and spec.dtype in ("int8", "uint8", "int16"))
        return qnn.emit("avg_pool", [x], {**attributes, "low": spec.range[0], "high": spec.range[1]})

    @or_none
    def _clipped_integers(self, value: Any, name: str) -> Any:
        """A clip after a layer narrows the layer's own range."""
        require(spec_of(value).dtype in qnn.RANGES)
        data = value.args[0]
        low, high = (int(float(a.value)) for a in value.args[1:])
        smallest, largest = spec_of(data).range
        if low <= smallest and largest <= high:
            if self.arithmetic.name == "tflite" and isinstance(data, relax.Var):
                self.wanted_names[data.name] = name
            return data
        layer = self.definition(data)
        if qnn.is_qnn(layer) and self.uses(data) <= 1:
            attributes = dict(qnn.attributes(layer))
            prefix = "requant_" if attributes.get("requant", "none") != "none" else ""
            if f"{prefix}low" in attributes:
                attributes[f"{prefix}low"] = max(attributes[f"{prefix}low"], low)
                attributes[f"{prefix}high"] = min(attributes[f"{prefix}high"], high)
                return qnn.emit(qnn.name_of(layer), layer.args, attributes)
        return qdq_elementwise.clip(data, low, high)


def _quantized_constant(value: Any) -> Any:
    """Weights stored as floats in front of a quantize."""
    real, scale, zero_point = (needed(constant(a)) for a in value.args)
    dtype = str(value.attrs.out_dtype)
    require(dtype in qnn.RANGES)
    scale, zero_point = (along(v, int(value.attrs.axis), real.ndim) for v in (scale, zero_point.astype(np.int64)))
    rounded = np.rint(real / scale).astype(np.int64) + zero_point
    return relax.const(np.clip(rounded, *qnn.RANGES[dtype]).astype(dtype))


def _is_table(value: Any) -> bool:
    """Rows of a constant that are known at run time only: an embedding, which must not be float as a whole."""
    return is_op(value, "relax.take") and constant(value.args[1]) is None
