"""Random jobs with operands in a memory full of other data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.uma_backends import array_reference as reference
from tests.uma_backends.flat_machine import L1_BASE, L1_BYTES, Machine
from tvm_pulp.errors import UserError
from uma_backends.ne16.geometry import Mode
from uma_backends.ne16.job import FilterMask, Ne16Job, Padding, Requantization
from uma_backends.ne16.packing import pack_weights
from uma_backends.ne16.registers import Addresses, register_image


@dataclass(frozen=True)
class RandomJob:
    """A job, its operands by address, and what must come out."""

    job: Ne16Job
    at: Addresses
    data: NDArray[Any]
    vectors: tuple[tuple[int, NDArray[Any]], ...]
    partial: NDArray[Any] | None
    expected: NDArray[Any]
    words: tuple[int, ...]

    def load_into(self, machine: Machine) -> None:
        """Write all operands; pixels go to their strided places."""
        for address, array in self.vectors:
            machine.write_l1(address, array)
        _scatter(machine.l1, self.at.input, self.job.input_strides, self.data)
        if self.partial is not None:
            _scatter(machine.l1, self.at.output, self.job.output_strides, self.partial)

    def expected_l1(self, before: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the whole L1 after the job: the old bytes with the output in its strided place."""
        after = before.copy()
        _scatter(after, self.at.output, self.job.output_strides, self.expected)
        return after


def _scatter(memory: NDArray[np.uint8], address: int, strides: tuple[int, int], tensor: NDArray[Any]) -> None:
    """Write an HWC tensor with pixel and row strides."""
    flat = np.ascontiguousarray(tensor).reshape(tensor.shape[0], tensor.shape[1], -1).view(np.uint8)
    for y in range(flat.shape[0]):
        for x in range(flat.shape[1]):
            start = address - L1_BASE + y * strides[1] + x * strides[0]
            memory[start : start + flat.shape[2]] = flat[y, x]


def _describe(random: np.random.Generator) -> Ne16Job:
    """Any job, also impossible ones: those raise UserError."""
    mode = random.choice(list(Mode))
    linear, strided = mode is Mode.LINEAR, bool(random.integers(4) == 0)
    outputs = int(random.integers(1, 71))
    inputs = 16 * int(random.integers(1, 40)) if linear else int(random.integers(1, 71))
    inputs = outputs if mode is Mode.DEPTHWISE_3X3 else inputs
    bits, wide = int(random.integers(2, 9)), bool(random.integers(2))
    input_bits = int(random.choice([8, 8, 16]))
    how = Requantization(
        scale_bits=int(random.choice([8, 16, 32])),
        shift=int(random.integers(0, 32)),
        bias=bool(random.integers(2)),
        relu=bool(random.integers(2)),
        shift_vector=bool(random.integers(2)),
    )
    largest = 1 if linear else 2 if strided else 9
    height, width = (int(size) for size in random.integers(1, largest + 1, 2))
    sides = (0,) * 4 if mode.kernel == 1 else tuple(int(side) for side in random.integers(0, 3, 4))
    # Below two outputs there is no padding at the end that the strided mode could fill.
    if strided:
        sides = (sides[0], sides[1] if height == 2 else 0, sides[2], sides[3] if width == 2 else 0)
    masked = mode.kernel == 3 and random.integers(3) == 0
    pixel = inputs * input_bits // 8 + int(random.integers(0, 8))
    output_pixel = outputs * (4 if wide else 1) + int(random.integers(0, 8))
    return Ne16Job(
        mode=mode,
        input_channels=inputs,
        output_channels=outputs,
        output_height=height,
        output_width=width,
        padding=Padding(*sides, value=int(random.integers(0, 1 << input_bits))),
        weight_bits=bits,
        weight_offset=int(random.choice([-(1 << (bits - 1)), 0, -256, 37, 255])),
        input_bits=input_bits,
        output_bits=32 if wide else 8,
        requantization=None if wide and random.integers(2) else how,
        stream_in=wide and bool(random.integers(2)),
        strided=strided,
        filter_mask=FilterMask(*(int(side) for side in random.integers(0, 3, 4))) if masked else FilterMask(),
        input_pixel_stride=None if linear else pixel,
        input_row_stride=None if linear else pixel * 12 + int(random.integers(0, 20)),
        output_pixel_stride=output_pixel,
        output_row_stride=output_pixel * width + int(random.integers(0, 20)),
    )


def make_random_job(seed: int) -> RandomJob:
    """Return a legal job; jobs that do not exist are drawn again."""
    random = np.random.default_rng(seed)
    while True:
        try:
            return _place(random, _describe(random))
        except UserError:
            continue


def _place(random: np.random.Generator, job: Ne16Job) -> RandomJob:
    kind = np.uint16 if job.input_bits == 16 else np.uint8
    data = random.integers(0, 1 << job.input_bits, (job.input_height, job.input_width, job.input_channels), kind)
    per_filter = 1 if job.mode is Mode.DEPTHWISE_3X3 else job.input_channels
    shape = (job.output_channels, per_filter, job.mode.kernel, job.mode.kernel)
    weight = random.integers(0, 1 << job.weight_bits, shape) + job.weight_offset
    how, vectors = job.requantization, {"weights": pack_weights(
        weight, job.mode, job.weight_bits, job.weight_offset, job.input_bits
    )}  # fmt: skip
    if how is not None:
        scales: Any = {8: np.uint8, 16: np.uint16, 32: np.uint32}[how.scale_bits]
        vectors["scale"] = random.integers(0, np.iinfo(scales).max, job.output_channels, scales, endpoint=True)
        if how.bias:
            vectors["bias"] = random.integers(-(2**31), 2**31, job.output_channels).astype(np.int32)
        if how.shift_vector:
            vectors["shift"] = random.integers(0, 32, job.output_channels).astype(np.uint8)
    partial = None
    if job.stream_in:
        outputs = (job.output_height, job.output_width, job.output_channels)
        partial = random.integers(-(2**31), 2**31, outputs).astype(np.int32)
    sizes = {
        "input": job.input_height * job.input_strides[1] + job.input_bytes,
        "output": job.output_height * job.output_strides[1] + job.output_strides[0],
        **{name: array.nbytes for name, array in vectors.items()},
    }
    where, free = {"weights": 0}, L1_BASE + int(random.integers(0, 64))
    for name in random.permutation(list(sizes)):
        where[str(name)], free = free, free + sizes[str(name)] + int(random.integers(0, 64))
    assert free < L1_BASE + L1_BYTES
    at = Addresses(**where)
    operands = (vectors.get("scale"), vectors.get("bias"), vectors.get("shift"), partial)
    expected = np.asarray(reference.run(job, data, weight, *operands))
    placed = tuple((where[name], array) for name, array in vectors.items())
    return RandomJob(job, at, data, placed, partial, expected, register_image(job, at))
