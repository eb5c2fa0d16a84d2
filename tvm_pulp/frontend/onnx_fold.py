"""Constant folding: nodes whose operands are all constant are evaluated, if their results are small."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.frontend.limits import LARGEST_FOLDED
from tvm_pulp.frontend.onnx_protos import SHAPE_OPERAND, copied, known_operands, static_shape
from tvm_pulp.frontend.onnx_tensors import item_bytes

# Work that is not worth it, or results that are not a function of the operands.
_NEVER = frozenset(
    (
        *("If", "Loop", "Scan", "LSTM", "GRU", "RNN", "Conv", "ConvTranspose", "Einsum", "NonMaxSuppression"),
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"),
    )
)
_LARGEST_PRODUCT = 1 << 27
# Results of a size that shape inference does not know, at most a few numbers for every element of the operands.
_NO_LARGER = frozenset({"NonZero", "Unique", "Compress"})


def known_results(proto: Any, constants: Mapping[str, np.ndarray], opset: int) -> dict[str, np.ndarray] | None:
    """Results of a node by name, where it reads nothing but constants and is worth evaluating; None for another."""
    operands = known_operands(proto, constants)
    results = fold(proto, operands, opset) if operands is not None else None
    return None if results is None else {name: r for name, r in zip(proto.output, results, strict=True) if name}


def fold(proto: Any, operands: dict[str, np.ndarray], opset: int) -> list[np.ndarray] | None:
    """Results of a node with constant operands; None where it stays a node."""
    if proto.op_type in _NEVER or sum(o.nbytes for o in operands.values()) > LARGEST_FOLDED:
        return None
    if not _small(proto, operands, opset):
        return None
    from onnx.reference import ReferenceEvaluator

    try:
        with np.errstate(all="ignore"):
            plain = copied(proto)
            plain.domain = ""
            results = ReferenceEvaluator(plain, opsets={"": opset}).run(None, operands)
    except Exception:  # not a standard operator, or one the evaluator does not know: an ordinary layer then
        return None
    arrays = [np.asarray(r) for r in results if isinstance(r, np.ndarray | np.generic)]
    if len(arrays) != len(proto.output) or any(a.dtype.hasobject for a in arrays):
        return None
    return arrays


def _small(proto: Any, operands: dict[str, np.ndarray], opset: int) -> bool:
    """Tell if shape inference proves that the results are small."""
    if proto.op_type in _NO_LARGER:
        return sum(8 * o.size * max(1, o.ndim) for o in operands.values()) <= LARGEST_FOLDED
    if proto.op_type in ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul"):
        shapes = [o.shape for o in operands.values() if o.ndim >= 2]
        if math.prod(math.prod(s) for s in shapes) > _LARGEST_PRODUCT:
            return False
    try:
        inputs, initializers = [], []
        for name, value in operands.items():
            element = helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(name, element, value.shape))
            if value.size <= SHAPE_OPERAND:
                initializers.append(numpy_helper.from_array(value, name))
        outputs = [helper.make_empty_tensor_value_info(name) for name in proto.output if name]
        graph = helper.make_graph([proto], "one", inputs, outputs, initializers)
        domains = [helper.make_opsetid(d, opset if d in ("", "ai.onnx") else 1) for d in {"", proto.domain}]
        found = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=domains), data_prop=True)
    except Exception:  # inference rejects malformed nodes in many classes; the importer will name the node
        return False
    return all(_bytes(info) <= LARGEST_FOLDED for info in found.graph.output)


def _bytes(info: Any) -> float:
    """Bytes of an inferred value; infinite where its shape is not known."""
    shape = static_shape(info)
    if shape is None:
        return math.inf
    return math.prod(max(0, d) for d in shape) * (item_bytes(info.type.tensor_type.elem_type) or 8)
