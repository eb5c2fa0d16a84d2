"""From decisions to the plan that carries them out."""

from typing import Any

from tvm_pulp.planning.tiling.forms.engine_choice import EngineChoice
from tvm_pulp.planning.tiling.place.fit_schedule import FittedSchedule, fit_schedule
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan, plan_l2
from tvm_pulp.planning.tiling.schedule.decisions import Decisions
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cost_model import CostModel


def make_plan(
    network: Network, soc: Any, engine_choice: EngineChoice, wanted: Decisions, *, cores: int, l1_bytes: int
) -> Plan:
    """The plan that comes closest to what is wanted: what does not fit into L1 is weakened."""
    fitted = fit_schedule(network, engine_choice.tiling, l1_bytes, wanted)
    return plan_of(network, soc, engine_choice, fitted, cores=cores, l1_bytes=l1_bytes)


def plan_of(
    network: Network, soc: Any, engine_choice: EngineChoice, fitted: FittedSchedule, *, cores: int, l1_bytes: int
) -> Plan:
    """The plan of decisions that fit."""
    layers = []
    for index, (choice, tiled) in enumerate(zip(fitted.decisions.choices, fitted.tiled_layers, strict=True)):
        offers = engine_choice.offers(index, l1_bytes)[1]
        entry = engine_choice.forms[index]
        pattern = entry.pattern_of(choice.tiling.form)
        how = (choice.tiling, tiled.recipes, choice.two_copies, offers, entry.refusals, choice.exclusive, pattern)
        layers.append(LayerPlan(network.layers[index], *how))
    schedule, decisions = fitted.schedule, fitted.decisions
    found = (tuple(layers), schedule, plan_l2(schedule, fitted.policy), fitted.l1_bytes)
    dma = (soc.software.dma_agents, CostModel(soc).commands_in_flight)
    return Plan(network, soc.name, cores, l1_bytes, *found, decisions.overlap, *dma, decisions, fitted.policy)
