"""Pass: probabilities of seven bits become int8, which the engine multiplies; the bytes stay as they are.

Expects canonical form. Changes the type of a softmax whose results are below 128 where nothing but the left side of
products reads them.

    matmul(softmax(x) as uint8, v)   becomes   matmul(softmax(x) as int8, v)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, readers_of, require


class SignedProbabilities(Rewriter):
    def start(self, function: Any) -> None:
        self._readers = readers_of(function)

    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "softmax"))
        attributes = qnn.attributes(value)
        require(attributes["form"] == "ita_partial_max" and attributes["levels"] // 2 - 1 <= 127)
        require(all(qnn.is_qnn(call, "matmul") and not position for _, call, position in self._readers[variable]))
        return qnn.emit("softmax", list(value.args), {**attributes, "dtype": "int8"})
