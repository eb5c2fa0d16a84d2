"""LSTM, GRU and RNN nodes as the standard operators they stand for, one step after the other.

Every gate has matrix products of its own: X W for all steps at once, then H R per step. The sequence length is part of
the input's shape, so the loop is written out.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from onnx import helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, label, operand, result

# Gates in the order in which weights are stacked, and the default activation functions.
GATES = {"LSTM": ("input", "output", "forget", "cell"), "GRU": ("update", "reset", "hidden"), "RNN": ("hidden",)}
_FUNCTIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_KNOWN_FUNCTIONS = ("Sigmoid", "Tanh", "Relu")
_LONGEST = 1024
# Its weights are integers, and stored the other way round.
DYNAMIC = "DynamicQuantizeLSTM"
FLOAT_RECURRENT = frozenset(GATES)
RECURRENT = FLOAT_RECURRENT | {DYNAMIC}


# From a step and the last state and cell to the next ones.
Step = Callable[[int, str | None, str | None], tuple[str, str | None]]


class Unrolled:
    """One recurrent node on its way into a graph."""

    def __init__(self, node: Any, constants: Mapping[str, np.ndarray], shapes: Mapping[str, Any], graph: Any) -> None:
        self.node, self.constants, self.graph = node, constants, graph
        self.kind = "LSTM" if node.op_type == DYNAMIC else node.op_type
        self.attributes = attributes_of(node)
        self.prefix = f"{result(node, 0) or node.name}__unrolled"
        self.count = 0
        self.batch_first = bool(self.attributes.get("layout", 0))
        x, weight = (self._shape(shapes, place) for place in (0, 1))
        refuse_if(len(x) != 3 or len(weight) != 3, f"{label(node)}: its operands must have three axes: export it again")
        self.steps, self.batch = x[1::-1] if self.batch_first else x[:2]
        self.directions = weight[0]
        self.hidden = weight[2 if node.op_type == DYNAMIC else 1] // len(GATES[self.kind])
        self.functions = self._functions()
        self._check()

    def _shape(self, shapes: Mapping[str, Any], place: int) -> tuple[int, ...]:
        name = self._operand(place)
        if name in self.constants:
            return tuple(self.constants[name].shape)
        if name not in shapes:
            reason = f"the shape of operand '{name}' is not known"
            raise UserError(f"{label(self.node)}: {reason}: fix it with --input-shapes")
        return tuple(shapes[name])

    def _functions(self) -> list[str]:
        per_direction = _FUNCTIONS[self.kind]
        given = [f.decode("ascii", "replace") for f in self.attributes.get("activations", [])]
        functions = given or per_direction * self.directions
        if len(functions) != len(per_direction) * self.directions or any(f not in _KNOWN_FUNCTIONS for f in functions):
            raise UserError(f"{label(self.node)}: activations {given} are not supported: use {_KNOWN_FUNCTIONS}")
        return functions

    def _check(self) -> None:
        node = self.node
        for name in ("clip", "input_forget", "activation_alpha", "activation_beta"):
            if self.attributes.get(name):
                raise UserError(f"{label(node)}: attribute '{name}' is not supported: export it without")
        direction = self.attributes.get("direction", b"forward").decode("ascii", "replace")
        count = {"forward": 1, "reverse": 1, "bidirectional": 2}.get(direction)
        if count != self.directions:
            raise UserError(f"{label(node)}: direction '{direction}' does not fit {self.directions} weight matrices")
        self.reverse = [direction == "reverse", True]
        if not 0 < self.steps <= _LONGEST or not self.hidden:
            raise UserError(f"{label(node)}: {self.steps} steps cannot be written out; use 1 to {_LONGEST}")
        self._check_weights()
        lengths = self._operand(4)
        stated = self.constants.get(lengths) if lengths else None
        if lengths and (stated is None or (stated != self.steps).any()):
            raise UserError(f"{label(node)}: sequences of different length are not supported: leave sequence_lens out")
        refuse_if(self._operand(7), f"{label(node)}: peephole weights are not supported: export it without")

    def _check_weights(self) -> None:
        rows = len(GATES[self.kind]) * self.hidden
        for place, wanted in ((1, (rows,)), (2, (rows, self.hidden)), (3, (2 * rows,))):
            found = self.constants[self._operand(place)].shape if self._operand(place) in self.constants else None
            if found is not None and found[: len(wanted) + 1] != (self.directions, *wanted):
                reason = f"operand '{self._operand(place)}' of shape {list(found)} does not fit"
                raise UserError(f"{label(self.node)}: {reason}: export it again")
        self._check_states()

    def _check_states(self) -> None:
        """First states have the size of the last: exporters leave a projection out without a word, but not there."""
        first = (self.batch, self.directions) if self.batch_first else (self.directions, self.batch)
        for name in (self._operand(5), self._operand(6)):
            found = self.constants[name].shape if name in self.constants else None
            if found is not None and found != (*first, self.hidden):
                reason = f"its first state '{name}' of shape {list(found)} does not fit {self.hidden} hidden numbers"
                way_out = "a projection (proj_size) has no ONNX form: write it as a layer of its own"
                raise UserError(f"{label(self.node)}: {reason}: {way_out}")

    def _operand(self, place: int) -> str:
        return operand(self.node, place)

    def emit(self, op: str, *operands: str, **attributes: Any) -> str:
        self.count += 1
        name = f"{self.prefix}_{self.count}"
        self.graph.node.append(helper.make_node(op, list(operands), [name], name=name, **attributes))
        return name

    def quantized(self, value: str) -> list[str]:
        """Integers of a value, their scale and zero point, which follow from its range at run time."""
        first = self.emit("DynamicQuantizeLinear", value)
        self.graph.node[-1].output.extend((f"{first}_1", f"{first}_2"))
        return list(self.graph.node[-1].output)

    def integer_product(self, value: list[str], weights: np.ndarray, zeros: np.ndarray, scales: np.ndarray) -> str:
        """A value, as `quantized` gives it, times integers with these zero points and scales."""
        integers, unit, offset = value
        sums = self.emit("MatMulInteger", integers, self.constant(weights), offset, self.constant(zeros))
        return self.emit("Mul", self.emit("Cast", sums, to=1), self.emit("Mul", unit, self.constant(scales)))

    def constant(self, values: np.ndarray) -> str:
        self.count += 1
        name = f"{self.prefix}_c{self.count}"
        self.graph.initializer.append(constant_of(name, np.ascontiguousarray(values)))
        return name

    def pick(self, value: str, index: int, axis: int) -> str:
        """One entry along an axis, which stays with a size of one."""
        return self.emit("Gather", value, self.constant(np.array(index, np.int64)), axis=axis)

    def matrix(self, place: int, direction: int, gate: int) -> str:
        """Weights of one gate, ready to multiply from the right."""
        name, rows = self._operand(place), slice(gate * self.hidden, (gate + 1) * self.hidden)
        if name in self.constants:
            return self.constant(self.constants[name][direction, rows].T)
        whole = self.pick(name, direction, 0)
        indices = self.constant(np.arange(rows.start, rows.stop, dtype=np.int64))
        return self.emit("Transpose", self.emit("Gather", whole, indices, axis=1), perm=[0, 2, 1])

    def biases(self, direction: int) -> np.ndarray | None:
        """The stacked biases, [2 * gates, hidden]."""
        name = self._operand(3)
        if name and name not in self.constants:
            raise UserError(f"{label(self.node)}: the bias '{name}' must be constant: make it an initializer")
        return self.constants[name][direction].reshape(-1, self.hidden) if name else None

    def bias(self, direction: int, entry: int) -> np.ndarray | None:
        """One vector of the stacked biases."""
        given = self.biases(direction)
        return given[entry] if given is not None and given[entry].any() else None

    def plus(self, value: str, *vectors: np.ndarray | None) -> str:
        given = [v for v in vectors if v is not None]
        return (
            self.emit("Add", value, self.constant(np.asarray(sum(given[1:], given[0]), np.float32))) if given else value
        )

    def state(self, place: int, direction: int) -> str | None:
        """Initial state [batch, hidden]; None where it is zero."""
        name = self._operand(place)
        if not name or (name in self.constants and not self.constants[name].any()):
            return None
        axis = 1 if self.batch_first else 0
        if name in self.constants:
            return self.constant(np.take(self.constants[name], direction, axis=axis))
        return self.pick(name, direction, axis)

    def times(self, state: str | None, matrix: str) -> str | None:
        return None if state is None else self.emit("MatMul", state, matrix)

    def both(self, a: str, b: str | None) -> str:
        return a if b is None else self.emit("Add", a, b)

    def write(self) -> None:
        """Append the nodes that stand for the recurrent one."""
        x = self._operand(0)
        x = self.emit("Transpose", x, perm=[1, 0, 2]) if self.batch_first else x
        rule: dict[str, Callable[[str, int], Step]] = {"LSTM": self._lstm, "GRU": self._gru, "RNN": self._rnn}
        everything, last, cells = [], [], []
        for direction in range(self.directions):
            advance, states = rule[self.kind](x, direction), [""] * self.steps
            state, cell = self.state(5, direction), self.state(6, direction)
            for step in range(self.steps)[:: -1 if self.reverse[direction] else 1]:
                state, cell = advance(step, state, cell)
                states[step] = state
            last.append(state or "")
            cells.append(cell)
            everything.append(states)
        self._outputs(everything, last, cells)

    def _outputs(self, everything: list[list[str]], last: list[str], cells: list[str | None]) -> None:
        shape = [self.batch, 1, self.hidden] if self.batch_first else [1, self.batch, self.hidden]
        axis = 1 if self.batch_first else 0
        outputs = list(self.node.output) + [""] * 3
        if outputs[0]:
            # [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
            full = [self.batch, 1, 1, self.hidden] if self.batch_first else [1, 1, self.batch, self.hidden]
            rows = [
                self._joined([self._reshaped(e[step], full) for e in everything], axis + 1)
                for step in range(self.steps)
            ]
            self._named(self._joined(rows, axis), outputs[0])
        if outputs[1]:
            self._named(self._joined([self._reshaped(h, shape) for h in last], axis), outputs[1])
        if outputs[2]:
            given = [self._reshaped(c, shape) for c in cells if c is not None]
            self._named(self._joined(given, axis), outputs[2])

    def _reshaped(self, value: str, shape: list[int]) -> str:
        return self.emit("Reshape", value, self.constant(np.array(shape, np.int64)))

    def _joined(self, values: list[str], axis: int) -> str:
        return values[0] if len(values) == 1 else self.emit("Concat", *values, axis=axis)

    def _named(self, value: str, name: str) -> None:
        """Let the last node produce the name the rest of the graph knows."""
        if self.graph.node[-1].output[0] == value:
            self.graph.node[-1].output[0] = name
        else:
            self.graph.node.append(helper.make_node("Identity", [value], [name], name=name))

    def _inputs(self, x: str, direction: int, gate: int, *biases: np.ndarray | None) -> str:
        """X W + bias for all steps."""
        return self.plus(self.emit("MatMul", x, self.matrix(1, direction, gate)), *biases)

    def _gate_sums(self, x: str, direction: int) -> Callable[[int, str | None], list[str]]:
        """X W + H R + biases of every gate, by step and state."""
        gates = range(len(GATES[self.kind]))
        projected = [
            self._inputs(x, direction, k, self.bias(direction, k), self.bias(direction, k + len(gates))) for k in gates
        ]
        recurrent = [self.matrix(2, direction, k) for k in gates]
        return lambda step, state: [
            self.both(self.pick(p, step, 0), self.times(state, r)) for p, r in zip(projected, recurrent, strict=True)
        ]

    def _lstm(self, x: str, direction: int) -> Step:
        (f, g, h), sums = self.functions[3 * direction : 3 * direction + 3], self._gate_sums(x, direction)

        def advance(step: int, state: str | None, cell: str | None) -> tuple[str, str | None]:
            *gates, candidate = sums(step, state)
            admit, out, forget = (self.emit(f, s) for s in gates)
            fresh = self.emit("Mul", admit, self.emit(g, candidate))
            cell = fresh if cell is None else self.emit("Add", self.emit("Mul", forget, cell), fresh)
            return self.emit("Mul", out, self.emit(h, cell)), cell

        return advance

    def _gru(self, x: str, direction: int) -> Step:
        f, g = self.functions[2 * direction : 2 * direction + 2]
        after = bool(self.attributes.get("linear_before_reset", 0))
        biases = [[self.bias(direction, k), self.bias(direction, k + 3)] for k in range(3)]
        inside = biases[2].pop() if after else None
        projected = [self._inputs(x, direction, k, *biases[k]) for k in range(3)]
        recurrent = [self.matrix(2, direction, k) for k in range(3)]
        one = self.constant(np.array(1, np.float32))

        def remembered(reset: str, state: str | None) -> str:
            """The part of the last state that the reset gate lets through, times its weights."""
            if not after:
                return str(self.times(self.emit("Mul", reset, str(state)), recurrent[2]))
            product = self.times(state, recurrent[2])
            given = self.constant(np.asarray(inside, np.float32)) if product is None else self.plus(product, inside)
            return self.emit("Mul", reset, given)

        def advance(step: int, state: str | None, _cell: str | None) -> tuple[str, str | None]:
            update, reset, fresh = (self.pick(p, step, 0) for p in projected)
            update = self.emit(f, self.both(update, self.times(state, recurrent[0])))
            if state is None and inside is None:
                fresh = self.emit(g, fresh)
            else:
                reset = self.emit(f, self.both(reset, self.times(state, recurrent[1])))
                fresh = self.emit(g, self.emit("Add", fresh, remembered(reset, state)))
            mixed = self.emit("Mul", self.emit("Sub", one, update), fresh)
            return mixed if state is None else self.emit("Add", mixed, self.emit("Mul", update, state)), None

        return advance

    def _rnn(self, x: str, direction: int) -> Step:
        sums = self._gate_sums(x, direction)
        return lambda step, state, _cell: (self.emit(self.functions[direction], *sums(step, state)), None)


# Operands of the weights of inputs and of the state: values, scale, zero point.
_INPUT, _STATE = (1, 8, 9), (2, 10, 11)


class DynamicLstm(Unrolled):
    def _check_weights(self) -> None:
        for places in (_INPUT, _STATE):
            for place in places:
                name = self._operand(place)
                if name and name not in self.constants:
                    raise UserError(f"{label(self.node)}: '{name}' must be constant: make it an initializer")
            values, scale = (self.constants.get(self._operand(p)) for p in places[:2])
            columns = 4 * self.hidden
            where = label(self.node)
            if values is None or scale is None or values.shape[0] != self.directions or values.shape[2:] != (columns,):
                raise UserError(f"{where}: its weights do not fit {self.hidden} hidden values: quantize it again")
            if scale.size not in (self.directions, self.directions * columns):
                raise UserError(f"{where}: {scale.size} scales do not fit {columns} columns: quantize it again")

    def _product(self, value: str, direction: int, places: tuple[int, int, int]) -> str:
        """All gates of a value times its weights."""
        values, scale = (self.constants[self._operand(p)] for p in places[:2])
        zero = self.constants.get(self._operand(places[2]), np.zeros(self.directions, values.dtype))
        scale, zero = scale.reshape(self.directions, -1)[direction], zero.reshape(self.directions, -1)[direction]
        return self.integer_product(self.quantized(value), values[direction], zero, scale.astype(np.float32))

    def _gate_sums(self, x: str, direction: int) -> Callable[[int, str | None], list[str]]:
        biases = self.biases(direction)
        projected = self._product(x, direction, _INPUT)
        if biases is not None:
            projected = self.plus(projected, *biases.reshape(2, -1))

        def sums(step: int, state: str | None) -> list[str]:
            total = self.pick(projected, step, 0)
            if state is not None:
                total = self.emit("Add", total, self._product(state, direction, _STATE))
            gates = self._reshaped(total, [self.batch, 4, self.hidden])
            return [self._reshaped(self.pick(gates, k, 1), [self.batch, self.hidden]) for k in range(4)]

        return sums
