"""A program of an archive on its way to C: prepare, build, plan, emit, each stage written once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.canonicalize.bounded_depth import bounded_depth
from tvm_pulp.canonicalize.fuse_attention import FuseAttention
from tvm_pulp.canonicalize.fuse_qdq_attention import FuseQdqAttention
from tvm_pulp.codegen.debug_source import GUARD_BYTES
from tvm_pulp.codegen.emit import Emitted, emit
from tvm_pulp.codegen.emit_cluster import emit_cluster
from tvm_pulp.codegen.weights import SharedConstants
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.cpu import CpuRequest, LoweredCpuPlan, plan_cpu
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.search import (
    PlanRequest,
    StateRoom,
    cycles_with_state,
    fits_l1,
    partition_network,
    place_state,
    plan_network,
)
from tvm_pulp.planning.tiling.place.place_blocks import guarded
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.network import Network, State, placed_states
from tvm_pulp.report.expected_energy import expected_energy
from tvm_pulp.report.figures import summed
from tvm_pulp.report.footprint import flash_bytes
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.soc.platform import Platform
from tvm_pulp.target import Target
from tvm_pulp.uma.region import Region

Progress = Callable[[str], None]

# Operators that canonicalization makes of scores, softmax and values.
_WHOLE_ATTENTION = (FuseAttention.operator, FuseQdqAttention.operator)


def silent(_message: str) -> None:
    """Show no progress."""


def prepare_module(module: Any, target: Target) -> Any:
    """The canonical module as the engines want it."""
    for backend, options in target.engines:
        module = backend.run_relax_passes("pre_partition", module, target.soc, options)
    return module


def plan_for(target: Target, network: Network, *, beyond_l2: int = 0) -> LoweredPlan:
    """Plan a network, or take the plan that was given; lowered and checked independently.

    `beyond_l2`: bytes that may exceed L2, since the caller finds a place for constants elsewhere.
    """
    l1, l2, all_l2 = target.l1_beside_state(network), target.l2_bytes(), target.l2_beside_code
    request = PlanRequest(target, l1, l2 + beyond_l2, all_l2 + beyond_l2, beyond_l2)
    with guarded(GUARD_BYTES if target.options.debug else 0):
        return plan_network(network, request)


def emit_for(
    target: Target,
    lowered: LoweredPlan,
    inferred_inputs: tuple[str, ...] = (),
    debug_inputs: list[np.ndarray] | None = None,
    shared: SharedConstants | None = None,
) -> dict[str, bytes]:
    """Files of a planned program; those of a debug build need inputs that layers are compared for.

    `shared`: constants that another program of the archive defines.
    """
    plan, platform = lowered.plan, Platform(target.soc)
    facts = {
        **_facts(target, inferred_inputs),
        "cores": target.cores,
        "march": platform.march(uses_float=plan.network.uses_float()),
        "options": {b.target_name: o for b, o in target.engines},
        "l1_budget": plan.l1_bytes,
        "expected": _expected(target, lowered),
    }
    if target.soc.software.flags:
        facts["flags"] = list(target.soc.software.flags)
    facts |= _described(target)
    backends = {b.target_name: b for b, _ in target.engines}
    defines = [f"TVM_PULP_MARKS={target.marks(len(plan.layers))}"]
    keep_layers = target.options.keep_layers
    check = target.options.check_constants
    return emit_cluster(lowered, facts, backends, platform, defines, debug_inputs, keep_layers, shared, check)


def _expected(target: Target, lowered: LoweredPlan) -> dict[str, Any]:
    """Time and energy that the program is expected to take."""
    plan, clock = lowered.plan, target.soc.clock.cluster_mhz
    macs = summed((layer.engine, layer.layer.macs) for layer in plan.layers)
    energy = expected_energy(target.soc, plan.cores, lowered.program, macs)
    return {
        "cycles": plan.estimated_cycles,
        "clock_mhz": clock,
        "milliseconds": plan.estimated_cycles / clock / 1e3,
        "energy_uj": energy.microjoules if energy else None,
        "energy_spread": energy.spread if energy else None,
    }


def _described(target: Target) -> dict[str, Any]:
    """The SoC's description where no preset is it."""
    description = socs.description_to_record(target.soc)
    return {} if description is None else {"soc_description": description}


def _facts(target: Target, inferred_inputs: tuple[str, ...]) -> dict[str, Any]:
    """The part of an archive's metadata that says what it was compiled for."""
    return {"target": target.options.target, "soc": target.soc.name, "inferred_inputs": list(inferred_inputs)}


def flat_facts(target: Target, inferred_inputs: tuple[str, ...] = ()) -> dict[str, Any]:
    """The same of an archive for a CPU by itself, or for this machine."""
    of_cpu = {"flat": True, **_described(target)} if target.soc.cpu is not None else {}
    return {**_facts(target, inferred_inputs), **of_cpu}


@dataclass(frozen=True, eq=False)
class EntryPoint:
    """A canonical module on its way to C for a target; every stage is computed when it is looked at, once.

    prepared → network → partitioned → files
    """

    target: Target
    name: str
    imported: Imported
    canonical: Any
    states: tuple[State, ...] = ()
    progress: Progress = silent

    @cached_property
    def prepared(self) -> Any:
        """The canonical module after the engines' own passes."""
        with bounded_depth():
            return prepare_module(self.canonical, self.target)

    def built(self, states: tuple[State, ...]) -> Network:
        """The network with its caches at their places."""
        with bounded_depth():
            engines = tuple(backend.target_name for backend, _ in self.target.engines)
            return build_network(self.prepared, self.imported, self.name, states, engines)

    @cached_property
    def network(self) -> Network:
        """Layers over named tensors, before anything is planned."""
        self.progress("lowering")
        return self.built(self.states)

    @property
    def partitioned(self) -> Network:
        """The network as regions of engines: what is compiled."""
        raise NotImplementedError

    def arrays(self, given: Mapping[str, np.ndarray] | None) -> list[np.ndarray]:
        """Inputs as the network takes them; where none are given, seeded ones."""
        described = [{"name": t.source, "shape": t.spec.shape, "dtype": t.spec.dtype} for t in self.network.inputs]
        return prepare_inputs(described, given)

    @property
    def compared_inputs(self) -> list[np.ndarray] | None:
        """The sample input of a debug build."""
        options = self.target.options
        given = dict(options.debug_inputs) or None
        return self.arrays(given) if options.debug else None

    @property
    def expected_cycles(self) -> dict[str, int]:
        """Cycles that layers are expected to take, by name; empty where nothing is known."""
        return {}

    @property
    def emitted(self) -> dict[str, bytes]:
        """Files of the program."""
        raise NotImplementedError

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Files of the program with the Relax modules it was made from."""
        files, origin = dict(self.emitted), self.partitioned.origin
        assert origin is not None
        files["src/main.relax.txt"] = lineage.removed(self.prepared).script().encode()
        files["src/partitioned.relax.txt"] = origin.module.script().encode()
        return files


@dataclass(frozen=True, eq=False)
class HostEntryPoint(EntryPoint):
    """A program for this machine or another CPU: every operator is a region of it.

    `alone`: no other program of the archive calls it or shares the memories.
    """

    alone: bool = True

    @cached_property
    def partitioned(self) -> Network:
        regions = [Region(layer, self.target.soc.name, layer.operator) for layer in self.network.layers]
        return partition_network(self.network, regions)

    @cached_property
    def lowered(self) -> LoweredCpuPlan:
        """Forms of layers, strips, parts for threads, and the places of activations, checked independently."""
        target, given = self.target, self.target.given_cpu_plan
        self.progress(f"{'planning' if given is None else 'placing'} {len(self.network.layers)} layers")
        request = CpuRequest(
            target.soc.name,
            target.soc.cpu,
            target.ram_limit,
            target.flash_limit,
            target.options.threads or 1,
            target.options.keep_layers,
            GUARD_BYTES if target.options.debug else 0,
            self.alone,
            target.stated,
        )
        return plan_cpu(self.partitioned, request, self._flash_bytes, given)

    def _flash_bytes(self, lowered: LoweredCpuPlan) -> int:
        """Flash that the program of a plan takes; it is built for it."""
        return flash_bytes(self._emit(lowered).files, self.target.soc.cpu)

    @cached_property
    def program(self) -> Emitted:
        """The C program."""
        lowered = self.lowered
        self.progress("emitting C")
        return self._emit(lowered)

    @cached_property
    def emitted(self) -> dict[str, bytes]:
        return self.program.files

    def _emit(self, lowered: LoweredCpuPlan) -> Emitted:
        return emit(lowered, flat_facts(self.target, self.imported.inferred_inputs), self.compared_inputs)


class ClusterEntryPoint(EntryPoint):
    """A program for a simulated SoC: planned, lowered to TIR and checked."""

    @property
    def attention_fits(self) -> bool:
        """Tell whether L1 has room for a part of every attention that is one operator."""
        layers = [layer for layer in self.network.layers if layer.operator in _WHOLE_ATTENTION]
        return not layers or fits_l1(self.network, layers, self.target, self.target.l1_beside_state(self.network))

    def plan_at(self, level: str) -> LoweredPlan:
        """The plan with all caches at a level of memory."""
        return plan_for(self.target, self.built(placed_states(self.states, level, f"tvmgen_{self.name}_state")))

    @cached_property
    def lowered(self) -> LoweredPlan:
        """The plan and its program, with caches where they cost least."""
        target, given = self.target, self.target.given_plan
        self.progress(f"{'planning' if given is None else 'placing'} {len(self.network.layers)} layers")
        if not self.states:
            return plan_for(target, self.network)
        wanted = given.state[0].level if given is not None else target.options.state_memory
        room = StateRoom(sum(s.bytes for s in self.states), target.l1_bytes(0), target.soc.memory.l3.size)
        return place_state(
            [self.plan_at], lambda made: cycles_with_state(made, target.soc, target.cores), room, wanted
        )[0]

    @property
    def partitioned(self) -> Network:
        return self.lowered.plan.network

    @property
    def expected_cycles(self) -> dict[str, int]:
        return {layer.layer.name: layer.added_cycles for layer in self.lowered.plan.layers}

    @cached_property
    def emitted(self) -> dict[str, bytes]:
        self.progress("emitting C")
        refuse_if(
            self.target.options.debug and self.states, "--debug does not know what a cache holds: drop it, or --state"
        )
        return emit_for(self.target, self.lowered, self.imported.inferred_inputs, self.compared_inputs)


def entry_point(target: Target, *stated: Any, **more: Any) -> HostEntryPoint | ClusterEntryPoint:
    """The entry point with the stages that the target's SoC has."""
    return (ClusterEntryPoint if target.soc.simulated else HostEntryPoint)(target, *stated, **more)
