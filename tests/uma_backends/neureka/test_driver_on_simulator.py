"""The driver as a bare-metal program on the virtual platform: golden layers, wake-up time, cost of a submit."""

from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import BACKENDS, DRIVER_INCLUDE
from tvm_pulp import soc
from tvm_pulp.sim.iss.machine import Machine as Simulator
from tvm_pulp.toolchain.build import build_riscv_elf

from .golden_vector import VARIANTS, GoldenVector

GUEST = Path(__file__).resolve().parent / "guest"
DRIVER = BACKENDS / "neureka" / "driver"
MAILBOX = 0x1000_0000
SUBMITS, JOBS = 4, 2 * (1 + 4 + 4)
# From the trigger store to the first instruction after the sleep, beyond the engine's own cycles.
WAKE_UP = 6


@pytest.fixture(scope="module")
def program() -> Path:
    """The guest with the driver, for the cores of the cluster."""
    sources = [GUEST / "start.S", GUEST / "golden_job.c", DRIVER / "neureka.c"]
    state = 'NEUREKA_STATE=__attribute__((section(".driver_state")))'
    flags = ["-O2", "-Wall", "-Wextra", "-Werror"]
    return build_riscv_elf(
        sources,
        [DRIVER, DRIVER_INCLUDE],
        GUEST / "link.ld",
        march="rv32imc",
        defines=[state],
        extra_flags=flags,
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_golden_layer(vector: GoldenVector, variant: str, program: Path) -> None:
    """Outputs are bit-exact, the core wakes up six cycles after the engine's end, no access races with a job."""
    cycles = vector.cycles(variant)
    if cycles is None:
        pytest.skip("the reference simulator defines no prefetch in depthwise mode")
    job, at, image = vector.variant(variant)
    simulator = Simulator(soc.load("siracusa-gvsoc"))
    assert simulator.missing_models == ()
    simulator.load_elf(program)
    operands = [(at.input, "input"), (at.scale, "scale"), (at.bias, "bias"), (at.weights, "packed_weight")]
    for address, name in operands:
        simulator.write(address, vector.arrays[name].tobytes())
    simulator.write(MAILBOX, np.array([*image[6:], *image[:6]], np.uint32).tobytes())
    simulator.start_core(0, simulator.symbol("_start"))
    result = simulator.run(max_cycles=1_000_000)
    assert result.exit_code == 0
    assert result.races == 0, result.first_race
    shape = (job.output_height, job.output_width, job.output_channels)
    dtype = vector.arrays["output"].dtype
    output = np.frombuffer(simulator.read(at.output, int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    step = vector.output_step
    np.testing.assert_array_equal(output[::step, ::step], vector.arrays["output"])
    measured = np.frombuffer(simulator.read(MAILBOX + 4 * 24, 4 * (SUBMITS + 1)), np.uint32)
    assert int(measured[SUBMITS]) == cycles + WAKE_UP
    # Each context once with all words, then with pointers only.
    assert all(int(value) <= 160 for value in measured[:2]), measured
    assert all(int(value) <= 70 for value in measured[2:SUBMITS]), measured
    (engine,) = result.peripherals
    assert engine.jobs == JOBS
    assert engine.busy_cycles == JOBS * cycles
