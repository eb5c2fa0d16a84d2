"""What a compilation is for: the SoC, its engines with their options, cores and L1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.collect_rarely import collect_rarely
from tvm_pulp.tiling.plan import PLANNERS, Plan
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.registry import parse_targets

if TYPE_CHECKING:
    from tvm_pulp.tiling.choose import Forms
    from tvm_pulp.tiling.cover import Cover
    from tvm_pulp.tiling.judge import Judge
    from tvm_pulp.uma.region import Region

# L1 that is not for tiles: a stack per core, and time stamps.
_STACK_BYTES = 2048
_HARDWARE_CORES = 8
_SMALLEST_L1 = 1024
_SMALLEST_L2 = 4096
_WEIGHT_LEVELS = ("weight_sram", "weight_mram")
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
    given_plan: dict[str, Any] | None = None

    def marks(self, layers: int) -> int:
        """Room for time stamps: one per layer and one for the end, in lines of 64 bytes."""
        return max(256, -(-(layers + 1) // 16) * 16)

    def l1_bytes(self, layers: int) -> int:
        """L1 that tiles may use."""
        available = self.soc.memory.l1.size - _HARDWARE_CORES * _STACK_BYTES - 4 * self.marks(layers)
        if self.l1_limit is None:
            return int(available)
        if self.l1_limit > available:
            raise UserError(f"--l1 {self.l1_limit}: SoC {self.soc.name} has {available} bytes of L1 for tiles")
        if self.l1_limit < _SMALLEST_L1:
            raise UserError(f"--l1 {self.l1_limit}: at least {_SMALLEST_L1} bytes are needed")
        return self.l1_limit

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
            module = backend.run_relax_passes("pre_partition", module)
        return module

    @collect_rarely()
    def plan(self, network: Network) -> Plan:
        """Plan the network, or take the plan that was given, and check it independently.

        Annotate, choose, partition: what is lowered is the network of the partitioned module.
        """
        from tvm_pulp.tiling.verify import verify
        from tvm_pulp.tir.describe import describe
        from tvm_pulp.tir.lower import lower

        best = self._planned(network) if self.given_plan is None else self._given(network, self.given_plan)
        best = replace(best, lowered=lower(best, [b for b, _ in self.engines]))
        self._check_capacity(best)
        faults = verify(describe(best), self.soc)
        if faults and self.given_plan is not None:
            raise UserError(f"--plan: the plan is wrong ({faults[0]}): compile without --plan")
        if faults:
            raise RuntimeError(f"the plan is wrong: {'; '.join(faults[:3])}")
        return best

    def _planned(self, network: Network) -> Plan:
        """The best plan. Where a pass changed what was chosen, every region is planned again, where it is."""
        from tvm_pulp.tiling.same_network import same_network

        best = self._find(network, *self._offered(network))
        compiled = self.partitioned(network, best.regions())
        if not same_network(compiled, best.network):
            best = self._find_in(self._judge(compiled, self._as_partitioned(compiled)))
        return replace(best, network=replace(best.network, origin=compiled.origin))

    def _given(self, network: Network, record: dict[str, Any]) -> Plan:
        """The plan that a record describes."""
        from tvm_pulp.tiling.cover import recorded_cover
        from tvm_pulp.tiling.read_plan import read_plan, recorded_operators, recorded_regions
        from tvm_pulp.tiling.same_network import same_network

        cover = recorded_cover(*self._offered(network), recorded_operators(record))
        judge = self._judge(network, cover)
        compiled = self.partitioned(network, recorded_regions(record, cover.forms))
        if not same_network(compiled, judge.network):
            judge = self._judge(compiled, self._as_partitioned(compiled))
        best = read_plan(record, judge)
        return replace(best, network=replace(best.network, origin=compiled.origin))

    def partitioned(self, network: Network, regions: Sequence[Region]) -> Network:
        """The network of the module in which every region is a function, after the engines' passes on it."""
        from tvm_pulp.tiling.build_network import rebuild
        from tvm_pulp.uma.partition import partition

        assert network.origin is not None
        module = partition(network.origin.module, [region for region in regions if region.layer.variables])
        return rebuild(network, self._post_partition(module))

    def on_host(self, network: Network) -> Network:
        """The partitioned network of a SoC without a cluster: every operator is a region of this machine."""
        from tvm_pulp.uma.region import Region

        return self.partitioned(network, [Region(layer, self.soc.name, layer.operator) for layer in network.layers])

    def _post_partition(self, module: Any) -> Any:
        """A partitioned module after the engines' passes; what they brought along is lowered as everything else."""
        from tvm import relax

        from tvm_pulp.tiling.legalize_float import legalize_float

        for backend, _ in self.engines:
            if backend.has_relax_passes("post_partition"):
                module = legalize_float(backend.run_relax_passes("post_partition", module))
                try:
                    relax.analysis.well_formed(module)
                except Exception as error:  # TVM's checks assert, in many classes
                    reason = " ".join(str(error).split())[:200]
                    name = f"post_partition of uma-{backend.target_name}"
                    raise RuntimeError(f"{name} leaves a module that is not well formed: {reason}") from None
        return module

    def _contexts(self) -> list[tuple[UMABackend, Any]]:
        return [(b, b.context(options, self.soc, self.cores)) for b, options in self.engines]

    def _offered(self, network: Network) -> tuple[list[Forms], list[Forms]]:
        """What engines offer for every operator, and for regions of several."""
        from tvm_pulp.tiling.choose import check_pins, forms_of
        from tvm_pulp.uma.annotate import annotate

        contexts = self._contexts()
        check_pins(network, contexts, self.pins)
        found = annotate(network, contexts)
        operators, several = (
            forms_of(layers, found, self.soc, contexts, self.cores) for layers in (network.layers, found.several)
        )
        return operators, several

    def _as_partitioned(self, network: Network) -> Cover:
        """Regions as the functions of a partitioned module say: what stands outside of them is the cores'."""
        from tvm_pulp.tiling.choose import forms_of
        from tvm_pulp.tiling.cluster import ENGINE
        from tvm_pulp.tiling.cover import Cover
        from tvm_pulp.uma.annotate import Annotated
        from tvm_pulp.uma.region import region_of

        regions = tuple(region_of(layer) for layer in network.layers if layer.codegen not in ("", ENGINE))
        offered = forms_of(network.layers, Annotated(network, regions), self.soc, self._contexts(), self.cores)
        return Cover(tuple(offered), {layer.name: layer.codegen or ENGINE for layer in network.layers})

    def _find(self, network: Network, operators: list[Forms], several: list[Forms]) -> Plan:
        """The best plan; layers whose weights exceed the weight memory run on the cores unless the user pinned them."""
        from tvm_pulp.tiling.cluster import ENGINE

        pins = dict(self.pins)
        while True:
            best = self._find_in(self._cheapest(network, operators, several, pins))
            layers = {p.layer.name: p.layer for p in best.layers}
            moved = [layers[name] for level in _WEIGHT_LEVELS for name in self._to_move(best, level)]
            names = [part.name for layer in moved for part in (layer.parts or (layer,)) if part.name not in pins]
            if not names:
                return best
            pins |= dict.fromkeys(names, ENGINE)

    def _cheapest(self, network: Network, operators: list[Forms], several: list[Forms], pins: dict[str, str]) -> Judge:
        """The cover of the network that is expected to be fastest."""
        from tvm_pulp.tiling.arrange import expected_cycles
        from tvm_pulp.tiling.cover import Covers

        covers = Covers(operators, several, pins, self.l1_bytes(len(network.layers)))
        if self.planner == "greedy" or not self.double_buffer:
            return self._judge(network, covers.cover(covers.cheapest()))
        return self._judge(network, covers.fastest(lambda cover: expected_cycles(self._judge(network, cover))))

    def _find_in(self, judge: Judge) -> Plan:
        from tvm_pulp.tiling.find_plan import find_plan

        return find_plan(judge, planner=self.planner, overlap=self.double_buffer, l2_bytes=self.l2_bytes())

    def _to_move(self, plan: Plan, level: str) -> dict[str, int]:
        """Layers, with the bytes of their weights, that leave a weight memory for the rest: as few as possible."""
        missing = plan.constants_in(level) - self.soc.memory.weight.size // 2
        return _largest_needed(plan, level, missing) if missing > 0 else {}

    def _judge(self, network: Network, cover: Cover) -> Judge:
        """What plans of a cover are expected to take."""
        from tvm_pulp.tiling.choose import Chooser
        from tvm_pulp.tiling.judge import Judge
        from tvm_pulp.tiling.plan import with_estimate
        from tvm_pulp.tir.describe import describe
        from tvm_pulp.tir.estimate import estimate
        from tvm_pulp.tir.lower import lower

        budget = self.l1_bytes(len(network.layers))
        chooser = Chooser(cover.forms, cover.pins)

        def timed(plan: Plan) -> Plan:
            plan = replace(plan, lowered=lower(plan))
            expected = estimate(describe(plan))
            ends = [0] * len(plan.layers)
            for span in expected.spans:
                if span.resource not in ("load", "store", "l3"):
                    ends[span.layer] = max(ends[span.layer], span.end)
            return with_estimate(plan, expected.cycles, expected.layer_cycles, ends)

        return Judge(cover.network(network), self.soc, chooser, self.cores, budget, timed)

    def emit(self, plan: Plan, facts: dict[str, Any]) -> dict[str, bytes]:
        """Files of the archive."""
        from tvm_pulp.codegen.emit_cluster import emit_cluster

        march = "rv32imfc" if plan.network.uses_float() else "rv32imc"
        options = {b.target_name: o for b, o in self.engines}
        more = {"cores": self.cores, "march": march, "options": options, "l1_budget": plan.l1_bytes}
        description = socs.description_to_record(self.soc)
        if description is not None:
            more["soc_description"] = description
        defines = [f"TVM_PULP_MARKS={self.marks(len(plan.layers))}"]
        return emit_cluster(plan, {**facts, **more}, {b.target_name: b for b, _ in self.engines}, defines)

    def _check_capacity(self, plan: Plan) -> None:
        used = {"l2": plan.arena.size, "weight_sram": 0, "weight_mram": 0, "l3": 0}
        largest: dict[str, Any] = {}
        used["l2"] += plan.table_bytes()
        for tensor in plan.constants():
            used[tensor.level] += tensor.spec.bytes
            if tensor.level not in largest or tensor.spec.bytes > largest[tensor.level].spec.bytes:
                largest[tensor.level] = tensor
        used["l2"] += sum(t.spec.bytes for t in (*plan.network.inputs, *plan.network.outputs))
        room = self.l2_bytes()
        if used["l2"] > room:
            way_out = "use smaller inputs or fewer channels"
            if used["l2"] <= replace(self, l2_limit=None).l2_bytes():
                way_out = f"raise --l2 to at least {used['l2']}"
            raise UserError(
                f"the network needs {used['l2']} bytes of L2 and {room} are available beside the code "
                f"({used['l2'] - room} missing; activations and what comes from L3 take {plan.arena.size}, largest "
                f"constant that stays '{largest['l2'].name if 'l2' in largest else '-'}'): {way_out}"
            )
        half = self.soc.memory.weight.size // 2
        for level in _WEIGHT_LEVELS:
            if used[level] > half:
                moved = self._to_move(plan, level)
                pins = " ".join(f"--pin {name}=cluster" for name in moved)
                raise UserError(
                    f"the packed weights need {used[level]} bytes and the {level.removeprefix('weight_')} weight "
                    f"memory has {half} ({used[level] - half} missing): keep some of them in L2 for the cores with "
                    f"{pins}, which frees {sum(moved.values())} bytes, or shrink the network"
                )


def _largest_needed(plan: Plan, level: str, missing: int) -> dict[str, int]:
    """One layer with enough bytes at a level, the smallest of them, or the largest layers that have enough together."""
    sizes: dict[str, int] = {}
    for layer in plan.layers:
        derived = getattr(layer.tiling.form, "derived", None)
        if derived is not None:
            sizes[layer.layer.name] = sum(t.spec.bytes for t in derived.tensors.values() if t.level == level)
    ordered = sorted(sizes.items(), key=lambda entry: entry[1])
    enough = dict([entry for entry in ordered if entry[1] >= missing][:1])
    for name, size in reversed(ordered):
        if sum(enough.values()) < missing:
            enough[name] = size
    return enough


def resolve_target(options: Any) -> Target:
    """Check and combine what the user said about the target."""
    backends = parse_targets(options.target)
    name = options.soc or (backends[0].default_soc if backends else "host")
    soc = socs.load(name)
    for engine in options.engine_options:
        if engine not in {b.target_name for b in backends}:
            raise UserError(f"--target-uma-{engine}-...: engine '{engine}' is not part of --target {options.target}")
    for backend in backends:
        if backend.target_name not in soc.engines:
            raise UserError(f"--soc {soc.name} has no engine '{backend.target_name}': choose another --soc or --target")
    engines = tuple((b, b.options(dict(options.engine_options.get(b.target_name, {})))) for b in backends)
    given: tuple[tuple[str, Any], ...] = (
        ("--l1", options.l1),
        ("--l2", options.l2),
        ("--no-double-buffer", None if options.double_buffer else True),
        ("--planner", options.planner),
        ("--cores", options.cores),
        ("--pin", options.pins or None),
        ("--plan", options.plan),
    )
    for option, value in given:
        if value is not None and not soc.simulated:
            raise UserError(f"{option} has no effect on --soc {soc.name}: drop it or choose a SoC with a cluster")
        if value is not None and options.plan is not None and option != "--plan":
            raise UserError(f"{option} has no effect with --plan, which decides everything: drop one of them")
    if options.plan is not None:
        record = read_plan_file(Path(options.plan))
        sizes = (_size(record, "cores"), _size(record, "l1_bytes"))
        return Target(soc, engines, *sizes, {}, given_plan=record)
    cores = options.cores if options.cores is not None else soc.cluster.cores
    if soc.simulated and not 1 <= cores <= soc.cluster.cores:
        raise UserError(f"--cores {cores}: SoC {soc.name} has 1 to {soc.cluster.cores} cores")
    planner = options.planner or PLANNERS[0]
    if planner not in PLANNERS:
        raise UserError(f"--planner '{planner}' is unknown: choose {' or '.join(PLANNERS)}")
    if planner == "greedy" and not options.double_buffer:
        raise UserError("--no-double-buffer has no effect on --planner greedy, which never buffers twice: drop it")
    return Target(soc, engines, cores, options.l1, dict(options.pins), options.double_buffer, options.l2, planner)


def read_plan_file(path: Path) -> dict[str, Any]:
    """The plan in an archive, or in a file of its own."""
    from tvm_pulp.codegen import mlf

    try:
        if path.suffix == ".tar":
            files = mlf.read(path)
            if "plan.json" not in files:
                raise UserError(f"--plan: '{path}' holds no plan; it was compiled for a SoC without a cluster")
            record = json.loads(files["plan.json"])
        else:
            record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--plan: cannot read '{path}': {error.strerror}") from None
    except ValueError:
        raise UserError(f"--plan: '{path}' is neither an archive nor a plan.json of one") from None
    if not isinstance(record, dict):
        raise UserError(f"--plan: '{path}' is neither an archive nor a plan.json of one")
    return record


def _size(record: dict[str, Any], name: str) -> int:
    value = record.get(name)
    if not isinstance(value, int):
        raise UserError(f"--plan: this is not a plan of this version ({name} is missing): compile without --plan")
    return value
