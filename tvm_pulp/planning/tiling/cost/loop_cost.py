"""Cost of generated kernels: operations of their loops, times cycles per operation."""

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

from tvm import tirx

from tvm_pulp.planning.tiling.cost.guards import Guard, share_that_holds
from tvm_pulp.planning.tiling.cost.operation_cycles import OperationCycles, operation_cycles
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.record import Attributes
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import CoreCost, Kernel

# Loops of so few iterations are written out by the C compiler.
_UNROLLED = 8
# 64-bit operations around an access whose place is read from memory.
_INDIRECT_OPERATIONS = 3
# What fetching takes for every cycle of a function of float_functions.h that stands in the code where it is called, and
# of one that stands there once: other kernels have often fetched it before.
_INLINE, _FETCH = "call_inline_", 4.0
_SEPARATE, _FETCH_SEPARATE = frozenset({"call_erf", "call_sigmoid", "call_tanh"}), 1.0
_BITWISE = frozenset({"shift_right", "shift_left", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"})
# Where sums, products and casts hold what they are made of.
_OPERANDS = ("a", "b", "value")
_DIVISIONS = frozenset({"Div", "Mod", "FloorDiv", "FloorMod"})
_COMPARES = frozenset({"LT", "LE", "GT", "GE", "EQ", "NE", "And", "Or", "Not"})


@dataclass(frozen=True)
class OperationCount:
    """Operations of a kernel: how often each is executed in all, how often it stands in the code, what is shared."""

    executed: dict[str, float]
    written: dict[str, float]
    shared_iterations: int  # of the loop that the cores share; 1: nothing is shared
    code: str  # the same for functions with the same text

    def cycles(self, known: OperationCycles) -> float:
        """On one core."""
        return sum(known.of(name) * count for name, count in self.executed.items())

    def code_cycles(self, known: OperationCycles) -> float:
        """Fetching all of the code."""
        inline = sum(count * known.of(name) for name, count in self.written.items() if name.startswith(_INLINE))
        separate = sum(known.of(name) for name in self.written if name in _SEPARATE)
        functions = _FETCH * inline + _FETCH_SEPARATE * separate
        return known.call / 4 + known.code * sum(self.written.values()) + functions

    def cost(self, costs: CostModel, part: float = 1.0, code: str = "", *, parallel: bool = True) -> CoreCost:
        """Cost of the slowest core for a part of the iterations, whose code is another than that of the whole."""
        cores, known = costs.cores if parallel else 1, operation_cycles(costs.soc.software.core_type)
        iterations = max(1, round(self.shared_iterations * part))
        cycles = known.call + self.cycles(known) * part * -(-iterations // cores) / iterations
        return CoreCost(round(costs.core_slowdown * cycles), round(self.code_cycles(known)), self.code + code)


def generated_cost(kernel: Kernel, costs: CostModel) -> CoreCost:
    """Cost of a kernel that is generated for exactly its shapes."""
    specs = tuple(o.spec for o in kernel.inputs)
    attributes = OPERATORS[kernel.operator].stated(kernel.attributes)
    operations = _lowered(kernel.operator, attributes, specs, kernel.outputs[0].spec)
    return operations.cost(costs, parallel=kernel.parallel)


def count_layer_operations(layer: Layer) -> OperationCount:
    """Operations of a whole layer as generated code."""
    if layer.operator.startswith("tir."):
        return count_operations(layer.function, layer.operator)
    specs = tuple(t.spec for t in layer.inputs)
    return _lowered(layer.operator, layer.attributes, specs, layer.outputs[0].spec)


@lru_cache(maxsize=4096)
def _lowered(
    operator: str, attributes: Attributes, inputs: tuple[TensorSpec, ...], output: TensorSpec
) -> OperationCount:
    text = f"{operator} {json.dumps(dict(attributes), sort_keys=True)} {[str(i) for i in inputs]} {output}"
    name = f"{operator}_{crc32(text.encode()):08x}"
    return count_operations(OPERATORS[operator].lower(attributes, inputs, output), name)


def count_operations(function: Any, code: str) -> OperationCount:
    """Operations of a lowered function."""
    counter = _Counter()
    counter.statement(function.body)
    return OperationCount(counter.executed, counter.written, counter.shared, code)


class _Counter:
    """Counts operations at the loop that they depend on: the C compiler hoists what does not change further inside."""

    def __init__(self) -> None:
        self.executed: dict[str, float] = {}
        self.written: dict[str, float] = {}
        self.shared = 1
        self._loops: list[tuple[Any, int]] = []  # variables and extents
        self._chance = 1.0  # that a conditional part is executed
        self._guards: list[Guard] = []  # conditions around, as far as loops decide them
        self._depth_of: dict[Any, int] = {}  # loops around a variable's value
        self._value_of: dict[Any, Any] = {}

    def _note(self, name: str, depth: int) -> int:
        times = self._chance * math.prod(extent for _, extent in self._loops[:depth])
        self.executed[name] = self.executed.get(name, 0) + times
        self.written[name] = self.written.get(name, 0) + 1
        return depth

    def statement(self, s: Any) -> None:
        kind = type(s).__name__
        if kind == "SeqStmt":
            for part in s.seq:
                self.statement(part)
        elif kind == "For":
            self._for(s)
        elif kind == "IfThenElse":
            self._if(s)
        elif kind == "Bind":
            self._depth_of[s.var] = self.value(s.value)
            self._value_of[s.var] = s.value
        elif kind == "BufferStore":
            depth = self.value(s.value)
            self._access(s.buffer, s.indices, "store", max(depth, 0) if not self._accumulates(s) else 0)
        elif kind == "AttrStmt":
            self.statement(s.body)
        elif kind == "Evaluate":
            self.value(s.value)

    def _for(self, s: Any) -> None:
        extent = int(s.extent) if type(s.extent).__name__ == "IntImm" else 1
        if s.kind == tirx.ForKind.PARALLEL:
            self.shared = max(self.shared, extent)
        self._loops.append((s.loop_var, extent))
        self._depth_of[s.loop_var] = len(self._loops)
        self._note("short_iteration" if extent <= _UNROLLED else "iteration", len(self._loops))
        self.statement(s.body)
        self._loops.pop()

    def _if(self, s: Any) -> None:
        before, guards = self._chance, self._guards
        first, share = self._first_iteration(s.condition), None
        if first is not None:
            # The first iteration of a reduction: compilers peel it off.
            chances = before / first, before
        else:
            self._note("branch", self.value(s.condition))
            share = share_that_holds(s.condition, guards, self._loops, self._value_of)
            # Of branches that data decides: as often the one as the other, as far as anybody knows.
            unknown = (before, 0.0) if s.else_case is None else (before / 2, before / 2)
            chances = unknown if share is None else (before * share, before * (1 - share))
        for case, chance, holds in zip((s.then_case, s.else_case), chances, (True, False), strict=True):
            if case is not None:
                self._chance, self._guards = chance, guards if share is None else [*guards, (s.condition, holds)]
                self.statement(case)
        self._chance, self._guards = before, guards

    def _first_iteration(self, condition: Any) -> int | None:
        """Iterations of the loops that a condition restricts to their first one; None for any other condition."""
        if type(condition).__name__ == "And":
            sides = [self._first_iteration(side) for side in (condition.a, condition.b)]
            return sides[0] * sides[1] if sides[0] is not None and sides[1] is not None else None
        if type(condition).__name__ != "EQ" or type(condition.b).__name__ != "IntImm" or int(condition.b) != 0:
            return None
        return next((extent for variable, extent in self._loops if variable.same_as(condition.a)), None)

    def _accumulates(self, s: Any) -> bool:
        """Tell if a store updates an element that stays the same in the innermost loop: a register."""
        return bool(self._loops) and self._index_depth(s.indices) < len(self._loops)

    def _index_depth(self, indices: Any) -> int:
        return max((self._depths(index) for index in indices), default=0)

    def _depths(self, e: Any) -> int:
        """Innermost loop that an expression without effects depends on."""
        kind = type(e).__name__
        if kind == "Var":
            return self._depth_of.get(e, 0)
        if kind == "TensorLoad":
            return len(self._loops) if _is_register(e.source) else self._index_depth(e.indices)
        if kind == "Call":
            return max((self._depths(a) for a in e.args), default=0)
        parts = _parts(e, "a", "b", "value", "condition", "true_value", "false_value")
        return max((self._depths(part) for part in parts), default=0)

    def _access(self, buffer: Any, indices: Any, name: str, least: int = 0) -> int:
        if _is_register(buffer):
            return len(self._loops)
        depth = max(least, self._index_depth(indices))
        self._note(name, depth)
        for index in indices:
            if type(index).__name__ not in ("Var", "IntImm"):
                self._note("index", depth)
                self._computed(index)
        if any("64" in _dtype(index) and _is_indirect(index) for index in indices):
            # No pointer steps along: every address is computed, in 64 bits.
            for _ in range(_INDIRECT_OPERATIONS):
                self._note("wide", depth)
        return depth

    def _computed(self, index: Any) -> None:
        """Values that an index reads or divides are work; sums and products of loop variables are pointer steps."""
        kind = type(index).__name__
        if kind in ("TensorLoad", "Call", *_DIVISIONS):
            self.value(index)
            return
        for part in _parts(index, *_OPERANDS):
            self._computed(part)

    def value(self, e: Any) -> int:
        """Count an expression; returns the innermost loop that it depends on."""
        kind = type(e).__name__
        if kind in ("IntImm", "FloatImm", "StringImm"):
            return 0
        if kind == "Var":
            return self._depth_of.get(e, 0)
        if kind == "TensorLoad":
            return self._access(e.source, e.indices, "load")
        if kind == "Cast":
            depth = self.value(e.value)
            if "float" in _dtype(e) or "float" in _dtype(e.value):
                self._note("convert", depth)
            return depth
        if kind == "Call":
            return self._call(e)
        if kind == "Select":
            depth = max(self.value(part) for part in (e.condition, e.true_value, e.false_value))
            return self._note("branch", depth)
        depth = max([self.value(getattr(e, n)) for n in ("a", "b") if hasattr(e, n)], default=0)
        return self._note(_operation(e, kind), depth)

    def _call(self, e: Any) -> int:
        name = str(e.op.name).rpartition(".")[2]
        arguments = list(e.args)
        if name in ("call_pure_extern", "call_extern"):
            name, arguments = str(arguments[0].value), arguments[1:]
        depth = max([self.value(argument) for argument in arguments], default=0)
        if name in _BITWISE:
            return self._note("wide" if "64" in _dtype(e) else "integer", depth)
        if name == "if_then_else":
            return self._note("branch", depth)
        return self._note(f"call_{name.removeprefix('tvm_pulp_')}", depth)


def _is_indirect(index: Any) -> bool:
    """Tell if an index is read from memory."""
    return type(index).__name__ == "TensorLoad" or any(map(_is_indirect, _parts(index, *_OPERANDS)))


def _parts(e: Any, *names: str) -> list[Any]:
    """Expressions that one holds under these names."""
    found = (getattr(e, name, None) for name in names)
    return [part for part in found if part is not None and not isinstance(part, int | float | str)]


def _is_register(buffer: Any) -> bool:
    return all(int(extent) == 1 for extent in buffer.shape)


def _dtype(e: Any) -> str:
    return str(e.ty.dtype) if hasattr(e, "ty") and hasattr(e.ty, "dtype") else str(getattr(e, "dtype", "int32"))


def _operation(e: Any, kind: str) -> str:
    dtype = _dtype(e.a) if kind in _COMPARES and hasattr(e, "a") else _dtype(e)
    if "float" in dtype:
        return "float_divide" if kind in _DIVISIONS else "float_compare" if kind in ("Min", "Max") else "float"
    if kind in _DIVISIONS:
        if type(e.b).__name__ == "IntImm":
            return "constant_divide"
        return "wide_divide" if "64" in dtype else "divide"
    if "64" in dtype:
        return "wide_multiply" if kind == "Mul" else "wide"
    return "multiply" if kind == "Mul" else "compare" if kind in ("Min", "Max") else "integer"
