"""Node by node of the model file: which canonical operator it became part of, or why it stays float and what helps."""

import re
from collections.abc import Callable, Sequence
from typing import TextIO

from tvm_pulp.frontend.imported import SourceNode, identifier
from tvm_pulp.grouped import grouped
from tvm_pulp.qnn.network import Layer, Network

_BORDERS = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
# They move elements, so that they look like what they move.
_MOVING = frozenset(
    (
        *("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "Split", "Concat"),
        *("Pad", "Identity", "MaxPool", "Tile", "Expand"),
    )
)
_ISLANDS = frozenset(
    ("LayerNormalization", "GroupNormalization", "InstanceNormalization", "LSTM", "GRU", "RNN", "Resize")
)


def explain_nodes(nodes: Sequence[SourceNode], network: Network, stream: TextIO) -> None:
    """One or two lines per node."""
    layers, graph = {layer.name: layer for layer in network.layers}, _Graph(nodes)
    integer = 0
    for node in nodes:
        print(f"{node.name}: {node.op_type}", file=stream)
        own = _own_layer(node, layers)
        if node.constant:
            print("    constant: computed at compile time", file=stream)
            integer += 1
        elif own is not None and own.is_float:
            reason, remedy = graph.why_float(node)
            kernel = own.operator.removeprefix("tir.").removeprefix("tir_")
            how = f"plain C by TVM ({kernel})" if own.operator.startswith("tir.") else f"qnn.{kernel}"
            print(f"    stays float, {how}: {reason}", file=stream)
            print(f"    what would help: {remedy}", file=stream)
        else:
            found = own or graph.layer_before(node, layers) or graph.layer_after(node, layers)
            integer += 1
            text = f"qnn.{found.operator}, layer {found.name}" if found is not None else "no code: it moves nothing"
            if found is not None and found.is_float:
                text = f"part of the float code of layer {found.name}"
                integer -= 1
            print(f"    {text}", file=stream)
    print(f"{integer} of {len(nodes)} nodes are integer or need no code", file=stream)


def why_float(layer: Layer, nodes: Sequence[SourceNode]) -> str:
    """Why a layer of floats is not integer, as far as the model file tells."""
    node = next((n for n in nodes if not n.constant and _own_layer(n, {layer.name: layer}) is not None), None)
    if node is None:
        return "the model computes between its quantizations in float"
    return _Graph(nodes).why_float(node)[0]


def explain_unsupported(nodes: Sequence[SourceNode], stream: TextIO) -> None:
    """The same list for a model that cannot be imported."""
    for node in nodes:
        print(f"{node.name}: {node.op_type}", file=stream)
        if node.unsupported:
            print(f"    unsupported: {node.op_type} has no conversion", file=stream)
            print(
                "    what would help: express it by standard operators, or export it as a model function", file=stream
            )
        else:
            print("    supported; its form is known once the others are replaced", file=stream)
    bad = sum(node.unsupported for node in nodes)
    print(f"{bad} of {len(nodes)} nodes are unsupported", file=stream)


def _own_layer(node: SourceNode, layers: dict[str, Layer]) -> Layer | None:
    """The layer called after a node; repeated names carry a number."""
    base = identifier(node.name)
    if base in layers:
        return layers[base]
    numbered = re.compile(re.escape(base) + r"_?\d+")
    return next((layer for name, layer in layers.items() if numbered.fullmatch(name)), None)


def _nearest(
    node: SourceNode,
    neighbours: Callable[[SourceNode], list[SourceNode]],
    layer_of: Callable[[SourceNode], Layer | None],
) -> Layer | None:
    """The first layer on the way from a node to its neighbours and theirs."""
    seen, queue = set(), [node]
    while queue:
        for other in neighbours(queue.pop(0)):
            if id(other) in seen:
                continue
            seen.add(id(other))
            layer = layer_of(other)
            if layer is not None:
                return layer
            queue.append(other)
    return None


class _Graph:
    """Nodes of a model file with who makes and who reads each value."""

    def __init__(self, nodes: Sequence[SourceNode]) -> None:
        self._makers = {output: node for node in nodes for output in node.outputs}
        self._readers = grouped((name, node) for node in nodes for name in node.inputs)
        self._quantized = any(node.op_type in _BORDERS or node.op_type.startswith("QLinear") for node in nodes)

    def layer_before(self, node: SourceNode, layers: dict[str, Layer]) -> Layer | None:
        """The layer that swallowed what follows it (bias, activation, quantization); a dequantize starts a new one."""

        def makers(of: SourceNode) -> list[SourceNode]:
            found = [self._makers[name] for name in of.inputs if name in self._makers]
            return [] if of.op_type == "DequantizeLinear" else [maker for maker in found if not maker.constant]

        return _nearest(
            node, makers, lambda maker: None if maker.op_type == "DequantizeLinear" else _own_layer(maker, layers)
        )

    def layer_after(self, node: SourceNode, layers: dict[str, Layer]) -> Layer | None:
        """The layer whose operand a node prepares: the next one down the graph."""

        def readers(of: SourceNode) -> list[SourceNode]:
            return [reader for output in of.outputs for reader in self._readers.get(output, [])]

        return _nearest(node, readers, lambda reader: _own_layer(reader, layers))

    def why_float(self, node: SourceNode) -> tuple[str, str]:
        """Reason and remedy."""
        if not self._quantized:
            return "the model is float", "quantize it, for example with onnxruntime.quantization.quantize_static"
        if node.op_type in _BORDERS:
            return "it is the border of a float part", "quantize the operators beside it; the border then disappears"
        if node.op_type in _ISLANDS:
            reason = f"{node.op_type} between quantizations is float in the model"
            return (
                reason,
                "nothing is wrong; the integer form of the PULP dialect (iLayerNorm, iRMSNorm) would be faster",
            )
        for name in node.inputs:
            source = self._makers.get(name)
            while source is not None and source.op_type in _MOVING:
                source = self._makers.get(source.inputs[0]) if source.inputs else None
            if source is not None and not source.constant and source.op_type != "DequantizeLinear":
                reason = f"its operand '{name}' comes from {source.op_type} '{source.name}' without quantization"
                return reason, f"put QuantizeLinear and DequantizeLinear after '{source.name}'"
        for output in node.outputs:
            plain = [r for r in self._readers.get(output, []) if r.op_type not in _BORDERS and r.op_type not in _MOVING]
            if plain or not self._readers.get(output):
                where = f"{plain[0].op_type} '{plain[0].name}'" if plain else "the output of the model"
                return (
                    f"its result goes to {where} in float",
                    f"put QuantizeLinear and DequantizeLinear after '{node.name}'",
                )
        return (
            f"{node.op_type} has no integer form for these scales and shapes",
            "per-tensor scales of 8 bits on all operands, or another operator",
        )
