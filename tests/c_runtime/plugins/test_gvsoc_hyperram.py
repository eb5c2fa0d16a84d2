"""L3 in GVSoC with a stand-in for its bus: contents of a file, reads, writes, errors."""

import ctypes
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.c_runtime.plugins.built import HERE, PLUGINS, adapter

STAND_IN = HERE / "gvsoc_stand_in"
SIZE = 4096
CONTENTS = bytes((7 * i + i // 256) % 251 for i in range(1000))


@cache
def built(folder: Path) -> Path:
    sources = [PLUGINS / "gvsoc" / "hyperram.cpp", STAND_IN / "hyperbus.cpp"]
    return adapter(folder / "hyperram.so", sources, STAND_IN)


class Bus:
    """The memory on a bus of its own."""

    def __init__(self, library: Path, copy: Path, **properties: str) -> None:
        copy.write_bytes(library.read_bytes())  # static data of its own
        self.lib = ctypes.CDLL(str(copy))
        for name, value in ({"size": str(SIZE), "contents": ""} | properties).items():
            self.lib.bus_property(name.encode(), value.encode())
        self.lib.bus_start()

    def transfer(self, address: int, data: bytes, read: bool, registers: bool = False) -> list[int]:
        """As the HyperBus specification orders it: 48 bits of command, highest byte first, then data."""
        command = read << 47 | registers << 46 | 1 << 45 | (address >> 3) << 16 | (address & 7)
        self.lib.bus_select(1)
        assert all(self.lib.bus_byte(byte) == -1 for byte in command.to_bytes(6, "big"))
        answers = [self.lib.bus_byte(byte) for byte in data]
        self.lib.bus_select(0)
        return answers

    def read(self, address: int, count: int) -> bytes:
        return bytes(self.transfer(address, bytes(count), read=True))


@pytest.fixture
def bus(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Bus:
    contents = tmp_path / "l3.bin"
    contents.write_bytes(CONTENTS)
    return Bus(built(tmp_path_factory.getbasetemp()), tmp_path / "bus.so", contents=str(contents))


@pytest.mark.parametrize(("address", "count"), [(0, 1000), (5, 20), (993, 7), (256, 1)])
def test_what_the_file_holds_is_read(bus: Bus, address: int, count: int) -> None:
    assert bus.read(address, count) == CONTENTS[address : address + count]


def test_writes_are_kept_and_change_nothing_else(bus: Bus) -> None:
    assert bus.transfer(101, b"abcdefghij", read=False) == [-1] * 10
    assert bus.read(0, 1000) == CONTENTS[:101] + b"abcdefghij" + CONTENTS[111:]
    bus.transfer(SIZE - 2, b"xy", read=False)
    assert bus.read(SIZE - 2, 2) == b"xy"


def test_registers_are_no_memory(bus: Bus) -> None:
    bus.transfer(0, b"\x8f\x1f", read=False, registers=True)
    assert bus.read(0, 2) == CONTENTS[:2]


FAILING = """
import sys
from pathlib import Path
from tests.c_runtime.plugins.test_gvsoc_hyperram import Bus
bus = Bus(Path(sys.argv[1]), Path(sys.argv[2]), **dict(p.split("=", 1) for p in sys.argv[3:]))
bus.read(4094, 3)
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["contents=/nowhere.bin"], "tvm_pulp: cannot read the contents of L3, /nowhere.bin"),
        (["size=16", f"contents={__file__}"], "tvm_pulp: L3 of 16 bytes is too small for"),
        ([], "tvm_pulp: address 4096 lies outside L3"),
    ],
)
def test_a_fault_ends_the_simulation_with_a_sentence(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, settings: list[str], words: str
) -> None:
    library = built(tmp_path_factory.getbasetemp())
    command = [sys.executable, "-c", FAILING, str(library), str(tmp_path / "bus.so"), *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[2])
    assert done.returncode == 1 and words in done.stderr, done
