"""Caches as rows: what goes in are the rows of earlier tokens, what goes out the new ones, both [1, rows, heads, size].

Where everything that reads the joined cache quantizes it in one way, the rows are those integers:

    past -> Q -> DQ -> Concat(., new) -> Q' -> DQ' -> present       becomes
    past' -> Concat(., Q'(new)) -> DQ';     out: Q'(DQ(Q(DQ'(Q'(new)))))

In the file an old row passes through Q and Q' at every step; `_settles` makes sure that after the first time it does
not change any more. Otherwise rows are what Q gives, or real numbers.

Rows that hold nothing yet get no weight, where attention is not one operator with a length of its own: a large negative
number before softmax.

    Softmax(x[..., past + rows])      becomes      Softmax(x + Concat(hidden[past], 0))
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_protos import copied, node_of, reached
from tvm_pulp.language_models.entry_module import CacheRows
from tvm_pulp.language_models.exported.roles import BY_ELEMENT, CacheRole

_SWAP = [0, 2, 1, 3]


class BoundCache:
    """A cache of a graph on its way to rows."""

    def __init__(self, graph: Any, cache: CacheRole) -> None:
        self._graph, self._cache = graph, cache
        self._constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer if sum(i.dims) <= 1}
        self._makers = {name: node for node in graph.node for name in node.output}
        self._made: list[Any] = []

    def bind(self, past: int, rows: int) -> CacheRows:
        """Changes the graph; the output of the whole cache is gone afterwards."""
        cache, graph = self._cache, self._graph
        before, joined = self._way_in()
        after = self._way_out(joined)
        grid = self._grid(joined)
        new = joined.input[1]
        if grid is not None and self._settles(before, after, grid):
            stored, source = self._through(new, [*after, *before, grid]), self._through(new, [grid])
            held = self._plain_past(past, grid)
            joined.input[0], joined.input[1] = held, source
            for node in self._readers(joined.output[0]):
                self._replace(node.output[0], joined.output[0])
                graph.node.remove(node)
        elif [n.op_type for n in before] == ["QuantizeLinear", "DequantizeLinear"]:
            stored = self._through(new, [*after, before[0]])
            held = self._plain_past(past, before[0])
            before[1].input[0] = held
        else:
            stored = self._through(new, after)
            held = self._plain_past(past, None)
            first = before[0] if before else joined
            first.input[list(first.input).index(cache.past)] = held
        dtype = str(np.dtype(helper.tensor_dtype_to_np_dtype(self._element)))
        name = f"{cache.present}_rows"
        turn: dict[str, Any] = {} if cache.axis == 1 else {"perm": _SWAP}
        self._node("Transpose" if turn else "Identity", [stored], name, **turn)
        # New nodes at the end; the importer sorts.
        graph.node.extend(self._made)
        graph.output.remove(next(o for o in graph.output if o.name == cache.present))
        size = [d.dim_value for d in self._input().type.tensor_type.shape.dim]
        graph.output.append(helper.make_tensor_value_info(name, self._element, [1, rows, *size[2:]]))
        return CacheRows(cache.past, name, size[2] * size[3], dtype)

    def _input(self) -> Any:
        return next(i for i in self._graph.input if i.name == self._cache.past)

    def _readers(self, name: str) -> list[Any]:
        return [n for n in self._graph.node if name in n.input]

    def _way_in(self) -> tuple[list[Any], Any]:
        """Operators by element between the input and the join, and the join."""
        passed: list[Any] = []
        name = self._cache.past
        while True:
            readers = self._readers(name)
            joins = [n for n in readers if n.op_type == "Concat" and n.input[0] == name]
            if len(readers) != 1 or not (joins or readers[0].op_type in BY_ELEMENT):
                raise UserError(
                    f"cache '{self._cache.past}' is read by something else than the join with new rows behind it: such "
                    "a decoder is not understood"
                )
            if joins:
                axis = next(a.i for a in joins[0].attribute if a.name == "axis")
                if axis % 4 != self._cache.axis or axis % 4 not in (1, 2):
                    raise UserError(
                        f"cache '{self._cache.past}' is joined along axis {axis}: positions are axis 1 or 2"
                    )
                return passed, joins[0]
            passed.append(readers[0])
            name = readers[0].output[0]

    def _way_out(self, joined: Any) -> list[Any]:
        """Operators by element between the join and the output."""
        passed: list[Any] = []
        name = self._cache.present
        while name != joined.output[0]:
            maker = self._makers[name]
            passed.insert(0, maker)
            name = maker.input[0]
        return passed

    def _grid(self, joined: Any) -> Any:
        """The quantization that all readers of the joined cache begin with, or None."""
        readers = self._readers(joined.output[0])
        alike = all(n.op_type == "QuantizeLinear" and self._same(n, readers[0]) for n in readers)
        leaves = any(o.name == joined.output[0] for o in self._graph.output)
        one = readers and all(name in self._constants for name in readers[0].input[1:])
        # The cache may go out as it is: rows then pass through the quantization on their way in.
        return readers[0] if alike and one and not (leaves and self._cache.present != joined.output[0]) else None

    def _same(self, a: Any, b: Any) -> bool:
        """Tell if two quantizations have equal parameters."""

        def equal(x: str, y: str) -> bool:
            known = x in self._constants and y in self._constants
            return x == y or (known and np.array_equal(self._constants[x], self._constants[y]))

        return len(a.input) == len(b.input) and all(map(equal, a.input[1:], b.input[1:]))

    def _settles(self, before: list[Any], after: list[Any], grid: Any) -> bool:
        """Tell if a row that was read back once stays what it is."""
        chain = [*after, *before, grid]
        if any(n.op_type == "Cast" for n in chain):
            return False
        if any(name not in self._constants for n in chain if n.op_type != "Identity" for name in n.input[1:]):
            return False
        scale, zero = self._parameters(grid)
        limits = np.iinfo(zero.dtype)
        every = np.arange(limits.min, limits.max + 1)
        once = self._applied((every - int(zero)).astype(np.float32) * scale, chain)
        twice = self._applied((once.astype(np.int64) - int(zero)).astype(np.float32) * scale, chain)
        return bool(np.array_equal(once, twice))

    def _parameters(self, node: Any) -> tuple[np.float32, np.ndarray]:
        scale = np.float32(self._constants[node.input[1]].reshape(-1)[0])
        zero = self._constants[node.input[2]].reshape(-1)[0] if len(node.input) > 2 and node.input[2] else np.uint8(0)
        return scale, np.asarray(zero)

    def _applied(self, values: np.ndarray, chain: list[Any]) -> np.ndarray:
        for node in chain:
            if node.op_type == "Identity":
                continue
            scale, zero = self._parameters(node)
            if node.op_type == "QuantizeLinear":
                limits = np.iinfo(zero.dtype)
                values = np.clip(np.rint(values / scale) + int(zero), limits.min, limits.max).astype(np.int64)
            else:
                values = (values - int(zero)).astype(np.float32) * scale
        return values

    def _plain_past(self, past: int, grid: Any) -> str:
        """The input as rows of what `grid` makes, turned as the graph wants it."""
        value = self._input()
        kind = value.type.tensor_type
        if grid is not None:
            zero = self._parameters(grid)[1]
            kind.elem_type = helper.np_dtype_to_tensor_dtype(zero.dtype)
        self._element = kind.elem_type
        if self._cache.axis == 1:
            return str(self._cache.past)
        heads = kind.shape.dim[1].dim_value
        kind.shape.dim[1].dim_value, kind.shape.dim[2].dim_value = past, heads
        return self._node("Transpose", [self._cache.past], f"{self._cache.past}_turned", perm=_SWAP)

    def _through(self, name: str, chain: list[Any]) -> str:
        """New rows after copies of some operators; a quantization that undoes the one before is left out."""
        last: list[Any] = []
        for node in chain:
            if node.op_type == "Identity":
                continue
            undone = last and last[-1].op_type == "DequantizeLinear" and node.op_type == "QuantizeLinear"
            if undone and self._same(last[-1], node):
                last.pop()
                continue
            last.append(node)
        for node in last:
            made = f"{name}_{'q' if node.op_type == 'QuantizeLinear' else 'x'}"
            if made not in {o for n in self._made for o in n.output}:
                copy = copied(node)
                copy.input[0], copy.output[0], copy.name = name, made, made
                self._made.append(copy)
            name = made
        return name

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._made.append(node_of(operator, inputs, output, **attributes))
        return output

    def _replace(self, old: str, new: str) -> None:
        for node in self._graph.node:
            for place, name in enumerate(node.input):
                if name == old:
                    node.input[place] = new


HIDDEN = "hidden_rows"
# Hidden beside every score, even where the file's own mask lowers all of them as far as floats go.
LEAST = float(np.finfo(np.float32).min)


def hide_unwritten(graph: Any, pasts: set[str], past: int, rows: int, given: Collection[str] = ()) -> None:
    """Changes the graph: a new input says which rows of the past hold nothing. `given`: inputs of no token."""
    behind = reached(pasts, graph.node)
    places = [n for n in graph.node if n.op_type == "Softmax" and n.input[0] in behind and not _is_inner(n)]
    places = [n for n in places if not given or not _looks_elsewhere(n, graph, given)]
    refuse_if(not places, "no Softmax reads a cache: such attention is not understood")
    graph.input.append(helper.make_tensor_value_info(HIDDEN, onnx.TensorProto.FLOAT, [past]))
    graph.initializer.append(numpy_helper.from_array(np.zeros(rows, np.float32), f"{HIDDEN}_new"))
    made = [node_of("Concat", [HIDDEN, f"{HIDDEN}_new"], f"{HIDDEN}_all", axis=0)]
    for node in places:
        name = f"{node.output[0]}_hidden"
        made.append(node_of("Add", [node.input[0], f"{HIDDEN}_all"], name))
        node.input[0] = name
    graph.node.extend(made)


# Operators that sum over an axis of both operands.
_PRODUCTS = frozenset({"MatMul", "Gemm", "Einsum", "MatMulInteger", "QLinearMatMul"})


def _looks_elsewhere(node: Any, graph: Any, given: Collection[str]) -> bool:
    """Tell if the scores of a softmax are products with what is given: its positions are not those of caches."""
    makers = {name: n for n in graph.node for name in n.output}
    steady, constants = set(given), {i.name for i in graph.initializer}
    for other in graph.node:
        operands = {n for n in other.input if n and n not in constants}
        if operands and operands <= steady:
            steady |= set(other.output)
    names, seen = [node.input[0]], set[str]()
    while names:
        maker = makers.get(names.pop())
        if maker is None or maker.output[0] in seen:
            continue
        seen.add(maker.output[0])
        if maker.op_type not in _PRODUCTS:
            names += list(maker.input)
        elif any(n in steady for n in maker.input):
            return True
    return False


def _is_inner(node: Any) -> bool:
    """Tell if a softmax runs along another axis than the last."""
    return any(a.name == "axis" and a.i not in (-1, 2, 3) for a in node.attribute)
