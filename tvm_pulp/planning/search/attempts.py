"""Plans that are tried: decisions made into a plan, with the cycles that it is expected to take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.program.step_record import COMMAND_WORDS
from tvm_pulp.planning.tiling.forms.engine_choice import EngineChoice
from tvm_pulp.planning.tiling.place import FittedSchedule, fit_schedule
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan, plan_l2, with_estimate
from tvm_pulp.planning.tiling.schedule import CommandLimits, Decisions
from tvm_pulp.planning.tir.lower import program_of
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cost_model import CostModel

# Networks of more layers than these are tried less often: their plans take long, and gain little by one try more.
FEW_LAYERS = 64

# What the DMAs are busy with is not part of a layer's own time.
_TRANSFERS = ("load", "store", "l3")

_WATCHER: ContextVar[Callable[[Plan], None]] = ContextVar("watcher", default=lambda _plan: None)


@dataclass(frozen=True)
class TileLimit:
    """A limit that is tried with a layer: bytes that a tile may take, and whether what streams has two copies."""

    cap: int
    two_copies: bool = True


@dataclass(frozen=True)
class Attempt:
    """A plan with its expected cycles, and how it was made."""

    name: str
    plan: Plan
    lead: int = 0
    limits: tuple[TileLimit, ...] = ()

    @property
    def cycles(self) -> int:
        return self.plan.estimated_cycles


@contextmanager
def watch_plans(watcher: Callable[[Plan], None]) -> Iterator[None]:
    """While this is open, `watcher` is told of every plan with its expected cycles, which decides nothing.

    A search takes a minute where networks are large.
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@dataclass(frozen=True)
class PlanEvaluator:
    """Makes plans of one network for one machine, and estimates them."""

    network: Network
    soc: Any
    engine_choice: EngineChoice
    cores: int
    l1_bytes: int
    # Whether steps of neighbouring layers mix, where decisions do not say.
    interleave: bool = False
    _known: dict[object, Plan] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def costs(self) -> CostModel:
        """Cycles of things on this machine."""
        return CostModel(self.soc, self.cores)

    @cached_property
    def commands(self) -> CommandLimits:
        """Limits of a command of the machine's DMA."""
        software = self.soc.software
        records = self.soc.memory.l2.size + sum(software.weight_parts.values())
        return CommandLimits(software.dma_largest, software.dma_lines, records // (4 * COMMAND_WORDS))

    def plan(self, wanted: Decisions) -> Plan:
        """The plan that comes closest to the decisions, with its expected cycles: what does not fit is weakened."""
        if wanted.interleave is None:
            wanted = replace(wanted, interleave=self.interleave)
        fitted = fit_schedule(self.network, self.engine_choice.tiling, self.l1_bytes, wanted)
        plan = estimated(self.plan_of(fitted), self.costs)
        _WATCHER.get()(plan)
        return plan

    def plan_of(self, fitted: FittedSchedule) -> Plan:
        """The plan of decisions that fit."""
        layers = []
        for index, (entry, choice) in enumerate(zip(self.engine_choice.forms, fitted.decisions.choices, strict=True)):
            layer, pattern = self.network.layers[index], entry.pattern_of(choice.tiling.form)
            offers, why_not = self.engine_choice.offers(index, self.l1_bytes)[1], entry.refusals
            layers.append(LayerPlan(**vars(choice), layer=layer, offers=offers, refusals=why_not, pattern=pattern))
        found = (tuple(layers), fitted.schedule, plan_l2(fitted.schedule, fitted.policy), fitted.l1_bytes)
        dma = (self.soc.software.dma_agents, self.costs.commands_in_flight)
        how = (*found, *dma, fitted.decisions, fitted.policy)
        return Plan(self.network, self.soc.name, self.cores, self.l1_bytes, *how)

    def plan_once(self, wanted: Decisions) -> Plan:
        """As `plan`, for nothing but cuts and leads: what was made before is not made again."""
        assert not wanted.banned and wanted.resident is None
        if wanted.cuts_and_leads not in self._known:
            self._known[wanted.cuts_and_leads] = self.plan(wanted)
        return self._known[wanted.cuts_and_leads]


def estimated(plan: Plan, costs: CostModel) -> Plan:
    """The plan with the cycles that its program is expected to take."""
    expected = estimate_program(program_of(plan), len(plan.layers), costs)
    spans: list[tuple[int, int]] = [(expected.cycles, 0)] * len(plan.layers)
    for span in expected.spans:
        if span.resource not in _TRANSFERS:
            start, end = spans[span.layer]
            spans[span.layer] = min(start, span.start), max(end, span.end)
    return with_estimate(plan, expected.cycles, expected.layer_cycles, spans)
