"""Converters of the integer dialect: softmax family, normalization, activation functions, reductions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_dialect_movement import axes_of
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import OnnxNode
from tvm_pulp.qnn.rows import largest

NONE = qnn.Requant().attributes()
_DEFAULTS = {"group_width": 16}


def unary(operator: str, fixed: dict[str, Any], **names: str) -> Callable[[Values, OnnxNode], None]:
    """Converter of an operator of one operand: attributes of the dialect by the names that the file has for them."""

    def convert(values: Values, node: OnnxNode) -> None:
        read = {ours: node.integer(theirs, default=_DEFAULTS.get(theirs)) for ours, theirs in names.items()}
        values.emit(operator, [values.operand()], {**fixed, **read})

    return convert


def convert_i_softmax(values: Values, node: OnnxNode) -> None:
    """Exponentials, their sum and their product with the levels must stay inside 32 bits."""
    a, b, c, log2, levels = (node.integer(name) for name in ("coeffA", "coeffB", "coeffC", "log2", "n_levels"))
    spec = values.spec()
    refuse_if(log2 < 1, f"{node.label}: log2 {log2} is not positive: re-export the model")
    low, high = spec.range
    # The polynomial sees what is left of a difference after up to 31 halvings.
    lowest = min(1 - log2, low - high + 31 * log2)
    reach = abs(a) * max(abs(b), abs(b + lowest)) ** 2 + abs(c)
    refuse_if(
        reach * max(levels - 1, spec.shape[-1]) >= 1 << 31,
        f"{node.label}: its coefficients and rows of {spec.shape[-1]} values exceed 32 bits: "
        "use a coarser scale or shorter rows",
    )
    constants = {"a": a, "b": b, "c": c, "log2": log2, "levels": levels}
    values.emit("softmax", [values.operand()], {"form": "i_softmax", **constants})


def convert_octave_softmax(values: Values, node: OnnxNode) -> None:
    """Logits that step in octaves; with 128 levels the result is int8, with 256 uint8."""
    levels = node.integer("n_levels", default=256)
    refuse_if(
        levels not in (128, 256) or values.spec().dtype != "int8",
        f"{node.label}: it needs int8 logits and 128 or 256 levels",
    )
    kind = {"form": "octave", "largest": levels - 1, "dtype": "uint8" if levels == 256 else "int8"}
    unary("softmax", kind, group="group_width")(values, node)


def convert_partial_max(values: Values, node: OnnxNode) -> None:
    """Sums of 256ths, or of 1024ths where `unit` says so."""
    unit = node.integer("unit", default=256)
    refuse_if(unit not in (256, 1024), f"{node.label}: unit {unit} is neither 256 nor 1024")
    stated = {"unit": unit} if unit != 256 else {}
    kind = {"form": "ita_partial_max", **stated}
    unary("softmax", kind, levels="n_levels", group="group_width")(values, node)


def _norm(values: Values, operator: str, parameters: list[np.ndarray], **attributes: int) -> None:
    common = {"shift": values.node.power_of_two("D"), "levels": values.node.integer("n_levels")}
    values.emit(operator, [values.operand(), *parameters], {**common, **attributes})


def _row_norm(operator: str, factor: int, values: Values, node: OnnxNode) -> None:
    """Rows by their root mean squares, as large as the input; or, less their mean, twice as large, with a bias."""
    parameters, spec = [values.constant(1 + place).reshape(-1) for place in range(factor)], values.spec()
    refuse_if(
        (factor * spec.magnitude) ** 2 * spec.shape[-1] >= 1 << 31,
        f"{node.label}: squares of {spec.dtype} values in rows of {spec.shape[-1]} exceed 32 bits: "
        "quantize its input to 8 bits",
    )
    offset = sum(int(np.abs(bias.astype(np.int64)).max(initial=0)) for bias in parameters[1:])
    wide = factor * largest(spec, parameters[0]) + offset >= 1 << 31
    _norm(values, operator, parameters, wide=int(wide))


def convert_no_norm(values: Values, node: OnnxNode) -> None:
    mul = node.integer("mul") if "mul" in node.attributes else int(values.constant(3).reshape(-1)[0])
    _norm(values, "no_norm", [values.constant(1), values.constant(2)], mul=mul)


def reduction(kind: str, values: Values, node: OnnxNode) -> None:
    """A sum or mean; without axes it is of all."""
    rank, given = len(values.spec().shape), axes_of(values, node, "axes", "axis")
    axes = sorted(a % rank for a in (range(rank) if given is None else given))
    keep = node.integer("keepdims", default=1)
    values.emit("reduce", [values.operand()], {"kind": kind, "axes": axes, "keepdims": keep})


CONVERTERS: dict[str, Callable[[Values, OnnxNode], None]] = {
    "iSoftmax": convert_i_softmax,
    "ITAMax": unary("softmax", {"form": "ita_max"}, levels="n_levels"),
    "ITAPartialMax": convert_partial_max,
    "OctaveSoftmax": convert_octave_softmax,
    "iRMSNorm": partial(_row_norm, "rms_norm", 1),
    "iLayerNorm": partial(_row_norm, "layer_norm", 2),
    "iNoNorm": convert_no_norm,
    "iGELU": unary("gelu", NONE, b="b", one="one"),
    "iHardswish": unary("hardswish", NONE, one_over_six="one_over_six", three="three", six="six"),
    "IntegerMean": partial(reduction, "mean"),
    "ReduceMean": partial(reduction, "mean"),
    "ReduceSum": partial(reduction, "sum"),
}
