"""A layer as a call of a CPU's kernels: its packed constants, memory to work in, and the C function around the call.

Convolutions, also depthwise, and matrix products of 8 bits become calls of c_runtime/cpu/kernels; every other layer
keeps its generated loops.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.codegen.cpu_kernels.fit_rule import FittedRule, Sums, fit_rule
from tvm_pulp.codegen.cpu_kernels.pack_weights import pack_depthwise, pack_matrix, padded
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cpu import Cpu

_RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
# The name of the function, which is known when all are.
FUNCTION = "@FUNCTION@"
# Limits of results that an instruction saturates to, and how functions for them are called.
_SATURATIONS = {(-128, 127): "s8", (0, 255): "u8", (0, 127): "u7"}


@dataclass(frozen=True)
class KernelCall:
    """The layer with the operands of the call, and the function's parameters, helpers before it and body."""

    layer: Layer
    parameters: list[str]
    before: list[str]
    body: list[str]
    headers: tuple[str, ...]


@dataclass(frozen=True)
class _Rule:
    """How sums become results: the kernels' suffix, constants in the order of use, and the network's own rule."""

    suffix: str
    scale: np.ndarray
    constants: np.ndarray | None = None


def kernel_call(layer: Layer, cpu: Cpu) -> KernelCall | None:
    """The call that computes a layer; None where the kernels have none for it."""
    if layer.operator not in ("conv2d", "dense") or not cpu.kernels:
        return None
    attributes, requant = layer.attributes, Requant.of(layer.attributes)
    x, weight = layer.inputs[0], layer.inputs[1]
    dtypes = (x.spec.dtype, layer.outputs[0].spec.dtype)
    if weight.spec.dtype != "int8" or weight.data is None or any(d not in _RANGES for d in dtypes):
        return None
    if attributes.get("sum_bits", 32) > 32 or not requant.operands:
        return None
    if layer.operator == "dense":
        return _dense(layer, cpu)
    if attributes["layout"] != "NHWC" or x.spec.shape[0] != 1:
        return None
    groups = attributes["groups"]
    if groups == 1:
        return _conv2d(layer, cpu)
    whole = groups % math.prod(cpu.depthwise.channels) == 0 or cpu.depthwise.tails
    if groups == x.spec.shape[3] == weight.spec.shape[0] and whole:
        return _depthwise(layer, cpu)
    return None


def _rule(layer: Layer, matrix: np.ndarray, block: int, *, unsigned: bool, by_constant: bool) -> _Rule | None:
    """The rule for weights [channels, depth]; None where sums do not fit into 32 bits."""
    requant, low_high = Requant.of(layer.attributes), _RANGES[layer.inputs[0].spec.dtype]
    weights, zero_point = matrix.astype(np.int64), int(layer.attributes["zero_point"])
    if unsigned:
        zero_point, low_high = zero_point - low_high[0], _RANGES["uint8"]
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
    if clipped in _SATURATIONS:
        fitted = fit_rule(Sums(requant, (first, second), bias, lowest, highest), clipped)
        if fitted is not None:
            suffix = _SATURATIONS[clipped] + ("" if fitted.less is None else "_away")
            return _Rule(suffix, _scale(fitted, block, by_constant))
    constants = np.concatenate([np.broadcast_to(o.reshape(-1), channels) for o in (first, second)])
    return _Rule("s32", padded(bias, 0, block).astype(np.int32), constants.astype(np.int32))


def _scale(fitted: FittedRule, block: int, by_constant: bool) -> np.ndarray:
    """Constants of the fitted rule, blocks of channels one after the other."""
    added = [fitted.shift, fitted.multiply, fitted.add] + ([] if fitted.less is None else [fitted.less])
    each = padded(np.stack(added, axis=1), 0, block).reshape(-1, block, len(added))
    rows = (each.transpose(0, 2, 1) if by_constant else each).reshape(-1, len(added) * block)
    return np.concatenate([padded(fitted.start, 0, block).reshape(-1, block), rows], axis=1).astype(np.int32)


class _Call:
    """Operands and text of a call while it is made."""

    def __init__(self, layer: Layer, rule: _Rule, weights: np.ndarray) -> None:
        self._layer, self._rule = layer, rule
        x, y = layer.inputs[0], layer.outputs[0]
        self.is_unsigned = int(x.spec.dtype == "uint8")
        self._inputs = [x, self._constant("packed", weights), self._constant("scale", rule.scale)]
        self._workspaces: list[Tensor] = []
        self.parameters = [
            f"const {x.spec.dtype}_t *restrict x",
            f"const {weights.dtype}_t *restrict weight",
            "const int32_t *restrict scale",
        ]
        if rule.constants is not None:
            self._inputs.append(self._constant("rule", rule.constants))
            self.parameters.append("const int32_t *restrict constants")
        self.parameters.append(f"{y.spec.dtype}_t *restrict y")
        self.x = "x" if x.spec.dtype == "int8" else "(const int8_t *)x"
        self.y = "y" if y.spec.dtype == "int8" else "(int8_t *)y"

    def _constant(self, name: str, data: np.ndarray) -> Tensor:
        spec = TensorSpec(tuple(data.shape), str(data.dtype))
        return Tensor(f"{self._layer.name}_{name}", spec, "constant", data=data)

    def workspace(self, name: str, count: int, dtype: str = "int8") -> None:
        """Memory to work in; the function knows it by the name."""
        spec = TensorSpec((max(1, count),), dtype)
        self._workspaces.append(Tensor(f"{self._layer.name}_{name}", spec, "workspace"))
        self.parameters.append(f"{dtype}_t *restrict {name}")

    @property
    def rule_name(self) -> str:
        return "0" if self._rule.constants is None else f"{FUNCTION}_rule"

    @property
    def constants_name(self) -> str:
        return "0" if self._rule.constants is None else "constants"

    def helpers(self) -> list[str]:
        """The network's rule as a function, where the kernels leave it to the layer."""
        if self._rule.constants is None:
            return []
        requant = Requant.of(self._layer.attributes)
        channels = self._rule.constants.size // 2
        operands = f"sum, constants[channel], constants[{channels} + channel]"
        if requant.kind == "pulp":
            name = "tvm_pulp_requantize_wide"
            value = f"{name}({operands}, {requant.shift}, {requant.low}, {requant.high})"
        else:
            name = f"tvm_pulp_requantize_{requant.kind}"
            value = f"{name}({operands}, {requant.zero_point}, {requant.low}, {requant.high})"
        head = f"static int32_t {self.rule_name}(int32_t sum, int32_t channel, const int32_t *constants) {{"
        return [head, f"  return {value};", "}", ""]

    def made(self, body: list[str], header: str) -> KernelCall:
        layer = replace(self._layer, inputs=self._inputs, workspaces=self._workspaces)
        return KernelCall(layer, self.parameters, self.helpers(), body, (header,))


def _fields(values: dict[str, Any]) -> str:
    return ", ".join(f".{name} = {value}" for name, value in values.items())


def _window(layer: Layer, is_unsigned: int) -> dict[str, Any]:
    attributes = layer.attributes
    (_, height, width, channels), (_, out_height, out_width, _) = (
        t.spec.shape for t in (layer.inputs[0], layer.outputs[0])
    )
    (top, left, _, _) = attributes["pads"]
    (_, kernel_height, kernel_width, _) = layer.inputs[1].spec.shape
    (stride_height, stride_width), (dilation_height, dilation_width) = attributes["strides"], attributes["dilation"]
    reach = (out_width - 1) * stride_width + (kernel_width - 1) * dilation_width + 1
    return {
        "height": height, "width": width, "channels": channels,
        "out_height": out_height, "out_width": out_width,
        "kernel_height": kernel_height, "kernel_width": kernel_width,
        "stride_height": stride_height, "stride_width": stride_width,
        "dilation_height": dilation_height, "dilation_width": dilation_width,
        "top": top, "left": left, "right": max(0, reach - left - width),
        "zero_point": attributes["zero_point"], "is_unsigned": is_unsigned,
    }  # fmt: skip


def _row_bytes(window: dict[str, Any]) -> int:
    """Memory for the rows of windows, see window.h."""
    sides = window["left"] + window["right"]
    kept = 2 + (window["kernel_height"] - 1) * window["dilation_height"] if sides else 1
    return int(kept * (sides + window["width"]) * window["channels"])


def _matrix_call(layer: Layer, cpu: Cpu, pixels: int) -> tuple[_Call, list[str], int] | None:
    """The call of a blocked product, what its body begins with, and its depth."""
    block, channels = cpu.block, layer.inputs[1].spec.shape[0]
    matrix = layer.inputs[1].values.reshape(channels, -1)
    at_once = math.prod(block.channels)
    rule = _rule(layer, matrix, at_once, unsigned=block.unsigned, by_constant=block.by_constant)
    if rule is None:
        return None
    call = _Call(layer, rule, pack_matrix(matrix, block))
    depth = matrix.shape[1] + -matrix.shape[1] % math.prod(block.depth)
    blocks = -(-channels // at_once)
    # A block's results, or its sums.
    call.workspace("patch", block.pixels * depth * block.lane_bytes // 4, "uint32")
    call.workspace("line", depth)
    call.workspace("spare", block.pixels * blocks * at_once, "int32" if rule.suffix == "s32" else "int8")
    one = "one_" if pixels == 1 else ""
    product = {
        "patch": "patch", "weight": "weight", "scale": "scale", "depth": depth, "blocks": blocks,
    }  # fmt: skip
    results = {
        "y": call.y, "channels": channels, "multiply": f"tvm_pulp_product_{one}{rule.suffix}", "rule": call.rule_name,
        "constants": call.constants_name, "spare": "spare",
    }  # fmt: skip
    body = [
        f"  /* Blocks of {1 if one else block.pixels} pixels and {at_once} channels. */",
        f"  struct tvm_pulp_product product = {{{_fields(product)}}};",
        f"  const struct tvm_pulp_results results = {{{_fields(results)}}};",
    ]
    return call, body, matrix.shape[1]


def _dense(layer: Layer, cpu: Cpu) -> KernelCall | None:
    rows = layer.outputs[0].spec.elements // layer.inputs[1].spec.shape[0]
    made = _matrix_call(layer, cpu, rows)
    if made is None:
        return None
    call, body, depth = made
    end = f"{call.is_unsigned}, &product, &results, {call.x}, patch, line);"
    one = rows == 1
    body.append(
        f"  tvm_pulp_multiply_row({depth}, {end}" if one else f"  tvm_pulp_multiply_rows({rows}, {depth}, {end}"
    )
    return call.made(body, "convolution.h")


def _conv2d(layer: Layer, cpu: Cpu) -> KernelCall | None:
    made = _matrix_call(layer, cpu, cpu.block.pixels)
    if made is None:
        return None
    call, body, _ = made
    window = _window(layer, call.is_unsigned)
    call.workspace("rows", _row_bytes(window))
    body.append(f"  const struct tvm_pulp_window window = {{{_fields(window)}}};")
    body.append(f"  tvm_pulp_convolve(&window, &product, &results, {call.x}, patch, rows, line);")
    return call.made(body, "convolution.h")


def _depthwise(layer: Layer, cpu: Cpu) -> KernelCall | None:
    channels = layer.inputs[1].spec.shape[0]
    matrix = layer.inputs[1].values.reshape(channels, -1)
    at_once = math.prod(cpu.depthwise.channels)
    rule = _rule(layer, matrix, at_once, unsigned=False, by_constant=cpu.block.by_constant)
    if rule is None:
        return None
    call = _Call(layer, rule, pack_depthwise(matrix, cpu.depthwise))
    window = _window(layer, call.is_unsigned)
    call.workspace("rows", _row_bytes(window))
    saturation = f"TVM_PULP_{rule.suffix.upper()}"
    return call.made(
        [
            f"  /* {at_once} channels at once. */",
            f"  const struct tvm_pulp_window window = {{{_fields(window)}}};",
            f"  tvm_pulp_depthwise(&window, {call.x}, weight, scale, {saturation}, {call.rule_name}, "
            f"{call.constants_name}, {call.y}, rows);",
        ],
        "depthwise.h",
    )
