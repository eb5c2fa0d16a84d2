"""Random jobs with operands in a memory full of other data."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.uma_backends import array_reference as reference
from tests.uma_backends.flat_machine import L1_BASE, L1_BYTES, WEIGHT_BYTES, Machine
from tvm_pulp.errors import UserError
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization, check_on
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses, register_image


@dataclass(frozen=True)
class RandomJob:
    """A job, its operands, where they lie, and what must come out."""

    job: NeurekaJob
    at: Addresses
    data: NDArray[Any]
    weight: NDArray[Any]
    packed: NDArray[np.uint8]
    scale: NDArray[Any] | None
    bias: NDArray[Any] | None
    shift: NDArray[Any] | None
    partial: NDArray[Any] | None
    expected: NDArray[Any]
    words: tuple[int, ...]

    def load_into(self, machine: Machine) -> None:
        """Write all operands; pixels go to their strided places."""
        if self.job.weight_memory:
            machine.weight_memory[self.at.weights - WEIGHT_MEMORY_BASE :][: self.packed.size] = self.packed
        else:
            machine.write_l1(self.at.weights, self.packed)
        for address, array in ((self.at.scale, self.scale), (self.at.bias, self.bias), (self.at.shift, self.shift)):
            if array is not None:
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


def _size(random: np.random.Generator, subtile: int, largest: int) -> int:
    """Sizes around subtile borders appear often."""
    if random.random() < 0.5:
        return min(largest, max(1, subtile * int(random.integers(0, 3)) + int(random.integers(-1, 3))))
    return int(random.integers(1, largest + 1))


def _describe(random: np.random.Generator, geometry: Geometry) -> NeurekaJob:
    mode = Mode(int(random.integers(3)))
    outputs = _size(random, geometry.output_subtile(mode), 70)
    inputs = outputs if mode is Mode.DEPTHWISE_3X3 else _size(random, geometry.input_subtile(mode), 70)
    sides = (0,) * 4 if mode is Mode.POINTWISE else tuple(int(side) for side in random.integers(0, 3, 4))
    bits = int(random.integers(2, 9))
    signed = bool(random.integers(2))
    wide = bool(random.integers(2))
    how = Requantization(
        scale_bits=int(random.choice([8, 32])),
        shift=int(random.integers(0, 32)),
        bias=bool(random.integers(2)),
        relu=bool(random.integers(2)),
        shift_vector=bool(random.integers(2)),
    )
    usual = -(1 << (bits - 1))
    offset = int(random.choice([usual, usual, 0, -200, 37, -70_000, 2**31 - 1, -(2**31)]))
    weight_memory = bool(random.integers(2))
    low, high = (-128, 128) if signed else (0, 256)
    return NeurekaJob(
        mode=mode,
        input_channels=inputs,
        output_channels=outputs,
        output_height=_size(random, geometry.pe_rows, 15),
        output_width=_size(random, geometry.pe_columns, 15),
        padding=Padding(*sides, value=int(random.integers(low, high))),
        weight_bits=bits,
        weight_offset=offset,
        input_signed=signed,
        output_bits=32 if wide else 8,
        requantization=None if wide and random.integers(2) else how,
        stream_in=wide and bool(random.integers(2)),
        weight_memory=weight_memory,
        prefetch=weight_memory and mode is not Mode.DEPTHWISE_3X3 and bool(random.integers(2)),
    )


def _with_strides(random: np.random.Generator, job: NeurekaJob) -> NeurekaJob:
    """Leave gaps between pixels and rows, as a slice of a larger tensor has them."""
    pixel = job.input_channels + int(random.integers(0, 8))
    output_pixel = job.output_channels * job.output_bytes + int(random.integers(0, 8))
    return replace(
        job,
        input_pixel_stride=pixel,
        input_row_stride=pixel * job.input_width + int(random.integers(0, 20)),
        output_pixel_stride=output_pixel,
        output_row_stride=output_pixel * job.output_width + int(random.integers(0, 20)),
    )


def make_random_job(seed: int, geometry: Geometry = SIRACUSA) -> RandomJob:
    """Return a legal job; jobs that do not exist or do not fit L1 are drawn again."""
    random = np.random.default_rng(seed)
    while True:
        try:
            job = _with_strides(random, _describe(random, geometry))
            check_on(job, geometry)
        except UserError:
            continue
        candidate = _place(random, job, geometry)
        if candidate is not None:
            return candidate


def _place(random: np.random.Generator, job: NeurekaJob, geometry: Geometry) -> RandomJob | None:
    low, high = (-128, 128) if job.input_signed else (0, 256)
    data = random.integers(low, high, (job.input_height, job.input_width, job.input_channels))
    data = data.astype(np.int8 if job.input_signed else np.uint8)
    per_filter = 1 if job.mode is Mode.DEPTHWISE_3X3 else job.input_channels
    shape = (job.output_channels, per_filter, job.mode.kernel, job.mode.kernel)
    weight = random.integers(0, 1 << job.weight_bits, shape) + job.weight_offset
    packed = pack_weights(weight, job.mode, job.weight_bits, job.weight_offset, geometry)
    how = job.requantization
    scale = bias = shift = partial = None
    if how is not None:
        kind = np.uint8 if how.scale_bits == 8 else np.uint32
        scale = random.integers(0, np.iinfo(kind).max, job.output_channels, kind, endpoint=True)
        if how.bias:
            bias = random.integers(-(2**31), 2**31, job.output_channels).astype(np.int32)
        if how.shift_vector:
            shift = random.integers(0, 32, job.output_channels).astype(np.uint8)
    if job.stream_in:
        partial = random.integers(-(2**31), 2**31, (job.output_height, job.output_width, job.output_channels))
        partial = partial.astype(np.int32)

    places, free = [], int(random.integers(0, 64))
    input_bytes = job.input_height * job.input_strides[1] + job.input_channels
    output_bytes = job.output_height * job.output_strides[1]
    sizes = [input_bytes, output_bytes, 0 if job.weight_memory else packed.size, *(4 * job.output_channels,) * 3]
    for index in random.permutation(len(sizes)):
        places.append((int(index), L1_BASE + free))
        free += sizes[index] + int(random.integers(0, 64))
    if free > L1_BYTES:
        return None
    where = dict(places)
    if job.weight_memory:
        where[2] = WEIGHT_MEMORY_BASE + int(random.integers(0, WEIGHT_BYTES - packed.size))
    at = Addresses(where[0], where[1], where[2], where[3], where[4], where[5])
    expected = reference.run(job, data, weight, scale, bias, shift, partial)
    words = register_image(job, at, geometry)
    return RandomJob(job, at, data, weight, packed, scale, bias, shift, partial, np.asarray(expected), words)
