"""Places of elements that were only picked from another value, if they lie there without a gap."""

import math
from typing import Any

import tvm
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_operands import RESHAPES
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op, readers_of, relax_name, single_value
from tvm_pulp.qnn.operator import spec_of


def source_of_piece(rewriter: Rewriter, operand: Any) -> tuple[Any, int]:
    """The tensor that holds an operand without a gap, and from which element on."""
    made = rewriter.definition(operand)
    if is_op(made, "relax.reshape") and isinstance(made.args[0], relax.Var):
        return source_of_piece(rewriter, made.args[0])
    first = first_of_piece(made)
    if first is None:
        return operand, 0
    source, before = source_of_piece(rewriter, made.args[0])
    return source, before + first


def first_of_piece(made: Any) -> int | None:
    """The element of its operand that a slice or a pick begins with; None where it is none, or has gaps."""
    if qnn.is_qnn(made, "slice"):
        attributes, shape = qnn.attributes(made), spec_of(made.args[0]).shape
        begin, size = attributes["begin"], attributes["size"]
        # One piece: behind the first axis that is longer than one everything is taken.
        cut = next((axis for axis, n in enumerate(size) if n > 1), len(size))
        if any(s != 1 for s in attributes["stride"]) or list(size[cut + 1 :]) != list(shape[cut + 1 :]):
            return None
        return sum(b * math.prod(shape[axis + 1 :]) for axis, b in enumerate(begin))
    if qnn.is_qnn(made, "gather"):
        shape, axis = spec_of(made.args[0]).shape, qnn.attributes(made)["axis"]
        index = single_value(constant(made.args[1]))
        if index is None or math.prod(shape[:axis]) != 1:
            return None
        return int(index) % shape[axis] * math.prod(shape[axis + 1 :])
    return None


class Readers:
    """Readers of the values of a module, those inside of regions too."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._known: dict[Any, dict[Any, list[tuple[Any, Any, int]]]] = {}

    def only_maps(self, variable: Any, function: Any = None) -> bool:
        """Tell if functions of single elements are all that reads a value of a function, `main` for none."""
        function = self._module["main"] if function is None else function
        if function not in self._known:
            self._known[function] = readers_of(function)
        return all(self._is_map(function, *read) for read in self._known[function].get(variable, ()))

    def _is_map(self, function: Any, variable: Any, value: Any, position: int) -> bool:
        if qnn.is_qnn(value, "float_map"):
            return True
        if relax_name(value) in RESHAPES:
            return self.only_maps(variable, function)
        if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar):
            region = self._module[value.op]
            return self.only_maps(region.params[position], region)
        return False
