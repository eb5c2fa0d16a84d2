"""Pass: a quantization and what only moves its result are one layer.

Expects float layers. A picture comes with its channels first and is wanted with its channels last, and a cache of
floats is joined with new rows; neither needs a layer of its own.

    transpose(quantize(x)), second axis last      becomes   quantize_channels_last(x)
    concat(quantize(x), slice of y)               becomes   append_quantized(x, y)
"""

import math
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.qnn.operator import spec_of

_BYTES = ("int8", "uint8")


class JoinQuantize(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        joined = None
        if qnn.is_qnn(value, "transpose"):
            joined = self._channels_last(value)
        elif qnn.is_qnn(value, "concat"):
            joined = self._appended(value)
        return value if joined is None else joined

    def _quantized(self, operand: Any) -> Any:
        """The quantization with one scale that makes an operand and nothing else, or None."""
        made = self.definition(operand)
        if made is None or not qnn.is_qnn(made, "quantize") or self.uses(operand) != 1:
            return None
        return made if all(p is not None and p.size == 1 for p in map(constant, made.args[1:])) else None

    def _channels_last(self, value: Any) -> Any:
        axes, made = qnn.attributes(value)["axes"], self._quantized(value.args[0])
        if made is None or len(axes) < 3 or axes != [0, *range(2, len(axes)), 1]:
            return None
        return qnn.emit("quantize_channels_last", list(made.args), {"dtype": qnn.attributes(made)["dtype"]})

    def _appended(self, value: Any) -> Any:
        attributes = qnn.attributes(value)
        tables = attributes.get("tables", [])
        if len(value.args) != 2 + len(tables) or tables not in ([], [1]):
            return None
        made, more = self._quantized(value.args[0]), value.args[1]
        spec = spec_of(more) if made is not None else None
        if made is None or spec is None or spec.dtype not in _BYTES or qnn.attributes(made)["dtype"] not in _BYTES:
            return None
        source, first = self._source(more)
        values = {
            "axis": attributes["axis"], "dtype": qnn.attributes(made)["dtype"], "first": first,
            "appended": list(spec.shape), "has_table": len(tables),
        }  # fmt: skip
        return qnn.emit("append_quantized", [*made.args, source, *value.args[2:]], values)

    def _source(self, operand: Any) -> tuple[Any, int]:
        """The tensor that holds an operand without a gap, and from which element on."""
        made = self.definition(operand)
        if is_op(made, "relax.reshape") and isinstance(made.args[0], relax.Var):
            return self._source(made.args[0])
        if not qnn.is_qnn(made, "slice"):
            return operand, 0
        attributes, shape = qnn.attributes(made), spec_of(made.args[0]).shape
        begin, size = attributes["begin"], attributes["size"]
        # One piece: behind the first axis that is longer than one everything is taken.
        cut = next((axis for axis, n in enumerate(size) if n > 1), len(size))
        if any(s != 1 for s in attributes["stride"]) or list(size[cut + 1 :]) != list(shape[cut + 1 :]):
            return operand, 0
        first = sum(b * math.prod(shape[axis + 1 :]) for axis, b in enumerate(begin))
        return made.args[0], first
