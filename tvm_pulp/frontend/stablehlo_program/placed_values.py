"""Values of a program in the ONNX graph that it becomes: each with the order in which its axes lie there.

JAX, Keras and TensorFlow keep channels last, ONNX wants them second. A value stays in the order in which its layer made
it, and operators that do not care about the order work on it as it lies; one that does has it turned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, onnx_type
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, compact

Order = tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """A tensor of the graph; its axis number i is axis order[i] of the program's value."""

    name: str
    order: Order


class PlacedValues:
    """The graph under construction, and where each node's value lies in it."""

    def __init__(self, fixed: bool = True) -> None:
        self.g = GraphBuilder(beside=("Transpose", "Reshape", "Cast", "Expand"), fixed=fixed)
        self.values: dict[StablehloNode, Placed] = {}
        self._turned: dict[tuple[str, Order, Order], str] = {}
        # Shapes of tensors of the graph; of results of Reshape, what they are views of.
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._views: dict[str, str] = {}

    def place(self, node: StablehloNode, name: str, order: Sequence[int] | None = None) -> Placed:
        return Placed(name, tuple(range(node.rank) if order is None else order))

    def at(self, node: StablehloNode) -> Placed:
        """The tensor that a value lies in; constants and broadcasts are made when somebody needs them in full."""
        if node not in self.values:
            natural = tuple(range(node.rank))
            name, shape = self.thin(node, natural)
            if tuple(shape) != node.shape:
                name = self.g.emit("Expand", name, self.g.integers(*node.shape))
            self.values[node] = Placed(name, natural)
        return self.values[node]

    def order(self, *nodes: StablehloNode) -> Order:
        """The order that operands lie in, constants and broadcasts aside; that of a convolution wins."""
        found = [self.at(n).order for n in nodes if n.array is None and n.op != "broadcast_in_dim"]
        natural = tuple(range(max((n.rank for n in nodes), default=0)))
        return next((o for o in found if o != natural), natural)

    def ordered(self, node: StablehloNode, order: Sequence[int]) -> str:
        """A value with its axes in an order."""
        if node.array is not None:
            return self.g.constant(np.ascontiguousarray(node.array.transpose(order)))
        held = self.at(node)
        shape = [node.shape[a] for a in held.order]
        return self.turned(held.name, shape, [held.order.index(a) for a in order])

    def natural(self, node: StablehloNode) -> str:
        """A value with its axes as the program has them."""
        return self.ordered(node, range(node.rank))

    def turned(self, name: str, shape: Sequence[int], places: Sequence[int]) -> str:
        """A tensor of the graph with its axes in another order; moving axes of size one is only another shape."""
        if list(places) == sorted(places):
            return name
        wanted, large = [shape[p] for p in places], [p for p in places if shape[p] > 1]
        if large == sorted(large):
            return self.reshaped(name, wanted)
        key = (name, tuple(shape), tuple(places))
        if key not in self._turned:
            source = self._views.get(name, name)
            held = self.shapes.get(source, ())
            if [s for s in held if s > 1] != [s for s in shape if s > 1]:
                source, held = name, tuple(shape)
            # Axes of size one, which programs add and drop at will, stay where the original has them.
            mine, theirs = ([p for p, s in enumerate(of) if s > 1] for of in (held, shape))
            moved = iter(mine[theirs.index(p)] for p in large)
            order = [next(moved) if s > 1 else p for p, s in enumerate(held)]
            made = self.g.permuted(source, *order)
            self.shapes[made] = tuple(held[p] for p in order)
            self._turned[key] = self.reshaped(made, wanted)
        return self._turned[key]

    def reshaped(self, name: str, shape: Sequence[int]) -> str:
        """Another shape of a tensor; of one that is a view itself, a view of the original."""
        source = self._views.get(name, name)
        if self.shapes.get(source) == tuple(shape):
            return source
        made = self.g.reshape(source, list(shape))
        self._views[made], self.shapes[made] = source, tuple(shape)
        return made

    def in_type_of(self, node: StablehloNode, *given: Any) -> list[Any]:
        """Operands in the type of the result, in which they are added up: ONNX knows no wider one."""
        return [
            x if o.dtype == node.dtype else self._cast(x, node.dtype)
            for x, o in zip(given, node.operands, strict=False)
        ]

    def _cast(self, given: Any, dtype: str) -> Any:
        is_array = isinstance(given, np.ndarray)
        return given.astype(dtype) if is_array else self.g.emit("Cast", given, to=onnx_type(dtype))

    def thin(self, node: StablehloNode, order: Order) -> tuple[str, tuple[int, ...]]:
        """An operand that will be broadcast: without the axes that it is the same along, or with size one there."""
        if node.rank == 0:
            order = ()  # bounds of clamp and conditions of select may be numbers
        if node.array is not None:
            held = compact(node.array).transpose(order)
            while held.ndim and held.shape[0] == 1:
                held = held[0]
            return self.g.constant(np.ascontiguousarray(held)), held.shape
        if node.op != "broadcast_in_dim" or node in self.values:
            return self.ordered(node, order), tuple(node.shape[a] for a in order)
        inner, places = node.operands[0], node.attributes["broadcast_dimensions"]
        shape = [1] * node.rank
        for axis, place in enumerate(places):
            shape[place] = inner.shape[axis]
        if inner.rank == node.rank and list(places) == sorted(places):
            return self.ordered(inner, order), tuple(shape[a] for a in order)
        along = sorted(range(inner.rank), key=lambda a: order.index(places[a]))
        name = self.ordered(inner, along)
        wanted = tuple(shape[a] for a in order)
        return (self.reshaped(name, wanted) if inner.rank else name), wanted if inner.rank else ()
