"""Translates a StableHLO program, node by node, into an ONNX model in memory."""

import re
from collections.abc import Sequence
from typing import Any

from onnx import helper

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.imported import SourceNode, UnsupportedOperators
from tvm_pulp.frontend.onnx_graph_builder import UniqueNames, declared, unused
from tvm_pulp.frontend.onnx_protos import needed
from tvm_pulp.frontend.stablehlo_program import elementwise, movement, products, windows
from tvm_pulp.frontend.stablehlo_program.elementwise import Operators
from tvm_pulp.frontend.stablehlo_program.identify import identify
from tvm_pulp.frontend.stablehlo_program.merged_products import merge_products
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, closure
from tvm_pulp.frontend.stablehlo_program.placed_values import Placed, PlacedValues
from tvm_pulp.frontend.stablehlo_program.rewrites import rewrite, unspread

OPERATORS: Operators = {
    name: write for family in (elementwise, movement, products, windows) for name, write in family.OPERATORS.items()
}
# Behind names of layers in the path of a parameter.
_PARAMETERS = ("kernel", "weight", "embedding", "embeddings", "scale", "bias", "value", "raw_value", "gamma", "beta")
_COLLECTIONS = ("params", "batch_stats")
# What operators that read them write, if anything.
_MADE_BY_READERS = ("argument", "broadcast_in_dim", "top_k")
_WAYS_OUT = {
    "custom_call": "Python and other code outside of the program cannot run on the device: write it in JAX' operators",
    "rng": "the program draws random numbers: call the model for inference (deterministic=True, training=False)",
    "rng_bit_generator": "the program draws random numbers: call the model for inference",
}


# What groups of operators are found to be; StableHLO has none of these.
GROUPS = frozenset(
    (
        *("average_pool", "copy", "elu", "gelu", "hard_sigmoid", "hard_swish", "layer_norm", "leaky_relu"),
        *("log_softmax", "mean", "mish", "relu", "relu6", "repeat", "result", "rms_norm", "selu", "silu", "softmax"),
        *("softplus", "softsign"),
    )
)
# What is read before anything is translated, or by what reads it.
STRUCTURE = ("broadcast_in_dim", "call", "case", "composite", "constant", "if", "iota", "sort", "top_k", "while")


class Translation:
    """An ONNX model, and how its tensors are found in the program."""

    def __init__(
        self,
        inputs: Sequence[StablehloNode],
        outputs: Sequence[StablehloNode],
        names: Sequence[str],
        producer: str,
        *,
        fixed: bool = True,
    ) -> None:
        rewrite(outputs)
        merge_products(outputs)
        identify(outputs)
        self._values, self._names = PlacedValues(fixed), LayerNames(closure(outputs))
        # Of values of the program's main function: position -> the node's name, and the order of axes in its tensor.
        self.places: dict[int, tuple[str, Placed]] = {}
        nodes = [n for n in closure([*inputs, *outputs]) if n.array is None]
        self._check_known(nodes)
        given = [self._input(node) for node in inputs]
        for node in nodes:
            if node.op in OPERATORS and not _split(node):
                self._node(node)
        made = self._outputs(outputs, names)
        g = self._values.g
        g.nodes = needed(g.nodes, names)
        self.model = g.model(given, made, producer)

    def _check_known(self, nodes: Sequence[StablehloNode]) -> None:
        bad = [n for n in nodes if n.op not in OPERATORS and n.op not in _MADE_BY_READERS and not _split(n)]
        if not bad:
            return
        listed = ", ".join(sorted({f"{_shown(n)} (node '{self._names.label(n)}')" for n in bad}))
        way_out = next((_WAYS_OUT[n.op] for n in bad if n.op in _WAYS_OUT), "replace them by others")
        labels = {n: self._names.label(n) for n in nodes}
        sources = [
            SourceNode(
                labels[n], n.op, tuple(labels[o] for o in n.operands if o in labels), (labels[n],), unsupported=n in bad
            )
            for n in nodes
        ]
        raise UnsupportedOperators(f"unsupported operators of StableHLO: {listed}: {way_out}", sources)

    def _input(self, node: StablehloNode) -> Any:
        self._values.values[node] = self._values.place(node, node.label)
        self._values.shapes[node.label] = node.shape
        return declared(node.label, node.dtype, node.shape)

    def _node(self, node: StablehloNode) -> None:
        v, label = self._values, self._names.label(node)
        tensor = _plain_name(label)
        v.g.enter(label, tensor, None)
        made = OPERATORS[node.op](v, node)
        v.values[node] = made
        v.shapes.setdefault(made.name, tuple(node.shape[a] for a in made.order))
        if node.place is not None:
            self.places[node.place] = (label, made)

    def _outputs(self, outputs: Sequence[StablehloNode], names: Sequence[str]) -> list[Any]:
        made = []
        g = self._values.g
        for node, name in zip(outputs, names, strict=True):
            g.enter(name, name, None)
            held = self._values.natural(node)
            g.nodes.append(helper.make_node("Identity", [held], [name], name=unused(name, {n.name for n in g.nodes})))
            made.append(declared(name, node.dtype, node.shape))
        refuse_if(not made, "the program returns no tensor: nothing would be computed")
        return made


def _split(node: StablehloNode) -> bool:
    """An operator of several results that the node behind it writes."""
    return (node.op == "reduce" and len(node.operands) == 4) or (node.op == "sort" and len(node.operands) > 1)


def _shown(node: StablehloNode) -> str:
    target = node.attributes.get("call_target_name", "")
    return f"{node.op} '{target}'" if target else node.op


def _plain_name(label: str) -> str:
    return re.sub(r"[^\w./]+", "_", label)


class LayerNames(UniqueNames):
    """Of a layer with weights its path among the parameters, else the framework's."""

    def __init__(self, nodes: Sequence[StablehloNode]) -> None:
        super().__init__()
        # No other node of a layer takes the name that the one with weights has.
        self._reserved = {path for path in map(_weighted_layer, nodes) if path}

    def stem(self, node: StablehloNode) -> str:
        path = _weighted_layer(node)
        if path and path not in self.taken:
            return path
        parts = node.label.split("/")
        layer = "/".join(parts[:-1])
        free = layer not in self.taken and layer not in self._reserved
        if layer and free and node.op not in ("reshape", "transpose", "broadcast_in_dim"):
            return layer
        return "/".join(p for p in (layer, parts[-1] if node.op not in GROUPS else node.op) if p) or node.op


def _weighted_layer(node: StablehloNode) -> str:
    """The layer whose weights a node reads; "" for none."""
    if node.op not in ("convolution", "dot_general", "gather") or len(node.operands) < 2:
        return ""
    weights = [o.label for o in map(unspread, node.operands) if o.label.startswith("@")]
    return layer_of(weights[0]) if weights else ""


def layer_of(parameter: str) -> str:
    """The layer that a parameter belongs to: `@params/block/Dense_0/kernel` is one of `block/Dense_0`."""
    parts = [p for p in parameter.removeprefix("@").split("/") if p]
    while parts and parts[0] in _COLLECTIONS:
        parts.pop(0)
    while parts and parts[-1] in _PARAMETERS:
        parts.pop()
    return "/".join(parts)
