"""Reads an ONNX file into a graph that is checked, sorted, folded and safe to walk."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.frontend.limits import MOST_NODES, MOST_READERS, check_shape, read_file
from tvm_pulp.frontend.onnx_expansions import expand_contrib, inline_functions, inline_standard_functions
from tvm_pulp.frontend.onnx_fold import known_results
from tvm_pulp.frontend.onnx_protos import execution_order, label, with_nodes
from tvm_pulp.frontend.onnx_renames import plain_renames
from tvm_pulp.frontend.onnx_tensors import array, check_tensors, item_bytes, load_external, type_name, widen_nibbles
from tvm_pulp.frontend.onnx_truth import with_bytes_at_ends

# Older operator sets mean different things under the same names.
OLDEST_OPSET = 7


@dataclass(frozen=True)
class OnnxNode:
    """One operator of the graph, constants resolved by name."""

    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    @property
    def label(self) -> str:
        """The node as messages name it."""
        return f"node '{self.name}' ({self.op_type})"

    @property
    def auto_pad(self) -> str:
        return self.attributes.get("auto_pad") or "NOTSET"

    def has(self, place: int) -> bool:
        """Tell if an operand is given."""
        return len(self.inputs) > place and bool(self.inputs[place])

    def scalar(self, *names: str, default: float | None = None) -> float:
        """A scalar attribute that may be stored as a number or as a one-element tensor."""
        name = next((name for name in names if name in self.attributes), None)
        if name is None:
            if default is None:
                raise UserError(f"{self.label} lacks the attribute '{names[0]}': re-export the model")
            return default
        try:
            return float(np.asarray(self.attributes[name]).reshape(-1)[0])
        except (ValueError, TypeError, IndexError):
            raise UserError(f"{self.label}: attribute '{name}' is not a number") from None

    def integer(self, *names: str, default: int | None = None) -> int:
        value = self.scalar(*names, default=default)
        whole = np.isfinite(value) and value == round(value)
        refuse_if(not whole, f"{self.label}: attribute '{names[0]}' is {value}, not an integer")
        return int(value)

    def power_of_two(self, name: str) -> int:
        """The logarithm of an attribute that divides by shifting."""
        value = self.integer(name)
        shift = value.bit_length() - 1
        refuse_if(shift < 0 or value != 1 << shift, f"{self.label}: {name} {value} is not a power of two")
        return shift


@dataclass(frozen=True)
class Graph:
    """Nodes in execution order, constants by name."""

    nodes: tuple[OnnxNode, ...]
    constants: dict[str, np.ndarray]
    inputs: dict[str, tuple[tuple[int | str, ...], int]]  # name -> (dimensions, ONNX element type)
    outputs: tuple[str, ...]
    opset: int
    # The checked model as protocol buffers: functions inlined, nodes in execution order, nothing folded.
    model: Any


def read(path: Path) -> Graph:
    """Parse a file; anything that is not a readable model is a user error."""
    content = read_file(path, "is larger than 2 GiB: no ONNX model is; store large weights as external data")
    with refuse_library_errors(f"'{path}' is not a readable ONNX model", ": check the file or --model-format"):
        model = onnx.load_model_from_string(content)
    if not model.graph.node and not model.graph.output:
        raise UserError(f"'{path}' holds no ONNX graph: check the file or --model-format")
    load_external(model, path.parent)
    return from_model(model)


def bytes_at_ends(graph: Graph) -> Graph:
    """The graph with bytes instead of truth values at its ends."""
    model = with_bytes_at_ends(graph.model)
    return graph if model is graph.model else from_model(model)


def is_onnx(model: Any) -> bool:
    """Tell if something is an ONNX model in memory."""
    return isinstance(model, onnx.ModelProto)


def from_model(model: Any) -> Graph:
    """Graph of a loaded model: checked, sorted, constants folded."""
    opset = _opset(model)
    model = plain_renames(inline_standard_functions(inline_functions(model)))
    model = widen_nibbles(expand_contrib(model, opset))
    graph = model.graph
    if len(graph.node) > MOST_NODES:
        raise UserError(f"the graph has {len(graph.node)} nodes, more than {MOST_NODES}: it is not plausible here")
    check_tensors(graph)
    constants = {i.name: array(i) for i in graph.initializer}
    inputs = {i.name: _declared(i) for i in graph.input if i.name not in constants}
    refuse_if(not graph.output, "the graph has no output: nothing would be computed")
    outputs = tuple(o.name for o in graph.output)
    ordered = execution_order(graph.node, set(inputs) | set(constants), outputs)
    _check_readers(ordered, constants)
    if any(a is not b for a, b in zip(ordered, graph.node, strict=True)):
        model = with_nodes(model, ordered)
        ordered = list(model.graph.node)
    kept = _fold(ordered, constants, opset)
    return Graph(tuple(kept), constants, inputs, outputs, opset, model)


def _check_readers(nodes: list[Any], constants: dict[str, np.ndarray]) -> None:
    counts = Counter(name for node in nodes for name in set(node.input) if name and name not in constants)
    for name, count in counts.items():
        refuse_if(
            count > MOST_READERS,
            f"value '{name}' is read by {count} nodes, more than {MOST_READERS}: it is not plausible here; "
            "split the graph or join its readers",
        )


def _opset(model: Any) -> int:
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    newest = onnx.defs.onnx_opset_version()
    refuse_if(not versions, f"the model states no opset of the standard operators: export it for opset 11 to {newest}")
    opset = max(versions)
    if not OLDEST_OPSET <= opset <= newest:
        raise UserError(f"opset {opset} is not supported ({OLDEST_OPSET} to {newest} are): export it for another one")
    return int(opset)


def _declared(value: Any) -> tuple[tuple[int | str, ...], int]:
    """Dimensions and element type of a graph input."""
    if not value.type.HasField("tensor_type"):
        raise UserError(f"input '{value.name}' is not a tensor: export the model without sequences, maps and optionals")
    kind = value.type.tensor_type
    if item_bytes(kind.elem_type) is None:
        raise UserError(
            f"input '{value.name}' has the unsupported type {type_name(kind.elem_type)}: use float32 or int8"
        )
    if not kind.HasField("shape"):
        return ("?",), kind.elem_type
    # Some exporters write minus one for a dimension they do not know.
    dims = tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else (d.dim_param or "?") for d in kind.shape.dim
    )
    check_shape(f"input '{value.name}'", (d for d in dims if isinstance(d, int)), item_bytes(kind.elem_type) or 1)
    return dims, kind.elem_type


def _fold(ordered: list[Any], constants: dict[str, np.ndarray], opset: int) -> list[OnnxNode]:
    """Nodes that are left when those with constant operands are evaluated; `constants` grows."""
    kept = []
    for index, proto in enumerate(ordered):
        results = known_results(proto, constants, opset)
        if results is None:
            kept.append(_node(index, proto))
        else:
            constants.update(results)
    return kept


def _node(index: int, proto: Any) -> OnnxNode:
    attributes = {}
    for a in proto.attribute:
        try:
            value = onnx.helper.get_attribute_value(a)
        except ValueError:
            raise UserError(f"{label(proto)}: attribute '{a.name}' has no readable value: export it again") from None
        if isinstance(value, onnx.TensorProto):
            value = array(value)
        elif isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        attributes[a.name] = value
    refuse_if(not proto.output, f"{label(proto)} has no result: export the model again")
    name = proto.name or f"{proto.op_type}_{index}"
    return OnnxNode(proto.op_type, name, tuple(proto.input), tuple(proto.output), attributes)
