"""Tensors of a TFLite file that follow from shapes and other constants: integers and truth values, computed at once.

A converter that was not told the batch's size writes sizes as results of SHAPE; here every size is known.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.limits import LARGEST_FOLDED, check_shape
from tvm_pulp.frontend.tflite_operators import options_of

Arrays = list[np.ndarray]
Rule = Callable[[Any, Arrays], Any]


def _joined(function: Callable[..., Any], kind: str, op: Any, arrays: Arrays) -> Any:
    """Operands joined along the axis that is an option."""
    return function(arrays, axis=options_of(op, kind).Axis())


def _reduced(function: Callable[..., Any], op: Any, arrays: Arrays) -> Any:
    x, axes = arrays
    keeps = bool(options_of(op, "ReducerOptions").KeepDims())
    return function(x, axis=tuple(int(a) for a in axes.reshape(-1)), keepdims=keeps, dtype=x.dtype)


def _gather(op: Any, arrays: Arrays) -> Any:
    options = options_of(op, "GatherOptions")
    if options.BatchDims():
        return None
    x, places = arrays
    return np.take(x, places, axis=options.Axis())


def _strided_slice(op: Any, arrays: Arrays) -> Any:
    """Bits of the masks name axes: their begin or end is open, or one element of them is taken."""
    options, (x, begin, end, strides) = options_of(op, "StridedSliceOptions"), arrays
    if options.EllipsisMask() or options.NewAxisMask():
        return None
    picked: list[Any] = []
    for axis, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << axis
        if options.ShrinkAxisMask() & bit:
            picked.append(int(first))
            continue
        opened = options.BeginMask() & bit, options.EndMask() & bit
        picked.append(slice(None if opened[0] else int(first), None if opened[1] else int(last), int(step)))
    return x[tuple(picked)]


def _fill(_op: Any, arrays: Arrays) -> Any:
    shape, value = arrays
    check_shape("the result of FILL", shape.tolist(), value.itemsize, LARGEST_FOLDED)
    return np.full(shape, value.reshape(-1)[0])


def _of(function: Callable[..., Any]) -> Rule:
    return lambda _op, arrays: function(*arrays)


def _sliced(x: np.ndarray, begin: np.ndarray, size: np.ndarray) -> np.ndarray:
    ends = [None if s < 0 else int(b + s) for b, s in zip(begin, size, strict=True)]
    return x[tuple(slice(int(b), e) for b, e in zip(begin, ends, strict=True))]


_RULES: dict[str, Rule] = {
    "ADD": _of(np.add),
    "CONCATENATION": partial(_joined, np.concatenate, "ConcatenationOptions"),
    "EXPAND_DIMS": lambda _op, arrays: np.expand_dims(arrays[0], int(arrays[1].reshape(-1)[0])),
    "FILL": _fill,
    "GATHER": _gather,
    "LESS": _of(np.less),
    "LOGICAL_AND": _of(np.logical_and),
    "MUL": _of(np.multiply),
    "PACK": partial(_joined, np.stack, "PackOptions"),
    "REDUCE_PROD": partial(_reduced, np.prod),
    "RESHAPE": lambda _op, arrays: arrays[0].reshape(arrays[1].reshape(-1)),
    "SELECT_V2": _of(np.where),
    "SLICE": _of(_sliced),
    "STRIDED_SLICE": _strided_slice,
    "SUB": _of(np.subtract),
    "SUM": partial(_reduced, np.sum),
}


def folded(converter: Any, kind: str, op: Any) -> np.ndarray | None:
    """The value of an operator's one result, or None where it depends on more than constants."""
    inputs, outputs = converter.get_input_tensors(op), converter.get_output_tensors(op)
    if len(outputs) != 1 or outputs[0].qnn_params:
        return None
    dtype = np.dtype(converter.get_tensor_type_str(outputs[0].tensor.Type()))
    if kind == "SHAPE":
        return np.array(converter.get_tensor_shape(inputs[0]), dtype)
    if kind not in _RULES or dtype.kind not in "bi" or any(t.tensor_idx < 0 for t in inputs):
        return None
    arrays = [converter.known_value(t) for t in inputs]
    if any(a is None for a in arrays):
        return None
    made = _RULES[kind](op, arrays)
    return None if made is None else np.asarray(made, dtype)
