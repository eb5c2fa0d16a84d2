"""Float operators that TVM lowers to functions or reductions that have no C, in terms of those that have one."""

import math
from collections.abc import Callable
from typing import Any

from tvm import te, tirx, topi

from tvm_pulp.canonicalize.rewriter import integers

Lowering = Callable[[Any, Any], Any]


def _function(formula: Callable[[Any], Any]) -> Lowering:
    """Lowering of a function of one element."""

    def lower(builder: Any, call: Any) -> Any:
        def compute(x: Any) -> Any:
            return te.compute(x.shape, lambda *i: formula(x[i]), name="result")

        return builder.call_te(compute, call.args[0], primfunc_name_hint=call.op.name.removeprefix("relax."))

    return lower


def _one(x: Any) -> Any:
    return tirx.const(1, str(x.dtype))


def _half(x: Any) -> Any:
    return x * tirx.const(0.5, "float32")


def _first_extreme(reduction: Callable[..., Any]) -> Lowering:
    """Position of the first extreme value: two plain reductions instead of one over pairs."""

    def lower(builder: Any, call: Any) -> Any:
        keep, shape, given = bool(call.attrs.keepdims), integers(call.args[0].ty.shape.values), call.attrs.axis
        axis = None if given is None else int(given) % len(shape)

        def compute(x: Any) -> Any:
            sizes = shape if axis is None else [shape[axis]]
            axes = [te.reduce_axis((0, s), name=f"r{n}") for n, s in enumerate(sizes)]
            again = [te.reduce_axis((0, s), name=f"s{n}") for n, s in enumerate(sizes)]
            kept = [] if axis is None else [d for n, d in enumerate(shape) if n != axis]

            def place(outer: tuple[Any, ...], inner: list[Any]) -> tuple[Any, ...]:
                return tuple(inner) if axis is None else (*outer[:axis], inner[0], *outer[axis:])

            best = te.compute(kept or [1], lambda *o: reduction(x[place(o[: len(kept)], axes)], axis=axes), name="best")

            def position(*o: Any) -> Any:
                flat: Any = tirx.const(0, "int64")
                for size, r in zip(sizes, again, strict=True):
                    flat = flat * size + r.var.astype("int64")
                outer = o[: len(kept)]
                same = x[place(outer, again)] == best[outer if kept else (0,)]
                return te.min(tirx.Select(same, flat, tirx.const(math.prod(sizes) - 1, "int64")), axis=again)

            found = te.compute(kept or [1], position, name="found")
            result = [1 if axis is None or n == axis else d for n, d in enumerate(shape)] if keep else kept
            if list(result) == (kept or [1]):
                return found

            def spread(*o: Any) -> Any:
                if not kept:
                    return found[0]
                return found[tuple(v for n, v in enumerate(o) if n != axis)] if keep else found[o]

            return te.compute(result, spread, name="result")

        return builder.call_te(compute, call.args[0], primfunc_name_hint=call.op.name.removeprefix("relax."))

    return lower


def _take(builder: Any, call: Any) -> Any:
    """Rows by index, which the importer has checked; TVM's own rule warns about every one of them."""
    if call.attrs.axis is None or str(call.attrs.mode) != "fast":
        return builder.call_te(topi.take, *call.args, call.attrs.axis, mode=call.attrs.mode)
    axis, rank = int(call.attrs.axis), len(call.args[1].ty.shape.values)

    def take(x: Any, indices: Any) -> Any:
        shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]]

        def element(*i: Any) -> Any:
            return x(*i[:axis], indices(*i[axis : axis + rank]), *i[axis + rank :])

        return te.compute(shape, element, name="T_take", tag="injective")

    return builder.call_te(take, *call.args, primfunc_name_hint="take")


def _cumulative_sum(builder: Any, call: Any) -> Any:
    """Every sum from its beginning: a library function of TVM would do it in place of loops."""
    shape = integers(call.args[0].ty.shape.values)
    axis, exclusive = int(call.attrs.axis) % len(shape), bool(call.attrs.exclusive)

    def cumsum(x: Any) -> Any:
        step = te.reduce_axis((0, shape[axis]), name="step")

        def total(*i: Any) -> Any:
            counted = step.var < i[axis] if exclusive else step.var <= i[axis]
            value = x(*i[:axis], step, *i[axis + 1 :])
            return te.sum(tirx.Select(counted, value, tirx.const(0, str(x.dtype))), axis=step)

        return te.compute(shape, total, name="T_cumsum")

    return builder.call_te(cumsum, call.args[0], primfunc_name_hint="cumsum")


LOWERINGS: dict[str, Lowering] = {
    "relax.sigmoid": _function(lambda x: _one(x) / (_one(x) + tirx.exp(-x))),
    "relax.tan": _function(lambda x: tirx.sin(x) / tirx.cos(x)),
    "relax.sinh": _function(lambda x: _half(tirx.exp(x) - tirx.exp(-x))),
    "relax.cosh": _function(lambda x: _half(tirx.exp(x) + tirx.exp(-x))),
    "relax.asinh": _function(lambda x: tirx.log(x + tirx.sqrt(x * x + _one(x)))),
    "relax.acosh": _function(lambda x: tirx.log(x + tirx.sqrt(x * x - _one(x)))),
    "relax.atanh": _function(lambda x: _half(tirx.log((_one(x) + x) / (_one(x) - x)))),
    "relax.take": _take,
    "relax.cumsum": _cumulative_sum,
    "relax.argmax": _first_extreme(te.max),
    "relax.argmin": _first_extreme(te.min),
}
