"""Pass: heads that have branches of their own behind the values become one product with a matrix each, and one sum.

Expects canonical form. Changes attention whose heads are taken one by one, each projected by a dense layer without bias
and requantized alike, and added by a chain of sums, which may be requantized at its end.

    add(dense(gather(mixed, 0), w0), dense(gather(mixed, 1), w1))   becomes   reduce(matmul(mixed, [w0, w1]))
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, or_none, readers_of, require, spec_of
from tvm_pulp.qnn.requant import Requant

_AXIS = 1


@dataclass
class _Family:
    """Branches of one tensor of heads: variables of their dense layers in order, and the product once it is made."""

    branches: dict[Any, int]
    layers: list[Any]
    joined: Any = None


class JoinedHeads(Rewriter):
    def start(self, function: Any) -> None:
        self._readers = readers_of(function)
        # By variable of a dense layer, its family; by variable of a partial sum, the family and heads in it.
        self._families: dict[Any, _Family] = {}
        self._sums: dict[Any, tuple[_Family, frozenset[int]]] = {}
        for variable, readers in self._readers.items():
            if (family := self._family(variable, readers)) is not None:
                self._families |= dict.fromkeys(family.branches, family)

    @or_none
    def _family(self, variable: Any, readers: list[Any]) -> _Family:
        require(all(qnn.is_qnn(call, "gather") for _, call, _ in readers))
        spec = spec_of(variable)
        require(len(spec.shape) == 4 and len(readers) == spec.shape[_AXIS] > 1)
        found: dict[int, tuple[Any, Any]] = {}
        for taken, call, _ in readers:
            require(qnn.attributes(call)["axis"] == _AXIS and len(self._readers[taken]) == 1)
            index, (made, dense, _) = constant(call.args[1]), self._readers[taken][0]
            require(index.size == 1 and qnn.is_qnn(dense, "dense"))
            a = qnn.attributes(dense)
            require(not a["has_bias"] and not a["zero_point"] and Requant.of(a).kind != "none")
            found[int(index.flat[0]) % len(readers)] = (made, dense)
        require(len(found) == len(readers))
        layers = [found[head][1] for head in range(len(found))]
        for layer in layers[1:]:
            require(qnn.attributes(layer) == qnn.attributes(layers[0]))
            pairs = zip(layer.args[2:], layers[0].args[2:], strict=True)
            require(all(np.array_equal(constant(a), constant(b)) for a, b in pairs))
        return _Family({made: head for head, (made, _) in found.items()}, layers)

    def visit(self, variable: Any, value: Any) -> Any:
        if (family := self._families.get(variable)) is not None:
            head = family.branches[variable]
            if family.joined is None:
                family.joined = self._join(family, self.definition(value.args[0]).args[0])
            self._sums[variable] = (family, frozenset([head]))
            return qnn.emit("gather", [family.joined, relax.const(head, "int32")], {"axis": _AXIS})
        require(qnn.is_qnn(value, "add"))
        return self._sum(variable, value)

    def _join(self, family: _Family, mixed: Any) -> Any:
        matrices = np.stack([constant(layer.args[1]).T for layer in family.layers])[None]
        attributes = {**qnn.attributes(family.layers[0]), "transpose_b": 0, "zero_point_a": 0, "zero_point_b": 0}
        kept = {name: attributes[name] for name in attributes if name not in ("has_bias", "zero_point")}
        operands = [mixed, relax.const(matrices), *family.layers[0].args[2:]]
        return self.emit(qnn.emit("matmul", operands, kept), "heads")

    def _sum(self, variable: Any, value: Any) -> Any:
        a = qnn.attributes(value)
        parts = [self._sums.get(self._origin.get(argument)) for argument in value.args[:2]]
        require(a["form"] == "plain" and a["requant_a"] == a["requant_b"] == "none")
        require(not a["zero_point_a"] and not a["zero_point_b"] and all(parts))
        (family, left), (other, right) = parts  # type: ignore[misc]
        require(family is other and not left & right)
        rule, heads = Requant.of(a), left | right
        if len(heads) < len(family.layers):
            require(rule.kind == "none")
            self._sums[variable] = (family, heads)
            return value
        total = qnn.emit("reduce", [family.joined], {"kind": "sum", "axes": [_AXIS], "keepdims": 0})
        if rule.kind == "none":
            return total
        axis = len(spec_of(value.args[0]).shape) - 1
        attributes = {"zero_point": 0, "axis": axis, **rule.attributes()}
        return qnn.emit("requantize", [self.emit(total, "sum_of_heads"), *value.args[2:]], attributes)
