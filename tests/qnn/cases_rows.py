"""Random calls of the operators that work along an axis: softmax, normalization, reductions."""

from typing import Any

import numpy as np

from tests.qnn.cases_elementwise import shape
from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, byte_type, integers, magnitude, pick
from tvm_pulp.canonicalize.rewriter import needed
from tvm_pulp.qnn import product as products
from tvm_pulp.qnn import softmax_table, softmax_tflite, softmax_tflite16


def softmax(rng: Rng) -> Case:
    form = str(pick(rng, ("i_softmax", "ita_max", "ita_partial_max", "tflite", "tflite16", "table")))
    length = int(pick(rng, (1, 2, 7, 16, 33, 100)))
    # The streaming form starts from the smallest int8.
    dtype = byte_type(rng) if form in ("i_softmax", "ita_max", "table") else "int8"
    dtype = "int16" if form == "tflite16" else dtype
    x = integers(rng, (*shape(rng, 0, 3), length), dtype)
    levels = int(pick(rng, (256, 256, 128)))
    attributes: dict[str, Any] = {"form": form}
    if form == "i_softmax":
        log2 = int(rng.integers(3, 60))
        attributes |= {"a": 1, "b": int(rng.integers(log2, 3 * log2)), "c": int(rng.integers(1, 40_000))}
        return Case("softmax", {**attributes, "log2": log2, "levels": levels}, [x])
    if form == "tflite":
        return Case("softmax", {**attributes, **softmax_tflite.parameters(float(rng.uniform(0.001, 1.0)), 1.0)}, [x])
    if form == "tflite16":
        attributes |= {"dtype": "int16", **softmax_tflite16.parameters(float(np.exp(rng.uniform(-11, -6))), 1.0)}
        return Case("softmax", attributes, [x, *softmax_tflite16.tables()])
    if form == "table":
        bits = softmax_table.fraction_bits(length)
        assert bits is not None
        table = softmax_table.exponentials(float(rng.uniform(0.001, 0.5)), bits)
        attributes["gain"] = softmax_table.gain(float(rng.uniform(0.002, 0.1)))
        low, high = (-128, 127) if (signed := rng.random() < 0.5) else (0, 255)
        attributes |= {"zero_point": int(rng.integers(low, high)), "low": low, "high": high}
        return Case("softmax", {**attributes, "dtype": "int8" if signed else "uint8"}, [x, table])
    if form == "ita_partial_max":
        attributes |= {"group": int(pick(rng, (1, 4, 16))), "unit": int(pick(rng, (256, 1024)))}
    return Case("softmax", {**attributes, "levels": levels}, [x])


def _norm(rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    x = integers(rng, (*shape(rng, 0, 3), int(pick(rng, (1, 3, 16, 65)))), byte_type(rng))
    if rng.random() < 0.4:  # few values stand out far above the root
        x = np.where(rng.random(x.shape) < 0.05, x, 0).astype(x.dtype)
    reach = 1 << int(rng.integers(4, 31))
    weight = rng.integers(-reach, reach, x.shape[-1]).astype(np.int32)
    bias = rng.integers(-reach, reach, x.shape[-1]).astype(np.int32)
    # Twice the magnitude: a centred value can be that large.
    wide = 2 * magnitude(x) * reach + reach >= 1 << 31
    shift = int(rng.integers(0, max(1, reach.bit_length() - 4)))
    return x, weight, bias, {"wide": int(wide), "levels": int(pick(rng, (16, 256, 1 << 16))), "shift": shift}


def rms_norm(rng: Rng) -> Case:
    x, weight, _, attributes = _norm(rng)
    return Case("rms_norm", attributes, [x, weight])


def layer_norm(rng: Rng) -> Case:
    x, weight, bias, attributes = _norm(rng)
    return Case("layer_norm", attributes, [x, weight, bias])


def qdq_norm(rng: Rng) -> Case:
    length = int(pick(rng, (1, 3, 16, 65, 700)))
    x = integers(rng, (*shape(rng, 0, 3), length), byte_type(rng))
    if rng.random() < 0.3:
        x = np.where(rng.random(x.shape) < 0.05, x, 0).astype(x.dtype)
    centred, has_table, stages = (int(v) for v in (rng.integers(2), rng.integers(2), rng.integers(3)))
    typical = 60.0 * length if centred else 60.0
    attributes: dict[str, Any] = {"centred": centred, "has_table": has_table, "zero_point_x": int(rng.integers(-9, 9))}
    attributes |= {"statistic": float(np.float32(1 / (typical**2 * (1 if centred else length))))}
    attributes |= {
        "epsilon": float(np.float32(1e-5)),
        "gain": float(np.float32(60 / typical)),
        "index_limits": [0, 255],
    }
    operands = [x]
    if has_table:
        attributes["statistic"] = float(np.float32(attributes["statistic"] * 60))
        operands.append((60 / typical / np.sqrt(np.arange(256) / 60 + 0.1)).astype(np.float32))
    biases = [int(rng.integers(2)) for _ in range(stages)]
    for bias in biases:
        operands += [rng.uniform(-1.5, 1.5, length).astype(np.float32) for _ in range(1 + bias)]
    signed = bool(rng.integers(2))
    attributes |= {"biases": biases, "rounds": [*(int(rng.integers(2)) for _ in range(stages)), 1]}
    attributes |= {"low": [*[-100] * stages, -120 if signed else 0], "high": [*[150] * stages, 110 if signed else 200]}
    attributes |= {"zero_point": -8 if signed else 20, "dtype": "int8" if signed else "uint8"}
    return Case("qdq_norm", attributes, operands)


def group_norm(rng: Rng) -> Case:
    groups, each = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    x = integers(rng, (int(rng.integers(1, 3)), groups * each, *shape(rng, 1, 2)), byte_type(rng))
    n, scale, dtype = x[0].size // groups, float(np.exp(rng.uniform(-5, -2))), byte_type(rng)
    weight, bias = (rng.normal(0, 40, groups * each).astype(np.float32) for _ in range(2))
    attributes = {
        "groups": groups, "statistic": (scale / n) ** 2, "gain": scale / n, "epsilon": 1e-5, "zero_point": 5,
        "low": 5 if rng.random() < 0.3 else np.iinfo(dtype).min, "high": int(np.iinfo(dtype).max), "dtype": dtype,
    }  # fmt: skip
    return Case(
        "group_norm", {k: int(v) if k in ("low", "high") else v for k, v in attributes.items()}, [x, weight, bias]
    )


def reduce(rng: Rng) -> Case:
    x = integers(rng, shape(rng), str(pick(rng, ("int8", "uint8", "int16"))))
    axes = sorted(int(a) for a in rng.choice(x.ndim, int(rng.integers(1, x.ndim + 1)), replace=False))
    kind = str(pick(rng, ("sum", "mean")))
    return Case("reduce", {"kind": kind, "axes": axes, "keepdims": int(rng.integers(2))}, [x])


def product(rng: Rng) -> Case:
    """Of few and of many factors, with scales by which the result is about as large as a factor."""
    dtype = str(pick(rng, ("int8", "int16")))
    x = integers(rng, shape(rng), dtype)
    axes = sorted(int(a) for a in rng.choice(x.ndim, int(rng.integers(1, x.ndim + 1)), replace=False))
    ratio = float(np.exp(rng.uniform(-1, 1))) / magnitude(x)
    scaling = products.parameters(ratio, 1.0, 1)
    zero_point, offset = (int(v) for v in rng.integers(-128, 128, 2)) if dtype == "int8" else (0, 0)
    attributes = {"axes": axes, "keepdims": int(rng.integers(2)), "zero_point": zero_point, "offset": offset}
    return Case("product", {**attributes, **needed(scaling)}, [x])


CASES = {"softmax": softmax, "qdq_norm": qdq_norm, "rms_norm": rms_norm, "layer_norm": layer_norm, "reduce": reduce}
CASES |= {"group_norm": group_norm, "product": product}
