"""Pass: caches that go in and come out longer become state, appended in place.

Expects attention as one operator. Recognises a graph input that is joined with new rows along the positions, where the
result goes out of the network and into attention and nowhere else:

    present = concat(past[1, heads, T, size], rows[1, heads, S, size])      out: present

An empty past (T = 0) leaves only its input and the rows that go out. What remains is

    out: rows[1, S, heads, size];  attention over concat(past[1, T, heads, size], rows)

with a row per position, so that new rows are one run of bytes behind the past in one buffer. A table that the join
applies to the new rows is also applied to those that go out.
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import is_op
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.network import State
from tvm_pulp.qnn.operator import spec_of

_SWAP = [0, 2, 1, 3]
_POSITIONS = 2


def state_caches(module: Any) -> tuple[Any, tuple[State, ...]]:
    """The module with rows in the place of whole caches, and what belongs together."""
    rewriting = _States(module["main"])
    if not rewriting.states:
        return module, ()
    made = rewriting.run()
    for name, other in module.functions.items():
        if name.name_hint != "main":
            made[name] = other
    made = lineage.carried_over(module, relax.transform.DeadCodeElimination()(made))
    return made, tuple(rewriting.states)


class _States:
    def __init__(self, function: Any) -> None:
        self._function = function
        self._bindings = [b for block in function.body.blocks for b in block.bindings]
        self._definitions = {b.var: b.value for b in self._bindings}
        result = self._definitions.get(function.body.body, function.body.body)
        results = list(result.fields) if isinstance(result, relax.Tuple) else [result]
        self._results = [self._behind_names(v) for v in results]
        self._readers: dict[Any, list[Any]] = {}
        for binding in self._bindings:
            for argument in getattr(binding.value, "args", []):
                self._readers.setdefault(argument, []).append(binding.value)
        self.states: list[State] = []
        self._joined: dict[Any, int] = {}  # the variable of a joined cache -> its input
        self._find()

    def _behind_names(self, variable: Any) -> Any:
        """The variable that another one only gives a new name to."""
        while isinstance(self._definitions.get(variable), relax.Var):
            variable = self._definitions[variable]
        return variable

    def _find(self) -> None:
        parameters = list(self._function.params)
        empty = [i for i, p in enumerate(parameters) if self._is_empty_cache(p)]
        for output, variable in enumerate(self._results):
            call = self._definitions.get(variable)
            if self._results.count(variable) > 1 or call is None:
                continue
            if qnn.is_qnn(call, "concat") and self._is_append(variable, call, parameters):
                place = parameters.index(call.args[0])
                length, rows = (spec_of(a).shape[_POSITIONS] for a in call.args[:2])
                self._joined[variable] = place
                self.states.append(State(place, output, length, rows, spec_of(variable).bytes))
            elif empty and self._rows_of(variable) is not None:
                shape, place = spec_of(variable).shape, empty[0]
                past = spec_of(parameters[place]).shape
                if (shape[1], shape[3]) == (past[1], past[3]):
                    self.states.append(State(empty.pop(0), output, 0, shape[_POSITIONS], spec_of(variable).bytes))

    def _is_empty_cache(self, parameter: Any) -> bool:
        shape = spec_of(parameter).shape
        return len(shape) == 4 and shape[0] == 1 and shape[_POSITIONS] == 0 and not self._readers.get(parameter)

    def _is_append(self, variable: Any, call: Any, parameters: list[Any]) -> bool:
        attributes = qnn.attributes(call)
        looked_up = list(attributes.get("tables", []))
        if attributes["axis"] != _POSITIONS or looked_up not in ([], [1]) or len(call.args) != 2 + len(looked_up):
            return False
        past, shape = call.args[0], spec_of(variable).shape
        if past not in parameters or len(self._readers[past]) != 1 or len(shape) != 4 or shape[0] != 1:
            return False
        for reader in self._readers.get(variable, []):
            if not qnn.is_qnn(reader, "attention"):
                return False
            layouts = qnn.attributes(reader)
            for place, name in enumerate(("q", "k", "v")):
                if reader.args[place] is variable and (name == "q" or layouts[f"{name}_layout"] != "hsd"):
                    return False
        return True

    def _rows_of(self, variable: Any) -> Any:
        """What holds the same values with positions first, if there is such a variable."""
        call, shape = self._definitions.get(variable), spec_of(variable).shape
        if call is None or len(shape) != 4 or shape[0] != 1:
            return None
        if qnn.is_qnn(call, "transpose") and qnn.attributes(call)["axes"] == _SWAP:
            return call.args[0]
        single = is_op(call, "relax.reshape") and shape[_POSITIONS] == 1
        return call.args[0] if single and isinstance(call.args[0], relax.Var) else None

    def run(self) -> Any:
        builder, values = relax.BlockBuilder(), {}
        lengths = {state.past: state.length for state in self.states}
        parameters = []
        for place, old in enumerate(self._function.params):
            spec = spec_of(old)
            shape = (1, lengths[place], spec.shape[1], spec.shape[3]) if place in lengths else spec.shape
            values[old] = relax.Var(old.name, relax.TensorType(shape, spec.dtype))
            parameters.append(values[old])
        rows: dict[Any, Any] = {}
        with closed_on_error(builder), builder.function("main", parameters):
            with builder.dataflow():
                for binding in self._bindings:
                    if isinstance(binding.value, relax.Tuple):
                        continue
                    if isinstance(binding.value, relax.Var):
                        values[binding.var] = values[binding.value]
                        continue
                    made = self._value(builder, binding, values, rows)
                    values[binding.var] = builder.emit(builder.normalize(made), name_hint=binding.var.name)
                out = list(self._results)
                for state in self.states:
                    old = out[state.present]
                    out[state.present] = rows[old] if old in rows else self._positions_first(builder, old, values)
                results = [builder.emit_output(values.get(v, v)) for v in out]
            builder.emit_func_output(relax.Tuple(results))
        return builder.get()

    def _positions_first(self, builder: Any, variable: Any, values: dict[Any, Any]) -> Any:
        """[1, heads, positions, size] as [1, positions, heads, size]: what it came from, a view, or a transpose."""
        _, heads, positions, size = spec_of(variable).shape
        source = self._rows_of(variable)
        if source is not None:
            made: Any = relax.op.reshape(values[source], (1, positions, heads, size))
        elif positions == 1 or heads == 1:
            made = relax.op.reshape(values[variable], (1, positions, heads, size))
        else:
            made = qnn.emit("transpose", [values[variable]], {"axes": _SWAP})
        return builder.emit(builder.normalize(made))

    def _value(self, builder: Any, binding: Any, values: dict[Any, Any], rows: dict[Any, Any]) -> Any:
        call = binding.value
        if binding.var in self._joined:
            new = rows[binding.var] = self._positions_first(builder, call.args[1], values)
            parts, how = [values[call.args[0]], new], dict[str, Any](axis=1)
            if len(call.args) > 2:
                # The join goes on applying the table, so attention does not wait for the rows that go out.
                rows[binding.var] = builder.emit(builder.normalize(qnn.emit("lookup", [new, call.args[2]])))
                parts, how["tables"] = [*parts, call.args[2]], [1]
            return qnn.emit("concat", parts, how)
        arguments = [values.get(a, a) for a in call.args]
        if qnn.is_qnn(call, "attention"):
            attributes = qnn.attributes(call)
            for place, name in enumerate(("q", "k", "v")):
                if call.args[place] in self._joined:
                    attributes[f"{name}_layout"] = "shd"
            return qnn.emit("attention", arguments, attributes)
        return relax.Call(call.op, arguments, call.attrs, call.ty_args)
