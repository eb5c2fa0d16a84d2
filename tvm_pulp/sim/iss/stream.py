"""Events of a run, in batches as they happen: the simulator needs the same memory however long it takes."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.sim.iss.library import Record, Sink, library
from tvm_pulp.sim.iss.machine import Machine


class Stream:
    """Hands the simulator's records to consumers. Keep it as long as the machine runs."""

    def __init__(self, machine: Machine, consumers: Sequence[Callable[[np.ndarray], None]]) -> None:
        self._consumers = list(consumers)
        self._error: BaseException | None = None
        self._sink = Sink(self._take)
        if library().iss_stream(machine.handle, self._sink):
            raise MemoryError("no room for the stream of a run")

    def _take(self, records: Any, count: int) -> None:
        """Called by the simulator, which knows no exceptions: the first one is kept for `check`."""
        if self._error is not None:
            return
        try:
            batch = np.ctypeslib.as_array(ctypes.cast(records, ctypes.POINTER(Record)), (count,))
            for consume in self._consumers:
                consume(batch)
        except Exception as error:
            self._error = error

    def check(self) -> None:
        """Raise what went wrong in a consumer."""
        if self._error is not None:
            raise self._error
