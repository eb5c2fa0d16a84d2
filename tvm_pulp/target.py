"""What a compilation is for: the SoC, its engines with their options, cores and L1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.plan import PLANNERS
from tvm_pulp.qnn.network import Network, State, placed_states
from tvm_pulp.soc.memory_size import parse_size
from tvm_pulp.soc.platform import Platform
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.registry import parse_targets

if TYPE_CHECKING:
    from tvm_pulp.planning.program.plan_record import PlanJson
    from tvm_pulp.planning.tir import LoweredPlan

_SMALLEST_L1 = 1024
_SMALLEST_L2 = 4096
# L2 that code and small data are expected to need.
_L2_CODE_BYTES = 192 * 1024


@dataclass(frozen=True)
class Target:
    """A resolved target."""

    soc: Any
    engines: tuple[tuple[UMABackend, dict[str, Any]], ...]
    cores: int
    l1_limit: int | None
    pins: dict[str, str]
    double_buffer: bool = True
    l2_limit: int | None = None
    planner: str = PLANNERS[0]
    given_plan: PlanJson | None = None
    # A debug build: what layers make of the sample input, and the bytes between buffers, are checked at run time.
    debug: bool = False
    # Level of memory that caches are put to; None: as planned.
    state_memory: str | None = None

    def marks(self, layers: int) -> int:
        """Room for time stamps: one per layer and one for the end, in lines of 64 bytes."""
        return max(256, -(-(layers + 1) // 16) * 16)

    def l1_bytes(self, layers: int) -> int:
        """L1 that tiles may use."""
        # A stack per core and time stamps are not for tiles.
        stacks = self.soc.harts * self.soc.software.stack_bytes
        available = self.soc.memory.l1.size - stacks - 4 * self.marks(layers)
        if self.l1_limit is None:
            return int(available)
        if self.given_plan is not None and self.given_plan.l1_peak <= available:
            return self.l1_limit  # what it was planned with does not matter, what it takes does
        if self.l1_limit > available:
            raise UserError(f"--l1 {self.l1_limit}: SoC {self.soc.name} has {available} bytes of L1 for tiles")
        if self.l1_limit < _SMALLEST_L1:
            raise UserError(f"--l1 {self.l1_limit}: at least {_SMALLEST_L1} bytes are needed")
        return self.l1_limit

    def _beside_state(self, network: Network) -> int:
        """L1 that caches leave for tiles."""
        available, state = self.l1_bytes(len(network.layers)), network.state_bytes("l1")
        if state and available - state < _SMALLEST_L1:
            raise UserError(
                f"--state-memory l1: the caches take {state} bytes and L1 has {available} for them and for tiles: "
                "choose l2, or keep fewer tokens"
            )
        return available - state

    def l2_bytes(self) -> int:
        """L2 that activations and constants may use."""
        available = int(self.soc.memory.l2.size - self.soc.memory.l2.private_bytes - _L2_CODE_BYTES)
        if self.l2_limit is None:
            return available
        if self.l2_limit > available:
            raise UserError(f"--l2 {self.l2_limit}: SoC {self.soc.name} has {available} bytes of L2 beside the code")
        if self.l2_limit < _SMALLEST_L2:
            raise UserError(f"--l2 {self.l2_limit}: at least {_SMALLEST_L2} bytes are needed")
        return self.l2_limit

    def prepare(self, module: Any) -> Any:
        """The canonical module as the engines want it."""
        for backend, _ in self.engines:
            module = backend.run_relax_passes("pre_partition", module, self.soc)
        return module

    def plan(self, network: Network) -> LoweredPlan:
        """Plan the network, or take the plan that was given; lowered and checked independently."""
        from tvm_pulp.codegen.debug_source import GUARD_BYTES
        from tvm_pulp.planning.search import PlanRequest, plan_network
        from tvm_pulp.planning.tiling.place.guard_bytes import guarded

        request = PlanRequest(
            self.soc,
            self.engines,
            self.cores,
            self._beside_state(network),
            self.l2_bytes(),
            replace(self, l2_limit=None).l2_bytes(),
            self.pins,
            self.double_buffer,
            self.planner,
            self.given_plan,
        )
        with guarded(GUARD_BYTES if self.debug else 0):
            return plan_network(network, request)

    def plan_with_state(
        self, build: Callable[[tuple[State, ...]], Network], states: tuple[State, ...], name: str
    ) -> LoweredPlan:
        """Plan the network that `build` makes of its caches, which are put where they cost least."""
        from tvm_pulp.planning.search import StateRoom, cycles_with_state, place_state

        if not states:
            return self.plan(build(()))

        def at_level(level: str) -> LoweredPlan:
            return self.plan(build(placed_states(states, level, f"tvmgen_{name}_state")))

        wanted = self.given_plan.state[0].level if self.given_plan is not None else self.state_memory
        room = StateRoom(sum(s.bytes for s in states), self.l1_bytes(0), self.soc.memory.l3.size)
        return place_state([at_level], lambda p: cycles_with_state(p, self.soc, self.cores), room, wanted)[0]

    def on_host(self, network: Network) -> Network:
        """The partitioned network of a SoC without a cluster: every operator is a region of this machine."""
        from tvm_pulp.planning.search import partition_network
        from tvm_pulp.uma.region import Region

        return partition_network(network, [Region(layer, self.soc.name, layer.operator) for layer in network.layers])

    def emit(
        self,
        lowered: LoweredPlan,
        facts: dict[str, Any],
        debug_inputs: Sequence[np.ndarray] | None = None,
        keep_layers: bool = False,
    ) -> dict[str, bytes]:
        """Files of the archive; those of a debug build need inputs that layers are compared for."""
        from tvm_pulp.codegen.emit_cluster import emit_cluster

        plan = lowered.plan
        platform = Platform(self.soc)
        march = platform.march(uses_float=plan.network.uses_float())
        options = {b.target_name: o for b, o in self.engines}
        more: dict[str, Any] = {"cores": self.cores, "march": march, "options": options, "l1_budget": plan.l1_bytes}
        if self.soc.software.flags:
            more["flags"] = list(self.soc.software.flags)
        description = socs.description_to_record(self.soc)
        if description is not None:
            more["soc_description"] = description
        defines = [f"TVM_PULP_MARKS={self.marks(len(plan.layers))}"]
        backends = {b.target_name: b for b, _ in self.engines}
        return emit_cluster(lowered, {**facts, **more}, backends, platform, defines, debug_inputs, keep_layers)


def resolve_target(options: Any) -> Target:
    """Check and combine what the user said about the target."""
    backends = parse_targets(options.target)
    given_soc = options.soc
    if isinstance(given_soc, socs.Soc):
        soc = given_soc
    else:
        soc = socs.load(given_soc) if given_soc else _default_soc(backends)
    for engine in options.engine_options:
        if engine not in {b.target_name for b in backends}:
            raise UserError(f"--target-uma-{engine}-...: engine '{engine}' is not part of --target {options.target}")
    for backend in backends:
        if backend.target_name not in soc.engines:
            raise UserError(f"--soc {soc.name} has no engine '{backend.target_name}': choose another --soc or --target")
    l1, l2 = (
        None if size is None else parse_size(option, size)
        for option, size in (("--l1", options.l1), ("--l2", options.l2))
    )
    if soc.simulated:
        Platform(soc).check()
        if options.state_memory is not None:
            from tvm_pulp.planning.search import check_level

            check_level(options.state_memory, soc)
    engines = tuple((b, b.options(dict(options.engine_options.get(b.target_name, {})))) for b in backends)
    given: tuple[tuple[str, Any], ...] = (
        ("--l1", options.l1),
        ("--l2", options.l2),
        ("--no-double-buffer", None if options.double_buffer else True),
        ("--planner", options.planner),
        ("--cores", options.cores),
        ("--pin", options.pins or None),
        ("--plan", options.plan),
        ("--debug", options.debug or None),
        ("--state-memory", options.state_memory),
    )
    for option, value in given:
        if value is not None and not soc.simulated:
            raise UserError(f"{option} has no effect on --soc {soc.name}: drop it or choose a SoC with a cluster")
        if value is not None and options.plan is not None and option != "--plan":
            raise UserError(f"{option} has no effect with --plan, which decides everything: drop one of them")
    if options.plan is not None:
        record = read_plan_file(Path(options.plan))
        return Target(soc, engines, record.cores, record.l1_bytes, {}, given_plan=record)
    cores = options.cores if options.cores is not None else soc.cluster.cores
    if soc.simulated and not 1 <= cores <= soc.cluster.cores:
        raise UserError(f"--cores {cores}: SoC {soc.name} has 1 to {soc.cluster.cores} cores")
    planner = options.planner or PLANNERS[0]
    if planner not in PLANNERS:
        raise UserError(f"--planner '{planner}' is unknown: choose {' or '.join(PLANNERS)}")
    if planner == "greedy" and not options.double_buffer:
        raise UserError("--no-double-buffer has no effect on --planner greedy, which never buffers twice: drop it")
    pins = dict(options.pins)
    more = {"debug": options.debug, "state_memory": options.state_memory}
    return Target(soc, engines, cores, l1, pins, options.double_buffer, l2, planner, **more)


def _default_soc(backends: Sequence[UMABackend]) -> socs.Soc:
    """The default SoC of the first engine whose default carries all of them, whatever their order."""
    if not backends:
        return socs.load("host")
    candidates = [socs.load(backend.default_soc) for backend in backends]
    if len(backends) == 1:
        return candidates[0]
    wanted = {backend.target_name for backend in backends}
    for soc in candidates:
        if wanted <= soc.engines.keys():
            return soc
    engines = " and ".join(sorted(wanted))
    names = ", ".join(dict.fromkeys(soc.name for soc in candidates))
    raise UserError(f"no default SoC ({names}) carries {engines} together: describe one that does and name it by --soc")


def read_plan_file(path: Path) -> PlanJson:
    """The plan in an archive, or in a file of its own."""
    from tvm_pulp.codegen import mlf
    from tvm_pulp.codegen.formats import FormatError, PlanJson, from_json

    try:
        if path.suffix == ".tar":
            files = mlf.read(path)
            if "plan.json" not in files:
                raise UserError(f"--plan: '{path}' holds no plan; it was compiled for a SoC without a cluster")
            text: str | bytes = files["plan.json"]
        else:
            text = path.read_text(encoding="utf-8")
        plan: PlanJson = from_json(PlanJson, text)
        return plan
    except OSError as error:
        raise UserError(f"--plan: cannot read '{path}': {error.strerror}") from None
    except FormatError as error:
        raise UserError(f"--plan: '{path}' is not a plan of this version ({error}): compile without --plan") from None
    except ValueError:
        raise UserError(f"--plan: '{path}' is neither an archive nor a plan.json of one") from None
