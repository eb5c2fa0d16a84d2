"""Device `iss`: the emitted C, built for the cluster and run on the embedded simulator."""

import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp import soc
from tvm_pulp.codegen.constant_checks import FACT
from tvm_pulp.codegen.layer_captures import from_files
from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.debug_report import SYMBOL, debug_text
from tvm_pulp.sim.image import array_of, bytes_of, check_input
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.record_activity import DmaTime, dma_times
from tvm_pulp.sim.iss.result import RunFault, RunResult
from tvm_pulp.sim.process import expected_cycles
from tvm_pulp.sim.runner import Statistics
from tvm_pulp.toolchain import RiscvToolchain
from tvm_pulp.toolchain.project.build_archive import build_archive

L3_CONTENTS = "parameters/l3.bin"

WRONG_CONSTANTS = 6
# Failures that the program reports in the exit register: enum tvm_pulp_exit of the runtime.
EXIT_REASONS = {
    3: "a core's stack overflowed into its guard",
    4: "the program sets more marks than there is room for",
    5: "the network refused to run: it was compiled for another runtime, or L1 is too small for it",
    WRONG_CONSTANTS: "L3 or weight memory does not hold the constants of the archive: load them again",
}
# TVM_PULP_TIMED_INFERENCES of the runtime.
TIMED_INFERENCES = 16
# Cycles after which a run counts as hung.
_LEAST_LIMIT = 20_000_000
_LIMIT_PER_ESTIMATE = 50
# Cycles in which the controller prints a byte of what layers made, at most.
_LIMIT_PER_SHOWN_BYTE = 100
# Cycles in which a core compares a byte of constants, at most.
_LIMIT_PER_CHECKED_BYTE = 100


@dataclass(frozen=True)
class IssRun(Statistics):
    """Figures of two inferences, with the outputs of the second in graph order.

    DMA times are of each layer of the second inference; what comes before the first mark belongs to the first layer.
    """

    outputs: Sequence[np.ndarray] = ()


class IssDevice:
    """A built archive, ready to be run; every run starts from reset."""

    def __init__(
        self,
        files: dict[str, bytes],
        metadata: dict[str, Any],
        *,
        profile: bool = True,
        toolchain: RiscvToolchain = "zig",
        models: Mapping[str, str | Path] | None = None,
    ) -> None:
        self._facts = metadata["tvm_pulp"]
        self.debug_text: str | None = None
        self._profile, self._models = profile, models
        self.soc = soc.recorded(self._facts)
        self._l3 = files.get(L3_CONTENTS)
        self._name = metadata.get("model_name")
        far = metadata.get("memory", {}).get("levels", {})
        compared = far.get("l3", 0) + far.get("wmem", 0) if FACT in self._facts else 0
        self._check_limit = _LIMIT_PER_CHECKED_BYTE * compared
        self._shown_bytes = sum(capture.bytes for capture in from_files(files) or ())
        cores, known = self._facts["cores"], self.soc.cluster.cores
        refuse_if(
            not 1 <= cores <= known,
            f"the archive was compiled for {cores} cores, but SoC '{self.soc.name}' has {known}: recompile with "
            "another --cores",
        )
        started = time.perf_counter()
        self.elf = build_archive(files, metadata, profile=profile, toolchain=toolchain)
        self.build_seconds = time.perf_counter() - started

    def run(self, inputs: list[np.ndarray], *, max_cycles: int | None = None) -> IssRun:
        """Two inferences of the same inputs; RunFault unless the program ends well."""
        started = time.perf_counter()
        with self.load(inputs) as machine:
            statistics = self.execute(machine, max_cycles=max_cycles)
            return self.measure(machine, statistics, time.perf_counter() - started)

    def load(self, inputs: list[np.ndarray], *, observe: bool = False, check_reads: bool = False) -> Machine:
        """A machine at reset with program, L3 and inputs; everything else is undefined."""
        machine = Machine(
            self.soc, models=self._models, timeline=self._profile, observe=observe, check_reads=check_reads
        )
        machine.load_elf(self.elf)
        if self._l3 is not None:
            machine.load_l3(0, self._l3)
        # Hardware provides no zeros: L1, the uninitialised part of L2, and the part that start code has to clear.
        machine.undefine(self.soc.memory.l1.base, self.soc.memory.l1.size)
        begin, end = machine.symbol("tvm_pulp_l2_undefined_begin"), machine.symbol("tvm_pulp_bss_end")
        machine.undefine(begin, end - begin)
        self._write_inputs(machine, inputs)
        return machine

    def execute(self, machine: Machine, inferences: int = 2, *, max_cycles: int | None = None) -> RunResult:
        """Run a loaded machine to its end; RunFault unless that is a good one."""
        machine.write(machine.symbol("tvm_pulp_inferences"), struct.pack("<I", inferences))
        try:
            statistics = machine.run(max_cycles if max_cycles is not None else self._cycle_limit(inferences))
        except RunFault as fault:
            if "debug" in self._facts:
                self._debug_text(machine, str(fault))  # a layer that was wrong before explains it
            raise
        if statistics.exit_code != 0:
            if "debug" in self._facts:
                self._debug_text(machine, f"exit code {statistics.exit_code}")
            reason = EXIT_REASONS.get(statistics.exit_code, "the program reports a failure of its own")
            if statistics.exit_code == WRONG_CONSTANTS:
                reason += f"; the first that differs is '{self._wrong_constant(machine)}'"
            raise RunFault(f"exit code {statistics.exit_code}: {reason}", statistics)
        if "debug" in self._facts:
            self.debug_text = self._debug_text(machine)
        return statistics

    def _debug_text(self, machine: Machine, fault: str = "") -> str:
        return debug_text(machine.read, machine.symbol(SYMBOL), fault)

    def read_back(self, machine: Machine) -> list[np.ndarray]:
        """Outputs of the last inference in graph order."""
        return [_read_array(machine, output) for output in self._facts["outputs"]]

    def measure(self, machine: Machine, statistics: RunResult, run_seconds: float) -> IssRun:
        """Outputs and figures of a machine that ran two inferences."""
        cold_cycles, cycles = map(int, _words(machine, "tvm_pulp_cycles", 2))
        return IssRun(
            outputs=self.read_back(machine),
            build_seconds=self.build_seconds,
            run_seconds=run_seconds,
            cycles=cycles,
            cold_cycles=cold_cycles,
            layer_cycles=np.diff(_marks(machine, "tvm_pulp_layer_cycles")).tolist() if self._profile else None,
            dma_times=self._dma_times(machine, cycles) if self._profile else None,
            code_bytes=machine.elf.code_bytes,
            counters=statistics,
        )

    def inference_cycles(self, machine: Machine, inferences: int) -> list[int]:
        """Cluster cycles of each inference; the program notes the first sixteen."""
        return [int(cycles) for cycles in _words(machine, "tvm_pulp_cycles", min(inferences, TIMED_INFERENCES))]

    def _dma_times(self, machine: Machine, cycles: int) -> list[DmaTime] | None:
        edges, timeline = self.boundaries(machine, cycles), machine.timeline()
        if timeline is None:
            return None
        return dma_times(timeline, self.soc.cluster.cores, edges) if edges else []

    def boundaries(self, machine: Machine, cycles: int) -> list[int]:
        """Cycles at which layers of the second inference begin, and its end; absolute, as marks and timeline are."""
        marks, since = (_marks(machine, name).astype(np.int64) for name in ("tvm_pulp_marks", "tvm_pulp_layer_cycles"))
        if not marks.size:
            return []
        start = int(marks[0] - since[0])
        return [start, *marks[1:-1].tolist(), start + cycles]

    def _cycle_limit(self, inferences: int) -> int:
        """Far more than two inferences can take, and each of them shows; a program that runs longer hangs."""
        shown = inferences * _LIMIT_PER_SHOWN_BYTE * self._shown_bytes
        return _LEAST_LIMIT + _LIMIT_PER_ESTIMATE * expected_cycles(self._facts) + shown + self._check_limit

    def _wrong_constant(self, machine: Machine) -> str:
        number = int(_words(machine, f"tvmgen_{self._name}_wrong_constant", 1)[0])
        return str(self._facts[FACT][number - 1])

    def _write_inputs(self, machine: Machine, inputs: list[np.ndarray]) -> None:
        for tensor, array in zip(self._facts["inputs"], inputs, strict=True):
            check_input(tensor, array)
            if "l3" in tensor:
                machine.load_l3(tensor["l3"], np.ascontiguousarray(array).tobytes())
                continue
            address = machine.symbol(tensor["symbol"])
            if machine.symbol("tvm_pulp_bss_begin") <= address < machine.symbol("tvm_pulp_bss_end"):
                raise ValueError(f"'{tensor['symbol']}' is cleared at start: declare the input with TVM_PULP_IN_L2")
            machine.write(address, np.ascontiguousarray(array).tobytes())


def _read_array(machine: Machine, tensor: dict[str, Any]) -> np.ndarray:
    if "l3" in tensor:
        return array_of(tensor, machine.read_l3(tensor["l3"], bytes_of(tensor)))
    return array_of(tensor, machine.read(machine.symbol(tensor["symbol"]), bytes_of(tensor)))


def _words(machine: Machine, symbol: str, count: int) -> np.ndarray:
    """32-bit words that the program notes."""
    return np.frombuffer(machine.read(machine.symbol(symbol), 4 * count), np.uint32)


def _marks(machine: Machine, symbol: str) -> np.ndarray:
    """A word for every mark of the last inference; nothing where there are no two."""
    count = int(_words(machine, "tvm_pulp_mark_count", 1)[0])
    return _words(machine, symbol, count if count > 1 else 0)
