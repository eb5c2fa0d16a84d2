"""The GVSoC component with a stand-in for GVSoC: registers, memories, time, events, errors, in both I/O protocols."""

import ctypes
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.c_runtime.plugins.built import HERE, PLUGINS, adapter, model

START, STATUS, X, W, Y, LENGTH, DELAYED = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18
STAND_IN = HERE / "gvsoc_stand_in"


@cache
def built(folder: Path, protocol: int) -> Path:
    defines = ("-DTVM_PULP_IO_V2",) if protocol == 2 else ()
    sources = [PLUGINS / "gvsoc" / "peripheral.cpp", STAND_IN / "harness.cpp"]
    return adapter(folder / f"gvsoc{protocol}.so", sources, STAND_IN, *defines)


class Component:
    """The component in a system of its own."""

    def __init__(self, library: Path, copy: Path, /, **properties: str) -> None:
        copy.write_bytes(library.read_bytes())  # static data of its own
        self.lib = ctypes.CDLL(str(copy))
        self.lib.harness_memory.restype = ctypes.POINTER(ctypes.c_uint8)
        self.lib.harness_timed_requests.restype = ctypes.c_uint64
        self.lib.harness_mistakes.restype = ctypes.c_uint64
        settings = {"library": str(model()), "parameters": "", "l1_base": "0x10000000", "l1_size": "0x40000"}
        settings |= {"l1_mask": "0xfffff", "weight_size": "0x10000", "register_latency": "0", "arbitrate": "false"}
        for name, value in (settings | properties).items():
            self.lib.harness_property(name.encode(), value.encode())
        self.lib.harness_start()
        self.l1 = np.ctypeslib.as_array(self.lib.harness_memory(0), (1 << 18,))
        self.weight = np.ctypeslib.as_array(self.lib.harness_memory(1), (1 << 16,))

    def write(self, offset: int, value: int, size: int = 4) -> int:
        return int(self.lib.harness_access(offset, size, 1, ctypes.byref(ctypes.c_uint32(value))))

    def read(self, offset: int, size: int = 4) -> int | None:
        value = ctypes.c_uint32(0)
        latency = self.lib.harness_access(offset, size, 0, ctypes.byref(value))
        return None if latency < 0 else value.value

    def job(self, x: int, w: int, y: int, length: int, delayed: int = 0) -> None:
        for offset, value in ((X, x), (W, w), (Y, y), (LENGTH, length), (DELAYED, delayed), (START, 1)):
            assert self.write(offset, value) >= 0


@pytest.fixture(params=[1, 2], ids=["io-v1", "io-v2"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.getbasetemp(), request.param)


def fill(component: Component) -> np.ndarray:
    random = np.random.default_rng(7)
    component.l1[:] = random.integers(0, 256, component.l1.size, dtype=np.uint8)
    component.weight[:] = random.integers(0, 256, component.weight.size, dtype=np.uint8)
    return component.l1.copy()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("x", "w", "y", "length"), [(64, 16, 256, 32), (65, 3, 1001, 1), (2, 7, 4093, 23)])
def test_a_job_reads_and_writes_what_it_says(
    library: Path, tmp_path: Path, x: int, w: int, y: int, length: int
) -> None:
    """Bytes at any offset; nothing else changes; results appear when the job ends, with one interrupt."""
    component = Component(library, tmp_path / "c.so", parameters="cycles_per_byte=3,bias=5")
    before = fill(component)
    component.job(0x10000000 + x, w, y, length)  # one pointer as the cores see it, one as an alias
    expected = before.copy()
    expected[y : y + length] = before[x : x + length] + component.weight[w : w + length] + np.uint8(5)
    assert component.read(STATUS) == 1
    component.lib.harness_advance(10 + 3 * length - 1)
    np.testing.assert_array_equal(component.l1, before)
    assert component.lib.harness_interrupts() == 0
    component.lib.harness_advance(1)
    np.testing.assert_array_equal(component.l1, expected)
    assert component.lib.harness_interrupts() == 1 and component.read(STATUS) == 0
    assert component.lib.harness_mistakes() == 0


def test_operands_are_read_when_the_job_ends(library: Path, tmp_path: Path) -> None:
    """What a core writes meanwhile is seen, and is not overwritten by old bytes."""
    component = Component(library, tmp_path / "c.so")
    fill(component)
    component.job(0, 0, 128, 16)
    component.l1[0:16] = 1
    component.l1[124:160] = 9
    component.lib.harness_advance(100)
    np.testing.assert_array_equal(component.l1[128:144], component.weight[:16] + np.uint8(1))
    assert set(component.l1[124:128].tolist()) == {9} and set(component.l1[144:160].tolist()) == {9}


def test_an_interrupt_may_come_later(library: Path, tmp_path: Path) -> None:
    component = Component(library, tmp_path / "c.so")
    component.job(0, 0, 128, 4, delayed=50)
    component.lib.harness_advance(14 + 49)
    assert component.lib.harness_interrupts() == 0 and component.read(STATUS) == 0
    component.lib.harness_advance(1)
    assert component.lib.harness_interrupts() == 1


@pytest.mark.parametrize(("offset", "size"), [(0x40, 4), (0x04, 1), (0x04, 2), (0x06, 4), (0x04, 8)])
def test_other_registers_and_widths_are_bus_errors(library: Path, tmp_path: Path, offset: int, size: int) -> None:
    component = Component(library, tmp_path / "c.so")
    assert component.read(offset, size) is None and component.write(offset, 1, size) == -1


def test_registers_take_their_time(library: Path, tmp_path: Path) -> None:
    component = Component(library, tmp_path / "c.so", register_latency="3")
    assert component.write(X, 0x1234) == 3 and component.read(X) == 0x1234


def test_jobs_wait_for_banks_where_they_compete(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Arbitration is by timed requests of the first protocol; copies of operands take none."""
    library = built(tmp_path_factory.getbasetemp(), 1)
    for arbitrate, cycles, requests in (("false", 26, 0), ("true", 31, 4)):
        component = Component(library, tmp_path / f"{arbitrate}.so", arbitrate=arbitrate)
        component.lib.harness_bank_latency(ctypes.c_uint64(5))
        component.job(0, 0, 128, 16)
        assert component.lib.harness_timed_requests() == requests
        component.lib.harness_advance(cycles - 1)
        assert component.lib.harness_interrupts() == 0
        component.lib.harness_advance(1)
        assert component.lib.harness_interrupts() == 1


FAILING = """
import sys
from pathlib import Path
from tests.c_runtime.plugins.test_gvsoc import Component
component = Component(Path(sys.argv[1]), Path(sys.argv[2]), **dict(p.split("=", 1) for p in sys.argv[3:]))
component.job(0x10000000, 0xFFFE, 128, 16)
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["parameters=speed=1"], "tvm_pulp: adder: no parameter speed"),
        (["parameters=speed"], "tvm_pulp: parameter 'speed' is not NAME=VALUE"),
        (["library=/nowhere.so"], "tvm_pulp: cannot load the model /nowhere.so"),
        ([], "tvm_pulp: adder: an operand lies outside"),
    ],
)
def test_a_fault_ends_the_simulation_with_a_sentence(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, settings: list[str], words: str
) -> None:
    library = built(tmp_path_factory.getbasetemp(), 1)
    command = [sys.executable, "-c", FAILING, str(library), str(tmp_path / "c.so"), *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[2])
    assert done.returncode == 1 and words in done.stderr, done


def test_statistics_are_printed_at_the_end(library: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    component = Component(library, tmp_path / "c.so")
    component.job(0, 0, 128, 16)
    component.lib.harness_advance(26)
    component.lib.harness_stop()
    ctypes.CDLL(None).fflush(None)
    assert "tvm_pulp adder: 1 jobs, 26 busy cycles" in capfd.readouterr().out
