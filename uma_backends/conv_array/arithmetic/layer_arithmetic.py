"""How a layer's arithmetic maps onto the array: weight bits, folded bias, native or exact requantization.

The array computes `(acc * scale + bias) >> shift` with one shift per layer and never rounds. A layer is native when
its own rule is of that shape and provably stays inside 32 bits. Otherwise the array multiplies and the cores add and
shift, where that is exact, or the array delivers `acc + bias` as int32 and the cores do all of the requantization.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma import Refused, refuse_if
from uma_backends.conv_array.arithmetic.exact_rounding import (
    ARRAY_SHIFT,
    ExactFold,
    fold_away,
    fold_exactly,
    fold_to_even,
)
from uma_backends.conv_array.arithmetic.folded_rounding import ROUNDING_RULES, Folded, Reach, fold_rounding
from uma_backends.conv_array.arithmetic.requantization import Requantization

_INT32 = 1 << 31
# Clip ranges of the array's 8-bit output.
_UNSIGNED, _SIGNED = (0, 255), (-128, 127)
_LARGEST_SHIFT = 31
# From int8 to uint8.
UNSIGNED_ADDED = 128
# Results of each channel that cores share where channels are no multiple of four.
_LEAST_OF_CHANNEL = 32


@dataclass(frozen=True)
class Arithmetic:
    """Constants and modes of one layer."""

    weights: np.ndarray  # signed, output channel first
    weight_bits: int
    weight_offset: int
    input_signed: bool
    # Added to int8 activations where the array takes them unsigned; the zero point and the folded bias contain it.
    input_added: int
    zero_point: int
    scale: np.ndarray  # uint8, uint16 or uint32 [C_out]
    bias: np.ndarray  # int32 [C_out]
    shift: np.ndarray | None  # uint8 [C_out] where one shift for all channels is too coarse
    requantization: Requantization
    output_bits: int
    native: bool
    # Largest difference to the framework's rule in units of the output; 0 when exact.
    deviation: int
    # Largest |accumulator|, with and without bias.
    reach: int
    why_not_native: str = ""
    # Where the array multiplies and the cores only add and shift: their constants. There is no bias then.
    rest: ExactFold | None = None
    # The same where halves need care: to the even result in some channels, or away from zero.
    rest_of_halves: ExactFold | None = None


def arithmetic_of(
    layer: Layer, *, native_rounding: bool, unsigned_only: bool = False, scale_bits: Sequence[int] = (8, 32)
) -> Arithmetic:
    """Arithmetic of a convolution or dense layer; refuses what the array cannot do.

    `unsigned_only`: int8 activations run as x + 128. `scale_bits`: widths of scales that the array has, up to 32.
    """
    x, weight = layer.inputs[0].spec, layer.inputs[1]
    if weight.data is None:
        raise Refused("its weights are not constant")
    refuse_if(x.dtype not in ("int8", "uint8"), f"its input is {x.dtype}, not 8-bit")
    values = weight.data.astype(np.int64)
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    rule = Requant.of(layer.attributes)
    refuse_if(rule.kind in ROUNDING_RULES and rule.out_dtype == "int32", "it requantizes to 32 bits")
    bits = max(2, int(high - low).bit_length())
    refuse_if(bits > 8, f"its weights span {low} to {high}, more than 8 bits")
    added = UNSIGNED_ADDED if unsigned_only and x.dtype == "int8" else 0
    zero_point = int(LinearAttributes.of(layer).zero_point) + added
    flat = values.reshape(values.shape[0], -1)
    # Padding is written as the zero point, so the whole window always counts.
    bias = -zero_point * flat.sum(axis=1)
    if LinearAttributes.of(layer).has_bias:
        assert layer.inputs[2].data is not None
        bias = bias + layer.inputs[2].data.astype(np.int64)
    least, most = (end + added for end in x.range)
    reach = Reach(np.minimum(flat * least, flat * most).sum(axis=1), np.maximum(flat * least, flat * most).sum(axis=1))
    largest = int(max(m.max(initial=0) for m in (reach.magnitudes, reach.plus(bias).magnitudes)))
    is_wide = largest >= _INT32 or np.abs(bias).max(initial=0) >= _INT32
    refuse_if(is_wide, "its accumulator may exceed 32 bits")
    reason, rest, rest_of_halves = "", None, None
    try:
        scale, folded, shifts, how, deviation = _fold(layer, reach, bias, native_rounding, scale_bits)
    except Refused as refused:
        reason, rest = str(refused), _rest(layer, reach, bias, fold_exactly)
        if rest is None:
            rest_of_halves = _rest(layer, reach, bias, fold_to_even) or _rest(layer, reach, bias, fold_away)
        scale, folded, shifts, deviation = np.ones(len(bias), np.uint8), bias, None, 0
        how = Requantization(scale_bits=8, shift=0, bias=True, relu=False)
    multiplied = rest or rest_of_halves
    if multiplied is not None:
        scale = multiplied.scale.astype(np.uint32)
        how = Requantization(scale_bits=32, shift=ARRAY_SHIFT, bias=False, relu=False)
    return Arithmetic(
        values.astype(np.int16),
        bits,
        low,
        x.dtype == "int8" and not added,
        added,
        zero_point,
        scale,
        folded.astype(np.int32),
        shifts,
        how,
        8 if not reason else 32,
        not reason,
        deviation,
        largest,
        reason,
        rest,
        rest_of_halves,
    )


def _rest(layer: Layer, reach: Reach, bias: np.ndarray, fold: Callable[..., ExactFold | None]) -> ExactFold | None:
    """An exact split between array and cores, where their kernel is fast: a range of bytes, channels in fours or many
    of each."""
    rule = Requant.of(layer.attributes)
    channels, elements = len(bias), layer.outputs[0].spec.elements
    # A last group takes as long with one channel as with four, and one channel alone has a shorter loop.
    few = channels % 4 and (channels == 1 or elements < _LEAST_OF_CHANNEL * channels)
    # Products of 32 bits have a native form, or one of the cores that is as short.
    is_long = rule.kind in (*ROUNDING_RULES, "offset_half_even") or (rule.kind == "pulp" and rule.wide)
    if not is_long or few or rule.out_dtype not in BYTES:
        return None
    first, second = (np.broadcast_to(t.data.reshape(-1), bias.shape) for t in layer.inputs[-2:] if t.data is not None)
    return fold(rule, first, second, reach, bias)


def _without_twos(scale: np.ndarray, add: np.ndarray, shift: int) -> Folded:
    """Without the twos that scale, summand and shift share: a scale of 8 bits is fetched four times as fast."""
    shared = int(np.bitwise_or.reduce(np.concatenate([scale, add, [1 << shift]])))
    twos = (shared & -shared).bit_length() - 1
    return Folded(scale >> twos, add >> twos, np.full(len(scale), shift - twos), 0)


def _fold(
    layer: Layer, reach: Reach, bias: np.ndarray, native_rounding: bool, scale_bits: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Requantization, int]:
    """Scale, bias, shifts, modes and deviation of what the array does by itself; refuses what it cannot."""
    rule = Requant.of(layer.attributes)
    refuse_if(rule.kind == "none", "it delivers 32-bit accumulators")
    refuse_if((rule.low, rule.high) not in (_UNSIGNED, _SIGNED), f"it clips to {rule.low}..{rule.high}")
    first, second = (
        np.broadcast_to(t.data.astype(np.int64).reshape(-1), bias.shape)
        for t in layer.inputs[-2:]
        if t.data is not None
    )
    if rule.kind == "pulp":
        refuse_if((first < 0).any(), "a multiplier is negative")
        folded = _without_twos(first, second + bias * first, rule.shift)
    else:
        is_native = rule.kind in ROUNDING_RULES and native_rounding
        refuse_if(not is_native, f"{rule.kind} requantization rounds in a way the array cannot")
        found = fold_rounding(rule, first, second, reach, bias)
        if found is None:
            raise Refused("no single shift keeps the product inside 32 bits")
        folded = found
    refuse_if(folded.shift.max(initial=0) > _LARGEST_SHIFT, f"it shifts by {folded.shift.max(initial=0)}")
    refuse_if(not reach.fits(folded.scale, folded.add).all(), "the product may exceed 32 bits")
    bits = next(b for b in scale_bits if folded.scale.max(initial=0) < 1 << b)
    one = folded.has_one_shift
    relu, shift = (rule.low, rule.high) == _UNSIGNED, int(folded.shift[0]) if one else 0
    how = Requantization(bits, shift, bias=True, relu=relu, shift_vector=not one)
    scale = folded.scale.astype(f"uint{bits}")
    return scale, folded.add, None if one else folded.shift.astype(np.uint8), how, folded.deviation
