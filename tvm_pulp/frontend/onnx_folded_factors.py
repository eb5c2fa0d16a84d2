"""Factors and addends per channel behind a layer with constant weights become part of these.

Some exporters write a batch normalization so, behind a change of layout or type: onnxruntime folds neither.

    Conv -> Transpose -> Sub -> Mul -> Add  ->  Conv -> Transpose

The last value keeps its name; those before it are other values now and get others.
"""

from typing import Any

import numpy as np
from onnx import helper

from tvm_pulp.frontend.onnx_protos import constant_of, constants_of, readers_of, with_nodes

_AFFINE = ("Add", "Sub", "Mul", "Div")
_LAYERS = ("Conv", "ConvTranspose", "MatMul")


def with_folded_factors(model: Any) -> Any:
    """The model with them folded; the given one stays as it is."""
    made = with_nodes(model, model.graph.node)
    constants, readers = constants_of(made.graph), readers_of(made.graph.node)
    for output in made.graph.output:
        readers.setdefault(output.name, []).append(None)
    layers = {n.output[0]: n for n in made.graph.node if n.op_type in _LAYERS and n.input[1] in constants}
    gone: set[str] = set()
    biases: dict[str, Any] = {}
    for name, layer in layers.items():
        weight = constants[layer.input[1]]
        held = constants.get(layer.input[2]) if len(layer.input) > 2 else np.zeros(1)
        if weight.dtype.kind == "f" and held is not None and _is_plain(layer, weight):
            chain = _chain(layer, weight, readers, constants)
            # One addend right behind a layer is its bias already.
            if [n.op_type for n, _ in chain if n.op_type != "Cast"] not in ([], ["Add"]):
                weights, bias = _folded(layer, weight, held, chain)
                made.graph.initializer.extend(
                    (constant_of(f"{name}.weight", weights), constant_of(f"{name}.bias", bias))
                )
                gone |= {node.output[0] for node, given in chain if given is not None and node.output[0] != name}
                biases[name] = _rewired(layer, name, chain)
    nodes = []
    for node in made.graph.node:
        if node.output[0] not in gone or node.op_type not in _AFFINE:
            nodes.append(node)
            nodes += [biases[n] for n in biases if biases[n] is not None and node is layers[n]]
    return with_nodes(made, nodes)


def _is_plain(layer: Any, weight: np.ndarray) -> bool:
    """Tell if one axis of the weights counts the channels of the result."""
    if layer.op_type == "ConvTranspose":
        return all(a.i == 1 for a in layer.attribute if a.name == "group")
    return bool(layer.op_type == "Conv" or weight.ndim == 2)


def _channels(layer: Any, weight: np.ndarray) -> int:
    """That axis."""
    return {"Conv": 0, "ConvTranspose": 1}.get(layer.op_type, weight.ndim - 1)


Chain = list[tuple[Any, np.ndarray | None]]


def _chain(layer: Any, weight: np.ndarray, readers: dict[str, list[Any]], constants: dict[str, np.ndarray]) -> Chain:
    """Nodes that nothing else reads up to the last that can be folded, with its number per channel; of others none."""
    is_conv, rank = layer.op_type != "MatMul", weight.ndim
    axis, channels, current = 1 if is_conv else rank - 1, weight.shape[_channels(layer, weight)], layer
    found: Chain = []
    while len(readers.get(current.output[0], [])) == 1 and readers[current.output[0]][0] is not None:
        before, current = current.output[0], readers[current.output[0]][0]
        if current.op_type == "Transpose" and is_conv and current.attribute:
            axis = list(current.attribute[0].ints).index(axis)
            found.append((current, None))
            continue
        if current.op_type == "Cast" and helper.np_dtype_to_tensor_dtype(weight.dtype) == current.attribute[0].i:
            # From and to what the weights are: some exporters write many of these.
            found.append((current, None))
            continue
        given = _per_channel(current, before, constants, axis, rank, channels)
        # What is rounded next is quantized: its factor is a scale.
        if given is None or any(n is not None and n.op_type == "Round" for n in readers.get(current.output[0], ())):
            break
        found.append((current, given))
    while found and found[-1][1] is None:
        found.pop()
    return found


def _per_channel(
    node: Any, current: str, constants: dict[str, np.ndarray], axis: int, rank: int, channels: int
) -> np.ndarray | None:
    """The constant of an affine node, where it has one number or one for every channel."""
    if node.op_type not in _AFFINE or (node.input[0] != current and node.op_type in ("Sub", "Div")):
        return None
    value = constants.get(node.input[1] if node.input[0] == current else node.input[0])
    if value is None or value.ndim > rank:
        return None
    shape = (1,) * (rank - value.ndim) + value.shape
    if any(size > 1 for place, size in enumerate(shape) if place != axis):
        return None
    return np.broadcast_to(value.reshape(-1), (channels,)).astype(np.float64)


def _folded(layer: Any, weight: np.ndarray, bias: np.ndarray, chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    factor, offset = np.ones(1), bias.astype(np.float64)
    for node, given in chain:
        if given is not None:
            kind = node.op_type
            factor = factor * given if kind == "Mul" else factor / given if kind == "Div" else factor
            steps = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
            offset = steps[kind](offset, given)
    axis = _channels(layer, weight)
    factor = np.reshape(factor, [-1 if place == axis else 1 for place in range(weight.ndim)])
    return (weight * factor).astype(weight.dtype), offset.astype(weight.dtype)


def _rewired(layer: Any, name: str, chain: Chain) -> Any:
    """The layer and changes of layout behind it pass values on by new names; the node that adds a bias, if any."""
    is_conv = layer.op_type != "MatMul"
    layer.input[1] = f"{name}.weight"
    added = None
    if is_conv:
        layer.input[:] = [*layer.input[:2], f"{name}.bias"]
    else:
        layer.output[0] = f"{name}.product"
        added = helper.make_node("Add", [layer.output[0], f"{name}.bias"], [name], name=f"{layer.name}.bias")
    moves = [node for node, given in chain if given is None]
    current, last = added or layer, chain[-1][0].output[0]
    for number, node in enumerate(moves):
        current.output[0] = f"{name}.folded{number or ''}"
        node.input[0], current = current.output[0], node
    current.output[0] = last
    return added
