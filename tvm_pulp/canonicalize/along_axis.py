"""Pass: orders of an axis and running sums as operators of the dialect; TVM would call library functions for them.

topk(x)                   becomes   top_k(x), take_along(x, top_k(x))
sort(x), argsort(x)       become    the same for all entries of the axis
argmax(x), argmin(x)      become    reshape(top_k(x)) for one entry
cumsum(x)                 becomes   cumulative_sum(x)
"""

from collections.abc import Callable
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.rewriter import Rewriter, relax_name, spec_of
from tvm_pulp.qnn import lineage


class AlongAxis(Rewriter):
    def run(self, module: Any) -> Any:
        concerned = any(relax_name(b.value) in _RULES for b in lineage.bindings_of(module["main"]))
        return super().run(module) if concerned else module

    def visit(self, variable: Any, value: Any) -> Any:
        require(relax_name(value) in _RULES)
        return _RULES[relax_name(value)](self, self.builder.normalize(value))

    def places(self, x: Any, axis: int, k: int, largest: bool, dtype: str) -> Any:
        attributes = {"axis": axis, "k": k, "largest": int(largest), "dtype": dtype}
        return self.emit(qnn.emit("top_k", [x], attributes))


def _axis(call: Any, size: int) -> int:
    return int(call.attrs.axis) % size


def _topk(fold: AlongAxis, call: Any) -> Any:
    x, attrs = call.args[0], call.attrs
    axis = _axis(call, len(spec_of(x).shape))
    results = list(call.ty.fields) if isinstance(call.ty, relax.TupleType) else [call.ty]
    k, kind = int(results[0].shape.values[axis]), str(attrs.ret_type)
    places = fold.places(x, axis, k, bool(attrs.largest), str(attrs.dtype))
    if kind == "indices":
        return places
    values = fold.emit(qnn.emit("take_along", [x, places], {"axis": axis}))
    return relax.Tuple([values, places]) if kind == "both" else values


def _sort(fold: AlongAxis, call: Any) -> Any:
    x, shape = call.args[0], spec_of(call.args[0]).shape
    axis = _axis(call, len(shape))
    numbers = relax_name(call) == "relax.argsort"
    places = fold.places(
        x, axis, shape[axis], bool(call.attrs.descending), str(call.attrs.dtype) if numbers else "int32"
    )
    return places if numbers else qnn.emit("take_along", [x, places], {"axis": axis})


def _argument(fold: AlongAxis, call: Any) -> Any:
    x, shape, largest = call.args[0], spec_of(call.args[0]).shape, relax_name(call) == "relax.argmax"
    if call.attrs.axis is None:
        x = fold.emit(relax.op.reshape(x, (spec_of(x).elements,)))
        axis = 0
    else:
        axis = _axis(call, len(shape))
    return relax.op.reshape(fold.places(x, axis, 1, largest, spec_of(call).dtype), spec_of(call).shape)


def _cumsum(fold: AlongAxis, call: Any) -> Any:
    x, result = call.args[0], spec_of(call)
    if spec_of(x).dtype != result.dtype:
        x = fold.emit(relax.op.astype(x, result.dtype))
    if call.attrs.axis is None:
        x = fold.emit(relax.op.reshape(x, result.shape))
    axis = 0 if call.attrs.axis is None else _axis(call, len(result.shape))
    return qnn.emit("cumulative_sum", [x], {"axis": axis, "exclusive": int(call.attrs.exclusive), "reverse": 0})


_RULES: dict[str, Callable[[AlongAxis, Any], Any]] = {
    "relax.topk": _topk,
    "relax.sort": _sort,
    "relax.argsort": _sort,
    "relax.argmax": _argument,
    "relax.argmin": _argument,
    "relax.cumsum": _cumsum,
}
