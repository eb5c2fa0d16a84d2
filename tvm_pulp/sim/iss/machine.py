"""A simulated system in one object: load a program, run it, look at what it did."""

import ctypes
import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.sim.iss.library import Fault, PeripheralStatistics, Span, library
from tvm_pulp.sim.iss.models import find_model
from tvm_pulp.sim.iss.result import Peripheral, RunFault, RunResult
from tvm_pulp.sim.iss.settings import simulator_settings
from tvm_pulp.soc.catalog import DEFAULT
from tvm_pulp.soc.description import Soc

_UNDEFINED = b"\xa5"
# Faults that happen at no address, so that address 0 says nothing: illegal instruction, deadlock, cycle limit,
# accelerator, environment call (enum fault_kind of c_runtime/iss/platform.h).
_WITHOUT_ADDRESS = (3, 5, 6, 7, 8)


def _named_values(values: Mapping[str, int]) -> tuple[Any, Any, int]:
    """Names, numbers and their count, as C takes them."""
    count = len(values)
    names = (ctypes.c_char_p * count)(*(name.encode() for name in values))
    return names, (ctypes.c_int64 * count)(*values.values()), count


class Core:
    """Registers of one core; index them as `x[10]`, `f[3]`."""

    def __init__(self, machine: "Machine", index: int) -> None:
        self._machine, self._index = machine, index
        self.x = Registers(machine, index, 0)
        self.f = Registers(machine, index, 32)


class Registers:
    """One register file of a core."""

    def __init__(self, machine: "Machine", core: int, first: int) -> None:
        self._machine, self._core, self._first = machine, core, first

    def _place(self, number: int) -> tuple[int, int, int]:
        if not 0 <= number < 32:
            raise IndexError(f"register {number}: there are 32")
        return self._machine.handle, self._core, self._first + number

    def __getitem__(self, number: int) -> int:
        return int(library().iss_get_register(*self._place(number)))

    def __setitem__(self, number: int, value: int) -> None:
        if library().iss_set_register(*self._place(number), value & 0xFFFFFFFF):
            raise ValueError("register x0 is always 0")


class Machine:
    """A SoC with memories, cores and accelerators, at reset.

    Accelerators of the description are added when a model is found; `models` names one explicitly. `timeline` keeps
    what the method of that name shows. `observe` is for debuggers, profiles and streamed traces; `check_reads` reports
    reads of bytes that nobody wrote. Cycles are the same with all of them.

    Its memories are given back by `close`, at the end of a `with`, or when nobody refers to it any more; whatever it
    drives or feeds refers to it and not the other way round, so that this is at once.
    """

    drive: "Callable[[Machine, int], int] | None" = None
    """Runs the machine to its end, where that is not the simulator's own business: a debugger's server."""

    def __init__(
        self,
        soc: Soc,
        *,
        models: Mapping[str, str | Path] | None = None,
        timeline: bool = False,
        observe: bool = False,
        check_reads: bool = False,
    ) -> None:
        refuse_if(
            not soc.simulated, f"SoC '{soc.name}' is not simulated: choose another with --soc, {DEFAULT} for example"
        )
        self.soc = soc
        self._handle: int | None = None
        self._runs = False
        self._elf: Elf | None = None
        self._started = False
        settings = simulator_settings(soc, timeline, observe=observe, check_reads=check_reads)
        error = ctypes.create_string_buffer(300)
        self._handle = library().iss_create(*_named_values(settings), error, len(error))
        refuse_if(not self._handle, f"SoC '{soc.name}' cannot be simulated: {error.value.decode()}")
        for name in sorted(set(models or {}) - set(soc.engines)):
            raise UserError(f"SoC '{soc.name}' has no engine '{name}': it has {', '.join(soc.engines) or 'none'}")
        self.missing_models = tuple(name for name in soc.engines if not self._add_engine(name, models))

    @property
    def handle(self) -> int:
        """The simulator's own; a machine that is closed has none."""
        if self._handle is None:
            raise ValueError("the machine is closed")
        return self._handle

    def close(self) -> None:
        """Give the memories back; only the description and the loaded program can still be asked for."""
        if self._runs:
            raise ValueError("the machine runs in another thread: let it end, then close it")
        handle, self._handle = self._handle, None
        self.drive = None
        if handle is not None:
            library().iss_destroy(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def _add_engine(self, name: str, models: Mapping[str, str | Path] | None) -> bool:
        path = find_model(name, models)
        if path is None:
            return False
        engine = self.soc.engines[name]
        error = ctypes.create_string_buffer(300)
        place = (str(path).encode(), engine.base, engine.event_line, int(engine.bank_port))
        told = (*place, *_named_values(engine.parameters), error, len(error))
        refused = library().iss_add_peripheral(self.handle, *told)
        refuse_if(refused, f"engine '{name}' with model {path}: {error.value.decode(errors='replace')}")
        return True

    def load_elf(self, source: str | Path | bytes | Elf) -> None:
        """Put an executable into the memories; `run` then starts at its entry point who starts first, or all cores.

        Who loads one often reads it once, with `read_elf`.
        """
        elf = source if isinstance(source, Elf) else read_elf(source)
        memory = self.soc.memory
        largest = max(memory.l1.size, memory.l2.size, memory.weight.size)
        for segment in elf.segments:
            refuse_if(
                segment.size > largest,  # before anything of that size is made
                f"a segment of {segment.size} bytes at 0x{segment.address:08x} is larger than every memory of SoC "
                f"'{self.soc.name}'",
            )
            self.write(segment.address, segment.data.ljust(segment.size, b"\0"))
        self._elf = elf
        if self.soc.cluster.kind.dma_core:
            library().iss_set_host_words(self.handle, *(elf.symbols.get(name, 0) for name in ("tohost", "fromhost")))

    def write(self, address: int, data: bytes) -> None:
        """Write memory as the SoC sees it: L1, L2 or weight memory."""
        refuse_if(
            not 0 <= address < 1 << 32 or library().iss_write(self.handle, address, bytes(data), len(data)),
            f"{len(data)} bytes at 0x{address:08x} are not inside one memory of SoC '{self.soc.name}'",
        )

    def undefine(self, address: int, size: int) -> None:
        """Fill memory with rubbish that nobody wrote."""
        self.write(address, _UNDEFINED * size)
        library().iss_undefine(self.handle, address, size)

    def read(self, address: int, size: int) -> bytes:
        """Read memory as the SoC sees it."""
        buffer = ctypes.create_string_buffer(max(size, 1))
        refuse_if(
            size < 0 or not 0 <= address < 1 << 32 or library().iss_read(self.handle, address, buffer, size),
            f"{size} bytes at 0x{address:08x} are not inside one memory of SoC '{self.soc.name}'",
        )
        return buffer.raw[:size]

    def load_l3(self, offset: int, data: bytes) -> None:
        """Put bytes into L3, as a flash loader would before the program starts."""
        self._move_l3(offset, bytes(data), len(data), write=True)

    def read_l3(self, offset: int, size: int) -> bytes:
        """Read bytes of L3."""
        buffer = ctypes.create_string_buffer(max(size, 1))
        self._move_l3(offset, buffer, size, write=False)
        return buffer.raw[:size]

    def _move_l3(self, offset: int, data: Any, size: int, *, write: bool) -> None:
        refuse_if(
            size < 0 or not 0 <= offset < 1 << 32 or library().iss_l3(self.handle, offset, data, size, int(write)),
            f"{size} bytes at L3 offset 0x{offset:x} exceed its {self.soc.memory.l3.size} bytes",
        )

    @property
    def elf(self) -> Elf:
        """The loaded program."""
        if self._elf is None:
            raise UserError("no program is loaded")
        return self._elf

    def symbol(self, name: str) -> int:
        """Address of a symbol of the loaded program."""
        if self._elf is None or name not in self._elf.symbols:
            raise UserError(f"the loaded program has no symbol '{name}'")
        return self._elf.symbols[name]

    def core(self, index: int) -> Core:
        """A cluster core; the number of cores names the controller or DMA core."""
        refuse_if(
            not 0 <= index < self.soc.all_cores,
            f"SoC '{self.soc.name}' has no core {index}: it has {self.soc.cluster.cores}",
        )
        return Core(self, index)

    def start_core(self, core: int, pc: int, registers: Mapping[int, int] | None = None) -> None:
        """Start a core directly, without the controller; useful for tests."""
        registers_of = self.core(core).x
        for number, value in (registers or {}).items():
            registers_of[number] = value
        refuse_if(
            library().iss_start(self.handle, core, pc),
            f"core {core} cannot start at 0x{pc:08x}: it runs already or there is no code memory there",
        )
        self._started = True

    def run(self, max_cycles: int | None = None) -> RunResult:
        """Run until the program writes the exit register; faults of the program raise GuestFault."""
        if not self._started and self._elf is not None:
            kind, last = self.soc.cluster.kind, self.soc.cluster.cores
            for core in range(last if kind.controller else 0, self.soc.all_cores):
                self.start_core(core, self._elf.entry)
        begin = time.perf_counter()
        limit = max_cycles or 0
        self._runs = True
        try:
            status = self.drive(self, limit) if self.drive is not None else library().iss_run(self.handle, limit)
        finally:
            self._runs = False
        result = self._result(time.perf_counter() - begin)
        if status:
            raise RunFault(self._describe_fault(), result)
        return result

    def _describe_fault(self) -> str:
        fault = Fault()
        library().iss_fault(self.handle, ctypes.byref(fault))
        parts = [fault.text.decode(errors="replace")]
        if fault.kind not in _WITHOUT_ADDRESS:
            parts.append(f"address 0x{fault.address:08x}")
        if fault.core >= 0:
            symbol = self._elf.nearest(fault.pc) if self._elf else None
            where = f"pc 0x{fault.pc:08x}{f' ({symbol})' if symbol else ''}"
            parts += [f"{self.soc.core_name(fault.core)} at {where}"]
            parts += [f"instruction 0x{fault.word:0{8 if fault.word & 3 == 3 else 4}x}"]
        return ", ".join(parts)

    def _result(self, seconds: float) -> RunResult:
        lib = library()
        core_names, system_names = map(_counter_names, (lib.iss_core_counter_name, lib.iss_system_counter_name))
        values = (ctypes.c_uint64 * (len(core_names) + len(system_names)))()
        cores = []
        for index in range(self.soc.all_cores):
            lib.iss_core_counters(self.handle, index, values)
            cores.append(dict(zip(core_names, map(int, values), strict=False)))
        lib.iss_system_counters(self.handle, values)
        system = dict(zip(system_names, map(int, values), strict=False))
        return RunResult(
            exit_code=int(lib.iss_exit_code(self.handle)),
            cycles=int(lib.iss_cycles(self.handle)),
            instructions=sum(counters["instructions"] for counters in cores),
            stdout=self.output().decode(errors="replace"),
            cores=tuple(cores),
            dma={name.removeprefix("dma_"): count for name, count in system.items() if name.startswith("dma_")},
            l3={name.removeprefix("l3_"): count for name, count in system.items() if name.startswith("l3_")},
            peripherals=tuple(self._peripherals()),
            races=system["races"],
            engine_conflict_cycles=system["engine_conflict_cycles"],
            first_race=lib.iss_first_race(self.handle).decode() or None,
            host_seconds=seconds,
            core_names=tuple(map(self.soc.core_name, range(self.soc.all_cores))),
        )

    def output(self) -> bytes:
        """Bytes that the program wrote to its standard output."""
        text = ctypes.c_void_p()
        size = library().iss_output(self.handle, ctypes.byref(text))
        return ctypes.string_at(text, size) if size else b""

    def _peripherals(self) -> Iterable[Peripheral]:
        for number in range(library().iss_peripheral_count(self.handle)):
            counts = PeripheralStatistics()
            name = library().iss_peripheral(self.handle, number, ctypes.byref(counts)).decode()
            yield Peripheral(name, counts.jobs, counts.busy_cycles, counts.macs, counts.l1_bytes, counts.weight_bytes)

    def timeline(self) -> np.ndarray | None:
        """Everything that the actors did, with its times: start, end, kind, track, amount; needs `timeline`.

        None after a run of so many spans that they are not kept.
        """
        if not library().iss_trace_is_complete(self.handle):
            return None
        spans = ctypes.POINTER(Span)()
        count = library().iss_trace(self.handle, ctypes.byref(spans))
        return np.ctypeslib.as_array(spans, (count,)).copy() if count else np.zeros(0, np.dtype(Span))


def _counter_names(name_of: Callable[[int], bytes | None]) -> list[str]:
    names = map(name_of, itertools.count())
    return [name.decode() for name in iter(names.__next__, None)]
