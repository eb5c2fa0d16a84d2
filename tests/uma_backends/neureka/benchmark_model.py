"""Measure how many engine cycles per second the C model simulates.

Run it with `python -m tests.uma_backends.neureka.benchmark_model`.
"""

import sys
import time

import numpy as np

from tests.uma_backends.flat_machine import L1_BASE, Machine, ModelLibrary
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses, register_image

INPUT, OUTPUT, SCALE, BIAS = L1_BASE, L1_BASE + 0x1_8000, L1_BASE + 0x3_8000, L1_BASE + 0x3_C000
CASES = {
    "1x1 64->64, 18x18": (Mode.POINTWISE, 64, 64, 18),
    "1x1 32->32, 6x6": (Mode.POINTWISE, 32, 32, 6),
    "1x1 512->512, one pixel": (Mode.POINTWISE, 512, 512, 1),
    "3x3 64->64, 18x18": (Mode.DENSE_3X3, 64, 64, 18),
    "3x3 28->32, 6x6": (Mode.DENSE_3X3, 28, 32, 6),
    "3x3 3->32, 36x36": (Mode.DENSE_3X3, 3, 32, 36),
    "depthwise 56, 24x24": (Mode.DEPTHWISE_3X3, 56, 56, 24),
}


def measure(library: ModelLibrary, mode: Mode, channels: int, filters: int, size: int, seconds: float) -> float:
    """Return simulated engine cycles per second of host time for one layer with weights in weight memory."""
    random = np.random.default_rng(0)
    padding = Padding() if mode is Mode.POINTWISE else Padding(1, 1, 1, 1)
    job = NeurekaJob(
        mode, channels, filters, size, size, padding, weight_memory=True, prefetch=mode is not Mode.DEPTHWISE_3X3,
        requantization=Requantization(shift=10),
    )  # fmt: skip
    shape = (filters, 1 if mode is Mode.DEPTHWISE_3X3 else channels, mode.kernel, mode.kernel)
    packed = pack_weights(random.integers(-128, 128, shape), mode)
    with Machine(library) as machine:
        machine.l1[:] = random.integers(0, 256, machine.l1.size)
        machine.weight_memory[: packed.size] = packed
        words = register_image(job, Addresses(INPUT, OUTPUT, WEIGHT_MEMORY_BASE, SCALE, BIAS))
        machine.run(words)
        machine.run(words)
        # Both contexts hold the job now and keep it, so the loop measures the model and not the register writes.
        cycles, start = 0, time.process_time()
        while time.process_time() - start < seconds:
            cycles += machine.run(())
        return cycles / (time.process_time() - start)


def main(seconds: float = 0.5) -> int:
    """Measure every case."""
    library = ModelLibrary.build("neureka")
    for name, (mode, channels, filters, size) in CASES.items():
        rate = measure(library, mode, channels, filters, size, seconds)
        sys.stdout.write(f"{name:28} {rate / 1e6:8.1f} M engine cycles/s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
