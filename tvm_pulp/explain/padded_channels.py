"""Channels of which a layer has just more than an array takes in one step, so that the next is for a few of them."""

from collections.abc import Callable
from dataclasses import dataclass

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.forms.conv_array.array_form import ArrayForm
from tvm_pulp.uma.conv_array.modes import Mode
from tvm_pulp.uma.strategy import Form

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


def padded_channels(form: Form) -> PaddedChannels | None:
    """The reduction of channels that saves most for what it takes; None where channels fill the array."""
    if not isinstance(form, ArrayForm):
        return None
    inputs, outputs = form.layer.inputs[0].spec.shape[-1], form.layer.outputs[0].spec.shape[-1]
    sides: list[tuple[str, int, Callable[[int], tuple[int, int]]]]
    if form.mode is Mode.DEPTHWISE_3X3:
        sides = [("", inputs, lambda n: (n, n))]
    elif form.layer.attributes.get("groups", 1) == 1:
        sides = [("input ", inputs, lambda n: (n, outputs)), ("output ", outputs, lambda n: (inputs, n))]
    else:
        return None
    found = [_fewer(form, *side) for side in sides]
    return max((one for one in found if one is not None), key=lambda one: one.share, default=None)


def _fewer(form: ArrayForm, side: str, channels: int, shape: Callable[[int], tuple[int, int]]) -> PaddedChannels | None:
    """By the cycles of one patch of the array, whatever its sizes are."""
    patch = (form.context.rows, form.context.columns)
    try:
        whole = form.context.cycles(form.array_job(*patch, *shape(channels)))
        best = None
        for fewer in range(channels - 1, int((1 - _MOST) * channels), -1):
            share = 1 - form.context.cycles(form.array_job(*patch, *shape(fewer))) / whole
            gain = share / (1 - fewer / channels)
            if gain > _GAIN and (best is None or gain > best[0]):
                best = (gain, PaddedChannels(side, channels, fewer, share))
    except UserError:
        return None  # a job of another size cannot be
    return best[1] if best else None
