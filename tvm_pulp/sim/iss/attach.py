"""Attach instruments to a loaded machine, and collect what they show when it has run."""

import ctypes
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.machine_errors import refuse_machine_errors
from tvm_pulp.output_files import write_output
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss.calls import call_log, follow_calls, speedscope
from tvm_pulp.sim.iss.gdb import GdbServer
from tvm_pulp.sim.iss.library import Sink, TraceRecord, library
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.result import RunResult
from tvm_pulp.sim.iss.trace import TraceWriter
from tvm_pulp.sim.iss.trace_files import open_trace
from tvm_pulp.sim.iss.unwritten import UnwrittenReads


class _Feed:
    """Consumers of the simulator's records, and what went wrong in one of them."""

    def __init__(self, consumers: Sequence[Callable[[np.ndarray], None]]) -> None:
        self._consumers = list(consumers)
        self.error: BaseException | None = None

    def take(self, records: Any, count: int) -> None:
        """Called by the simulator, which knows no exceptions: the first one is kept."""
        if self.error is not None:
            return
        try:
            batch = np.ctypeslib.as_array(ctypes.cast(records, ctypes.POINTER(TraceRecord)), (count,))
            for consume in self._consumers:
                consume(batch)
        except Exception as error:
            self.error = error


class RecordStream:
    """Hands the simulator's records to consumers. Keep it as long as the machine runs."""

    def __init__(self, machine: Machine, consumers: Sequence[Callable[[np.ndarray], None]]) -> None:
        self._feed = _Feed(consumers)
        # What C calls is of the feed and not of the stream: both would hold each other, and with them the machine.
        self._sink = Sink(self._feed.take)
        if library().iss_stream(machine.handle, self._sink):
            raise MemoryError("no room for the stream of a run")

    def check(self) -> None:
        """Raise what went wrong in a consumer."""
        error, self._feed.error = self._feed.error, None
        try:
            if error is not None:
                raise error
        finally:
            del error  # else it would hold this frame, and this frame it


_SHOWN = 10
_MARKS, _WATCH_MARK = "tvm_pulp_marks", 4


class Attached:
    """Instruments on one machine, for one run.

    `layers` are the names that the program's marks count, `plan` is its plan.json, `others` consume the stream too.
    """

    unwritten_reads: tuple[str, ...] = ()
    """Findings of the check of reads."""

    def __init__(
        self,
        machine: Machine,
        instruments: Instruments,
        say: Callable[[str], None],
        name: str,
        layers: Sequence[str] = (),
        plan: PlanJson | None = None,
        others: Sequence[Callable[[np.ndarray], None]] = (),
    ) -> None:
        self._machine, self._instruments, self._name, self._say = machine, instruments, name, say
        self._trace = self._open_trace(instruments.trace, layers)
        consumers: list[Callable[[np.ndarray], None]] = [*others, *([self._trace.consume] if self._trace else [])]
        self._reads = UnwrittenReads(machine, layers, plan) if instruments.check_reads else None
        if self._reads is not None:
            consumers.append(self._reads.consume)
        if layers and (instruments.trace or instruments.check_reads) and _MARKS in machine.elf.symbols:
            size = 4 * (len(layers) + 1)
            library().iss_watch(machine.handle, machine.symbol(_MARKS), size, _WATCH_MARK)
        if instruments.log_calls:
            consumers.append(call_log(machine, sys.stderr.write))
        if instruments.log_calls or instruments.profile or instruments.trace:
            follow_calls(machine, logged=instruments.log_calls)
        self._stream = RecordStream(machine, consumers) if consumers else None
        self._server = GdbServer(instruments.gdb, say) if instruments.gdb is not None else None
        if self._server is not None:
            machine.drive = self._server.drive

    def _open_trace(self, path: Path | None, layers: Sequence[str]) -> TraceWriter | None:
        if path is None:
            return None
        file = open_trace(path, f"cluster cycles of {self._machine.soc.name}")
        return TraceWriter(self._machine, file, layers)

    def close(self) -> None:
        """Let go of ports and files, also of a run that never came to its end."""
        if self._server is not None:
            self._server.close()
        if self._trace is not None:
            self._trace.discard()

    def finish(self, result: RunResult) -> None:
        """Write what was collected."""
        try:
            with refuse_machine_errors(f"cannot write '{self._instruments.trace}'"):
                if self._stream is not None:
                    self._stream.check()
                if self._trace is not None:
                    self._trace.close(result.cycles)
        finally:
            if self._trace is not None:
                self._trace.discard()
        if self._reads is not None:
            self._tell_reads(self._reads.sentences())
        if self._instruments.profile is not None:
            profile = json.dumps(speedscope(self._machine, self._name))
            write_output(self._instruments.profile, profile + "\n")

    def _tell_reads(self, sentences: Sequence[str]) -> None:
        self.unwritten_reads = tuple(sentences)
        for sentence in sentences[:_SHOWN]:
            self._say(sentence)
        if len(sentences) > _SHOWN:
            self._say(f"and {len(sentences) - _SHOWN} or more such reads")
        if not sentences:
            self._say("every byte of L1 and L2 was written before it was read")
