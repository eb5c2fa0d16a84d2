"""The TIR passes in order: from a plan to the synchronised main function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.double_buffer import double_buffer
from tvm_pulp.planning.tir.insert_barriers import insert_barriers
from tvm_pulp.planning.tir.insert_tiled_dma import insert_tiled_dma
from tvm_pulp.planning.tir.kv_cache import kv_cache
from tvm_pulp.planning.tir.layer_main import layer_main
from tvm_pulp.planning.tir.place_buffers import place_buffers
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.backend import UMABackend

PASSES: tuple[Callable[[Any, Tables], Any], ...] = (
    insert_tiled_dma,
    double_buffer,
    kv_cache,
    place_buffers,
    insert_barriers,
)


@dataclass(frozen=True)
class Stage:
    """The function after a pass."""

    name: str
    function: Any


@dataclass(frozen=True)
class LoweredPlan:
    """A plan and its main function after every pass, with the tables its numbers refer to."""

    tables: Tables
    stages: tuple[Stage, ...]

    @property
    def plan(self) -> Plan:
        return self.tables.plan

    @property
    def function(self) -> Any:
        """The main function after the last pass."""
        return self.stages[-1].function


def lower(plan: Plan, backends: Iterable[UMABackend] = ()) -> LoweredPlan:
    """Tile by tile, pipelined, placed, synchronised; accelerators may add passes of their own around the last."""
    backends, tables = list(backends), Tables(plan)
    function = layer_main(tables)
    stages = [Stage("layer_main", function)]
    for transform in PASSES:
        if transform is insert_barriers:
            function = _run_engine_passes("pre_barriers", function, backends)
        function = transform(function, tables)
        stages.append(Stage(transform.__name__, function))
    function = _run_engine_passes("post_barriers", function, backends)
    if function is not stages[-1].function:
        stages.append(Stage("post_barriers", function))
    return LoweredPlan(tables, tuple(stages))


def _run_engine_passes(phase: str, function: Any, backends: Iterable[UMABackend]) -> Any:
    for backend in backends:
        function = backend.run_tir_passes(phase, function)
    return function
