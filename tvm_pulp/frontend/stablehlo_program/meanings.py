"""The values of operators, in NumPy: for constants, for counters of loops, and to find out what a group of them is."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, compact

erf = np.vectorize(math.erf, otypes=[np.float64])

# Operators with NumPy's name for them.
_SAME = ("abs", "cbrt", "ceil", "cosh", "floor", "log", "sign", "sinh", "sqrt", "square", "tan", "tanh")
UNARY: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(np, name) for name in _SAME},
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "copy": lambda x: x,
    "cosine": np.cos,
    "erf": lambda x: erf(x) if x.size else x,
    "erfc": lambda x: 1 - erf(x) if x.size else x,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "is_finite": np.isfinite,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 0.5 + 0.5 * np.tanh(0.5 * x),
    "negate": np.negative,
    "not": np.invert,
    "relu": lambda x: np.maximum(x, 0),
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "round_nearest_even": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sine": np.sin,
}


def _divide(x: Any, y: Any) -> Any:
    """StableHLO divides integers towards zero."""
    return np.divide(x, y) if x.dtype.kind == "f" else np.trunc(np.divide(x, np.where(y == 0, 1, y)))


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(np, name) for name in ("maximum", "minimum", "multiply", "power", "subtract")},
    "add": lambda x, y: x | y if x.dtype == bool else x + y,
    "and": np.bitwise_and,
    "atan2": np.arctan2,
    "divide": _divide,
    "or": np.bitwise_or,
    "remainder": np.fmod,
    "shift_left": np.left_shift,
    "shift_right_arithmetic": np.right_shift,
    "xor": np.bitwise_xor,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
# Integers of which floats hold both ends.
NARROW = ("int8", "uint8", "int16", "uint16")
# Operators whose result at a place depends on their operands at that place alone.
ELEMENTWISE = frozenset({*UNARY, *BINARY, "clamp", "compare", "convert", "select"})
_REDUCERS: dict[str, Callable[..., Any]] = {
    "add": np.sum,
    "maximum": np.max,
    "minimum": np.min,
    "multiply": np.prod,
    "or": np.any,
    "and": np.all,
}


def elementwise(node: StablehloNode, arrays: list[np.ndarray]) -> np.ndarray:
    """The value of an elementwise operator; its operands need only be broadcastable."""
    op = node.op
    if op in UNARY:
        return np.asarray(UNARY[op](arrays[0]))
    if op in BINARY:
        return np.asarray(BINARY[op](*arrays))
    if op == "compare":
        return np.asarray(COMPARISONS[node.attributes["comparison_direction"]](*arrays))
    if op == "select":
        return np.where(*arrays)
    if op == "clamp":
        low, x, high = arrays
        return np.minimum(np.maximum(x, low), high)
    return arrays[0]  # convert: the caller casts


def _broadcast(node: StablehloNode, x: np.ndarray) -> np.ndarray:
    # The inner view keeps axes that are broadcast already at stride zero.
    held = compact(x)
    small = [1] * node.rank
    for axis, place in enumerate(node.attributes["broadcast_dimensions"]):
        small[place] = held.shape[axis]
    return np.broadcast_to(held.reshape(small), node.shape)


def _slice(node: StablehloNode, x: np.ndarray) -> np.ndarray:
    a = node.attributes
    triples = zip(a["start_indices"], a["limit_indices"], a["strides"], strict=True)
    return x[tuple(slice(*t) for t in triples)]


def _pad(node: StablehloNode, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    a = node.attributes
    made = np.full(node.shape, value, x.dtype)
    if any(p < 0 for p in (*a["edge_padding_low"], *a["edge_padding_high"])):
        raise NotImplementedError
    places = zip(a["edge_padding_low"], a["interior_padding"], x.shape, strict=True)
    made[tuple(slice(low, low + max(0, (size - 1) * (inner + 1) + 1), inner + 1) for low, inner, size in places)] = x
    return made


def starts(x: np.ndarray | StablehloNode, sizes: Any, given: Any) -> tuple[slice, ...]:
    """The part that a dynamic slice or update means: starts are moved into the operand."""
    firsts = [min(max(int(i), 0), n - s) for i, n, s in zip(given, x.shape, sizes, strict=True)]
    return tuple(slice(f, f + s) for f, s in zip(firsts, sizes, strict=True))


def _update(node: StablehloNode, x: np.ndarray, part: np.ndarray, *given: np.ndarray) -> np.ndarray:
    made = np.array(x)
    made[starts(x, part.shape, given)] = part
    return made


def _reduce(node: StablehloNode, x: np.ndarray, first: np.ndarray) -> np.ndarray:
    kind = node.attributes["reducer"]
    made = _REDUCERS[kind](x, axis=tuple(node.attributes["dimensions"]))
    return np.asarray(BINARY[kind](np.asarray(made, x.dtype), first))


def gathered(node: StablehloNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The general gather of StableHLO."""
    a = node.attributes
    offsets, collapsed, mapped = a["offset_dims"], a["collapsed_slice_dims"], a["start_index_map"]
    batching, index_batching = a.get("operand_batching_dims", []), a.get("start_indices_batching_dims", [])
    vector, sizes = a["index_vector_dim"], list(a["slice_sizes"])
    table = np.expand_dims(indices, vector) if vector == indices.ndim else indices
    table = np.moveaxis(table, vector, -1)
    kept = [d for d in range(x.ndim) if d not in collapsed and d not in batching]
    made = np.empty(node.shape, x.dtype)
    batch_axes = [d for d in range(node.rank) if d not in offsets]
    for place in np.ndindex(*table.shape[:-1]):
        begin = [0] * x.ndim
        for number, axis in enumerate(mapped):
            begin[axis] = min(max(int(table[place][number]), 0), x.shape[axis] - sizes[axis])
        for axis, index_axis in zip(batching, index_batching, strict=True):
            begin[axis] = place[index_axis - (index_axis > vector)]
        window = x[tuple(slice(b, b + s) for b, s in zip(begin, sizes, strict=True))]
        target: list[Any] = [slice(None)] * node.rank
        for axis, where in zip(batch_axes, place, strict=True):
            target[axis] = where
        made[tuple(target)] = window.reshape([sizes[d] for d in kept])
    return made


def _dot(node: StablehloNode, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a = node.attributes
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    left, right = [next(letters) for _ in x.shape], [next(letters) for _ in y.shape]
    for kind in ("batching", "contracting"):
        for i, j in zip(a[f"lhs_{kind}_dimensions"], a[f"rhs_{kind}_dimensions"], strict=True):
            right[j] = left[i]
    batch = [left[i] for i in a["lhs_batching_dimensions"]]
    summed = {left[i] for i in a["lhs_contracting_dimensions"]}
    free = [c for c in (*left, *right) if c not in summed and c not in batch]
    return np.asarray(np.einsum(f"{''.join(left)},{''.join(right)}->{''.join((*batch, *free))}", x, y))


def _iota(node: StablehloNode) -> np.ndarray:
    axis = node.attributes["iota_dimension"]
    shape = [1] * node.rank
    shape[axis] = node.shape[axis]
    return np.broadcast_to(np.arange(node.shape[axis], dtype=node.dtype).reshape(shape), node.shape)


OTHERS: dict[str, Callable[..., np.ndarray]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda n, *parts: np.concatenate(parts, axis=n.attributes["dimension"]),
    "dot_general": _dot,
    "dynamic_slice": lambda n, x, *given: x[starts(x, n.attributes["slice_sizes"], given)],
    "dynamic_update_slice": _update,
    "gather": gathered,
    "iota": _iota,
    "mean": lambda n, x: np.mean(x, axis=tuple(n.attributes["dimensions"])),
    "pad": _pad,
    "reduce": _reduce,
    "reshape": lambda n, x: x.reshape(n.shape),
    "reverse": lambda n, x: np.flip(x, tuple(n.attributes["dimensions"])),
    "slice": _slice,
    "transpose": lambda n, x: x.transpose(n.attributes["permutation"]),
}


def _saturated(array: np.ndarray, dtype: str) -> np.ndarray:
    """A float beyond the range of few bits is the nearest one, as XLA has it."""
    if array.dtype.kind != "f" or dtype not in NARROW:
        return array
    ends = np.iinfo(dtype)
    return np.clip(np.nan_to_num(array, nan=0.0), ends.min, ends.max)


def evaluated(node: StablehloNode, arrays: list[np.ndarray], wide: bool = False) -> np.ndarray | None:
    """The value of a node for values of its operands; None where NumPy has no word for it. Floats may stay as wide."""
    dtype = "float64" if wide and node.is_float else node.dtype
    try:
        with np.errstate(all="ignore"):
            if node.op in ELEMENTWISE:
                # Broadcast axes stay small while all operands have them.
                made = _saturated(elementwise(node, [compact(a) for a in arrays]), dtype)
                return np.broadcast_to(made.astype(dtype), node.shape)
            if node.op in OTHERS:
                return np.asarray(OTHERS[node.op](node, *arrays)).astype(dtype, copy=False)
    except (NotImplementedError, KeyError):
        pass
    return None
