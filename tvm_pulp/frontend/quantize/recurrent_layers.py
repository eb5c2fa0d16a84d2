"""Gates of LSTM, GRU and RNN nodes as layers of their own: onnxruntime's quantizer leaves the nodes in float.

Of recurrences that a framework wrote out step by step only the products are quantized, as of these.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tvm_pulp.frontend.onnx_integer_recurrent import IntegerUnrolled
from tvm_pulp.frontend.onnx_protos import constants_of, execution_order, operand, readers_of, static_shape, with_nodes
from tvm_pulp.frontend.onnx_recurrent import FLOAT_RECURRENT, GATES
from tvm_pulp.frontend.onnx_shapes import value_shapes
from tvm_pulp.frontend.onnx_standard import unrolled


@dataclass(frozen=True)
class RecurrentGate:
    """A gate of a recurrent node."""

    node: str
    operator: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.node}.{GATES[self.operator][self.number]}"


def gates_of(model: Any) -> dict[str, RecurrentGate]:
    """Gates with constant weights, by name, of nodes that can be written out."""
    constants, shapes = constants_of(model.graph), _shapes(model)
    nodes = [n for n in model.graph.node if n.op_type in FLOAT_RECURRENT and operand(n, 0) in shapes]
    nodes = [n for n in nodes if {operand(n, 1), operand(n, 2)} <= constants.keys()]
    gates = [RecurrentGate(n.name, n.op_type, k) for n in nodes for k in range(len(GATES[n.op_type]))]
    return {gate.name: gate for gate in gates}


def with_integer_gates(model: Any, gates: Mapping[str, RecurrentGate]) -> Any:
    """The model with the nodes of these gates written out, the gates' products sums of integers."""
    numbers: dict[str, frozenset[int]] = {}
    for gate in gates.values():
        numbers[gate.node] = numbers.get(gate.node, frozenset()) | {gate.number}
    if not numbers:
        return model

    def writer(node: Any, *where: Any) -> IntegerUnrolled | None:
        return IntegerUnrolled(node, *where, gates=numbers[node.name]) if node.name in numbers else None

    # Quantizers append their nodes.
    known = {value.name for values in (model.graph.input, model.graph.initializer) for value in values}
    ordered = execution_order(model.graph.node, known, [o.name for o in model.graph.output])
    made = with_nodes(model, ordered)
    made.graph.CopyFrom(unrolled(made.graph, constants_of(made.graph), _shapes(made), writer))
    # Shapes of values that are gone, or that the steps have in between.
    del made.graph.value_info[:]
    return made


def written_out_steps(model: Any, weighted: Collection[str]) -> set[str]:
    """Nodes around products with one matrix whose result reaches the next such product with no other in between.

    They are steps of a loop; `weighted` are operators of products.
    """
    constants, readers = constants_of(model.graph), readers_of(model.graph.node)
    makers = {name: node for node in model.graph.node for name in node.output}
    products = [n for n in model.graph.node if n.op_type in weighted and len(n.input) > 1 and n.input[1] in constants]
    matrix = {n.name: constants[n.input[1]].tobytes() for n in products}

    def near(start: Any, following: bool) -> dict[str, Any]:
        """Nodes behind one, or before it, up to products and these too."""
        found: dict[str, Any] = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            names = node.output if following else node.input
            for other in [o for n in names for o in (readers.get(n, []) if following else [makers.get(n)])]:
                if other is not None and other.name not in found:
                    found[other.name] = other
                    waiting += [other] if other.op_type not in weighted else []
        return found

    behind = {n.name: near(n, True) for n in products}
    joined = [n for n in products if any(matrix.get(o) == matrix[n.name] for o in behind[n.name])]
    after = {o for n in joined for o in behind[n.name] if matrix.get(o) == matrix[n.name]}
    steps = {o for n in products if n.name in after for o in (*behind[n.name], *near(n, False))}
    steps |= {o for n in joined for o in (*behind[n.name], *near(n, False))}
    return steps - {n.name for n in model.graph.node if n.op_type in weighted}


def _shapes(model: Any) -> dict[str, tuple[int, ...]]:
    inputs = {info.name: static_shape(info) for info in model.graph.input}
    known = {name: list(shape) for name, shape in inputs.items() if shape is not None}
    return value_shapes(model.graph, model.opset_import, known) if len(known) == len(inputs) else {}
