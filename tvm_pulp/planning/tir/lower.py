"""From a plan to the synchronised main function, and every pass of a plan to look at."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvm_pulp.planning.program.actions import Step
from tvm_pulp.planning.program.positions import BOOT
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import build_program
from tvm_pulp.planning.tir.changed_registers import changed_registers
from tvm_pulp.planning.tir.kv_cache import kv_cache
from tvm_pulp.planning.tir.placed_main import placed_main
from tvm_pulp.planning.tir.planned_function import layer_function, planned_function
from tvm_pulp.planning.tir.read_function import read_function
from tvm_pulp.planning.tir.statements import Main, Statement
from tvm_pulp.planning.tir.steps import steps_of
from tvm_pulp.planning.tir.synchronise import synchronise
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.recipe import Changes

# Of a program that has addresses.
PASSES: tuple[Callable[[Main, Tables], Main], ...] = (kv_cache, synchronise)


@dataclass(frozen=True)
class PassResult:
    """The function in TIR after a pass."""

    name: str
    function: Any


@dataclass(frozen=True)
class LoweredPlan:
    """A plan and its main function, which has addresses, after every pass; tables tell what its numbers are."""

    tables: Tables
    mains: tuple[tuple[str, Main], ...]

    @property
    def plan(self) -> Plan:
        return self.tables.plan

    @property
    def main(self) -> Main:
        """The main function after the last pass."""
        return self.mains[-1][1]

    @property
    def function(self) -> Any:
        """The main function after the last pass, in TIR."""
        return self.main.function

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the main function after the last pass."""
        return self.main.statements

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

    @property
    def stages(self) -> tuple[PassResult, ...]:
        """The function after every pass, from whole layers on: those that plan are run once more to be looked at."""
        plan, found = self.plan, [PassResult("layers", layer_function(self.plan.network))]
        build_program(
            plan.network,
            plan.layers,
            plan.policy,
            plan.l1_bytes,
            watch=lambda name, program: found.append(PassResult(name, planned_function(program))),
        )
        return (*found, *(PassResult(name, main.function) for name, main in self.mains))


def lower(plan: Plan, backends: Iterable[UMABackend] = ()) -> LoweredPlan:
    """Addressed, with its caches, synchronised; accelerators may add passes of their own around the last."""
    backends, tables = list(backends), Tables(plan)
    main = placed_main(tables)
    mains = [("place", main)]
    for transform in PASSES:
        if transform is synchronise:
            main = _run_engine_passes("pre_barriers", main, tables, backends)
        main = transform(main, tables)
        mains.append((transform.__name__, main))
    main = _run_engine_passes("post_barriers", main, tables, backends)
    if main is not mains[-1][1]:
        mains.append(("post_barriers", main))
    return LoweredPlan(tables, tuple(mains))


def program_of(plan: Plan) -> tuple[Step, ...]:
    """The steps of a plan as it is lowered without passes of engines: what an estimate needs."""
    return lower(plan).program


def _run_engine_passes(phase: str, main: Main, tables: Tables, backends: Sequence[UMABackend]) -> Main:
    """The function after the passes of all engines: what they return is read, whatever it was before."""
    function = main.function if backends else None
    for backend in backends:
        function = backend.run_tir_passes(phase, function)
    return main if not backends or function is main.function else read_function(function, tables, main.has_agents)
