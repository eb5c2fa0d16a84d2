"""The C driver against the model: jobs of commands, contexts, and a core that is held up anywhere."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import L1_BASE, SOFT_CLEAR, TRIGGER, Machine
from tests.uma_backends.ita import reference
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.recipe import Local
from uma_backends.ita.command import ATTENTION, PRODUCT, ItaCommand, Panel, command_words
from uma_backends.ita.geometry import MOST_TILES, TILE_BYTES, UNUSED_TILES
from uma_backends.ita.packing import tile_matrix
from uma_backends.ita.reference import ItaRequantization, Relu
from uma_backends.ita.registers import Constants, RequantSlot

from .hooked_driver import HookedDriver

LEFT, RIGHT, RESULT, VALUES = 0, 0x10000, 0x20000, 0x30000
RULE = ItaRequantization(3, 9, 1)
L1 = Local("l1", TensorSpec((1,), "int8"))


def words(command: ItaCommand) -> list[int]:
    """The command as the driver reads it."""
    texts = command_words(command, "", lambda _local: "0u")
    return [sum(int(part.rstrip("u")) for part in text.split(" + ")) for text in texts]


def panels(first: int, count: int, distance: int) -> list[Panel]:
    return [Panel(L1, first + i * distance) for i in range(count)]


def product(rows: int, columns: int, inner: int, activation: Relu | None = None) -> list[int]:
    """Panels of the left side below each other, weights as [column][inner] tiles."""
    constants = Constants((rows, inner, columns, UNUSED_TILES), {RequantSlot.Q: RULE}, activation)
    operands = (
        *panels(LEFT, inner, rows * TILE_BYTES),
        *panels(RIGHT, inner, TILE_BYTES),
        *panels(RESULT, columns, rows * TILE_BYTES),
    )
    return words(ItaCommand(PRODUCT, constants, rows, columns, inner, operands, 0, right_stride=inner * TILE_BYTES))


def attention(s: int, p: int) -> list[int]:
    constants = Constants((s, UNUSED_TILES, p, UNUSED_TILES), {RequantSlot.QK: RULE, RequantSlot.AV: RULE})
    operands = (
        *panels(LEFT, p, s * TILE_BYTES),
        *panels(RIGHT, p, s * TILE_BYTES),
        *panels(VALUES, s, p * TILE_BYTES),
        *panels(RIGHT + 0xC000, s, TILE_BYTES),
        *panels(RESULT, p, s * TILE_BYTES),
    )
    return words(ItaCommand(ATTENTION, constants, s, s, p, operands, 0))


def as_panels(matrix: np.ndarray) -> np.ndarray:
    """Columns of tiles, each tile behind the one above it."""
    return tile_matrix(matrix).transpose(1, 0, 2, 3)


def run_product(driver: HookedDriver, rows: int, columns: int, inner: int, random: np.random.Generator) -> None:
    left = random.integers(-128, 128, (64 * rows, 64 * inner), np.int8)
    right = random.integers(-128, 128, (64 * inner, 64 * columns), np.int8)
    driver.machine.write_l1(L1_BASE + LEFT, as_panels(left))
    driver.machine.write_l1(L1_BASE + RIGHT, tile_matrix(right.T))
    driver.submit(product(rows, columns, inner))
    driver.wait_all()
    expected = reference.linear(left, right, np.zeros(64 * columns, np.int64), RULE).astype(np.int8)
    found = driver.machine.read_l1(L1_BASE + RESULT, (columns, rows, 64, 64), np.int8)
    np.testing.assert_array_equal(found, as_panels(expected))


def run_attention(driver: HookedDriver, s: int, p: int, random: np.random.Generator) -> None:
    q, k, v = (random.integers(-128, 128, (64 * s, 64 * p), np.int8) for _ in range(3))
    for place, operand in ((LEFT, q), (RIGHT, k), (VALUES, v.T)):
        driver.machine.write_l1(L1_BASE + place, as_panels(operand))
    driver.submit(attention(s, p))
    driver.wait_all()
    expected = reference.attention(q, k, v, RULE, RULE).astype(np.int8)
    found = driver.machine.read_l1(L1_BASE + RESULT, (p, s, 64, 64), np.int8)
    np.testing.assert_array_equal(found, as_panels(expected))


@pytest.fixture
def make_driver(make_machine: Callable[..., Machine], tmp_path: Path) -> Callable[..., HookedDriver]:
    """Make an initialised driver; it waits some cycles before each access."""

    def make(delay: Callable[[], int] = lambda: 3, **parameters: int) -> HookedDriver:
        driver = HookedDriver(make_machine(**parameters), tmp_path, delay)
        driver.init()
        return driver

    return make


@pytest.mark.parametrize("contexts", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_core_may_be_held_up_anywhere(contexts: int, seed: int, make_driver: Callable[..., HookedDriver]) -> None:
    """For longer than a job now and then, between any two accesses: no job begins too late, results are right."""
    random = np.random.default_rng(seed)
    driver = make_driver(lambda: int(random.choice([1, 3, 40, 4000], p=[0.5, 0.3, 0.1, 0.1])), contexts=contexts)
    for _ in range(12):
        if random.random() < 0.3:
            run_attention(driver, *random.integers(1, 4, 2), random)
        else:
            run_product(driver, *random.integers(1, 4, 2), int(random.integers(1, 6)), random)


@pytest.mark.parametrize("contexts", [1, 2, 4])
def test_commands_behind_each_other(contexts: int, make_driver: Callable[..., HookedDriver]) -> None:
    """Also without a wait between them: what one leaves in contexts does not mislead the next."""
    random = np.random.default_rng(contexts)
    driver = make_driver(lambda: int(random.choice([1, 3, 2500], p=[0.7, 0.2, 0.1])), contexts=contexts)
    tickets = []
    for _ in range(60):
        sizes = [int(n) for n in random.integers(1, 4, 2)]
        command = attention(*sizes) if random.random() < 0.3 else product(*sizes, int(random.integers(1, 6)))
        tickets.append(driver.submit(command))
    driver.wait_all()
    assert len(driver.machine.events) == tickets[-1] + 1
    assert driver.is_done(tickets[-1])


def test_without_care_a_held_up_core_misleads_the_engine(make_driver: Callable[..., HookedDriver]) -> None:
    """A command that says nothing about its sums: the fault that the driver avoids."""
    delays = iter([1] * 14 + [4000] * 1000)
    driver = make_driver()
    driver.submit(product(2, 2, 1))
    driver.wait_all()
    driver.delay = lambda: next(delays)
    careless = product(1, 1, 2)
    careless[7] = 0
    with pytest.raises(Exception, match="before TILES of the next job was written"):
        driver.submit(careless)


def test_contexts_are_made_harmless_where_they_mislead_only(make_driver: Callable[..., HookedDriver]) -> None:
    """Waiting for an idle engine and starting over costs time: sums of the same length follow each other without."""

    def clears(command: list[int]) -> int:
        driver.writes.clear()
        driver.submit(command)
        return sum(offset == SOFT_CLEAR for offset, _ in driver.writes)

    driver = make_driver()
    assert [clears(product(2, 2, 3)), clears(product(1, 3, 3))] == [0, 0]
    assert [clears(product(2, 2, 2)), clears(attention(2, 1)), clears(product(2, 2, 1))] == [0, 0, 0]
    assert [clears(product(2, 2, 1)), clears(product(2, 2, 2)), clears(product(2, 2, 2))] == [0, 2, 0]
    # One job each leaves what other contexts hold.
    assert [clears(product(2, 2, MOST_TILES)), clears(product(1, 1, 1)), clears(product(1, 1, 2))] == [2, 0, 0]
    assert [clears(product(1, 1, 2)), clears(product(1, 1, 2))] == [2, 0]
    driver.wait_all()


def test_constants_are_written_once_per_context(make_driver: Callable[..., HookedDriver]) -> None:
    """And only those that jobs look at: a product without activation has no second multipliers."""

    def writes_per_job(command: list[int]) -> list[int]:
        driver.writes.clear()
        driver.submit(command)
        triggers = [i for i, (offset, _) in enumerate(driver.writes) if offset == TRIGGER]
        return [end - start for start, end in pairwise([-1, *triggers])]

    driver = make_driver()
    assert writes_per_job(product(2, 2, 2)) == [12] * 4 + [7] * 4
    assert writes_per_job(product(2, 1, 2, Relu(RULE))) == [14] * 4
    assert writes_per_job(attention(2, 1)) == [15] * 4 + [7] * 4
    driver.wait_all()
