"""The TIR passes in order: from a plan to the synchronised main function."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvm_pulp.planning.program.actions import Step
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.positions import BOOT
from tvm_pulp.planning.tir.changed_registers import changed_registers
from tvm_pulp.planning.tir.double_buffer import double_buffer
from tvm_pulp.planning.tir.insert_barriers import insert_barriers
from tvm_pulp.planning.tir.insert_tiled_dma import insert_tiled_dma
from tvm_pulp.planning.tir.kv_cache import kv_cache
from tvm_pulp.planning.tir.place_buffers import place_buffers
from tvm_pulp.planning.tir.read_function import read_function
from tvm_pulp.planning.tir.statements import End, Main, RunLayer, Statement
from tvm_pulp.planning.tir.steps import steps_of
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.recipe import Changes

PASSES: tuple[Callable[[Main, Tables], Main], ...] = (
    insert_tiled_dma,
    double_buffer,
    kv_cache,
    place_buffers,
    insert_barriers,
)


@dataclass(frozen=True)
class Stage:
    """The main function after a pass."""

    name: str
    main: Main

    @property
    def function(self) -> Any:
        """The function in TIR."""
        return self.main.function


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

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the main function after the last pass."""
        return self.stages[-1].main.statements

    @cached_property
    def changed(self) -> dict[int, Changes]:
        """Jobs, by slot, that are told only what differs from an earlier one."""
        return changed_registers(self.statements, self.tables)

    @cached_property
    def program(self) -> tuple[Step, ...]:
        """The steps of the main function after the last pass."""
        return steps_of(self.statements, self.tables, self.changed)

    @property
    def positions(self) -> list[int]:
        """Positions of the program's steps that have a record."""
        return [s.position for s in self.program if s.position is not None and s.position != BOOT]


def layer_main(tables: Tables) -> Main:
    """The network on a cluster before any pass: one call per layer, whole tensors.

    run(0, "conv2d", tensor("x", 0), tensor("conv_weight", 0), tensor("conv", 0))
    """
    layers = [plan.layer for plan in tables.plan.layers]
    runs = [RunLayer(i, e.operator, tuple(t.storage.name for t in e.operands)) for i, e in enumerate(layers)]
    return Main(tables.plan.network.name, (*runs, End()))


def lower(plan: Plan, backends: Iterable[UMABackend] = ()) -> LoweredPlan:
    """Tile by tile, pipelined, placed, synchronised; accelerators may add passes of their own around the last."""
    backends, tables = list(backends), Tables(plan)
    main = layer_main(tables)
    stages = [Stage("layer_main", main)]
    for transform in PASSES:
        if transform is insert_barriers:
            main = _run_engine_passes("pre_barriers", main, tables, backends)
        main = transform(main, tables)
        stages.append(Stage(transform.__name__, main))
    main = _run_engine_passes("post_barriers", main, tables, backends)
    if main is not stages[-1].main:
        stages.append(Stage("post_barriers", main))
    return LoweredPlan(tables, tuple(stages))


def program_of(plan: Plan) -> tuple[Step, ...]:
    """The steps of a plan as it is lowered without passes of engines, and nothing beside: what an estimate needs."""
    # Caches are bound by name: there, statements get their addresses after that.
    tables = Tables(plan, placed=not plan.network.states)
    main = layer_main(tables)
    for transform in PASSES:
        if not (tables.placed and transform is place_buffers):
            main = transform(main, tables)
    return LoweredPlan(tables, (Stage("", main),)).program


def _run_engine_passes(phase: str, main: Main, tables: Tables, backends: Sequence[UMABackend]) -> Main:
    """The function after the passes of all engines: what they return is read, whatever it was before."""
    function = main.function if backends else None
    for backend in backends:
        function = backend.run_tir_passes(phase, function)
    return main if not backends or function is main.function else read_function(function, tables, main.has_agents)
