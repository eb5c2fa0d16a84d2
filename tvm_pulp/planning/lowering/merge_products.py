"""Pass: products of one row of floats with several constant matrices are one product.

Expects float layers. The gates of a recurrent layer multiply the same state; a product of all their columns keeps the
cores busy longer, and its parts are read where they lie by the element-wise functions behind it, the only ones that
may read them.

    float_matmul(x, a), float_matmul(x, b)      becomes   slices of float_matmul(x, concat(a, b))
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.qdq_operands import RESHAPES
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, relax_name
from tvm_pulp.planning.lowering.pieces import Readers
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.operator import spec_of


class MergeProducts(Rewriter):
    def start(self, function: Any) -> None:
        readers = Readers({"main": function})
        alike: dict[tuple[Any, bool], list[Any]] = {}
        reshaped: dict[Any, Any] = {}
        for binding in lineage.bindings_of(function):
            value = binding.value
            if relax_name(value) in RESHAPES:
                reshaped[binding.var] = reshaped.get(value.args[0], value.args[0])
            if _can_be_part(value) and readers.only_maps(binding.var, function):
                row = reshaped.get(value.args[0], value.args[0])
                alike.setdefault((row, qnn.attributes(value)["transpose_b"]), []).append(binding)
        # By product: the group that it belongs to, and its first column there.
        self._groups: dict[Any, tuple[list[Any], int]] = {}
        for bindings in (b for b in alike.values() if len(b) > 1):
            first = 0
            for binding in bindings:
                self._groups[binding.var] = (bindings, first)
                first += spec_of(binding.value).shape[-1]
        self._merged: dict[Any, Any] = {}

    def visit(self, variable: Any, value: Any) -> Any:
        require(variable in self._groups)
        bindings, first = self._groups[variable]
        if bindings[0].var not in self._merged:
            self._merged[bindings[0].var] = self.emit(_product_of_all(value.args[0], bindings), f"{variable.name}_all")
        attributes = {"begin": [0, first], "stride": [1, 1], "size": list(spec_of(bindings[0].value).shape[:1])}
        attributes["size"].append(spec_of(value).shape[-1])
        return qnn.emit("slice", [self._merged[bindings[0].var]], attributes)


def _can_be_part(value: Any) -> bool:
    """Tell if a value is a row of floats times a constant matrix."""
    if not qnn.is_qnn(value, "float_matmul") or not isinstance(value.args[0], relax.Var):
        return False
    shape = spec_of(value).shape
    return len(shape) == 2 and shape[0] == 1 and all(constant(a) is not None for a in value.args[1:])


def _product_of_all(x: Any, bindings: list[Any]) -> Any:
    products = [binding.value for binding in bindings]
    attributes = qnn.attributes(products[0])
    weights = [constant(p.args[1]) for p in products]
    operands = [x, relax.const(np.concatenate(weights, axis=0 if attributes["transpose_b"] else 1))]
    if any(len(p.args) > 2 for p in products):
        none = [np.zeros(spec_of(p).shape[-1], np.float32) for p in products]
        given = [constant(p.args[2]) if len(p.args) > 2 else zeros for p, zeros in zip(products, none, strict=True)]
        operands.append(relax.const(np.concatenate(given)))
    return qnn.emit("float_matmul", operands, attributes)
