"""Drive the C model of an engine through its register interface, with plain arrays as memories."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.toolchain.build import build_host_library

REPOSITORY = Path(__file__).resolve().parents[2]
BACKENDS = REPOSITORY / "uma_backends"
INCLUDE = REPOSITORY / "c_runtime" / "include"
DRIVER_INCLUDE = REPOSITORY / "c_runtime" / "hal" / "shared" / "include"

L1_BASE, L1_BYTES = 0x1000_0000, 256 * 1024
WEIGHT_BYTES = 8 * 1024 * 1024
ABI = 2
NEVER = 2**64 - 1

TRIGGER, ACQUIRE, FINISHED, STATUS, RUNNING_JOB, SOFT_CLEAR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
JOB_WORDS = 0x20
STATISTICS = ("jobs", "busy_cycles", "macs", "l1_bytes", "weight_bytes")


class _Parameter(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("value", ctypes.c_int64))


class _Statistics(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in STATISTICS)


class _Claim(ctypes.Structure):
    _fields_ = (
        ("port", ctypes.c_int32),
        ("is_write", ctypes.c_int32),
        ("address", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("end_cycle", ctypes.c_uint64),
    )


class _FlatSystem(ctypes.Structure):
    _fields_ = (
        ("interface", ctypes.c_void_p * 7),
        ("memory", ctypes.c_void_p * 2),
        ("base", ctypes.c_uint32 * 2),
        ("bytes", ctypes.c_uint32 * 2),
        ("claims", ctypes.POINTER(_Claim)),
        ("claim_count", ctypes.c_size_t),
        ("claim_capacity", ctypes.c_size_t),
        ("events", ctypes.POINTER(ctypes.c_uint64)),
        ("event_count", ctypes.c_size_t),
        ("event_capacity", ctypes.c_size_t),
        ("delays", ctypes.c_void_p),
        ("delay_count", ctypes.c_size_t),
        ("delay_next", ctypes.c_size_t),
        ("fault", ctypes.c_char * 256),
    )


_SELF = ctypes.c_void_p


class _Peripheral(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("register_bytes", ctypes.c_uint32),
        (
            "create",
            ctypes.CFUNCTYPE(
                _SELF, ctypes.c_void_p, ctypes.POINTER(_Parameter), ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t
            ),
        ),
        ("destroy", ctypes.CFUNCTYPE(None, _SELF)),
        ("reset", ctypes.CFUNCTYPE(None, _SELF)),
        ("read", ctypes.CFUNCTYPE(ctypes.c_uint32, _SELF, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64)),
        (
            "write",
            ctypes.CFUNCTYPE(None, _SELF, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64),
        ),
        ("next_event", ctypes.CFUNCTYPE(ctypes.c_uint64, _SELF)),
        ("advance", ctypes.CFUNCTYPE(None, _SELF, ctypes.c_uint64)),
        ("statistics", ctypes.CFUNCTYPE(None, _SELF, ctypes.POINTER(_Statistics))),
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """A range a job declared to touch."""

    port: int
    is_write: bool
    address: int
    bytes: int
    end_cycle: int


@dataclass(frozen=True)
class ModelLibrary:
    """The two loaded shared objects."""

    peripheral: Any
    flat_system: ctypes.CDLL

    @classmethod
    def build(cls, engine: str, *, sanitize: bool = False) -> "ModelLibrary":
        """Compile the model of a shipped engine and the memory system as the simulator would, and load them."""
        return cls.of(sorted((BACKENDS / engine / "model").glob("*.c")), sanitize=sanitize)

    @classmethod
    def of(cls, sources: Sequence[Path], *, sanitize: bool = False) -> "ModelLibrary":
        """Do the same with the sources of any model."""
        flags = ["-Wall", "-Wextra", "-Werror"]
        model = ctypes.CDLL(str(build_host_library(sources, [INCLUDE], extra_flags=flags, sanitize=sanitize)))
        flat = Path(__file__).with_name("flat_system.c")
        system = ctypes.CDLL(str(build_host_library([flat], [INCLUDE], extra_flags=flags, sanitize=sanitize)))
        model.tvm_pulp_peripheral.restype = ctypes.POINTER(_Peripheral)
        system.flat_system_create.restype = ctypes.POINTER(_FlatSystem)
        memories = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32]
        system.flat_system_create.argtypes = [*memories, ctypes.c_void_p, ctypes.c_size_t]
        system.flat_system_destroy.argtypes = [ctypes.POINTER(_FlatSystem)]
        return cls(model.tvm_pulp_peripheral().contents, system)


class Machine:
    """One engine with its memories; `cycle` is the current time and only moves forward.

    `delays` are the cycles by which the banks of L1 make its accesses wait, in turn; without, nobody contends.
    """

    def __init__(
        self, library: ModelLibrary, parameters: Mapping[str, int] | None = None, delays: Sequence[int] = ()
    ) -> None:
        self.l1: NDArray[np.uint8] = np.zeros(L1_BYTES, np.uint8)
        self.weight_memory: NDArray[np.uint8] = np.zeros(WEIGHT_BYTES, np.uint8)
        self.cycle = 0
        self._delays = np.array(delays, np.uint32)
        self._library = library
        self._peripheral = library.peripheral
        self._system = library.flat_system.flat_system_create(
            self.l1.ctypes.data,
            L1_BASE,
            L1_BYTES,
            self.weight_memory.ctypes.data,
            WEIGHT_BYTES,
            self._delays.ctypes.data,
            self._delays.size,
        )
        given = dict(parameters or {})
        table = (_Parameter * len(given))(*(_Parameter(name.encode(), value) for name, value in given.items()))
        error = ctypes.create_string_buffer(256)
        self._self = self._peripheral.create(self._system, table, len(given), error, len(error))
        if not self._self:
            library.flat_system.flat_system_destroy(self._system)
            raise UserError(error.value.decode())

    def close(self) -> None:
        """Free the model."""
        if self._self:
            self._peripheral.destroy(self._self)
            self._library.flat_system.flat_system_destroy(self._system)
            self._self = None

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        fault = self._system.contents.fault.decode()
        if fault:
            raise GuestFault(fault)

    def read(self, offset: int, core: int = 0) -> int:
        """Read a register at the current cycle."""
        value = int(self._peripheral.read(self._self, offset, core, self.cycle))
        self._check()
        return value

    def write(self, offset: int, value: int, core: int = 0) -> None:
        """Write a register at the current cycle."""
        self._peripheral.write(self._self, offset, value & 0xFFFF_FFFF, core, self.cycle)
        self._check()

    def reset(self) -> None:
        """Reset the peripheral, not the memories."""
        self._peripheral.reset(self._self)

    def next_event(self) -> int:
        """Return the cycle at which the running job ends, or NEVER."""
        return int(self._peripheral.next_event(self._self))

    def advance(self, cycle: int) -> None:
        """Move time forward."""
        self.cycle = cycle
        self._peripheral.advance(self._self, cycle)
        self._check()

    def submit(self, words: Sequence[int], trigger: int = 0) -> int:
        """Acquire a context, write its job words and commit it; return the job id."""
        job = self.read(ACQUIRE)
        if job > 0xFF:
            raise GuestFault("No context is free.")
        for index, word in enumerate(words):
            self.write(JOB_WORDS + 4 * index, int(word))
        self.write(TRIGGER, trigger)
        return job

    def run(self, words: Sequence[int]) -> int:
        """Execute one job to its end and return its cycles."""
        start = self.cycle
        self.submit(words)
        count = len(self.events)
        while len(self.events) == count:
            self.advance(self.next_event())
        return self.cycle - start

    @property
    def claims(self) -> list[Claim]:
        """Every range declared so far."""
        system = self._system.contents
        found = (system.claims[i] for i in range(system.claim_count))
        return [Claim(c.port, bool(c.is_write), c.address, c.bytes, c.end_cycle) for c in found]

    @property
    def accesses(self) -> int:
        """Accesses to the banks of L1 so far."""
        return int(self._system.contents.delay_next)

    @property
    def events(self) -> list[int]:
        """Cycles of the event pulses so far."""
        system = self._system.contents
        return [int(system.events[i]) for i in range(system.event_count)]

    @property
    def statistics(self) -> dict[str, int]:
        """Counters since reset."""
        out = _Statistics()
        self._peripheral.statistics(self._self, out)
        return {name: int(getattr(out, name)) for name in STATISTICS}

    def write_l1(self, address: int, data: NDArray[Any]) -> None:
        """Copy an array into L1."""
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        self.l1[address - L1_BASE : address - L1_BASE + flat.size] = flat

    def read_l1(self, address: int, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Copy an array out of L1."""
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.l1[address - L1_BASE : address - L1_BASE + count].copy().view(dtype).reshape(shape)
