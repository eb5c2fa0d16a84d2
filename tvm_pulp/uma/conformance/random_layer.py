"""Random layers: the shapes, widths, signs, paddings and requantizations that break accelerators."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant, narrow_enough
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.window import Window

# One, odd, and just below, at and above the block sizes that hardware likes.
_CHANNELS = (1, 2, 3, 8, 16, 27, 28, 29, 31, 32, 33, 57, 64, 65)
_EXTENTS = (1, 2, 3, 5, 6, 7, 8, 12, 13)
_ROWS = (1, 2, 5, 6, 7, 16, 35, 36, 37, 50)
_DEPTHS = (1, 3, 16, 31, 32, 33, 64, 100, 129, 300)
_KERNELS = ((1, 1), (1, 1), (3, 3), (3, 3), (3, 3), (5, 5), (10, 4), (1, 3), (3, 1), (2, 2), (7, 1))
REQUANTIZATIONS = ("none", "pulp", "pulp_negative", "pulp_wide", "tflite", "half_up", "half_even")
# For engines with one multiplier per tensor and signed results, which hardly any of the above has.
PER_TENSOR = ("pulp_tensor", "pulp_tensor_negative", "half_up_tensor")
OPERATOR_KINDS = ("conv2d", "depthwise", "grouped", "dense")
# Convolutions of one stride that keep the image's size, for engines that have no others.
SAME_KINDS = ("same_conv2d",)
# Kinds of several operators, for engines with patterns of several.
REGION_KINDS = ("dense+lookup",)


@dataclass(frozen=True)
class RandomLayer:
    """A layer with constants: x is its only data operand. A `table` is looked up in its results."""

    operator: str
    attributes: dict[str, Any]
    x: TensorSpec
    constants: tuple[np.ndarray, ...]
    table: np.ndarray | None = None

    @property
    def output(self) -> TensorSpec:
        specs = [self.x, *(TensorSpec(tuple(c.shape), str(c.dtype)) for c in self.constants)]
        operator = OPERATORS[self.operator]
        made = operator.infer(operator.stated(self.attributes), specs)
        return made if self.table is None else TensorSpec(made.shape, str(self.table.dtype))

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The exact result in numpy."""
        operator = OPERATORS[self.operator]
        made = operator.reference(operator.stated(self.attributes), [x, *self.constants])
        return made if self.table is None else OPERATORS["lookup"].reference({}, [made, self.table])

    def __str__(self) -> str:
        a = {k: v for k, v in self.attributes.items() if k != "layout"}
        weight = self.constants[0]
        then = "" if self.table is None else f"+lookup {self.table.dtype}"
        return f"{self.operator}{then} {self.x} weight {list(weight.shape)} {weight.min()}..{weight.max()} {a}"


def check_kinds(kinds: Sequence[str], requantizations: Sequence[str]) -> None:
    """Layers that cannot be made are not replaced by others."""
    for field, asked, known in (
        ("kinds", kinds, (*OPERATOR_KINDS, *SAME_KINDS, *REGION_KINDS)),
        ("requantizations", requantizations, (*REQUANTIZATIONS, *PER_TENSOR)),
    ):
        unknown = [name for name in asked if name not in known]
        if unknown or not asked:
            what = f"the kit makes no random '{unknown[0]}'" if unknown else "there is nothing to test"
            raise UserError(
                f"{field}={tuple(asked)}: {what}; choose from {', '.join(known)}, and compare networks of other "
                "operators with --target=c"
            )


def random_layer(
    source: np.random.Generator,
    kinds: Sequence[str] = OPERATOR_KINDS,
    requantizations: Sequence[str] = REQUANTIZATIONS,
    types: Sequence[str] = ("int8", "uint8"),
) -> RandomLayer:
    """One layer of a random kind."""
    check_kinds(kinds, requantizations)
    kind = str(source.choice(list(kinds)))
    dtype = str(source.choice(list(types)))
    if kind == "dense+lookup":
        bytes_only = [r for r in requantizations if r != "none"]
        made = _dense(source, dtype, str(source.choice(bytes_only)))
        low, high = TensorSpec((), table_type := str(source.choice(["int8", "uint8"]))).range
        return replace(made, table=source.integers(low, high, (256,), endpoint=True).astype(table_type))
    if kind == "dense":
        return _dense(source, dtype, str(source.choice(list(requantizations))))
    return _conv2d(source, kind, dtype, str(source.choice(list(requantizations))))


def random_layer_on(
    source: np.random.Generator, x: TensorSpec, requantizations: Sequence[str] = REQUANTIZATIONS
) -> RandomLayer:
    """One layer that reads a tensor of this type: a dense layer, or a convolution where it is an image."""
    requantization, inputs = str(source.choice(list(requantizations))), x.shape[-1]
    if len(x.shape) != 4 or source.random() < 0.3:
        return _finish(source, "dense", {}, x, _weights(source, (_pick(source, _CHANNELS), inputs)), requantization)
    groups = inputs if source.random() < 0.3 else 1
    kernel = _pick(source, (1, 3))
    stride = _pick(source, (1, 1, 2))
    outputs = inputs if groups > 1 else _pick(source, _CHANNELS)
    weight = _weights(source, (outputs, kernel, kernel, inputs // groups))
    attributes = {"layout": "NHWC", "groups": groups, "strides": [stride] * 2, "dilation": [1, 1]}
    attributes["pads"] = [kernel // 2] * 4
    return _finish(source, "conv2d", attributes, x, weight, requantization)


def random_input(source: np.random.Generator, spec: TensorSpec) -> np.ndarray:
    """Values over the whole range, extremes included."""
    low, high = spec.range
    values = source.integers(low, high, spec.shape, endpoint=True)
    if source.random() < 0.25:
        values = np.where(source.random(spec.shape) < 0.5, low, high)
    return values.astype(spec.dtype)


def _pick(source: np.random.Generator, values: Sequence[int]) -> int:
    return values[int(source.integers(len(values)))]


def _dense(source: np.random.Generator, dtype: str, requantization: str) -> RandomLayer:
    rows, depth, channels = _pick(source, _ROWS), _pick(source, _DEPTHS), _pick(source, _CHANNELS)
    shape = (1, rows, depth) if source.random() < 0.3 else (rows, depth)
    return _finish(source, "dense", {}, TensorSpec(shape, dtype), _weights(source, (channels, depth)), requantization)


def _conv2d(source: np.random.Generator, kind: str, dtype: str, requantization: str) -> RandomLayer:
    inputs = _pick(source, _CHANNELS)
    outputs = _pick(source, _CHANNELS)
    groups = 1
    kernel = _KERNELS[source.integers(len(_KERNELS))]
    if kind == "depthwise":
        groups = inputs
        outputs = inputs * (2 if source.random() < 0.15 else 1)
        kernel = (3, 3) if source.random() < 0.8 else kernel
    elif kind == "grouped":
        groups = 2
        # A group's filters are never cut, so they stay small.
        inputs, outputs = 2 * _pick(source, (1, 3, 8)), 2 * _pick(source, (1, 5, 8))
    strides = [_pick(source, (1, 1, 1, 2, 2, 3)), 0]
    strides[1] = strides[0] if source.random() < 0.8 else _pick(source, (1, 2, 3))
    dilation = [2, 2] if source.random() < 0.08 else [1, 1]
    pads = [int(source.integers(0, k)) if source.random() < 0.7 else 0 for k in (*kernel, *kernel)]
    if kind in SAME_KINDS:
        kernel, strides, dilation = (_pick(source, (1, 3, 3, 5)),) * 2, [1, 1], [1, 1]
        pads = [kernel[0] // 2] * 4
    size = []
    for axis in range(2):
        least = Window(kernel[axis], 1, dilation[axis], pads[axis], pads[axis + 2]).transposed_extent(1)
        size.append(max(_pick(source, _EXTENTS), least, 1))
    batch = 2 if source.random() < 0.1 else 1
    x = TensorSpec((batch, size[0], size[1], inputs), dtype)
    weight = _weights(source, (outputs, kernel[0], kernel[1], inputs // groups))
    attributes = {"layout": "NHWC", "groups": groups, "strides": strides, "dilation": dilation, "pads": pads}
    return _finish(source, "conv2d", attributes, x, weight, requantization)


def _weights(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Two to eight bits; mostly signed, sometimes of one sign."""
    bits = int(source.integers(2, 9))
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    side = source.random()
    if side < 0.1:
        low = 0
    elif side < 0.2:
        high = -1
    return source.integers(low, high, shape, endpoint=True).astype(np.int8)


def _finish(
    source: np.random.Generator,
    operator: str,
    attributes: dict[str, Any],
    x: TensorSpec,
    weight: np.ndarray,
    requantization: str,
) -> RandomLayer:
    low, high = x.range
    zero_point = _pick(source, (0, 0, low, high, int(source.integers(low, high, endpoint=True))))
    constants: list[np.ndarray] = [weight]
    has_bias = int(source.random() < 0.6)
    channels = weight.shape[0]
    spread = np.sqrt(weight[0].size) * 75 * max(1.0, float(np.abs(weight.astype(np.float64)).mean()))
    reach = int(np.abs(weight.astype(np.int64)).reshape(channels, -1).sum(axis=1).max()) * max(
        abs(low - zero_point), abs(high - zero_point)
    )
    if has_bias:
        limit = max(1, int(spread))
        bias = source.integers(-limit, limit, (channels,), endpoint=True).astype(np.int32)
        constants.append(bias)
        reach += int(np.abs(bias.astype(np.int64)).max())
    rule, operands = _requantization(source, requantization, channels, 60.0 / spread, reach)
    stated = {**attributes, "zero_point": zero_point, "has_bias": has_bias, **rule.attributes()}
    return RandomLayer(operator, stated, x, (*constants, *operands))


def _requantization(
    source: np.random.Generator, kind: str, channels: int, factor: float, reach: int
) -> tuple[Requant, tuple[np.ndarray, ...]]:
    if kind == "none":
        return Requant(), ()
    per_tensor = kind in PER_TENSOR
    ranges = ((-128, 127), (-128, 127), (0, 255), (0, 255), (0, 127), (-100, 90))
    if per_tensor:
        ranges = ((-128, 127), (-128, 127), (-128, 127), (0, 127), (0, 127), (-128, 127))
    low, high = ranges[source.integers(len(ranges))]
    count = channels if source.random() < 0.6 and not per_tensor else 1
    factors = factor * source.uniform(0.5, 2.0, count)
    if kind.startswith("pulp"):
        wide_bits = int(source.integers(12, 18)) if kind == "pulp_wide" else int(source.integers(2, 8))
        shift = int(np.clip(round(wide_bits - np.log2(factor)), 1, 36))
        mul = np.maximum(1, np.round(factors * 2.0**shift)).astype(np.int64)
        if kind.endswith("_negative"):
            mul = mul * np.where(source.random(count) < 0.5, -1, 1)
        largest = min(1 << 30, 1 << (shift + 6))
        add = source.integers(-largest, largest, count, endpoint=True)
        mul, add = np.clip(mul, -(1 << 30), 1 << 30).astype(np.int32), add.astype(np.int32)
        wide = not narrow_enough(reach, mul, add)
        return Requant("pulp", shift, 0, low, high, wide), (mul, add)
    zero_point = int(source.integers(low, high, endpoint=True))
    if kind == "half_up_tensor":
        shift = int(np.clip(round(7 - np.log2(factor)), 1, 30))
        mul = np.clip(np.round(factors * 2.0**shift), 1, 255).astype(np.int32)
        return Requant("half_up", 0, zero_point, low, high, True), (mul, np.full(1, shift, np.int32))
    mantissa = np.round((0.5 + factors / factors.max() / 2) * (2.0**31 - 1)).astype(np.int64)
    exponent = np.round(np.log2(factors)).astype(np.int64)
    mul = np.minimum(mantissa, (1 << 31) - 1).astype(np.int32)
    second = exponent if kind == "tflite" else 31 - exponent
    return Requant(kind, 0, zero_point, low, high, True), (mul, second.astype(np.int32))
