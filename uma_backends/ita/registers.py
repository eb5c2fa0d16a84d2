"""The job registers of ITA: what their words hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from uma_backends.ita.reference import Activation, ItaGelu, ItaRequantization, Relu


class LayerKind(IntEnum):
    """Sequences of steps that the engine counts by itself."""

    ATTENTION = 0
    FEEDFORWARD = 1
    LINEAR = 2
    SINGLE_ATTENTION = 3


class RequantSlot(IntEnum):
    """Which requantization belongs to which step; plain products use that of Q."""

    Q = 0
    K = 1
    V = 2
    QK = 3
    AV = 4
    OW = 5
    F1 = 6
    F2 = 7


def pack_bytes(values: Sequence[int]) -> tuple[int, int]:
    """Eight bytes as two words, the first lowest."""
    words = [sum((v & 0xFF) << 8 * i for i, v in enumerate(values[first : first + 4])) for first in (0, 4)]
    return words[0], words[1]


@dataclass(frozen=True)
class Constants:
    """Words 6 to 12, 15 and 16 of all jobs of a layer."""

    tiles: tuple[int, int, int, int]  # s, e, p, f
    rules: dict[RequantSlot, ItaRequantization]
    activation: Activation | None = None

    def words(self) -> tuple[int, ...]:
        """TILES, multipliers, shifts, summands, then the two of the activation unit."""
        filled = [self.rules.get(slot, ItaRequantization(0, 0)) for slot in RequantSlot]
        after = self.activation.after if self.activation is not None else ItaRequantization(0, 0)
        gelu = 0
        if isinstance(self.activation, ItaGelu):
            gelu = (self.activation.b & 0xFFFF) | (self.activation.c & 0xFFFF) << 16
        return (
            sum(count << 4 * i for i, count in enumerate(self.tiles)),
            *pack_bytes([r.multiplier for r in filled]),
            *pack_bytes([r.shift for r in filled]),
            *pack_bytes([r.add for r in filled]),
            gelu,
            after.multiplier | after.shift << 8 | (after.add & 0xFF) << 16,
        )


def activation_code(activation: Activation | None) -> int:
    """The field of CTRL_ENGINE."""
    return 2 if isinstance(activation, Relu) else 1 if isinstance(activation, ItaGelu) else 0
