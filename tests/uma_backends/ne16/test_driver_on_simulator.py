"""The driver as a bare-metal program on the virtual platform: golden layers, wake-up time, cost of a submit."""

from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import BACKENDS, DRIVER_INCLUDE, REPOSITORY
from tvm_pulp import soc
from tvm_pulp.sim.iss.machine import Machine as Simulator
from tvm_pulp.toolchain.build import build_riscv_elf

from .golden_vector import GoldenVector

GUEST = Path(__file__).resolve().parent / "guest"
DRIVER = BACKENDS / "ne16" / "driver"
HAL = REPOSITORY / "c_runtime" / "hal" / "siracusa" / "include"
MAILBOX, MOST_JOBS, WORDS, POINTERS = 0x1000_F000, 12, 24, 6
# Runs of the last job behind all jobs: twice four submits, twice the wake-up.
MORE = 10
# From the trigger store to the first instruction after the sleep, beyond the engine's own cycles.
WAKE_UP = 6


@pytest.fixture(scope="module")
def program() -> Path:
    """The guest with the driver, for the cores of the cluster."""
    engine = soc.load("pulp-open-ne16").engines["ne16"]
    defines = [f"NE16_BASE={engine.base}u", f"NE16_EVENT_LINE={engine.event_line}u", "TVM_PULP_CORES=1"]
    return build_riscv_elf(
        [GUEST / "start.S", GUEST / "golden_jobs.c", DRIVER / "ne16.c"],
        [DRIVER, HAL, DRIVER_INCLUDE],
        GUEST / "link.ld",
        march="rv32imc",
        defines=defines,
        extra_flags=["-O2", "-Wall", "-Wextra", "-Werror"],
    )


def test_golden_layer(vector: GoldenVector, program: Path) -> None:
    """Outputs are bit-exact, the core wakes up six cycles after the engine's end, no access races with a job."""
    images, cycles = vector.arrays["regs"], [int(c) for c in vector.arrays["cycles_model"]]
    # A job that adds to its output runs once.
    again = not vector.flags["stream_in"]
    simulator = Simulator(soc.load("pulp-open-ne16"))
    assert simulator.missing_models == ()
    simulator.load_elf(program)
    for address, array in vector.memory:
        simulator.write(address, array.tobytes())
    jobs = np.zeros((MOST_JOBS, WORDS), np.uint32)
    jobs[: len(images)] = images
    changed = np.array([*images[-1][:POINTERS], again, 0x20 + 4 * 23, images[-1][23]], np.uint32)
    simulator.write(MAILBOX, np.array([len(images), 0, 0, 0], np.uint32).tobytes() + jobs.tobytes() + changed.tobytes())
    simulator.start_core(0, simulator.symbol("_start"))
    result = simulator.run(max_cycles=1_000_000)
    assert result.exit_code == 0
    assert result.races == 0, result.first_race
    expected = vector.arrays["output"]
    output = np.frombuffer(simulator.read(vector.at.output, expected.nbytes), expected.dtype)
    np.testing.assert_array_equal(output, expected.reshape(-1))
    (engine,) = result.peripherals
    assert engine.jobs == len(images) + (MORE if again else 0)
    assert engine.busy_cycles == sum(cycles) + (MORE * cycles[-1] if again else 0)
    _, wake, whole, part = np.frombuffer(simulator.read(MAILBOX, 16), np.uint32)
    if again:
        assert wake == cycles[-1] + WAKE_UP
        assert whole <= 150
        assert part <= 90
