"""Run an image on the simulator under test and on Unicorn, and read memory back."""

from collections.abc import Callable, Sequence

import pytest

from .image import L1_BASE, L2_CODE, Image

L1_BYTES = 256 * 1024
L2_BYTES = 1984 * 1024
MAX_CYCLES = 200_000_000

# (image, ranges as (address, bytes)) -> contents of the ranges after the run
Executor = Callable[[Image, Sequence[tuple[int, int]]], list[bytes]]
# the same with the number of the cluster core to use
CoreExecutor = Callable[[Image, Sequence[tuple[int, int]], int], list[bytes]]


def run_on_simulator(image: Image, ranges: Sequence[tuple[int, int]], core: int = 0) -> list[bytes]:
    """Execute on one cluster core of the simulated SoC."""
    from tvm_pulp import soc
    from tvm_pulp.sim.iss.machine import Machine

    machine = Machine(soc.load("siracusa"))
    for region in image.regions:
        machine.write(region.address, region.content)
    machine.start_core(core, image.entry, {})
    machine.run(max_cycles=MAX_CYCLES)
    return [machine.read(address, size) for address, size in ranges]


def run_on_unicorn(image: Image, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Execute up to the exit stub on Unicorn's RV32 core."""
    unicorn = pytest.importorskip("unicorn", reason="the unicorn package (the oracle) is not installed")
    constants = pytest.importorskip("unicorn.riscv_const")
    engine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    engine.mem_map(L1_BASE, L1_BYTES)
    engine.mem_map(L2_CODE, L2_BYTES)
    # The floating-point unit is off after reset: mstatus.FS must not be zero.
    engine.reg_write(constants.UC_RISCV_REG_MSTATUS, 0x6000)
    for region in image.regions:
        engine.mem_write(region.address, region.content)
    engine.emu_start(image.entry, image.exit_address)
    assert engine.reg_read(constants.UC_RISCV_REG_PC) == image.exit_address, "the oracle stopped before the end"
    return [bytes(engine.mem_read(address, size)) for address, size in ranges]
