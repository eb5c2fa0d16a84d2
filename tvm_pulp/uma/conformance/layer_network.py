"""Independent layers as one network with many inputs and outputs, planned, emitted and simulated together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.app import App
from tvm_pulp.entry_point import emit_for, plan_for
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.report.report import run_report
from tvm_pulp.sim.iss.runner import IssRunner
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.soc import CostModel, Soc
from tvm_pulp.target import Target
from tvm_pulp.uma.annotate import annotate
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.conformance.random_layer import RandomLayer
from tvm_pulp.uma.strategy import Form, Refusal


@dataclass(frozen=True)
class Simulated:
    """Outputs by layer, the report, and the jobs each accelerator ran."""

    outputs: list[np.ndarray]
    report: dict[str, Any]
    jobs: dict[str, int]


def layer_network(layers: Sequence[RandomLayer], name: str = "layers", prepare: UMABackend | None = None) -> Network:
    """One input and one output per layer."""
    return chain_network([[layer] for layer in layers], name, prepare)


def chain_network(
    chains: Sequence[Sequence[RandomLayer]], name: str = "layers", prepare: UMABackend | None = None
) -> Network:
    """One input and one output per row of layers; layers of the network stand row by row, unless a backend's passes
    prepare them."""
    builder = relax.BlockBuilder()
    first = [chain[0].x for chain in chains]
    inputs = [relax.Var(f"x{i}", relax.TensorType(x.shape, x.dtype)) for i, x in enumerate(first)]
    with builder.function("main", inputs):
        with builder.dataflow():
            results = []
            for x, chain in zip(inputs, chains, strict=True):
                value = x
                for layer in chain:
                    operands = [value, *(relax.const(c, str(c.dtype)) for c in layer.constants)]
                    value = builder.emit(qnn.emit(layer.operator, operands, layer.attributes))
                    if layer.table is not None:
                        table = relax.const(layer.table, str(layer.table.dtype))
                        value = builder.emit(qnn.emit("lookup", [value, table]))
                results.append(value)
            output = builder.emit_output(relax.Tuple(results))
        builder.emit_func_output(output)
    names = tuple(f"x{i}" for i in range(len(chains)))
    module = builder.get() if prepare is None else prepare.run_relax_passes("pre_partition", builder.get())
    imported = Imported(module, names, tuple(f"y{i}" for i in range(len(chains))), "pulp")
    return build_network(imported.module, imported, name)


def target_for(soc: Soc, backend: UMABackend | None = None, options: Mapping[str, Any] | None = None) -> Target:
    """A target with one accelerator, or with the cores alone."""
    engines = ((backend, backend.options(dict(options or {}))),) if backend is not None else ()
    return Target(soc, engines, soc.cluster.cores)


def offered(backend: UMABackend, context: Any, network: Network) -> dict[Layer, list[Form]]:
    """Regions that an accelerator finds in a network, single operators and several, with the forms it offers."""
    found: dict[Layer, list[Form]] = {}
    for region in annotate(network, [(backend, context)]).regions:
        offer = backend.offer(region.pattern, region.layer, context)
        if isinstance(offer, Refusal):
            assert offer.engine == backend.target_name and offer.reason, "a refusal names its engine and a reason"
        else:
            assert offer, "an offer has at least one form; refuse with a reason otherwise"
            found.setdefault(region.layer, []).extend(offer)
    return found


def pinned(target: Target, network: Network) -> Target:
    """The target with every operator pinned to the accelerator that can run it within L1, alone or with others."""
    ((backend, options),) = target.engines
    context = backend.context(options, target.soc, target.cores)
    budget = target.l1_bytes(len(network.layers))
    costs = CostModel(target.soc, target.cores)
    pins: dict[str, str] = {}
    for layer, forms in offered(backend, context, network).items():
        if any(_fits(form, layer, budget, costs) for form in forms):
            pins |= {part.name: backend.target_name for part in layer.parts or (layer,)}
    return replace(target, pins=pins)


def tight_plan(target: Target, network: Network) -> tuple[Target, LoweredPlan]:
    """A plan with hardly more L1 than the smallest tiles need, so that layers are cut along every axis.

    Operators are pinned to the accelerator, where there is one and the target pins none.
    """
    is_given, budget = bool(target.pins) or not target.engines, 3072
    while True:
        tight = replace(target, l1_limit=budget)
        try:
            tight = tight if is_given else pinned(tight, network)
            if is_given or tight.pins or budget >= target.soc.memory.l1.size:
                return tight, plan_for(tight, network)
        except UserError:
            pass
        budget += budget // 2


def _fits(form: Any, layer: Any, budget: int, costs: CostModel) -> bool:
    from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling

    return isinstance(Cuts(form, layer, costs).within(budget), Tiling)


def simulate(target: Target, lowered: LoweredPlan, inputs: Sequence[np.ndarray]) -> Simulated:
    """Emit, build and run; first and second inference agree, and a race of an accelerator is an error."""
    app = App(emit_for(replace(target, options=replace(target.options, target="conformance")), lowered))
    runner = IssRunner()
    runner.build(app.files, app.metadata)
    run = run_twice(runner, app.metadata, inputs)
    counters = run.statistics.counters
    if counters.races:
        raise AssertionError(f"the accelerator races with cores, DMA or another: {counters.first_race}")
    jobs = {p.name: p.jobs for p in counters.peripherals}
    return Simulated(run.outputs, run_report(app.metadata, run.statistics), jobs)
