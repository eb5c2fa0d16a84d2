"""Size of the NEUREKA processing-element array and how it cuts a layer into subtiles."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from tvm_pulp.errors import UserError
from uma_backends.conv_array.modes import Mode, subtiles

__all__ = ["LIMITS", "SIRACUSA", "Geometry", "Mode", "subtiles"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Parameters of the array; the defaults describe Siracusa. The C model takes them under the same names."""

    pe_rows: int = 6
    pe_columns: int = 6
    channels_1x1: int = 32
    channels_3x3: int = 28
    output_channels: int = 32
    weight_beat_bytes: int = 32
    # 0: activations are unsigned, as in the public hardware sources; int8 then runs as x + 128.
    signed_input: int = 1

    @staticmethod
    def of(parameters: Mapping[str, int]) -> "Geometry":
        """The array that a SoC's engine parameters describe; what they leave out is as in Siracusa."""
        stated = {f.name: parameters[f.name] for f in fields(Geometry) if f.name in parameters}
        made = replace(SIRACUSA, **stated)
        reason = _why_impossible(made)
        if reason is not None:
            raise UserError(f"parameters of engine neureka: {reason}")
        return made

    def input_subtile(self, mode: Mode) -> int:
        return self.channels_1x1 if mode is Mode.POINTWISE else self.channels_3x3

    def output_subtile(self, mode: Mode) -> int:
        return self.channels_3x3 if mode is Mode.DEPTHWISE_3X3 else self.output_channels

    def subtile_sizes(self, mode: Mode) -> tuple[int, int, int, int]:
        """Channels in and out, rows and columns of a full subtile."""
        return self.input_subtile(mode), self.output_subtile(mode), self.pe_rows, self.pe_columns


SIRACUSA = Geometry()

# What the C model takes of each parameter.
LIMITS = {
    "pe_rows": (1, 16),
    "pe_columns": (1, 16),
    "channels_1x1": (4, 64),
    "channels_3x3": (1, 64),
    "output_channels": (8, 64),
    "weight_beat_bytes": (4, 128),
    "signed_input": (0, 1),
}
_TAPS = 9


def _why_impossible(geometry: Geometry) -> str | None:
    """Return why there is no such array, or None.

    A 3x3 beat carries one bit plane of all taps, a 1x1 beat all planes.
    """
    for name, (least, most) in LIMITS.items():
        if not least <= getattr(geometry, name) <= most:
            return f"{name} is {getattr(geometry, name)}, choose {least} to {most}"
    beat = geometry.weight_beat_bytes
    if _TAPS * geometry.channels_3x3 > 8 * beat:
        most = 8 * beat // _TAPS
        return (
            f"a weight beat of {beat} bytes carries {_TAPS} taps of {most} channels, not of {geometry.channels_3x3}: "
            f"widen weight_beat_bytes or lower channels_3x3"
        )
    if geometry.channels_1x1 > beat or geometry.channels_1x1 % 4:
        return (
            f"channels_1x1 is {geometry.channels_1x1}, choose a multiple of 4 up to the {beat} bytes of a weight beat"
        )
    if geometry.output_channels % 8 or geometry.output_channels < geometry.channels_3x3:
        return (
            f"output_channels is {geometry.output_channels}, choose a multiple of 8 not below "
            f"channels_3x3 = {geometry.channels_3x3}"
        )
    return None
