"""Matrix products, those of integers included; reductions; the largest of several."""

import math

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import onnx_type
from tvm_pulp.frontend.stablehlo_program.elementwise import Operators
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode
from tvm_pulp.frontend.stablehlo_program.placed_values import Placed, PlacedValues
from tvm_pulp.frontend.stablehlo_program.reducers import neutral
from tvm_pulp.frontend.stablehlo_program.rewrites import with_sides_swapped


def dot_general(v: PlacedValues, node: StablehloNode) -> Placed:
    """Operands as [batch, rows, inner] and [batch, inner, columns]; the result has its axes in just that order."""
    (x, y, *bias), a = node.operands, node.attributes
    if not bias and _is_better_swapped(v, node):
        begin, end = len(a["lhs_batching_dimensions"]), x.rank - len(a["lhs_contracting_dimensions"])
        order = [*range(begin), *range(end, node.rank), *range(begin, end)]
        swapped = StablehloNode(
            node.op, (y, x), tuple(node.shape[d] for d in order), node.dtype, with_sides_swapped(a), node.label
        )
        return Placed(dot_general(v, swapped).name, tuple(order))
    batch, inner = ([list(a[f"{s}_{kind}_dimensions"]) for s in ("lhs", "rhs")] for kind in ("batching", "contracting"))
    rows = [d for d in range(x.rank) if d not in (*batch[0], *inner[0])]
    columns = [d for d in range(y.rank) if d not in (*batch[1], *inner[1])]
    depth = math.prod(x.shape[d] for d in inner[0])
    outer = [x.shape[d] for d in batch[0]]
    left = v.ordered(x, [*batch[0], *rows, *inner[0]])
    # Several axes of rows stay where the right operand is one matrix.
    if len(inner[0]) != 1 or (batch[0] and len(rows) != 1) or not (batch[0] or rows):
        left = v.reshaped(left, [*outer, *_rows_of(x, batch[0], rows), depth])
    right = v.ordered(y, [*batch[1], *inner[1], *columns])
    width = math.prod(y.shape[d] for d in columns)
    if len(inner[0]) != 1 or len(columns) != 1:
        if y.array is not None:
            matrix = y.array.transpose([*batch[1], *inner[1], *columns]).reshape([*outer, depth, width])
            right = v.g.constant(np.ascontiguousarray(matrix))
        else:
            right = v.reshaped(right, [*outer, depth, width])
    held = None if not bias or bias[0].array is None else bias[0].array.reshape(-1)
    made = _product(v, node, left, right, held, is_matrix=not batch[0] and len(rows) <= 1)
    v.shapes[made] = (*outer, *_rows_of(x, batch[0], rows), width)
    wanted = node.shape
    if (batch[0] and len(rows) != 1) or len(columns) != 1 or not (batch[0] or rows):
        made = v.reshaped(made, wanted)
    return v.place(node, made)


def _rows_of(x: StablehloNode, batch: list[int], rows: list[int]) -> list[int]:
    """Axes of the rows of a product: as they are beside one matrix, one beside several."""
    sizes = [x.shape[d] for d in rows]
    return sizes if sizes and not batch else [math.prod(sizes)]


def _is_better_swapped(v: PlacedValues, node: StablehloNode) -> bool:
    """Tell if both operands lie so that the other one's columns are this one's rows, as values beside likelihoods."""
    if any(o.array is not None for o in node.operands) or not node.attributes["lhs_batching_dimensions"]:
        return False
    ready = []
    for operand, side in zip(node.operands, ("lhs", "rhs"), strict=True):
        inner, batch = (node.attributes[f"{side}_{kind}_dimensions"] for kind in ("contracting", "batching"))
        order = [d for d in v.at(operand).order if operand.shape[d] > 1 and d not in batch]
        ready.append(bool(order) and order[-1] in inner)
    return ready == [False, True]


def _product(
    v: PlacedValues, node: StablehloNode, left: str, right: str, bias: np.ndarray | None, is_matrix: bool
) -> str:
    kinds = {o.dtype for o in node.operands[:2]}
    if kinds <= {"int8", "uint8"}:
        made = v.g.emit("MatMulInteger", left, right)
        return made if node.dtype == "int32" else v.g.emit("Cast", made, to=onnx_type(node.dtype))
    names = v.in_type_of(node, left, right)
    if bias is not None and is_matrix:
        return v.g.emit("Gemm", *names, bias)
    made = v.g.emit("MatMul", *names)
    return made if bias is None else v.g.emit("Add", made, bias)


_REDUCERS = {"add": "ReduceSum", "maximum": "ReduceMax", "minimum": "ReduceMin", "multiply": "ReduceProd"}


def _reduced(v: PlacedValues, node: StablehloNode, op: str) -> Placed:
    source, axes = node.operands[0], list(node.attributes["dimensions"])
    if not axes:
        return v.at(source)
    order = v.order(source)
    x = v.ordered(source, order)
    places = v.g.integers(*sorted(order.index(d) for d in axes))
    kept = [d for d in range(source.rank) if d not in axes]
    result = tuple(kept.index(d) for d in order if d not in axes)
    if source.dtype == "bool":
        number = v.g.emit("Cast", x, to=onnx_type("int32"))
        return Placed(v.g.emit("Cast", v.g.emit(op, number, places, keepdims=0), to=onnx_type("bool")), result)
    return Placed(v.g.emit(op, x, places, keepdims=0), result)


def reduce(v: PlacedValues, node: StablehloNode) -> Placed:
    kind = node.attributes["reducer"]
    if len(node.operands) == 2:
        kind = {"or": "maximum", "and": "minimum"}.get(kind, kind)
        if kind in _REDUCERS:
            return _reduced(v, node, _REDUCERS[kind])
    raise UserError(f"node '{node.label}' reduces by '{kind}': use a sum, a product, a maximum or a minimum")


def result(v: PlacedValues, node: StablehloNode) -> Placed:
    """One of several results: of a place of an extreme, of a sorting, of the largest ones."""
    whole = node.operands[0]
    if whole.op == "top_k":
        return _largest(v, whole, node, largest=True)
    if whole.op == "sort":
        return _sorted(v, whole, node)
    if _is_place_of_extreme(whole):
        largest = whole.attributes["extreme"] == "maximum"
        source, axis = whole.operands[0], whole.attributes["dimensions"][0]
        x = v.natural(source)
        if node.attributes["place"] == 0:
            made = v.g.emit("ReduceMax" if largest else "ReduceMin", x, v.g.integers(axis), keepdims=0)
        else:
            made = v.g.emit("ArgMax" if largest else "ArgMin", x, axis=axis, keepdims=0)
            made = v.g.emit("Cast", made, to=onnx_type(node.dtype))
        return v.place(node, made)
    raise UserError(f"node '{node.label}' is '{whole.op}' of several tensors: sort or reduce one tensor")


def _counts(node: StablehloNode, axis: int) -> bool:
    """Tell if a constant numbers the elements along an axis."""
    if node.array is None:
        return False
    shape = [-1 if d == axis else 1 for d in range(node.rank)]
    return bool((node.array == np.arange(node.shape[axis]).reshape(shape)).all())


def _is_place_of_extreme(whole: StablehloNode) -> bool:
    """Tell if a reduction of a tensor and of numbers along its axis finds the first extreme."""
    a = whole.attributes
    if whole.op != "reduce" or len(whole.operands) != 4 or not a["extreme"] or len(a["dimensions"]) != 1:
        return False
    source, numbers, first, _ = whole.operands
    begins = first.scalar is not None and first.scalar == neutral(a["extreme"], source.dtype)
    return begins and _counts(numbers, a["dimensions"][0])


def _largest(v: PlacedValues, whole: StablehloNode, node: StablehloNode, largest: bool) -> Placed:
    source, place = whole.operands[0], node.attributes.get("place", 0)
    count = node.shape[-1]
    both = v.g.emit_many("TopK", [v.natural(source), v.g.integers(count)], 2, axis=-1, largest=int(largest), sorted=1)
    return v.place(node, both[0] if place == 0 else v.g.emit("Cast", both[1], to=onnx_type(node.dtype)))


def _sorted(v: PlacedValues, whole: StablehloNode, node: StablehloNode) -> Placed:
    last = whole.operands[0].rank - 1
    order = whole.attributes["order"]
    numbered = all(_counts(number, last) for number in whole.operands[1:])
    refuse_if(
        len(whole.operands) > 2 or not numbered or whole.attributes["dimension"] != last or not order,
        f"node '{node.label}' sorts several tensors, or along an axis that is not the last: use jnp.argsort",
    )
    return _largest(v, whole, node, largest=order == "GT")


def sort(v: PlacedValues, node: StablehloNode) -> Placed:
    return _sorted(v, node, node)


OPERATORS: Operators = {
    "dot_general": dot_general,
    "reduce": reduce,
    "mean": lambda v, node: _reduced(v, node, "ReduceMean"),
    "result": result,
    "sort": sort,
}
