"""Pass: caches that go in and come out longer become state, appended in place.

Expects attention as one operator. Recognises a graph input that is joined with new rows along the positions, where the
result goes out of the network and into attention and nowhere else:

    present = concat(past[1, heads, T, size], rows[1, heads, S, size])      out: present

An empty past (T = 0) leaves only its input and the rows that go out. What remains is

    out: rows[1, S, heads, size];  attention over concat(past[1, T, heads, size], rows)

with a row per position, so that new rows are one run of bytes behind the past in one buffer. A table that the join
applies to the new rows is also applied to those that go out.
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.main_function import MainFunction
from tvm_pulp.canonicalize.permute import is_swap, swapped
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op, require, spec_of
from tvm_pulp.qnn.network import State

_POSITIONS = 2


def state_caches(module: Any) -> tuple[Any, tuple[State, ...]]:
    """The module with rows in the place of whole caches, and what belongs together."""
    rewriting = _StateCaches(module)
    return (rewriting.run(module) if rewriting.states else module), tuple(rewriting.states)


class _StateCaches(Rewriter):
    def __init__(self, module: Any) -> None:
        self._main = MainFunction(module)
        self._parameters = list(self._main.function.params)
        self._results = self._main.results
        self.states: list[State] = []
        self._joined: dict[Any, int] = {}  # the variable of a joined cache -> its input
        self._find()
        # Rows that go out, by the variable of a joined cache.
        self._rows: dict[Any, Any] = {}

    def _find(self) -> None:
        empty = [i for i, p in enumerate(self._parameters) if self._is_empty_cache(p)]
        for output, variable in enumerate(self._results):
            call = self._main.made.get(variable)
            if self._results.count(variable) > 1 or call is None:
                continue
            size = spec_of(variable).bytes
            if qnn.is_qnn(call, "concat") and self._is_append(variable, call):
                length, rows = (spec_of(a).shape[_POSITIONS] for a in call.args[:2])
                self._joined[variable] = self._parameters.index(call.args[0])
                self.states.append(State(self._joined[variable], output, length, rows, size))
            elif empty and self._rows_of(variable) is not None:
                shape, past = spec_of(variable).shape, spec_of(self._parameters[empty[0]]).shape
                if (shape[1], shape[3]) == (past[1], past[3]):
                    self.states.append(State(empty.pop(0), output, 0, shape[_POSITIONS], size))

    def _is_empty_cache(self, parameter: Any) -> bool:
        shape = spec_of(parameter).shape
        is_cache = len(shape) == 4 and shape[0] == 1 and shape[_POSITIONS] == 0
        return is_cache and not self._main.calls_reading(parameter)

    def _is_append(self, variable: Any, call: Any) -> bool:
        attributes = qnn.attributes(call)
        looked_up = list(attributes.get("tables", []))
        if attributes["axis"] != _POSITIONS or looked_up not in ([], [1]) or len(call.args) != 2 + len(looked_up):
            return False
        past, shape = call.args[0], spec_of(variable).shape
        if past not in self._parameters or len(self._main.calls_reading(past)) != 1 or len(shape) != 4 or shape[0] != 1:
            return False
        return all(_reads_as_cache(reader, variable) for reader in self._main.calls_reading(variable))

    def _rows_of(self, variable: Any) -> Any:
        """The variable that holds the same values with positions first, if there is such a one."""
        call, shape = self._main.made.get(variable), spec_of(variable).shape
        if call is None or len(shape) != 4 or shape[0] != 1:
            return None
        if is_swap(call):
            return call.args[0]
        single = is_op(call, "relax.reshape") and shape[_POSITIONS] == 1
        return call.args[0] if single and isinstance(call.args[0], relax.Var) else None

    def parameter(self, old: Any) -> Any:
        spec, place = spec_of(old), self._parameters.index(old)
        length = next((state.length for state in self.states if state.past == place), None)
        shape = spec.shape if length is None else (1, length, spec.shape[1], spec.shape[3])
        return relax.Var(old.name, relax.TensorType(shape, spec.dtype))

    def result(self, value: Any) -> Any:
        """Rows in the place of caches."""
        out = [self._values.get(v, v) for v in self._results]
        for state in self.states:
            old = self._results[state.present]
            out[state.present] = self._rows[old] if old in self._rows else self._positions_first(old)
        return relax.Tuple(out)

    def _positions_first(self, variable: Any) -> Any:
        """[1, heads, positions, size] as [1, positions, heads, size]: what it came from, a view, or a transpose."""
        _, heads, positions, size = spec_of(variable).shape
        source = self._rows_of(variable)
        if source is None and positions > 1 and heads > 1:
            return self.emit(swapped(self._values[variable]))
        held = self._values[variable if source is None else source]
        return self.emit(relax.op.reshape(held, (1, positions, heads, size)))

    def visit(self, variable: Any, value: Any) -> Any:
        call = self._main.made[variable]
        if variable in self._joined:
            new = self._rows[variable] = self._positions_first(call.args[1])
            table = call.args[2:]
            if table:
                # The join goes on applying the table, so attention does not wait for the rows that go out.
                self._rows[variable] = self.emit(qnn.emit("lookup", [new, *table]))
            how = {"axis": 1, "tables": [1]} if table else {"axis": 1}
            return qnn.emit("concat", [value.args[0], new, *table], how)
        require(qnn.is_qnn(value, "attention"))
        rows = {f"{name}_layout": "shd" for name, a in zip("qkv", call.args, strict=False) if a in self._joined}
        return qnn.emit("attention", list(value.args), {**qnn.attributes(call), **rows})


def _reads_as_cache(reader: Any, variable: Any) -> bool:
    """Tell if a call is attention with a cache for keys or values, heads first, or does without it."""
    if not qnn.is_qnn(reader, "attention"):
        return False
    layouts, places = qnn.attributes(reader), [n for n, a in zip("qkv", reader.args, strict=False) if a is variable]
    return all(name != "q" and layouts[f"{name}_layout"] == "hsd" for name in places)
