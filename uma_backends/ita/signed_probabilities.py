"""Pass: probabilities of seven bits become int8, which the engine multiplies; the bytes stay as they are.

Expects canonical form. Changes the type of a softmax whose results are below 128 where nothing but the left side of
products reads them.

    matmul(softmax(x) as uint8, v)   becomes   matmul(softmax(x) as int8, v)
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from uma_backends.ita.negated_tables import variables_of


class SignedProbabilities(Rewriter):
    """Chooses in `start`, rewrites in `visit`."""

    def start(self, function: Any) -> None:
        bindings = [(b.var, b.value) for block in function.body.blocks for b in block.bindings]
        refused = set(variables_of(function.body.body))
        for _, value in bindings:
            for position, argument in enumerate(value.args if isinstance(value, relax.Call) else [value]):
                if position or not qnn.is_qnn(value, "matmul"):
                    refused |= set(variables_of(argument))
        self._signed = {v for v, value in bindings if _is_of_seven_bits(value) and v not in refused}

    def visit(self, variable: Any, value: Any) -> Any:
        if variable in self._signed:
            return qnn.emit("softmax", list(value.args), {**qnn.attributes(value), "dtype": "int8"})
        return value


def _is_of_seven_bits(value: Any) -> bool:
    if not qnn.is_qnn(value, "softmax"):
        return False
    attributes = qnn.attributes(value)
    return attributes["form"] == "ita_partial_max" and attributes["levels"] // 2 - 1 <= 127
