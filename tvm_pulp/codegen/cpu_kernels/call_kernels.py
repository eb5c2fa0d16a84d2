"""A layer as a call of a CPU's kernels: its packed constants, memory to work in, and the C function around the call.

Convolutions, also depthwise, matrix products, sums, largest values of windows and attention of 8 bits become calls of
c_runtime/cpu/kernels; every other layer keeps its generated loops.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tvm_pulp.codegen.cpu_kernels.call_add import call_add
from tvm_pulp.codegen.cpu_kernels.call_attention import call_attention
from tvm_pulp.codegen.cpu_kernels.fit_rule import FittedRule, Sums, fit_rule
from tvm_pulp.codegen.cpu_kernels.kernel_call import FUNCTION, RANGES, SATURATIONS, Call, KernelCall, structure
from tvm_pulp.codegen.cpu_kernels.pack_weights import pack_depthwise, pack_matrix, padded
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.soc.cpu import Cpu


@dataclass(frozen=True)
class _Rule:
    """How sums become results: the kernels' suffix, constants in the order of use, and the network's own rule."""

    suffix: str
    scale: np.ndarray
    constants: np.ndarray | None = None

    @property
    def name(self) -> str:
        """The function of the network's own rule, in C."""
        return "0" if self.constants is None else f"{FUNCTION}_rule"

    @property
    def constants_name(self) -> str:
        return "0" if self.constants is None else "constants"


def kernel_call(layer: Layer, cpu: Cpu, wide: bool = False) -> KernelCall | None:
    """The call that computes a layer; None where the kernels have none for it. `wide`: by weights of 16 bits."""
    if not cpu.kernels:
        return None
    if layer.operator == "qdq_attention":
        return call_attention(layer)
    if layer.operator == "max_pool":
        return _max_pool(layer)
    if layer.operator == "add":
        return call_add(layer, cpu)
    if layer.operator not in ("conv2d", "dense"):
        return None
    attributes, requant = layer.attributes, Requant.of(layer.attributes)
    x, weight = layer.inputs[0], layer.inputs[1]
    dtypes = (x.spec.dtype, layer.outputs[0].spec.dtype)
    if weight.spec.dtype != "int8" or weight.data is None or any(d not in RANGES for d in dtypes):
        return None
    if attributes.get("sum_bits", 32) > 32 or not requant.operands:
        return None
    if layer.operator == "dense":
        return _dense(layer, cpu, wide)
    if attributes["layout"] != "NHWC" or x.spec.shape[0] != 1:
        return None
    groups = attributes["groups"]
    if groups == 1:
        return _conv2d(layer, cpu, wide)
    whole = groups % math.prod(cpu.depthwise.channels) == 0 or cpu.depthwise.tails
    if groups == x.spec.shape[3] == weight.spec.shape[0] and whole:
        return _depthwise(layer, cpu)
    return None


# Rules of weights by all that they depend on: parts of a layer share its own.
_RULES: "WeakKeyDictionary[Tensor, dict[Any, _Rule | None]]" = WeakKeyDictionary()


def _rule(layer: Layer, matrix: np.ndarray, block: int, cpu: Cpu, values: str = "") -> _Rule | None:
    """The rule for weights [channels, depth] and values of a type; None where sums do not fit into 32 bits."""
    x, weight, *others = layer.inputs
    known = _RULES.setdefault(weight, {})
    key = (
        tuple(others), x.spec.dtype, Requant.of(layer.attributes), layer.attributes["zero_point"],
        block, cpu.doubled, cpu.block.by_constant, values,
    )  # fmt: skip
    if key not in known:
        known[key] = _rule_of(layer, matrix, block, cpu, values)
    return known[key]


def _rule_of(layer: Layer, matrix: np.ndarray, block: int, cpu: Cpu, values: str) -> _Rule | None:
    requant, low_high = Requant.of(layer.attributes), RANGES[layer.inputs[0].spec.dtype]
    weights, zero_point = matrix.astype(np.int64), int(layer.attributes["zero_point"])
    if values:
        zero_point, low_high = zero_point + RANGES[values][0] - low_high[0], RANGES[values]
    channels = len(weights)
    bias = layer.inputs[2].values.astype(np.int64) if layer.attributes["has_bias"] else np.zeros(channels, np.int64)
    bias = bias - zero_point * weights.sum(1)
    ends = np.stack([weights * low_high[0], weights * low_high[1]])
    lowest, highest = ends.min(0).sum(1), ends.max(0).sum(1)
    reach = max(int(np.abs(e + b).max()) for e in (lowest, highest) for b in (bias, 0))
    if reach >= 1 << 31 or np.abs(bias).max() >= 1 << 31:
        return None
    first, second = (np.asarray(o.values, np.int64) for o in requant.tensors(layer.inputs))
    clipped = (requant.low, requant.high)
    if clipped in SATURATIONS:
        fitted = fit_rule(Sums(requant, (first, second), bias, lowest, highest), clipped, doubled=cpu.doubled)
        if fitted is not None:
            suffix = SATURATIONS[clipped] + ("" if fitted.less is None else "_away")
            return _Rule(suffix, _scale(fitted, block, cpu.block.by_constant))
    constants = np.concatenate([np.broadcast_to(o.reshape(-1), channels) for o in (first, second)])
    return _Rule("s32", padded(bias, 0, block).astype(np.int32), constants.astype(np.int32))


def _scale(fitted: FittedRule, block: int, by_constant: bool) -> np.ndarray:
    """Constants of the fitted rule, blocks of channels one after the other."""
    added = [fitted.shift, fitted.multiply, fitted.add] + ([] if fitted.less is None else [fitted.less])
    each = padded(np.stack(added, axis=1), 0, block).reshape(-1, block, len(added))
    rows = (each.transpose(0, 2, 1) if by_constant else each).reshape(-1, len(added) * block)
    return np.concatenate([padded(fitted.start, 0, block).reshape(-1, block), rows], axis=1).astype(np.int32)


def _begun(layer: Layer, rule: _Rule, weights: np.ndarray) -> Call:
    """A call with the operands that all products have."""
    call = Call(layer, layer.inputs[:1])
    call.constant("weight", weights)
    call.constant("scale", rule.scale)
    if rule.constants is not None:
        call.constant("constants", rule.constants)
    call.result()
    return call


def _helpers(layer: Layer, rule: _Rule) -> list[str]:
    """The network's rule as a function, where the kernels leave it to the layer."""
    if rule.constants is None:
        return []
    requant = Requant.of(layer.attributes)
    operands = f"sum, constants[channel], constants[{rule.constants.size // 2} + channel]"
    name, third = (
        ("requantize_wide", requant.shift)
        if requant.kind == "pulp"
        else (f"requantize_{requant.kind}", requant.zero_point)
    )
    head = f"TVM_PULP_INLINE int32_t {rule.name}(int32_t sum, int32_t channel, const int32_t *constants) {{"
    return [head, f"  return tvm_pulp_{name}({operands}, {third}, {requant.low}, {requant.high});", "}", ""]


def _window(layer: Layer, is_unsigned: int, kernel: Sequence[int]) -> dict[str, Any]:
    attributes = layer.attributes
    (_, height, width, channels), (_, out_height, out_width, _) = (
        t.spec.shape for t in (layer.inputs[0], layer.outputs[0])
    )
    (top, left, _, _) = attributes["pads"]
    kernel_height, kernel_width = kernel
    (stride_height, stride_width), (dilation_height, dilation_width) = attributes["strides"], attributes["dilation"]
    reach = (out_width - 1) * stride_width + (kernel_width - 1) * dilation_width + 1
    lowest = (out_height - 1) * stride_height + (kernel_height - 1) * dilation_height - top
    right = max(0, reach - left - width)
    return {
        "height": height, "width": width, "channels": channels,
        "out_height": out_height, "out_width": out_width,
        "kernel_height": kernel_height, "kernel_width": kernel_width,
        "stride_height": stride_height, "stride_width": stride_width,
        "dilation_height": dilation_height, "dilation_width": dilation_width,
        "top": top, "left": left, "right": right,
        "is_padded": int(top > 0 or left > 0 or right > 0 or lowest >= height),
        "zero_point": attributes.get("zero_point", 0), "is_unsigned": is_unsigned,
    }  # fmt: skip


def _row_bytes(window: dict[str, Any]) -> int:
    """Memory for the rows of windows, see window.h."""
    if not window["is_padded"]:
        return 1
    sides = window["left"] + window["right"]
    kept = 2 + (window["kernel_height"] - 1) * window["dilation_height"] if sides else 1
    return int(kept * (sides + window["width"]) * window["channels"])


def _reads_first(window: dict[str, Any], channels: int) -> list[int]:
    """The operand that results with so many channels may overwrite: what lies there has been read before."""
    row, written = window["width"] * window["channels"], window["out_width"] * channels
    if window["is_padded"] and window["left"] + window["right"]:
        span = (window["kernel_height"] - 1) * window["dilation_height"] + 1
        for number in range(window["out_height"]):
            copied = number * window["stride_height"] - window["top"] + span
            if copied < window["height"] and (number + 1) * written > copied * row:
                return []
        return [0]
    pointwise = window["kernel_height"] == window["kernel_width"] == 1 and not window["is_padded"]
    return [0] if pointwise and channels <= window["channels"] else []


def _matrix_call(layer: Layer, cpu: Cpu, pixels: int, wide: bool) -> tuple[Call, list[str], _Rule] | None:
    """The call of a blocked product, what its body begins with, and its rule."""
    block, channels = cpu.block, layer.inputs[1].spec.shape[0]
    matrix = layer.inputs[1].values.reshape(channels, -1)
    at_once = math.prod(block.channels)
    rule = _rule(layer, matrix, at_once, cpu, block.values)
    if rule is None:
        return None
    call = _begun(layer, rule, pack_matrix(matrix, block, wide))
    depth = aligned(matrix.shape[1], math.prod(block.depth))
    blocks = -(-channels // at_once)
    # A block's results, or its sums.
    call.workspace("patch", block.pixels * depth * block.lane_bytes // 4, "uint32")
    call.workspace("line", depth)
    call.workspace("spare", block.pixels * blocks * at_once, "int32" if rule.suffix == "s32" else "int8")
    one = "one_" if pixels == 1 else ""
    function = f"tvm_pulp_product_{'wide_' if wide else ''}{one}{rule.suffix}"
    product = {
        "patch": "patch", "weight": "(const int8_t *)weight" if wide else "weight", "scale": "scale",
        "depth": depth, "blocks": blocks,
    }  # fmt: skip
    results = {
        "y": call.y, "channels": channels, "multiply": function, "rule": rule.name,
        "constants": rule.constants_name, "spare": "spare",
    }  # fmt: skip
    body = [
        f"  /* Blocks of {'one pixel' if one else f'{block.pixels} pixels'} and {at_once} channels"
        f"{', weights of 16 bits' if wide else ''}. */",
        *structure("struct tvm_pulp_product product", product),
        *structure("const struct tvm_pulp_results results", results),
    ]
    return call, body, rule


def _dense(layer: Layer, cpu: Cpu, wide: bool) -> KernelCall | None:
    rows = layer.outputs[0].spec.elements // layer.inputs[1].spec.shape[0]
    made = _matrix_call(layer, cpu, rows, wide)
    if made is None:
        return None
    call, body, rule = made
    depth = layer.inputs[1].spec.shape[1]
    end = f"{call.is_unsigned}, &product, &results, {call.x}, patch, line);"
    one = rows == 1
    body.append(
        f"  tvm_pulp_multiply_row({depth}, {end}" if one else f"  tvm_pulp_multiply_rows({rows}, {depth}, {end}"
    )
    fits = [0] if layer.inputs[1].spec.shape[0] <= depth else []
    return call.made(body, "convolution.h", _helpers(layer, rule), fits)


def _conv2d(layer: Layer, cpu: Cpu, wide: bool) -> KernelCall | None:
    made = _matrix_call(layer, cpu, cpu.block.pixels, wide)
    if made is None:
        return None
    call, body, rule = made
    window = _window(layer, call.is_unsigned, layer.inputs[1].spec.shape[1:3])
    call.workspace("rows", _row_bytes(window))
    body += structure("const struct tvm_pulp_window window", window)
    body.append(f"  tvm_pulp_convolve(&window, &product, &results, {call.x}, patch, rows, line);")
    overwrites = _reads_first(window, layer.inputs[1].spec.shape[0])
    return call.made(body, "convolution.h", _helpers(layer, rule), overwrites)


def _max_pool(layer: Layer) -> KernelCall | None:
    spec = layer.inputs[0].spec
    if spec.dtype not in RANGES or layer.attributes["layout"] != "NHWC" or spec.shape[0] != 1:
        return None
    call = Call(layer, layer.inputs)
    call.result()
    window = structure(
        "const struct tvm_pulp_window window", _window(layer, call.is_unsigned, layer.attributes["kernel"])
    )
    return call.made([*window, f"  tvm_pulp_max_pool(&window, {call.x}, {call.y});"], "pool.h")


def _depthwise(layer: Layer, cpu: Cpu) -> KernelCall | None:
    channels = layer.inputs[1].spec.shape[0]
    matrix = layer.inputs[1].values.reshape(channels, -1)
    at_once = math.prod(cpu.depthwise.channels)
    rule = _rule(layer, matrix, at_once, cpu)
    if rule is None:
        return None
    call = _begun(layer, rule, pack_depthwise(matrix, cpu.depthwise))
    window = _window(layer, call.is_unsigned, layer.inputs[1].spec.shape[1:3])
    call.workspace("rows", _row_bytes(window))
    saturation = f"TVM_PULP_{rule.suffix.upper()}"
    return call.made(
        [
            f"  /* {at_once} channels at once. */",
            *structure("const struct tvm_pulp_window window", window),
            f"  tvm_pulp_depthwise(&window, {call.x}, weight, scale, {saturation}, {rule.name}, "
            f"{rule.constants_name}, {call.y}, rows);",
        ],
        "depthwise.h",
        _helpers(layer, rule),
        _reads_first(window, channels) if window["left"] + window["right"] else [],
    )
