"""Cutting a layer into jobs in C: pointers and padding of border tiles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uma_backends.neureka import reference
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import ArrayJob, Padding, Requantization
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses, config_word, register_image

from .flat_machine import L1_BASE, Machine
from .hooked_driver import HookedDriver, Layer, Rectangle

OK, EMPTY, BAD_PADDING, BAD_SLICE, BAD_SUBTILE, BAD_FLAGS = 0, -1, -2, -3, -4, -5
AT = Addresses(L1_BASE + 0x800, L1_BASE + 0x1_0000, L1_BASE + 0x2_0000, L1_BASE + 0x3_0000, L1_BASE + 0x3_4000)
FLAG_BITS = ~(0x7 | 3 << 5 | 1 << 15 | 31 << 16)


@dataclass(frozen=True)
class Case:
    """A layer and its tiling."""

    job: ArrayJob
    tile: tuple[int, int, int]


CASES = {
    "3x3 in the middle of everything": Case(
        ArrayJob(Mode.DENSE_3X3, 30, 40, 17, 15, Padding(1, 1, 1, 1), requantization=Requantization(shift=12)),
        (6, 7, 32),
    ),
    "3x3 with two padded pixels": Case(
        ArrayJob(Mode.DENSE_3X3, 5, 9, 12, 14, Padding(2, 2, 2, 2), input_signed=True, weight_bits=4, weight_offset=-8,
            requantization=Requantization(32, 20, True, False)), (6, 6, 9)
    ),
    "1x1 in weight memory": Case(
        ArrayJob(Mode.POINTWISE, 70, 50, 9, 9, weight_memory=True, prefetch=True, output_bits=32, requantization=None),
        (4, 9, 20),
    ),
    "depthwise": Case(
        ArrayJob(Mode.DEPTHWISE_3X3, 60, 60, 10, 10, Padding(1, 1, 1, 1), requantization=Requantization(shift=9)),
        (5, 4, 28),
    ),
}  # fmt: skip


@pytest.fixture
def driver(machine: Machine, tmp_path: Path) -> HookedDriver:
    """An initialised driver."""
    driver = HookedDriver(machine, tmp_path)
    driver.init()
    return driver


def layer_of(job: ArrayJob, **changes: int) -> Layer:
    """Describe a whole job as a layer for the C helper."""
    how, pad = job.requantization, job.padding
    fields = {
        "mode": job.mode.value,
        "flags": config_word(job) & FLAG_BITS,
        "weight_bits": job.weight_bits,
        "weight_offset": job.weight_offset,
        "shift": how.shift if how else 0,
        "input_height": job.input_height,
        "input_width": job.input_width,
        "input_channels": job.input_channels,
        "output_channels": job.output_channels,
        "pad_top": pad.top,
        "pad_right": pad.right,
        "pad_bottom": pad.bottom,
        "pad_left": pad.left,
        "pad_value": pad.value,
        "input": AT.input,
        "output": AT.output,
        "weights": 0 if job.weight_memory else AT.weights,
        "scale": AT.scale,
        "bias": AT.bias,
        "input_pixel_stride": job.input_strides[0],
        "input_row_stride": job.input_strides[1],
        "output_pixel_stride": job.output_strides[0],
        "output_row_stride": job.output_strides[1],
    }
    return Layer(**(fields | changes))


@pytest.mark.parametrize("name", CASES)
def test_the_whole_layer_as_one_tile(name: str, driver: HookedDriver) -> None:
    """Without cuts the helper gives the register image of the Python side."""
    job = CASES[name].job
    rectangle = Rectangle(0, job.output_height, 0, job.output_width, 0, job.output_channels)
    error, words = driver.describe(layer_of(job), rectangle)
    at = Addresses(AT.input, AT.output, WEIGHT_MEMORY_BASE if job.weight_memory else AT.weights, AT.scale, AT.bias)
    assert error == OK
    assert words == list(register_image(job, at))


@pytest.mark.parametrize("name", CASES)
def test_tiles_compute_the_layer(name: str, driver: HookedDriver) -> None:
    """A tiled run gives the tensor of the uncut layer."""
    case, machine = CASES[name], driver.machine
    job, random = case.job, np.random.default_rng(5)
    low, high = (-128, 128) if job.input_signed else (0, 256)
    data = random.integers(low, high, (job.input_height, job.input_width, job.input_channels))
    data = data.astype(np.int8 if job.input_signed else np.uint8)
    per_filter = 1 if job.mode is Mode.DEPTHWISE_3X3 else job.input_channels
    half = 1 << (job.weight_bits - 1)
    weight = random.integers(-half, half, (job.output_channels, per_filter, job.mode.kernel, job.mode.kernel))
    scale = random.integers(1, 256, job.output_channels)
    scale = scale.astype(np.uint32 if job.requantization and job.requantization.scale_bits == 32 else np.uint8)
    bias = random.integers(-9999, 9999, job.output_channels).astype(np.int32)
    machine.l1[:] = random.integers(0, 256, machine.l1.size)
    packed = pack_weights(weight, job.mode, job.weight_bits, job.weight_offset)
    operands: list[tuple[int, Any]] = [(AT.input, data), (AT.scale, scale), (AT.bias, bias)]
    if job.weight_memory:
        machine.weight_memory[: packed.size] = packed
    else:
        operands.append((AT.weights, packed))
    for address, array in operands:
        machine.write_l1(address, array)
    assert driver.library.neureka_run_layer(layer_of(job), *case.tile) == OK
    expected = reference.run(job, data, weight, scale, bias)
    np.testing.assert_array_equal(machine.read_l1(AT.output, expected.shape, expected.dtype), expected)
    tiles = int(np.prod([-(-size // cut) for size, cut in zip(expected.shape, case.tile, strict=True)]))
    assert machine.statistics["jobs"] == tiles


@pytest.mark.parametrize(
    ("name", "changes", "rectangle", "error"),
    [
        ("depthwise", {}, (0, 11, 0, 1, 0, 1), EMPTY),
        ("depthwise", {}, (0, 1, 0, 0, 0, 1), EMPTY),
        ("depthwise", {}, (0, 1, 0, 1, 56, 5), EMPTY),
        ("depthwise", {}, (0, 1, 0, 1, 30, 5), BAD_SLICE),
        ("depthwise", {"pad_top": 3}, (0, 1, 0, 1, 0, 1), BAD_PADDING),
        ("1x1 in weight memory", {"pad_left": 1}, (0, 1, 0, 1, 0, 1), BAD_PADDING),
        ("3x3 with two padded pixels", {}, (5, 7, 0, 6, 0, 1), BAD_SUBTILE),
        ("3x3 with two padded pixels", {}, (0, 6, 1, 13, 0, 1), BAD_SUBTILE),
        ("depthwise", {"flags": 1 << 4 | 1 << 9 | 1 << 10}, (0, 1, 0, 1, 0, 1), BAD_FLAGS),
        ("depthwise", {"flags": 1 << 4 | 1 << 14}, (0, 1, 0, 1, 0, 1), BAD_FLAGS),
        ("depthwise", {"flags": 0}, (0, 1, 0, 1, 0, 1), BAD_FLAGS),
        ("depthwise", {"weight_bits": 9}, (0, 1, 0, 1, 0, 1), BAD_FLAGS),
        ("depthwise", {"shift": 32}, (0, 1, 0, 1, 0, 1), BAD_FLAGS),
    ],
)
def test_refused_tiles(
    name: str, changes: dict[str, int], rectangle: tuple[int, ...], error: int, driver: HookedDriver
) -> None:
    """What the hardware cannot do is refused before it is programmed."""
    assert driver.describe(layer_of(CASES[name].job, **changes), Rectangle(*rectangle))[0] == error


def test_an_error_stops_the_layer(driver: HookedDriver) -> None:
    """A bad tile ends the run with its error; jobs submitted before it are finished."""
    layer = layer_of(CASES["depthwise"].job)
    assert driver.library.neureka_run_layer(layer, 10, 10, 30) == BAD_SLICE
    assert driver.machine.statistics["jobs"] == 1
    assert driver.library.neureka_run_layer(layer, 0, 10, 28) == EMPTY
