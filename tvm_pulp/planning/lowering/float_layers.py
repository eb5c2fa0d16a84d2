"""Pass: Relax operators that the cores run as layers of the dialect, planned and shared among them like any other.

Expects a canonical module; what has no converter here stays as it is and is lowered by TVM.

    relax.quantize(x, scale, zero_point)   becomes   qnn.quantize(x, scale, 1 / scale, zero_point)
"""

from collections.abc import Callable
from typing import Any

from tvm_pulp.canonicalize.match import first_of, needed, or_none, require
from tvm_pulp.canonicalize.rewriter import Rewriter, relax_name
from tvm_pulp.planning.lowering import (
    float_elementwise,
    float_movement,
    float_products,
    float_quantization,
    float_reductions,
    float_row_operators,
    float_windows,
)

Converter = Callable[["FloatLayers", Any], Any]
# By operator; the first that has an answer counts.
CONVERTERS: dict[str, list[Converter]] = {}
for _table in (
    {"relax.add": float_products.with_bias},
    dict.fromkeys(("relax.permute_dims", "relax.reshape"), float_movement.constant_view),
    float_quantization.CONVERTERS,
    float_elementwise.CONVERTERS,
    float_products.CONVERTERS,
    float_row_operators.CONVERTERS,
    float_reductions.CONVERTERS,
    float_windows.CONVERTERS,
    float_movement.CONVERTERS,
):
    for _name, _convert in _table.items():
        CONVERTERS.setdefault(_name, []).append(or_none(_convert))


class FloatLayers(Rewriter):
    """Converters return the new value of a call; it stays where they return None or require what it is not."""

    # Of the value that is being converted: what it is made of carries its name.
    _name = ""

    def emit(self, value: Any, name: str = "") -> Any:
        return super().emit(value, name or self._name)

    def visit(self, variable: Any, value: Any) -> Any:
        self._name = variable.name
        require(relax_name(value) in CONVERTERS)
        # Operands got new types on the way.
        return needed(first_of(CONVERTERS[value.op.name], self, self.builder.normalize(value)))
