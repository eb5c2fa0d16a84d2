"""Float operators that TVM lowers to functions or reductions that have no C, in terms of those that have one."""

from collections.abc import Callable
from typing import Any

from tvm import te, tirx, topi

from tvm_pulp.planning.lowering.wrapping_integers import WRAPPING

Lowering = Callable[[Any, Any], Any]


def _function(formula: Callable[[Any], Any]) -> Lowering:
    """Lowering of a function of one element."""

    def lower(builder: Any, call: Any) -> Any:
        def compute(x: Any) -> Any:
            return te.compute(x.shape, lambda *i: formula(x[i]), name="result")

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


def _floor_mod(builder: Any, call: Any) -> Any:
    """A remainder by a function of C: quotients of floats are not exact, and infinite ones have no remainder."""
    if not str(call.ty.dtype).startswith("float"):
        return builder.call_te(topi.floor_mod, *call.args)
    shape = [int(d) for d in call.ty.shape.values]

    def floor_mod(x: Any, y: Any) -> Any:
        a, b = (topi.broadcast_to(v, shape) for v in (x, y))
        return te.compute(
            shape, lambda *i: tirx.call_pure_extern(x.dtype, "tvm_pulp_modulof", a(*i), b(*i)), name="result"
        )

    return builder.call_te(floor_mod, *call.args, primfunc_name_hint="floor_mod")


LOWERINGS: dict[str, Lowering] = {
    **WRAPPING,
    "relax.sigmoid": _function(lambda x: 1 / (1 + tirx.exp(-x))),
    "relax.tan": _function(lambda x: tirx.sin(x) / tirx.cos(x)),
    "relax.sinh": _function(lambda x: (tirx.exp(x) - tirx.exp(-x)) * 0.5),
    "relax.cosh": _function(lambda x: (tirx.exp(x) + tirx.exp(-x)) * 0.5),
    "relax.asinh": _function(lambda x: tirx.log(x + tirx.sqrt(x * x + 1))),
    "relax.acosh": _function(lambda x: tirx.log(x + tirx.sqrt(x * x - 1))),
    "relax.atanh": _function(lambda x: tirx.log((1 + x) / (1 - x)) * 0.5),
    "relax.floor_mod": _floor_mod,
    "relax.take": _take,
}
