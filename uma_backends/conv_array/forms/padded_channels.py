"""Channels of which a layer has just more than an array takes in one step, so that the next is for a few of them."""

from collections.abc import Callable
from dataclasses import dataclass

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import AvoidableCycles
from uma_backends.conv_array.modes import Mode

# Channels that may go at most, and how much larger the part of the cycles has to be that goes with them.
_MOST, _GAIN = 0.25, 2.0


@dataclass(frozen=True)
class PaddedChannels:
    """Fewer channels with which the engine would take a part of its cycles less."""

    side: str
    channels: int
    fewer: int
    share: float

    def __str__(self) -> str:
        return (
            f"{self.channels} {self.side}channels leave most of the array's last step empty; with {self.fewer} the "
            f"engine takes {self.share:.0%} less"
        )


def padded_channels(layer: Layer, mode: Mode, cycles: Callable[[int, int], int]) -> AvoidableCycles | None:
    """The reduction of channels that saves most for what it takes; None where channels fill the array.

    `cycles`: of a job for one patch of the array by its input and output channels, whatever the layer's sizes are.
    """
    inputs, outputs = layer.inputs[0].spec.shape[-1], layer.outputs[0].spec.shape[-1]
    sides: list[tuple[str, int, Callable[[int], int]]]
    if mode is Mode.DEPTHWISE_3X3:
        sides = [("", inputs, lambda n: cycles(n, n))]
    elif layer.attributes.get("groups", 1) == 1:
        sides = [("input ", inputs, lambda n: cycles(n, outputs)), ("output ", outputs, lambda n: cycles(inputs, n))]
    else:
        return None
    found = [_fewer(*side) for side in sides]
    best = max((one for one in found if one is not None), key=lambda one: one.share, default=None)
    return AvoidableCycles(best.share, str(best)) if best else None


def _fewer(side: str, channels: int, cycles: Callable[[int], int]) -> PaddedChannels | None:
    try:
        whole = cycles(channels)
        best = None
        for fewer in range(channels - 1, int((1 - _MOST) * channels), -1):
            share = 1 - cycles(fewer) / whole
            gain = share / (1 - fewer / channels)
            if gain > _GAIN and (best is None or gain > best[0]):
                best = (gain, PaddedChannels(side, channels, fewer, share))
    except UserError:
        return None  # a job of another size cannot be
    return best[1] if best else None
