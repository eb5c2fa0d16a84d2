"""Softmax and normalizations of floats as layers of the dialect."""

import math
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.planning.lowering.floats import float_spec
from tvm_pulp.qnn.float_map import emit_map
from tvm_pulp.qnn.float_reduce import emit_reduce
from tvm_pulp.qnn.float_softmax import exponential_points
from tvm_pulp.qnn.operator import spec_of

# Fewer exponentials are computed while their table is still being fetched.
_LEAST_FOR_POINTS = 256


def softmax(rewriter: Rewriter, call: Any) -> Any:
    x, spec = call.args[0], float_spec(call.args[0])
    require(spec.shape)
    rank, axis = len(spec.shape), int(call.attrs.axis) % len(spec.shape)
    further = [relax.const(exponential_points())] if spec.elements >= _LEAST_FOR_POINTS else []
    if axis == rank - 1:
        return qnn.emit("float_softmax", [x, *further])
    # Rows lie apart: bring them together and back.
    axes = [*(a for a in range(rank) if a != axis), axis]
    together = rewriter.emit(qnn.emit("transpose", [x], {"axes": axes}))
    result = rewriter.emit(qnn.emit("float_softmax", [together, *further]))
    return qnn.emit("transpose", [result], {"axes": [axes.index(a) for a in range(rank)]})


def log_softmax(rewriter: Rewriter, call: Any) -> Any:
    """x less the largest, less the logarithm of the sum of their exponentials."""
    x, spec = call.args[0], float_spec(call.args[0])
    require(spec.shape)
    axes, plain = [int(call.attrs.axis) % len(spec.shape)], ["x", 0]
    largest = rewriter.emit(emit_reduce("max", axes, plain, [x], keepdims=True))
    below = rewriter.emit(emit_map(["subtract", plain, ["x", 1]], [x, largest], spec.shape))
    total = rewriter.emit(emit_reduce("sum", axes, ["exp", plain], [below], keepdims=True))
    return emit_map(["subtract", plain, ["log", ["x", 1]]], [below, total], spec.shape)


def layer_norm(rewriter: Rewriter, call: Any) -> Any:
    # Without them the rows are not scaled or moved, which is another operator.
    require(call.attrs.center and call.attrs.scale)
    return _norm(rewriter, call, "layer", list(call.args[1:3]))


def rms_norm(rewriter: Rewriter, call: Any) -> Any:
    return _norm(rewriter, call, "rms", [call.args[1]])


def _norm(rewriter: Rewriter, call: Any, kind: str, parameters: list[Any]) -> Any:
    """Rows are the last axes; views make one axis of them."""
    x, spec = call.args[0], float_spec(call.args[0])
    rank = len(spec.shape)
    axes = sorted(int(axis) % rank for axis in call.attrs.axes)
    lead = rank - len(axes)
    count = math.prod(spec.shape[lead:])
    require(axes == list(range(lead, rank)) and all(float_spec(p).elements == count for p in parameters))
    attributes = {"kind": kind, "epsilon": float(call.attrs.epsilon)}
    if len(axes) == 1 and all(len(spec_of(p).shape) == 1 for p in parameters):
        return qnn.emit("float_norm", [x, *parameters], attributes)
    rows = rewriter.emit(relax.op.reshape(x, (*spec.shape[:lead], count)))
    flat = [rewriter.emit(relax.op.reshape(p, (count,))) for p in parameters]
    result = rewriter.emit(qnn.emit("float_norm", [rows, *flat], attributes))
    return relax.op.reshape(result, spec.shape)


CONVERTERS = {
    "relax.nn.softmax": softmax,
    "relax.nn.log_softmax": log_softmax,
    "relax.nn.layer_norm": layer_norm,
    "relax.nn.rms_norm": rms_norm,
}
