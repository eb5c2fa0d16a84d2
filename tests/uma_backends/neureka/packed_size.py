"""How many bytes packed weights take."""

from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, subtiles


def packed_weight_bytes(
    mode: Mode, input_channels: int, output_channels: int, weight_bits: int, geometry: Geometry = SIRACUSA
) -> int:
    """Return the size of a packed weight tensor; 1x1 weights always take eight planes."""
    groups = subtiles(input_channels, geometry.input_subtile(mode))
    beats = {
        Mode.POINTWISE: output_channels * groups,
        Mode.DENSE_3X3: output_channels * groups * weight_bits,
        Mode.DEPTHWISE_3X3: groups * weight_bits,
    }[mode]
    return geometry.weight_beat_bytes * beats
