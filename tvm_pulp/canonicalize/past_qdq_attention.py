"""Pass: attention over a joined cache becomes attention over its rows and the new ones, with a length of its own.

Expects attention as one operator, and caches of [1, positions, heads, size] that are only swapped before the join:

    qdq_attention(q, concat([swapped] past_k, new_k), concat([swapped] past_v, new_v), ...)       becomes
    past_qdq_attention(q, new_k, new_v, past_k, past_v, length, ...)

`length` is a new input: the rows of the past that count. Nothing is copied any more. Where one attention is of another
form, or a cache has another reader, nothing changes at all.
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.main_function import MainFunction
from tvm_pulp.canonicalize.permute import is_swap, swapped
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op, needed, require, spec_of
from tvm_pulp.canonicalize.strided_view import strided_view
from tvm_pulp.qnn.concat import ConcatAttributes, divide
from tvm_pulp.qnn.qdq_attention import QdqAttentionAttributes, operands

LENGTH = "length"


def past_qdq_attention(module: Any, pasts: set[str]) -> Any:
    """The module with one more input, or None where a cache is read by anything else. `pasts`: names of the caches."""
    function = module["main"]
    length = relax.Var(LENGTH, relax.TensorType((1,), "int32"))
    extended = module.clone()
    extended["main"] = relax.Function([*function.params, length], function.body, function.ret_ty, function.is_pure)
    made = _PastQdqAttention(length).run(extended)
    main = MainFunction(made)
    readers = [main.calls_reading(p) for p in main.function.params if p.name in pasts]
    found = [calls for calls in readers if calls and all(qnn.is_qnn(c, "past_qdq_attention") for c in calls)]
    return made if len(found) == len(pasts) == len(readers) else None


class _PastQdqAttention(Rewriter):
    def __init__(self, length: Any) -> None:
        self._length = length

    def start(self, function: Any) -> None:
        self._parameters = list(function.params)

    def visit(self, variable: Any, value: Any) -> Any:
        if is_swap(value):
            # New rows are swapped to be joined, and swapped back to be stored.
            inner = self.definition(value.args[0])
            return inner.args[0] if is_swap(inner) else value
        require(qnn.is_qnn(value, "qdq_attention"))
        attributes = qnn.attributes(value, QdqAttentionAttributes)
        of = operands(attributes, list(value.args))
        rows = attributes.queries
        (past_k, new_k), (past_v, new_v) = (self._joined(of[name], name, attributes) for name in "kv")
        require(_is_uniform(of.get("mask"), attributes.key_count - rows))
        joined = {**attributes, "rows": rows}
        size, heads = attributes.size, attributes.heads // attributes.group
        for name in ("k", "v"):
            joined |= {f"{name}_offset": 0, f"{name}_head_stride": size, f"{name}_stride": heads * size}
        rest = [operand for name, operand in of.items() if name not in ("q", "k", "v")]
        arguments = [of["q"], new_k, new_v, past_k, past_v, self._length, *rest]
        return qnn.emit("past_qdq_attention", arguments, joined)

    def _joined(self, expression: Any, name: str, attributes: QdqAttentionAttributes) -> tuple[Any, Any]:
        """The cache that an operand was joined from and the new rows behind it, rows of all heads side by side."""
        concat = self.definition(expression)
        require(qnn.is_qnn(concat, "concat"))
        join = qnn.attributes(concat, ConcatAttributes)
        parts, tables = divide(join, list(concat.args))
        axis, rows, size = join.axis, attributes.queries, attributes.size
        require(len(parts) == 2 and 0 not in tables and axis in (1, 2))
        past, heads = self._past(parts[0], axis), attributes.heads // attributes.group
        require(spec_of(parts[1]).shape == ((1, rows, heads, size) if axis == 1 else (1, heads, rows, size)))
        require(_reads_all(name, axis, attributes))
        new = self._new_rows(parts[1], axis, rows * heads * size)
        return past, self.emit(qnn.emit("lookup", [new, tables[1]])) if 1 in tables else new

    def _new_rows(self, expression: Any, axis: int, elements: int) -> Any:
        """[1, rows, heads, size] of what is joined to a cache: the tensor that it comes from, or swapped."""
        heads_first = expression if axis == 2 else self.emit(swapped(expression))
        _, heads, rows, size = spec_of(heads_first).shape
        view = strided_view(self, heads_first)
        if view is not None and not view.offset and spec_of(view.source).elements == elements:
            one_by_one = heads == 1 or (view.group, view.head_stride) == (1, size)
            if one_by_one and (rows == 1 or view.stride == heads * size):
                return view.source if view.table is None else self.emit(qnn.emit("lookup", [view.source, view.table]))
        return expression if axis == 1 else self.emit(swapped(expression))

    def _past(self, expression: Any, axis: int) -> Any:
        """The cache behind the first part of a join."""
        if axis == 1:
            require(expression in self._parameters)
            return expression
        call = needed(self.definition(expression))
        # With one head, or one row, turning changes nothing but the shape.
        views = is_op(call, "relax.reshape") and 1 in spec_of(call.args[0]).shape[1:3]
        require((is_swap(call) or views) and call.args[0] in self._parameters)
        _, rows, heads, size = spec_of(call.args[0]).shape
        require(spec_of(expression).shape == (1, heads, rows, size))
        return call.args[0]


def _reads_all(name: str, axis: int, attributes: QdqAttentionAttributes) -> bool:
    """Tell if attention reads a join from its first to its last element, head by head."""
    heads, keys, size = attributes.heads // attributes.group, attributes.key_count, attributes.size
    strides = (size, heads * size) if axis == 1 else (keys * size, size)
    found = (attributes[f"{name}_head_stride"], attributes[f"{name}_stride"])
    return attributes[f"{name}_offset"] == 0 and (found == strides or (heads == 1 and found[1] == strides[1]))


def _is_uniform(mask: Any, past: int) -> bool:
    """Tell if a mask treats all rows of the past alike."""
    if mask is None:
        return True
    classes = constant(mask)
    return classes is not None and bool(np.all(classes[..., :past] == classes[..., :1]))
