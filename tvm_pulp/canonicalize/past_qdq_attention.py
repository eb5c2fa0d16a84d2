"""Pass: attention over a joined cache becomes attention over its rows and the new ones, with a length of its own.

Expects attention as one operator, and caches of [1, positions, heads, size] that are only turned before the join:

    qdq_attention(q, concat([turned] past_k, new_k), concat([turned] past_v, new_v), ...)       becomes
    past_qdq_attention(q, new_k, new_v, past_k, past_v, length, ...)

`length` is a new input: the rows of the past that count. Nothing is copied any more. Where one attention is of another
form, or a cache has another reader, nothing changes at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.canonicalize.strided_view import strided_view
from tvm_pulp.qnn.concat import divide
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.qdq_attention import operands

LENGTH = "length"
_SWAP = [0, 2, 1, 3]


def past_qdq_attention(module: Any, pasts: set[str]) -> Any:
    """The module with one more input, or None where a cache is read by anything else. `pasts`: names of the caches."""
    function = module["main"]
    length = relax.Var(LENGTH, relax.TensorType((1,), "int32"))
    extended = relax.Function([*function.params, length], function.body, function.ret_ty, function.is_pure)
    with_length = tvm_module(module, extended)
    made = _PastQdqAttention(length).run(with_length)
    caches = [p for p in made["main"].params if p.name in pasts]
    readers = _readers(made["main"])
    alone = all(readers.get(c) and all(qnn.is_qnn(r, "past_qdq_attention") for r in readers[c]) for c in caches)
    return made if alone and len(caches) == len(pasts) else None


def tvm_module(module: Any, main: Any) -> Any:
    """The module with another main function."""
    made = module.clone()
    made["main"] = main
    return made


def _readers(function: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for block in function.body.blocks:
        for binding in block.bindings:
            for argument in getattr(binding.value, "args", []):
                found.setdefault(argument, []).append(binding.value)
    return found


@dataclass(frozen=True)
class _Joined:
    """A cache and the new rows behind it, rows of all heads side by side."""

    past: Any
    new: Any


class _PastQdqAttention(Rewriter):
    def __init__(self, length: Any) -> None:
        self._length = length

    def start(self, function: Any) -> None:
        self._parameters = list(function.params)

    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "transpose") and qnn.attributes(value)["axes"] == _SWAP:
            # New rows are turned to be joined, and turned back to be stored.
            inner = self.definition(value.args[0])
            turned = qnn.is_qnn(inner, "transpose") and qnn.attributes(inner)["axes"] == _SWAP
            return inner.args[0] if turned else value
        if not qnn.is_qnn(value, "qdq_attention"):
            return value
        attributes = qnn.attributes(value)
        of = operands(attributes, list(value.args))
        rows = attributes["queries"]
        k, v = (self._joined(of[name], name, attributes) for name in "kv")
        if k is None or v is None or not _is_uniform(of.get("mask"), attributes["keys"] - rows):
            return value
        attributes["rows"] = rows
        size, heads = attributes["size"], attributes["heads"] // attributes["group"]
        for name in ("k", "v"):
            attributes |= {f"{name}_offset": 0, f"{name}_head_stride": size, f"{name}_stride": heads * size}
        rest = [operand for name, operand in of.items() if name not in ("q", "k", "v")]
        arguments = [of["q"], k.new, v.new, k.past, v.past, self._length, *rest]
        return qnn.emit("past_qdq_attention", arguments, attributes)

    def _joined(self, expression: Any, name: str, attributes: dict[str, Any]) -> _Joined | None:
        """What an operand was joined from; None where it is no cache with new rows behind it."""
        concat = self.definition(expression)
        if not qnn.is_qnn(concat, "concat"):
            return None
        parts, tables = divide(qnn.attributes(concat), list(concat.args))
        axis, rows, size = qnn.attributes(concat)["axis"], attributes["queries"], attributes["size"]
        if len(parts) != 2 or 0 in tables or axis not in (1, 2):
            return None
        past = self._past(parts[0], axis)
        shape, heads = spec_of(parts[1]).shape, attributes["heads"] // attributes["group"]
        expected = (1, rows, heads, size) if axis == 1 else (1, heads, rows, size)
        if past is None or shape != expected or not self._reads_all(name, axis, attributes):
            return None
        new = self._new_rows(parts[1], axis, rows * heads * size)
        if 1 in tables:
            new = self.emit(qnn.emit("lookup", [new, tables[1]]))
        return _Joined(past, new)

    def _new_rows(self, expression: Any, axis: int, elements: int) -> Any:
        """[1, rows, heads, size] of what is joined to a cache: where it comes from, or turned."""
        turned = expression if axis == 2 else self.emit(qnn.emit("transpose", [expression], {"axes": _SWAP}))
        _, heads, rows, size = spec_of(turned).shape
        view = strided_view(self, turned)
        if view is None or view.offset or spec_of(view.source).elements != elements:
            found = None
        elif (heads == 1 or (view.group, view.head_stride) == (1, size)) and (rows == 1 or view.stride == heads * size):
            found = view.source
        else:
            found = None
        if found is None:
            return expression if axis == 1 else self.emit(qnn.emit("transpose", [expression], {"axes": _SWAP}))
        assert view is not None
        return found if view.table is None else self.emit(qnn.emit("lookup", [found, relax.const(view.table)]))

    def _past(self, expression: Any, axis: int) -> Any:
        """The cache behind the first part of a join."""
        if axis == 1:
            return expression if expression in self._parameters else None
        call = self.definition(expression)
        swaps = qnn.is_qnn(call, "transpose") and qnn.attributes(call)["axes"] == _SWAP
        # With one head, or one row, turning changes nothing but the shape.
        views = is_op(call, "relax.reshape") and 1 in spec_of(call.args[0]).shape[1:3]
        if not (swaps or views) or call.args[0] not in self._parameters:
            return None
        _, rows, heads, size = spec_of(call.args[0]).shape
        return call.args[0] if spec_of(expression).shape == (1, heads, rows, size) else None

    def _reads_all(self, name: str, axis: int, attributes: dict[str, Any]) -> bool:
        """Whether attention reads the join from its first to its last element, head by head."""
        heads, keys, size = attributes["heads"] // attributes["group"], attributes["keys"], attributes["size"]
        strides = (size, heads * size) if axis == 1 else (keys * size, size)
        found = (attributes[f"{name}_head_stride"], attributes[f"{name}_stride"])
        return attributes[f"{name}_offset"] == 0 and (found == strides or (heads == 1 and found[1] == strides[1]))


def _is_uniform(mask: Any, past: int) -> bool:
    """Whether a mask treats all rows of the past alike."""
    if mask is None:
        return True
    classes = constant(mask)
    return classes is not None and bool(np.all(classes[..., :past] == classes[..., :1]))
