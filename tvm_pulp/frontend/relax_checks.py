"""Conditions that every importer's module must satisfy before the compiler works on it."""

from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.operator import PREFIX, relax_name

_ITEMS = {1: "bool int8 uint8", 2: "int16 uint16", 4: "int32 uint32 float32", 8: "int64 uint64 float64"}
_BYTES = {dtype: size for size, dtypes in _ITEMS.items() for dtype in dtypes.split()}
# Legal without a kernel: they change no byte, or they become a kernel of their own.
_VIEWS = frozenset({"relax.reshape", "relax.expand_dims", "relax.squeeze", "relax.flatten"})
_FREE = _VIEWS | {"relax.call_tir", "relax.cumsum", "relax.sort", "relax.argsort", "relax.topk"}
# How many results they have depends on values.
_UNSIZED = frozenset({"relax.nonzero", "relax.unique"})
# TVM implements these by calling library functions that do not exist on a bare machine.
_LIBRARY = frozenset(
    {
        *("relax.cumprod", "relax.multinomial_from_uniform", "relax.dynamic_strided_slice", "relax.print"),
        *("relax.vision.all_class_non_max_suppression", "relax.vision.non_max_suppression"),
        *("relax.acos", "relax.asin", "relax.atan"),
    }
)


def check_module(module: Any, empty_inputs: bool = False) -> None:
    """Raise for control flow, unknown sizes, types without C and operators without a kernel; all of them at once.

    An input may be empty only where the importer knows what that means: a cache that holds nothing yet.
    """
    problems: dict[str, None] = {}
    function = module["main"]
    for parameter in function.params:
        what = f"input '{parameter.name}'"
        problems |= dict.fromkeys((*_types(parameter.ty, what, empty_inputs), *_boolean(parameter.ty, "an input")))
    problems |= dict.fromkeys((*_boolean(function.body.body.ty, "an output"), *_loose_scalars(function)))
    for binding in bindings_of(function):
        problems |= dict.fromkeys(_binding(binding))
    if problems:
        shown = list(problems)[:8]
        more = f" and {len(problems) - len(shown)} more" if len(problems) > len(shown) else ""
        raise UserError(f"the model cannot be compiled to C: {'; '.join(shown)}{more}: replace or simplify these nodes")


def _binding(binding: Any) -> Iterator[str]:
    value, name = binding.value, relax_name(binding.value)
    if name:
        free = name in _FREE or name.startswith(PREFIX)
        if name in _UNSIZED:
            yield f"'{name.removeprefix('relax.')}' has no fixed size (cut the graph before it)"
        elif name in _LIBRARY or not (free or value.op.get_attr("FLegalize") is not None):
            yield f"'{name.removeprefix('relax.')}' has no kernel"
    elif not isinstance(value, relax.Var | relax.Tuple | relax.TupleGetItem | relax.ShapeExpr | tvm.ir.GenericConst):
        yield f"'{binding.var.name}' is control flow or a call of unknown code"
    yield from _types(binding.var.ty, f"value '{binding.var.name}'")


def _boolean(kind: Any, what: str) -> Iterator[str]:
    """The interface of the emitted C has no truth values."""
    if isinstance(kind, relax.TupleType):
        for field in kind.fields:
            yield from _boolean(field, what)
    elif isinstance(kind, relax.TensorType) and str(kind.dtype) == "bool":
        yield f"{what} of the network is boolean (cast it to uint8)"


def _loose_scalars(function: Any) -> Iterator[str]:
    """A result without axes must be computed: there is no kernel that copies it."""
    made = {b.var: b.value for b in bindings_of(function)}

    def origin(expression: Any) -> Any:
        while isinstance(made.get(expression), relax.Var) or relax_name(made.get(expression)) in _VIEWS:
            value = made[expression]
            expression = value if isinstance(value, relax.Var) else value.args[0]
        return expression

    body = made.get(function.body.body, function.body.body)
    for field in body.fields if isinstance(body, relax.Tuple) else [body]:
        scalar = isinstance(field.ty, relax.TensorType) and not len(getattr(field.ty.shape, "values", [1]))
        if scalar and origin(field) not in made:
            yield "an output is a scalar constant or input that nothing is computed from"


def _types(kind: Any, what: str, may_be_empty: bool = False) -> Iterator[str]:
    if isinstance(kind, relax.TupleType):
        for field in kind.fields:
            yield from _types(field, what, may_be_empty)
    elif isinstance(kind, relax.TensorType):
        dtype = str(kind.dtype)
        shape = getattr(kind.shape, "values", None)
        if dtype not in _BYTES:
            yield f"{what} has the type {dtype or 'unknown'}, which C code has no kernel for"
        elif shape is None or not all(isinstance(d, tvm.tirx.IntImm) for d in shape):
            yield f"{what} has a size that is not known at compile time"
        else:
            total = check_shape(what, (int(d) for d in shape), _BYTES[dtype])
            if not total and not may_be_empty:
                yield f"{what} has no elements"
    elif not isinstance(kind, relax.ShapeType):
        yield f"{what} is not a tensor"
