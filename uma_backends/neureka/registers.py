"""Register image of a job: the 24 words a driver writes."""

from dataclasses import replace

from uma_backends.conv_array.registers import WORD_NAMES, Addresses, register_words
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, subtiles
from uma_backends.neureka.job import NeurekaJob, check_on

__all__ = ["WEIGHT_MEMORY_BASE", "WORD_NAMES", "Addresses", "register_image"]

WEIGHT_MEMORY_BASE = 0x1040_0000


def weight_channel_stride(job: NeurekaJob, geometry: Geometry = SIRACUSA) -> int:
    """Return the bytes between the packed filters of two output channels (depthwise: 0)."""
    groups = subtiles(job.input_channels, geometry.input_subtile(job.mode))
    planes = {Mode.POINTWISE: 1, Mode.DENSE_3X3: job.weight_bits, Mode.DEPTHWISE_3X3: 0}[job.mode]
    return geometry.weight_beat_bytes * planes * groups


def register_image(job: NeurekaJob, at: Addresses, geometry: Geometry = SIRACUSA) -> tuple[int, ...]:
    """Return the words of job registers 0 to 23 in the order of `WORD_NAMES`."""
    check_on(job, geometry)
    weights = at.weights - WEIGHT_MEMORY_BASE if job.weight_memory else at.weights
    strides = (geometry.weight_beat_bytes, weight_channel_stride(job, geometry), 0)
    return register_words(job, replace(at, weights=weights), geometry.subtile_sizes(job.mode), strides)
