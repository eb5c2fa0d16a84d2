"""Tokens as rows of tables: an embedding is looked up before the network runs, and only its rows go in.

Gather(table, tokens)       becomes an input;       Gather(DequantizeLinear(table), tokens)      one of integers

Tokens of one text are one row in whatever shape the graph gives them; what is looked up takes the shape of the tokens
and of a row.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_fold import fold
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, constants_of, label, node_of, replace_all
from tvm_pulp.language_models.entry_module import Purpose, Source

# They change no token and not their order.
_RENAMES = ("Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten")


def bind_tokens(graph: Any, tokens: str, shapes: Mapping[str, tuple[int, ...]], opset: int) -> list[Source]:
    """Inputs of rows instead of tokens, which are none afterwards: the graph is changed. Shapes are those of values."""
    constants = constants_of(graph)
    makers = {name: node for node in graph.node for name in node.output}
    names, gone, made = [tokens], [], []
    tables: dict[str, np.ndarray] = {}
    while names:
        name = names.pop()
        for node in [n for n in graph.node if name in n.input]:
            if node.op_type in _RENAMES and node.input[0] == name and node.output[0] in shapes:
                names.append(node.output[0])
            elif node.op_type == "Gather" and node.input[1] == name and attributes_of(node).get("axis", 0) == 0:
                data, dequantize = _table(node.input[0], constants, makers, opset)
                if data is None or data.ndim != 2:
                    raise UserError(f"{label(node)} looks tokens up in no constant table: export it so")
                tables[f"{node.output[0]}_rows"] = data
                made += _found_rows(node, data, dequantize, graph, shapes[name])
            else:
                raise UserError(f"{label(node)} computes with tokens, which are only looked up on the device")
            gone.append(node)
    replace_all(graph.node, [*made, *(n for n in graph.node if n not in gone)])
    replace_all(graph.input, [i for i in graph.input if i.name != tokens])
    if len({len(table) for table in tables.values()}) != 1:
        raise UserError(f"input '{tokens}' is looked up in no table, or in tables of different lengths: export it so")
    return [Source(name, Purpose.TOKENS, table) for name, table in tables.items()]


def _table(name: str, constants: dict[str, Any], makers: dict[str, Any], opset: int) -> tuple[Any, Any]:
    """The constant behind a value, and the DequantizeLinear of one scale in front of it."""
    while name not in constants and name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name in constants:
        return constants[name], None
    maker = makers.get(name)
    if maker is None or maker.op_type != "DequantizeLinear" or any(n not in constants for n in maker.input):
        return None, None
    if constants[maker.input[1]].size == 1:
        return constants[maker.input[0]], maker
    results = fold(maker, {n: constants[n] for n in maker.input}, opset)
    return (None if results is None else results[0]), None


def _found_rows(node: Any, table: np.ndarray, dequantize: Any, graph: Any, shape: tuple[int, ...]) -> list[Any]:
    """Nodes that give an input of rows the name of what was looked up; the graph gets the input."""
    name, element = f"{node.output[0]}_rows", helper.np_dtype_to_tensor_dtype(table.dtype)
    rows, wanted = [1, math.prod(shape), table.shape[1]], [*shape, table.shape[1]]
    graph.input.append(helper.make_tensor_value_info(name, element, rows))
    operator, parameters = ("Identity", []) if dequantize is None else ("DequantizeLinear", dequantize.input[1:])
    if rows == wanted:
        return [helper.make_node(operator, [name, *parameters], [node.output[0]], name=f"{name}_found")]
    graph.initializer.append(constant_of(f"{name}_shape", np.array(wanted, np.int64)))
    return [
        node_of("Reshape", [name, f"{name}_shape"], f"{name}_apart"),
        helper.make_node(operator, [f"{name}_apart", *parameters], [node.output[0]], name=f"{name}_found"),
    ]
