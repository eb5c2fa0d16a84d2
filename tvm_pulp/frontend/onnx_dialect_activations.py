"""Converters of the integer dialect: softmax family, normalization, activation functions, reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import Node
from tvm_pulp.qnn.rows import largest

NONE = qnn.Requant().attributes()


def _axes(values: Values, node: Node, rank: int) -> list[int]:
    """Reduction axes from an attribute or a second input; none given means all."""
    if "axes" in node.attributes:
        given: Any = np.atleast_1d(node.attributes["axes"])
    elif "axis" in node.attributes:
        given = np.atleast_1d(node.attributes["axis"])
    elif len(node.inputs) > 1 and node.inputs[1]:
        given = np.atleast_1d(values.constant(node.inputs[1], "int64"))
    else:
        given = np.arange(rank)
    return sorted(int(a) % rank for a in given)


def _shift(node: Node, name: str) -> int:
    divisor = node.integer(name)
    shift = divisor.bit_length() - 1
    if divisor != 1 << shift:
        raise UserError(f"node '{node.name}' ({node.op_type}): {name} {divisor} is not a power of two")
    return shift


def convert_i_softmax(values: Values, node: Node) -> None:
    attributes = {
        "form": "i_softmax",
        "a": node.integer("coeffA"),
        "b": node.integer("coeffB"),
        "c": node.integer("coeffC"),
        "log2": node.integer("log2"),
        "levels": node.integer("n_levels"),
    }
    _check_i_softmax(values, node, attributes)
    values.emit("softmax", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def _check_i_softmax(values: Values, node: Node, attributes: dict[str, Any]) -> None:
    """Exponentials, their sum and their product with the levels must stay inside 32 bits."""
    spec, log2, b = values.spec(node.inputs[0]), attributes["log2"], attributes["b"]
    if log2 < 1:
        raise UserError(f"node '{node.name}' (iSoftmax): log2 {log2} is not positive: re-export the model")
    low, high = spec.range
    # The polynomial sees what is left of a difference after up to 31 halvings.
    lowest = min(1 - log2, low - high + 31 * log2)
    reach = abs(attributes["a"]) * max(abs(b), abs(b + lowest)) ** 2 + abs(attributes["c"])
    if reach * max(attributes["levels"] - 1, spec.shape[-1]) >= 1 << 31:
        raise UserError(
            f"node '{node.name}' (iSoftmax): its coefficients and rows of {spec.shape[-1]} values exceed 32 bits: "
            "use a coarser scale or shorter rows"
        )


def _check_squares(values: Values, node: Node, largest_value: int) -> None:
    """The sum of the squares of a row must stay inside 32 bits."""
    length = values.spec(node.inputs[0]).shape[-1]
    if largest_value**2 * length >= 1 << 31:
        raise UserError(
            f"node '{node.name}' ({node.op_type}): squares of {values.spec(node.inputs[0]).dtype} values in rows of "
            f"{length} exceed 32 bits: quantize its input to 8 bits"
        )


def convert_ita_max(values: Values, node: Node) -> None:
    attributes = {"form": "ita_max", "levels": node.integer("n_levels")}
    values.emit("softmax", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_ita_partial_max(values: Values, node: Node) -> None:
    attributes = {
        "form": "ita_partial_max",
        "levels": node.integer("n_levels"),
        "group": node.integer("group_width", default=16),
    }
    values.emit("softmax", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_octave_softmax(values: Values, node: Node) -> None:
    """Logits that step in octaves; with 128 levels the result is int8, with 256 uint8."""
    levels = node.integer("n_levels", default=256)
    if levels not in (128, 256) or values.spec(node.inputs[0]).dtype != "int8":
        raise UserError(f"node '{node.name}' ({node.op_type}): it needs int8 logits and 128 or 256 levels")
    attributes = {
        "form": "octave",
        "largest": levels - 1,
        "group": node.integer("group_width", default=16),
        "dtype": "uint8" if levels == 256 else "int8",
    }
    values.emit("softmax", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_rms_norm(values: Values, node: Node) -> None:
    weight = values.constant(node.inputs[1]).reshape(-1)
    _check_squares(values, node, values.spec(node.inputs[0]).magnitude)
    wide = largest(values.spec(node.inputs[0]), weight) >= 1 << 31
    attributes = {"shift": _shift(node, "D"), "levels": node.integer("n_levels"), "wide": int(wide)}
    values.emit("rms_norm", [values.expression(node.inputs[0]), weight], attributes, node.outputs[0])


def convert_layer_norm(values: Values, node: Node) -> None:
    weight, bias = (values.constant(i).reshape(-1) for i in node.inputs[1:3])
    _check_squares(values, node, 2 * values.spec(node.inputs[0]).magnitude)
    # A centred value is at most twice the input's magnitude.
    reach = 2 * largest(values.spec(node.inputs[0]), weight) + int(np.abs(bias.astype(np.int64)).max(initial=0))
    attributes = {"shift": _shift(node, "D"), "levels": node.integer("n_levels"), "wide": int(reach >= 1 << 31)}
    values.emit("layer_norm", [values.expression(node.inputs[0]), weight, bias], attributes, node.outputs[0])


def convert_no_norm(values: Values, node: Node) -> None:
    weight, bias = (values.constant(i) for i in node.inputs[1:3])
    mul = node.integer("mul") if "mul" in node.attributes else int(values.constant(node.inputs[3]).reshape(-1)[0])
    attributes = {"shift": _shift(node, "D"), "levels": node.integer("n_levels"), "mul": mul}
    values.emit("no_norm", [values.expression(node.inputs[0]), weight, bias], attributes, node.outputs[0])


def convert_gelu(values: Values, node: Node) -> None:
    attributes = {**NONE, "b": node.integer("b"), "one": node.integer("one")}
    values.emit("gelu", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_hardswish(values: Values, node: Node) -> None:
    attributes = {**NONE, **{k: node.integer(k) for k in ("one_over_six", "three", "six")}}
    values.emit("hardswish", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def reduction(kind: str) -> Callable[[Values, Node], None]:
    """Converter of a sum or mean."""

    def convert(values: Values, node: Node) -> None:
        rank = len(values.spec(node.inputs[0]).shape)
        keep = node.integer("keepdims", default=1)
        attributes = {"kind": kind, "axes": _axes(values, node, rank), "keepdims": keep}
        values.emit("reduce", [values.expression(node.inputs[0])], attributes, node.outputs[0])

    return convert


CONVERTERS: dict[str, Callable[[Values, Node], None]] = {
    "iSoftmax": convert_i_softmax,
    "ITAMax": convert_ita_max,
    "ITAPartialMax": convert_ita_partial_max,
    "OctaveSoftmax": convert_octave_softmax,
    "iRMSNorm": convert_rms_norm,
    "iLayerNorm": convert_layer_norm,
    "iNoNorm": convert_no_norm,
    "iGELU": convert_gelu,
    "iHardswish": convert_hardswish,
    "IntegerMean": reduction("mean"),
    "ReduceMean": reduction("mean"),
    "ReduceSum": reduction("sum"),
}
