"""The ETISS plug-in with a stand-in for ETISS: registers, widths, guest memory, blocking and polling, errors."""

import ctypes
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.c_runtime.plugins.built import HERE, PLUGINS, adapter, model

START, STATUS, X, W, Y, LENGTH = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
STAND_IN = HERE / "etiss_stand_in"
BASE, MEMORY = 0x70000000, 0x02000000
# The engine's second memory lies in the same flat range here.
WEIGHT = MEMORY + 0x80000


@cache
def built(folder: Path) -> Path:
    sources = [PLUGINS / "etiss" / "peripheral.cpp", STAND_IN / "harness.cpp"]
    return adapter(folder / "etiss.so", sources, STAND_IN, "-DETISS_LIBNAME=tvm_pulp_adder")


class Plugin:
    """The plug-in as a core sees it."""

    def __init__(self, library: Path, copy: Path, /, **options: str) -> None:
        copy.write_bytes(library.read_bytes())  # static data of its own
        self.lib = ctypes.CDLL(str(copy))
        for function in ("harness_base", "harness_size", "harness_read", "harness_cycle"):
            getattr(self.lib, function).restype = ctypes.c_uint64
        self.lib.harness_memory.restype = ctypes.POINTER(ctypes.c_uint8)
        given = {"library": str(model()), "base": hex(BASE), "l1_base": hex(MEMORY), "l1_size": "0x80000"}
        given |= {"weight_base": hex(WEIGHT), "weight_size": "0x10000"}
        for name, value in (given | options).items():
            self.lib.harness_option(name.encode(), value.encode())
        assert self.lib.harness_start() == 1
        self.memory = np.ctypeslib.as_array(self.lib.harness_memory(), (1 << 20,))

    def write(self, offset: int, value: int, bits: int = 32) -> None:
        self.lib.harness_write(ctypes.c_uint64(BASE + offset), ctypes.c_uint32(value), bits)

    def read(self, offset: int, bits: int = 32) -> int:
        return int(self.lib.harness_read(ctypes.c_uint64(BASE + offset), bits))

    def after(self, instructions: int) -> None:
        self.lib.harness_instructions(ctypes.c_uint64(instructions))

    def job(self, x: int, w: int, y: int, length: int) -> None:
        for offset, value in ((X, MEMORY + x), (W, w), (Y, MEMORY + y), (LENGTH, length), (START, 1)):
            self.write(offset, value)

    def fill(self) -> np.ndarray:
        self.memory[:] = np.random.default_rng(3).integers(0, 256, self.memory.size, dtype=np.uint8)
        return self.memory.copy()


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def expected(before: np.ndarray, x: int, w: int, y: int, length: int, bias: int) -> np.ndarray:
    made, weight = before.copy(), 0x80000 + w
    made[y : y + length] = before[x : x + length] + before[weight : weight + length] + np.uint8(bias)
    return made


def test_l1_from_its_start_on(library: Path, tmp_path: Path) -> None:
    """Engines whose pointers count from the start of L1 reach the same bytes."""
    plugin = Plugin(
        library, tmp_path / "p.so", parameters="cycles_per_byte=2,bias=9", l1_mask="0xfffff", blocking="true"
    )
    before = plugin.fill()
    plugin.job(64 - MEMORY, 0, 256 - MEMORY, 32)
    np.testing.assert_array_equal(plugin.memory, expected(before, 64, 0, 256, 32, 9))


@pytest.mark.parametrize(("x", "w", "y", "length"), [(0, 0, 256, 32), (65, 3, 1001, 1), (2, 7, 4093, 23)])
def test_a_job_beside_the_core(library: Path, tmp_path: Path, x: int, w: int, y: int, length: int) -> None:
    """The core polls; results are there when the status says so, and not before."""
    plugin = Plugin(library, tmp_path / "p.so", parameters="cycles_per_byte=2,bias=9")
    before = plugin.fill()
    plugin.job(x, w, y, length)
    plugin.after(10 + 2 * length - 1)
    assert plugin.read(STATUS) == 1
    np.testing.assert_array_equal(plugin.memory, before)
    plugin.after(1)
    assert plugin.read(STATUS) == 0
    np.testing.assert_array_equal(plugin.memory, expected(before, x, w, y, length, 9))


def test_a_job_that_nobody_asks_about_ends_too(library: Path, tmp_path: Path) -> None:
    plugin = Plugin(library, tmp_path / "p.so")
    before = plugin.fill()
    plugin.job(0, 0, 128, 16)
    assert plugin.lib.harness_block() == 0
    np.testing.assert_array_equal(plugin.memory, before)
    plugin.after(26)
    assert plugin.lib.harness_block() == 0
    np.testing.assert_array_equal(plugin.memory, expected(before, 0, 0, 128, 16, 0))


def test_a_blocking_job_stops_the_core(library: Path, tmp_path: Path) -> None:
    plugin = Plugin(library, tmp_path / "p.so", blocking="true", parameters="cycles_per_byte=3")
    before = plugin.fill()
    plugin.after(100)
    plugin.job(0, 0, 128, 16)
    assert plugin.lib.harness_cycle() == 100 + 10 + 48 and plugin.read(STATUS) == 0
    np.testing.assert_array_equal(plugin.memory, expected(before, 0, 0, 128, 16, 0))


def test_registers_lie_where_they_are_told(library: Path, tmp_path: Path) -> None:
    plugin = Plugin(library, tmp_path / "p.so")
    assert plugin.lib.harness_base() == BASE and plugin.lib.harness_size() == 0x40
    plugin.write(X, 0x12345678)
    assert plugin.read(X) == 0x12345678


def test_statistics_are_printed_at_the_end(library: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plugin = Plugin(library, tmp_path / "p.so")
    plugin.job(0, 0, 128, 16)
    plugin.lib.harness_end()
    assert "tvm_pulp adder: 1 jobs, 26 busy cycles" in capfd.readouterr().out


FAILING = """
import sys
from pathlib import Path
from tests.c_runtime.plugins.test_etiss import Plugin
plugin = Plugin(Path(sys.argv[1]), Path(sys.argv[2]), **dict(p.split("=", 1) for p in sys.argv[4:]))
exec(sys.argv[3])
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("action", "options", "words"),
    [
        ("plugin.read(4, 8)", [], "tvm_pulp: adder: register 0x4 is 32 bits wide, not 8"),
        ("plugin.write(8, 1, 16)", [], "tvm_pulp: adder: register 0x8 is 32 bits wide, not 16"),
        ("plugin.job(0, 0xFFFE, 128, 16)", [], "tvm_pulp: adder: an operand lies outside"),
        ("plugin.job(0x7FFFF0, 0, 128, 32)", [], "tvm_pulp: adder: an operand lies outside"),
        ("pass", ["parameters=speed=1"], "tvm_pulp: adder: no parameter speed"),
        ("pass", ["library=/nowhere.so"], "tvm_pulp: cannot load the model /nowhere.so"),
    ],
)
def test_a_fault_ends_the_simulation_with_a_sentence(
    library: Path, tmp_path: Path, action: str, options: list[str], words: str
) -> None:
    command = [sys.executable, "-c", FAILING, str(library), str(tmp_path / "p.so"), action, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[2])
    assert done.returncode == 1 and words in done.stderr, done
