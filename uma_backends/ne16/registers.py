"""Register image of a job: the 24 words a driver writes."""

from uma_backends.conv_array.registers import WORD_NAMES, Addresses, register_words
from uma_backends.ne16.geometry import Mode, output_subtile, subtile_sizes
from uma_backends.ne16.job import Ne16Job
from uma_backends.ne16.packing import channel_bytes, group_channels

__all__ = ["WORD_NAMES", "Addresses", "register_image"]

LINEAR_WORD = 16


def _weight_strides(job: Ne16Job) -> tuple[int, int, int]:
    """Bytes between planes (1x1: input groups), output channels and, in linear mode, output subtiles."""
    whole = channel_bytes(job.mode, job.input_channels, job.weight_bits, job.input_bits)
    plane = job.mode.taps * group_channels(job.input_bits) // 8
    if job.mode is Mode.LINEAR:
        return job.input_channels // 8, whole, output_subtile(job.mode) * whole
    if job.mode is Mode.POINTWISE:
        return plane * job.weight_bits, whole, 0
    return plane, 0 if job.mode is Mode.DEPTHWISE_3X3 else whole, 0


def register_image(job: Ne16Job, at: Addresses) -> tuple[int, ...]:
    """Return the words of job registers 0 to 23 in the order of `WORD_NAMES`."""
    mask, word_bytes = job.filter_mask, LINEAR_WORD if job.mode is Mode.LINEAR else 0
    masked = mask.top << 24 | mask.right << 16 | mask.bottom << 8 | mask.left
    return register_words(job, at, subtile_sizes(job.mode), _weight_strides(job), masked, word_bytes)
