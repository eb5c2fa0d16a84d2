"""Pass: a quantization and what only moves its result are one layer.

Expects float layers. A picture comes with its channels first and is wanted with its channels last, and a cache of
floats is joined with new rows; neither needs a layer of its own.

    transpose(quantize(x)), second axis last      becomes   quantize_channels_last(x)
    concat(quantize(x), slice of y)               becomes   append_quantized(x, y)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import needed, require
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.planning.lowering.pieces import source_of_piece
from tvm_pulp.qnn.operator import spec_of

_BYTES = ("int8", "uint8")


class JoinQuantize(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "transpose", "concat"))
        made = needed(self.single(value.args[0], "quantize"))
        require(all(p is not None and p.size == 1 for p in map(constant, made.args[1:])))
        return self._channels_last(value, made) if qnn.is_qnn(value, "transpose") else self._appended(value, made)

    def _channels_last(self, value: Any, made: Any) -> Any:
        axes = qnn.attributes(value)["axes"]
        require(len(axes) >= 3 and axes == [0, *range(2, len(axes)), 1])
        how = {"channels": spec_of(value).shape[-1], "dtype": qnn.attributes(made)["dtype"]}
        return qnn.emit("quantize_channels_last", list(made.args), how)

    def _appended(self, value: Any, made: Any) -> Any:
        attributes, dtype = qnn.attributes(value), qnn.attributes(made)["dtype"]
        tables = attributes.get("tables", [])
        require(len(value.args) == 2 + len(tables) and tables in ([], [1]))
        spec = spec_of(value.args[1])
        require(spec.dtype in _BYTES and dtype in _BYTES)
        source, first = source_of_piece(self, value.args[1])
        values = {
            "axis": attributes["axis"], "dtype": dtype, "first": first,
            "appended": list(spec.shape), "has_table": len(tables),
        }  # fmt: skip
        return qnn.emit("append_quantized", [*made.args, source, *value.args[2:]], values)
