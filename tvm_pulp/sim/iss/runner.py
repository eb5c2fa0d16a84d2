"""Runner `iss`: the cluster's program on the embedded simulator."""

import io
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast, get_args

import numpy as np

from tvm_pulp import __version__
from tvm_pulp.codegen.formats import is_flat
from tvm_pulp.codegen.layer_captures import captured_layers, from_files
from tvm_pulp.codegen.mlf import read_plan
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss.attach import Attached
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.gdb.tensor_symbols import l1_tensors, layer_marks, with_symbols
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.record_activity import ActivityRecorder
from tvm_pulp.sim.iss.result import RunFault, RunResult
from tvm_pulp.sim.iss.unwritten import UnwrittenReads
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.soc import DEFAULT
from tvm_pulp.toolchain import RiscvToolchain, build_of_archive, cached_file, digest_of


def _say(text: str) -> None:
    sys.stderr.write(f"tvmc run: {text}\n")
    sys.stderr.flush()


TOOLCHAINS: tuple[str, ...] = get_args(RiscvToolchain)


class IssRunner(Runner):
    """The embedded simulator of a SoC: knows everything that a report can hold."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        cycles=True,
        layer_cycles=True,
        dma=True,
        counters=True,
        trace=True,
        instruments=True,
        cycle_limit=True,
        toolchains=TOOLCHAINS,
    )
    reads_are_checked: ClassVar[bool] = False
    """Tell if a run fails that reads bytes of L1 or L2 that nobody wrote; the tests set it."""
    _loaded: Machine | None = None
    _attached: Attached | None = None
    _result: RunResult

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        self._facts = metadata["tvm_pulp"]
        refuse_if(
            is_flat(self._facts),
            f"--device iss runs archives compiled for a SoC: recompile with --soc={DEFAULT}",
        )
        chosen = cast(RiscvToolchain, toolchain or TOOLCHAINS[0])
        self._name = metadata["model_name"]
        self._plan = read_plan(files)
        self._captures = from_files(files)
        with build_of_archive():
            self.device = IssDevice(files, metadata, toolchain=chosen)

    @property
    def _machine(self) -> Machine:
        assert self._loaded is not None, "load comes first"
        return self._loaded

    def close(self) -> None:
        attached, loaded, self._attached, self._loaded = self._attached, self._loaded, None, None
        if attached is not None:
            attached.close()
        if loaded is not None:
            loaded.close()

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self.close()
        self._started = time.perf_counter()
        wanted = self.instruments if trace else Instruments()
        checked = wanted.check_reads or self.reads_are_checked
        self._loaded = self.device.load(list(inputs), observe=bool(wanted.wanted()), check_reads=checked)
        layers = [layer["name"] for layer in self._facts["layers"]]
        if wanted.gdb is not None:
            _say(f"program and tensors in L1 have symbols in {self._write_symbols(layers)}")
        self._recorder = ActivityRecorder(self._machine)
        self._attached = Attached(self._machine, wanted, _say, self._name, layers, self._plan, [self._recorder.consume])

    def _write_symbols(self, layers: Sequence[str]) -> Path:
        """The executable for a debugger, in the build cache like the one that runs."""
        elf, arena = self.device.elf, self._machine.symbol("tvm_pulp_l1_arena")
        tensors = l1_tensors(self._plan, arena) if self._plan is not None else {}
        tensors |= layer_marks(layers, self._machine.symbol("tvm_pulp_marks"))
        made = with_symbols(elf.read_bytes(), tensors)
        return cached_file(digest_of(["symbols", made]), ".elf", lambda place: place.write_bytes(made))

    def run(self, inferences: int) -> None:
        self._inferences = inferences
        assert self._attached is not None, "load comes first"
        try:
            self._result = self.device.execute(self._machine, inferences, max_cycles=self.max_cycles)
        except RunFault as fault:
            self._attached.finish(fault.result)
            if not fault.exceeded_limit:
                raise
            raise UserError(
                f"{fault}, which is far more than the compiler expects of this network: check --inputs, or give it "
                "more with --max-cycles"
            ) from None
        self._seconds = time.perf_counter() - self._started
        self._attached.finish(self._result)
        if self.reads_are_checked:
            for sentence in UnwrittenReads(self._machine, [], self._plan).sentences():
                raise RunFault(sentence, self._result)

    @property
    def debug_text(self) -> str | None:
        """Findings of the checks of a debug build, in one sentence; None for other builds."""
        return self.device.debug_text

    def program(self) -> Path | None:
        return self.device.elf

    def revision(self) -> str | None:
        return f"tvm_pulp {__version__}"

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        with self.device.load(list(inputs)) as machine:
            self.device.execute(machine, 1, max_cycles=self.max_cycles)
            shown = io.BytesIO(machine.output())
        return captured_layers(self._captures, lambda made: shown.read(made.bytes))

    def read_back(self) -> list[np.ndarray]:
        return self.device.read_back(self._machine)

    def statistics(self) -> Statistics:
        run = self.device.measure(self._machine, self._result, self._seconds)
        every = self.device.inference_cycles(self._machine, self._inferences)
        boundaries = self.device.boundaries(self._machine, run.cycles or 0) if self._inferences > 1 else []
        activity = self._recorder.activity(boundaries, self._facts["cores"]) if boundaries else None
        return replace(run, cycles=every[-1], inference_cycles=every, activity=activity)
