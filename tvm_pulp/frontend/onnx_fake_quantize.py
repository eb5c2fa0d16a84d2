"""Fake-quantized values, as training writes them, are read as what they stand for.

    Div -> Round -> Clip -> Mul        ->  QuantizeLinear -> DequantizeLinear
    Clip -> Div -> Round -> Mul        ->  the same, where the limits are steps
    Add(x, Sub(fake-quantized x, x))   ->  the same: the straight-through gradient's way to write it
    float weights on a grid            ->  integers -> DequantizeLinear

The values are the same, bit for bit: ONNX' QuantizeLinear divides, rounds half to even, adds the zero point and cuts
off, in that order. Groups that compute something else, and scales per channel of activations, stay as they are.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from onnx import helper

from tvm_pulp.frontend.onnx_file import Graph, OnnxNode, from_model
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, copied, name_of, needed, with_nodes
from tvm_pulp.frontend.weight_grid import grid_of

# The first release with scales per axis.
_OLDEST_OPSET = 13
_TYPES = ("int8", "uint8")
# The axis of output channels in weights.
_CHANNELS = {"Conv": 0, "ConvTranspose": 1, "MatMul": -1, "Gemm": -1}
# A quantized tensor stays one behind these.
_KEEPS = frozenset(("Flatten", "Identity", "MaxPool", "Pad", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))


def with_quantize_pairs(graph: Graph) -> Graph:
    """The graph with pairs in the place of such groups; the same graph where there is none."""
    if graph.opset < _OLDEST_OPSET or not any(n.op_type == "Round" for n in graph.nodes):
        return graph
    pairs = _Pairs(graph)
    return pairs.rewritten() if pairs.found else graph


@dataclass
class _Pair:
    """One group of nodes: codes of x, from `low` to `high` around `zero_point`, and what one step becomes."""

    x: str
    scale: np.float32
    # What is divided: x, or x cut off.
    divided: str
    low: float = -np.inf
    high: float = np.inf
    # What was added before the values were cut off, and what of it is still in them.
    zero_point: int = 0
    shift: int = 0
    step: np.float32 = field(default_factory=lambda: np.float32(1))

    @property
    def dtype(self) -> str | None:
        """The type that holds all codes and the zero point."""
        least, most = min(self.low, self.zero_point), max(self.high, self.zero_point)
        fits = (t for t in _TYPES if np.iinfo(t).min <= least and most <= np.iinfo(t).max)
        return next(fits, None)


class _Pairs:
    """All groups of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = {name: n for n in graph.nodes for name in n.outputs}
        self.readers = Counter(name for n in graph.nodes for name in n.inputs) + Counter(graph.outputs)
        # The last node of a group by its result.
        self.found: dict[str, _Pair] = {}
        groups: dict[str, _Pair] = {}
        for node in graph.nodes:
            made = self._start(node) if node.op_type == "Round" else self._next(node, groups)
            if made is not None:
                groups[node.outputs[0]] = made
        for name, pair in groups.items():
            if pair.dtype is not None and pair.shift == 0 and not self._goes_on(name, groups):
                self.found[name] = pair

    def _scalar(self, name: str) -> np.float32 | None:
        held = self.graph.constants.get(name)
        return None if held is None or held.size != 1 or held.dtype != np.float32 else np.float32(held.reshape(-1)[0])

    def _goes_on(self, name: str, groups: Mapping[str, _Pair]) -> bool:
        """Tell if a group is a part of a longer one and nothing else reads it."""
        longer = [n for n in self.graph.nodes if name in n.inputs and n.outputs[0] in groups]
        return bool(longer) and self.readers[name] <= sum(n.inputs.count(name) for n in longer)

    def _start(self, node: OnnxNode) -> _Pair | None:
        """Round(x / scale), what is rounded cut off before or not."""
        current, low, high = node.inputs[0], -np.inf, np.inf
        while (inner := self.makers.get(current)) is not None and (bounds := self._bounds(inner)) is not None:
            current, low, high = bounds[0], max(low, bounds[1]), min(high, bounds[2])
        inner = self.makers.get(current)
        if inner is None or inner.op_type not in ("Div", "Mul"):
            return None
        scale, x = self._scalar(inner.inputs[1]), inner.inputs[0]
        if scale is None and inner.op_type == "Mul":
            scale, x = self._scalar(inner.inputs[0]), inner.inputs[1]
        if scale is not None and inner.op_type == "Mul":
            scale = _inverse(scale)
        # Bounds that are no integers round to others.
        if scale is None or not (np.isfinite(scale) and scale > 0) or not all(b == np.rint(b) for b in (low, high)):
            return None
        return self._limited(_Pair(x, scale, x, low, high))

    def _limited(self, pair: _Pair) -> _Pair:
        """The pair with limits of what is divided, where these are steps."""
        while (inner := self.makers.get(pair.x)) is not None and (bounds := self._bounds(inner)) is not None:
            steps = [np.rint(np.float32(b) / pair.scale) for b in bounds[1:]]
            exact = all(np.float32(s * pair.scale) == b for s, b in zip(steps, bounds[1:], strict=True))
            low, high = max(pair.low, float(steps[0])), min(pair.high, float(steps[1]))
            if not exact or low >= high:
                break
            pair = replace(pair, x=bounds[0], low=low, high=high)
        return pair

    def _bounds(self, node: OnnxNode) -> tuple[str, float, float] | None:
        """The operand and limits of a node that cuts values off."""
        if node.op_type == "Relu":
            return node.inputs[0], 0.0, np.inf
        if node.op_type == "Clip":
            given = [self._scalar(node.inputs[p]) if node.has(p) else e for p, e in ((1, -np.inf), (2, np.inf))]
            return None if None in given else (node.inputs[0], float(given[0]), float(given[1]))  # type: ignore[arg-type]
        if node.op_type in ("Max", "Min") and len(node.inputs) == 2:
            for x, other in (node.inputs, node.inputs[::-1]):
                bound = self._scalar(other)
                if bound is not None:
                    ends = (float(bound), np.inf) if node.op_type == "Max" else (-np.inf, float(bound))
                    return x, *ends
        return None

    def _next(self, node: OnnxNode, groups: Mapping[str, _Pair]) -> _Pair | None:
        """The group with one more node."""
        bounds = self._bounds(node)
        if bounds is not None:
            pair = groups.get(bounds[0])
            whole = pair is not None and pair.step == 1 and pair.shift == pair.zero_point
            if pair is None or not whole or not all(b == np.rint(b) for b in bounds[1:]):
                return None
            low, high = max(pair.low, bounds[1]), min(pair.high, bounds[2])
            return replace(pair, low=low, high=high) if low < high else None
        if node.op_type not in ("Add", "Sub", "Mul", "Div") or len(node.inputs) != 2:
            return None
        for name, other in (node.inputs, node.inputs[::-1]):
            pair = groups.get(name)
            if pair is None or (other == node.inputs[0] and node.op_type in ("Sub", "Div")):
                continue
            number = self._scalar(other)
            if number is not None:
                return _with_number(pair, node.op_type, number)
        return self._straight_through(node, groups)

    def _straight_through(self, node: OnnxNode, groups: Mapping[str, _Pair]) -> _Pair | None:
        """x + (q - x) is q: exactly, unless x was cut to less than half of it."""
        if node.op_type != "Add":
            return None
        for x, other in (node.inputs, node.inputs[::-1]):
            inner = self.makers.get(other)
            pair = groups.get(inner.inputs[0]) if inner is not None and inner.op_type == "Sub" else None
            if inner is not None and pair is not None and inner.inputs[1] == x == pair.divided and pair.shift == 0:
                return pair
        return None

    def rewritten(self) -> Graph:
        """The graph with these pairs, and with the integers of weights that meet them."""
        nodes: list[Any] = []
        constants: list[Any] = []
        quantized = set(self.found)
        for proto in self.graph.model.graph.node:
            name, made = proto.output[0], [proto]
            held: list[Any] = []
            if name in self.found:
                made, held = _written(self.found[name], name_of(proto), name)
            elif proto.op_type in _KEEPS and proto.input[0] in quantized:
                quantized.add(name)
            elif proto.op_type in _CHANNELS and proto.input[0] in quantized:
                made, held = self._layer(proto)
            nodes += made
            constants += held
        outputs = [o.name for o in self.graph.model.graph.output]
        return from_model(with_nodes(self.graph.model, needed(nodes, outputs), constants))

    def _layer(self, proto: Any) -> tuple[list[Any], list[Any]]:
        """A layer with its weights as integers, where they lie on a grid."""
        weight = self.graph.constants.get(proto.input[1])
        if weight is None or weight.dtype != np.float32 or weight.ndim < 2:
            return [proto], []
        turned = proto.op_type == "Gemm" and attributes_of(proto).get("transB")
        axis = (0 if turned else _CHANNELS[proto.op_type]) % weight.ndim
        if proto.op_type == "MatMul" and weight.ndim > 2:
            return [proto], []
        grid = grid_of(weight, axis)
        if grid is None:
            return [proto], []
        stem = f"{proto.output[0]}.weight"
        values = {f"{stem}.integers": grid.integers, f"{stem}.scale": grid.scale}
        zero = {f"{stem}.zero": np.zeros(grid.scale.shape, np.int8)}
        layer = copied(proto)
        layer.input[1] = f"{stem}.real"
        real = helper.make_node("DequantizeLinear", [*values, *zero], [layer.input[1]], name=stem, axis=axis)
        return [real, layer], [constant_of(n, v) for n, v in (values | zero).items()]


def _inverse(factor: np.float32) -> np.float32 | None:
    """The divisor that a factor is, where both give the same: of powers of two."""
    return np.float32(1 / factor) if factor > 0 and np.frexp(factor)[0] == 0.5 else None


def _with_number(pair: _Pair, op: str, number: np.float32) -> _Pair | None:
    """The group with a number added, or multiplied by one."""
    bounded = np.isfinite(pair.low) and np.isfinite(pair.high)
    if op in ("Add", "Sub"):
        if number != np.rint(number) or abs(number) > 1 << 15 or pair.step != 1:
            return None
        moved = int(number) if op == "Add" else -int(number)
        if not bounded and not pair.shift:  # the zero point
            return replace(pair, low=pair.low + moved, high=pair.high + moved, zero_point=moved, shift=moved)
        return replace(pair, shift=pair.shift + moved) if bounded else None
    step = number if op == "Mul" else _inverse(number)
    if step is None or pair.step != 1 or pair.shift or not bounded or not (np.isfinite(step) and step > 0):
        return None
    return replace(pair, step=step)


def _written(pair: _Pair, node: str, result: str) -> tuple[list[Any], list[Any]]:
    """A pair as nodes and constants; limits within those of the type are a clipping before it."""
    dtype = str(pair.dtype)
    held: dict[str, Any] = {
        f"{result}.scale": pair.scale,
        f"{result}.zero": np.asarray(pair.zero_point, dtype),
        f"{result}.step": pair.step,
    }
    ends, nodes, x = np.iinfo(dtype), [], pair.x
    if (pair.low, pair.high) != (ends.min, ends.max):
        limits = {
            f"{result}.{end}": np.float32(np.float32(bound - pair.zero_point) * pair.scale)
            for end, bound in (("low", pair.low), ("high", pair.high))
        }
        nodes.append(helper.make_node("Clip", [x, *limits], [f"{result}.limited"], name=f"{node}.limited"))
        held, x = held | limits, f"{result}.limited"
    scale, zero, step = (f"{result}.{n}" for n in ("scale", "zero", "step"))
    codes = f"{result}.integers"
    nodes.append(helper.make_node("QuantizeLinear", [x, scale, zero], [codes], name=f"{node}.integers"))
    nodes.append(helper.make_node("DequantizeLinear", [codes, step, zero], [result], name=node))
    return nodes, [constant_of(name, value) for name, value in held.items()]
