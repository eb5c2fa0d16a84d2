"""Sums that leave the engine digit by digit: results are eight bits, so a sum takes several passes.

The first pass writes the sum in steps of `steps[0]`. The next one computes the sum again, less what the digits before
it are worth: they are inputs of the same product, against a diagonal of -128. The last digit is exact, so the cores
have the sum itself and requantize it as the layer asks, whatever its multiplier. Sums that are beyond all digits
saturate, which is exact where the layer's result has been saturated long before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Refused, refuse_if
from uma_backends.ita.geometry import BIAS_BITS, LARGEST_MULTIPLIER, MOST_TILES
from uma_backends.ita.reference import ItaRequantization

# What one tile of the diagonal takes away per step of a digit: the largest weight.
UNIT = 128


@dataclass(frozen=True)
class Digits:
    """Values of a step of each digit, the highest first, and the summand of sums before.

    Sums count `factor` times in those of a layer that is several products.
    """

    steps: tuple[int, ...]
    offset: int = 0
    factor: int = 1

    @property
    def reach(self) -> int:
        """Sums up to here come whole."""
        return 127 * sum(self.steps)

    def rule(self, number: int) -> ItaRequantization:
        """The engine's rule for a digit; the nearest multiplier will do, for the next digit has room."""
        step = self.steps[number]
        exponent = (step - 1).bit_length()
        if step == 1 << exponent:
            return ItaRequantization(1, exponent)
        shift = exponent + 7
        return ItaRequantization(min(round((1 << shift) / step), LARGEST_MULTIPLIER), shift)

    def units(self, number: int) -> list[int]:
        """Digits that a pass takes away, each as often as tiles of the diagonal are needed for it."""
        return [before for before in range(number) for _ in range(self.steps[before] // UNIT)]

    @property
    def tiles(self) -> int:
        """Tiles of the diagonal in the last pass."""
        return len(self.units(len(self.steps) - 1))


def constants_of(layer: Layer) -> tuple[Requant, list[np.ndarray]]:
    rule = Requant.of(layer.attributes)
    constants = [t.data for t in layer.inputs[len(layer.inputs) - rule.operands :] if t.data is not None]
    is_known = rule.kind != "none" and len(constants) == rule.operands
    refuse_if(not is_known, "its result has 32 bits, or its requantization is not constant")
    return rule, constants


def choose_digits(
    requant: Requant, constants: Sequence[np.ndarray], reach: int, inner: int, bias: np.ndarray
) -> Digits:
    """The cheapest digits for sums up to `reach` over `inner` tiles; refuses where there are none."""
    return digits_between(*needed_sums(requant, constants, reach), inner, bias)


def digits_between(low: int, high: int, inner: int, bias: np.ndarray) -> Digits:
    """The cheapest digits that tell sums from `low` to `high` over `inner` tiles; refuses where there are none."""
    offset = -((low + high) // 2)
    span = max(high + offset, -low - offset)
    refuse_if(np.abs(bias + offset).max(initial=0) >= 1 << (BIAS_BITS - 1), f"a bias needs more than {BIAS_BITS} bits")
    choices = [(UNIT, 1), (2 * UNIT, 1), *((UNIT * count, UNIT, 1) for count in range(1, MOST_TILES))]
    found = next((d for d in (Digits(steps, offset) for steps in choices) if d.reach >= span), None)
    if found is None or inner + found.tiles > MOST_TILES:
        raise Refused(
            f"its sums are wanted to {span.bit_length()} bits and a sign: {MOST_TILES} tiles of an inner length "
            f"leave {MOST_TILES - inner} beside the {inner} of the layer to tell them exactly"
        )
    return found


def needed_sums(requant: Requant, constants: Sequence[np.ndarray], reach: int) -> tuple[int, int]:
    """The sums below and above which the layer's result changes no more, of all channels."""
    if requant.kind == "none":
        return -reach, reach
    channels = max(int(c.size) for c in constants)

    def results(sums: np.ndarray) -> np.ndarray:
        return requant.apply(sums[None], constants)[0].astype(np.int64)

    ends = [np.full(channels, end, np.int64) for end in (-reach, reach)]
    last = [_same_up_to(results, *pair) for pair in (ends, ends[::-1])]
    return int(last[0].min()), int(last[1].max())


def _same_up_to(results, start: np.ndarray, end: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
    """The sums furthest from `start` that have its result; results rise or fall from there to `end`."""
    first = results(start)
    same, other = start.copy(), end.copy()
    while (np.abs(other - same) > 1).any():
        middle = (same + other) // 2
        is_same = results(middle) == first
        same, other = np.where(is_same, middle, same), np.where(is_same, other, middle)
    return np.where(results(other) == first, other, same)
