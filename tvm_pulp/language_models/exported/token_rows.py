"""Tokens as rows of tables: an embedding is looked up before the network runs, and only its rows go in.

Gather(table, tokens)       becomes an input;       Gather(DequantizeLinear(table), tokens)      one of integers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_fold import fold

_RENAMES = ("Identity", "Cast")


@dataclass(frozen=True)
class TokenTable:
    """An input whose rows are those of a table that the tokens name."""

    name: str
    table: np.ndarray  # [vocabulary, width]


def bind_tokens(graph: Any, tokens: str, rows: int, opset: int) -> list[TokenTable]:
    """Changes the graph; tokens are no input afterwards."""
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    names, gone, tables = [tokens], [], []
    made: list[Any] = []
    while names:
        name = names.pop()
        for node in [n for n in graph.node if name in n.input]:
            if node.op_type in _RENAMES:
                names.append(node.output[0])
            elif node.op_type == "Gather" and node.input[1] == name and _axis(node) == 0:
                data, dequantize = _table(node.input[0], constants, makers, opset)
                if data is None or data.ndim != 2:
                    raise UserError(f"node '{node.name}' (Gather) looks tokens up in no constant table: export it so")
                tables.append(TokenTable(f"{node.output[0]}_rows", data))
                _replace(node, tables[-1], dequantize, graph, rows, made)
            else:
                raise UserError(
                    f"node '{node.name}' ({node.op_type}) computes with tokens, which are only looked up on the device"
                )
            gone.append(node)
    kept = [n for n in graph.node if n not in gone]
    del graph.node[:]
    graph.node.extend([*made, *kept])
    inputs = [i for i in graph.input if i.name != tokens]
    del graph.input[:]
    graph.input.extend(inputs)
    if len({len(t.table) for t in tables}) != 1:
        raise UserError(f"input '{tokens}' is looked up in no table, or in tables of different lengths: export it so")
    return tables


def _axis(node: Any) -> int:
    return next((int(a.i) for a in node.attribute if a.name == "axis"), 0)


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


def _replace(node: Any, table: TokenTable, dequantize: Any, graph: Any, rows: int, made: list[Any]) -> None:
    """The input instead of the node, in the node's shape."""
    element = helper.np_dtype_to_tensor_dtype(table.table.dtype)
    graph.input.append(helper.make_tensor_value_info(table.name, element, [1, rows, table.table.shape[1]]))
    if dequantize is None:
        made.append(helper.make_node("Identity", [table.name], [node.output[0]], name=f"{table.name}_found"))
    else:
        operands = [table.name, *dequantize.input[1:]]
        made.append(helper.make_node("DequantizeLinear", operands, [node.output[0]], name=f"{table.name}_found"))
