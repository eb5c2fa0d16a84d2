"""A board that QEMU emulates, its memory as a file, and the instructions of a program by layer."""

import mmap
import os
import re
import struct
import subprocess
from functools import cache
from pathlib import Path

from tvm_pulp.sim.cpu_runner import Stopped
from tvm_pulp.sim.iss.elf import Elf
from tvm_pulp.sim.qemu.boards import Emulated
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain import build_host_library

# Of a run; the largest networks take a minute.
_SECONDS = 1800
_FLAGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror")


@cache
def _plugin(qemu: Path) -> Path:
    """The plug-in that counts, for the interface that a QEMU has."""
    said = subprocess.run([qemu, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    interface = 1 if found is None or (int(found[1]), int(found[2])) < (8, 2) else 2
    source = Path(__file__).parent / "count_blocks.c"
    return build_host_library([source], [], defines=[f"PLUGIN_VERSION={interface}"], extra_flags=_FLAGS, undefined=True)


class QemuMachine:
    """A board with a program in its memory. `layers`: how many it may name."""

    def __init__(self, program: Elf, cpu: Cpu, layers: int) -> None:
        self._program, self._layers = program, layers
        self._emulated = Emulated.of(cpu.devices["qemu"])
        self._board = self._emulated.board
        self._folder = TemporaryFolder()
        self._memory = self._map("memory", self._board.bytes)
        for segment in program.segments:
            if self._board.memory <= segment.address < self._board.memory + self._board.bytes:
                self.write(segment.address, segment.data)

    def _map(self, name: str, size: int) -> mmap.mmap:
        """A file of zeros, which takes room where something is written to."""
        file = os.open(self._path(name), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.truncate(file, size)
            return mmap.mmap(file, size)
        finally:
            os.close(file)

    def _path(self, name: str) -> str:
        return str(self._folder.path / name)

    def write(self, address: int, data: bytes) -> None:
        offset = address - self._board.memory
        self._memory[offset : offset + len(data)] = data

    def read(self, address: int, count: int) -> bytes:
        offset = address - self._board.memory
        return self._memory[offset : offset + count]

    def close(self) -> None:
        """Give its memory and its files back."""
        self._memory.close()
        self._folder.remove()

    def run(self) -> list[int]:
        """From reset to the end; instructions of the last inference by layer, those outside of it first."""
        board, words = self._board, self._layers + 1
        counts = self._map("counts", 8 * words)
        qemu = self._emulated.program()
        layer = self._program.symbols["tvm_pulp_layer"] - board.memory
        plugin = f"{_plugin(qemu)},memory={self._path('memory')},layer={layer},counts={self._path('counts')}"
        backend = f"memory-backend-file,id=memory,size={board.bytes},mem-path={self._path('memory')},share=on"
        command = [str(qemu), "-M", f"{self._emulated.machine},memory-backend=memory", "-object", backend]
        command += ["-cpu", self._emulated.cpu, "-m", f"{board.bytes >> 20}M", *board.options, *self._begin()]
        # -nic none: boards come with a network card, whose ROM is a package of its own.
        command += [
            "-display",
            "none",
            "-nic",
            "none",
            "-monitor",
            "none",
            "-serial",
            "none",
            "-plugin",
            f"{plugin},layers={words}",
        ]
        command += ["-semihosting-config", "enable=on,target=native"]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise Stopped(f"it did not end within {_SECONDS} seconds") from None
        if ended.returncode != 0:
            said = ended.stderr.strip().splitlines()
            raise Stopped(f"exit status {ended.returncode}{f' ({said[0]})' if said else ''}")
        with counts:
            return list(struct.unpack(f"<{words}Q", counts[:]))

    def _begin(self) -> list[str]:
        """Options that let the core begin with the program."""
        if not self._board.vectors:
            return ["-device", f"loader,addr={self._program.entry:#x},cpu-num=0"]
        vectors = Path(self._path("vectors"))
        vectors.write_bytes(struct.pack("<2I", self._program.symbols["tvm_pulp_stack_top"], self._program.entry | 1))
        return ["-device", f"loader,file={vectors},addr=0,force-raw=on"]
