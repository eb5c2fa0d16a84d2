"""The target of a compilation: a SoC, its engines with their options, cores and budgets of memory."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tvm_pulp import soc as socs
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import JSON_BYTES
from tvm_pulp.planning.program import CpuPlanJson, PlanJson, StatedDecisions
from tvm_pulp.planning.search import PlanFrame
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cpu_platform import check_cpu, check_limits, check_threads
from tvm_pulp.soc.memory_size import parse_size
from tvm_pulp.soc.platform import Platform
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.carrier import check_carrier
from tvm_pulp.uma.registry import parse_targets

_SMALLEST_L1 = 1024
_SMALLEST_L2 = 4096
_Record = TypeVar("_Record", PlanJson, CpuPlanJson)


@dataclass(frozen=True)
class Target(PlanFrame):
    """A resolved target: data that all stages read."""

    l1_limit: int | None = None
    l2_limit: int | None = None
    # Of a CPU by itself.
    ram_limit: int | None = None
    flash_limit: int | None = None
    # Its plan.json, whose decisions are taken instead of searching.
    given_cpu_plan: CpuPlanJson | None = None

    def marks(self, layers: int) -> int:
        """Room for time stamps: one per layer and one for the end, in lines of 64 bytes."""
        return max(256, -(-(layers + 1) // 16) * 16)

    def l1_bytes(self, layers: int) -> int:
        """L1 that tiles may use."""
        # A stack per core, what the runtime keeps and time stamps are not for tiles.
        stacks = self.soc.stacks * self.soc.software.stack_bytes + self.soc.software.runtime_l1_bytes
        available = self.soc.memory.l1.size - stacks - 4 * self.marks(layers)
        if self.l1_limit is None:
            return int(available)
        if self.given_plan is not None and self.given_plan.l1_peak <= available:
            return self.l1_limit  # what it was planned with does not matter, what it takes does
        return self._checked("--l1", self.l1_limit, _SMALLEST_L1, available, "L1 for tiles")

    def l1_beside_state(self, network: Network) -> int:
        """L1 that caches leave for tiles."""
        available, state = self.l1_bytes(len(network.layers)), network.state_bytes("l1")
        refuse_if(
            state and available - state < _SMALLEST_L1,
            f"--state-memory l1: the caches take {state} bytes and L1 has {available} for them and for tiles: "
            "choose l2, or keep fewer tokens",
        )
        return available - state

    @property
    def l2_beside_code(self) -> int:
        """L2 that code leaves for everything else."""
        return int(self.soc.memory.l2.size - self.soc.memory.l2.private_bytes - self.soc.software.code_bytes)

    def l2_bytes(self) -> int:
        """L2 that activations and constants may use."""
        available = self.l2_beside_code
        if self.l2_limit is None:
            return available
        return self._checked("--l2", self.l2_limit, _SMALLEST_L2, available, "L2 beside the code")

    def _checked(self, option: str, limit: int, least: int, available: int, memory: str) -> int:
        """The limit of a memory that a user states."""
        refuse_if(limit > available, f"{option} {limit}: SoC {self.soc.name} has {available} bytes of {memory}")
        refuse_if(limit < least, f"{option} {limit}: at least {least} bytes are needed")
        return limit


def resolve_target(options: CompileOptions) -> Target:
    """Check and combine what the user said about the target."""
    backends = parse_targets(options.target)
    given_soc = options.soc
    if isinstance(given_soc, socs.Soc):
        soc = given_soc
    else:
        soc = socs.load(given_soc) if given_soc else _default_soc(backends)
    for engine in options.engine_options:
        refuse_if(
            engine not in {b.target_name for b in backends},
            f"--target-uma-{engine}-...: engine '{engine}' is not part of --target {options.target}",
        )
    for backend in backends:
        name = backend.target_name
        if name not in soc.engines:
            way_out = f"choose {_carriers(backend)}, or another --target"
            raise UserError(f"--soc {soc.name} has no engine '{name}': {way_out}")
        check_carrier(soc, name)
    backends = [backend.variant(soc.engines[backend.target_name]) for backend in backends]
    l1, l2, ram, flash = (
        None if (size := getattr(options, name)) is None else parse_size(f"--{name}", size)
        for name in ("l1", "l2", "ram", "flash")
    )
    if soc.simulated:
        Platform(soc).check()
        refuse_if(
            options.state_memory == "l3" and not soc.memory.l3.size,
            f"--state-memory l3: SoC {soc.name} has no L3: choose l1 or l2",
        )
    if soc.cpu is not None:
        check_cpu(soc.name, soc.cpu)
    engines = tuple((b, b.options(dict(options.engine_options.get(b.target_name, {})))) for b in backends)
    options.check_soc(soc)
    check_limits(soc.name, soc.cpu, ram, flash)
    check_threads(soc.name, soc.cpu, options.threads)
    if options.plan is not None and not soc.simulated:
        given = read_cpu_plan_file(Path(options.plan))
        check_limits(soc.name, soc.cpu, given.ram_limit, given.flash_limit)
        machine = Target(soc, engines, soc.cluster.cores, {}, options)
        return replace(machine, ram_limit=given.ram_limit, flash_limit=given.flash_limit, given_cpu_plan=given)
    if options.plan is not None:
        record = read_plan_file(Path(options.plan))
        return Target(soc, engines, record.cores, {}, options, record, l1_limit=record.l1_bytes)
    cores = options.cores if options.cores is not None else soc.cluster.cores
    refuse_if(
        soc.simulated and not 1 <= cores <= soc.cluster.cores,
        f"--cores {cores}: SoC {soc.name} has 1 to {soc.cluster.cores} cores",
    )
    stated = StatedDecisions() if options.decide is None else read_stated_decisions(options.decide)
    pins = _pins(options.pins, stated)
    return Target(soc, engines, cores, pins, options, None, stated, l1, l2, ram, flash)


def _pins(pins: Mapping[str, str], stated: StatedDecisions) -> dict[str, str]:
    """Engines of layers, stated by either option."""
    engines = {name: layer.engine for name, layer in stated.layers.items() if layer.engine is not None}
    for name, engine in engines.items():
        refuse_if(
            pins.get(name, engine) != engine,
            f"--decide keeps layer '{name}' on {engine} and --pin on {pins.get(name)}: state one of them",
        )
    return {**engines, **pins}


def _carriers(backend: UMABackend) -> str:
    """Presets with an engine, for a sentence; the engine's own SoC where no preset has it."""
    found = [name for name in socs.names() if backend.target_name in socs.load(name).engines]
    return " or ".join(f"--soc {name}" for name in found or [backend.default_soc])


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
    """The plan for a SoC with a cluster in an archive, or in a file of its own."""
    from tvm_pulp.codegen.formats import read_checked_plan

    return _read_file(path, read_checked_plan)


def read_cpu_plan_file(path: Path) -> CpuPlanJson:
    """The same of a plan for a CPU by itself."""
    from tvm_pulp.codegen.formats import read_checked_cpu_plan

    return _read_file(path, read_checked_cpu_plan)


def _read_file(path: Path, read: Callable[[bytes], _Record]) -> _Record:
    from tvm_pulp.codegen import mlf
    from tvm_pulp.codegen.formats import FormatError

    try:
        if path.suffix == ".tar":
            files = mlf.read(path)
            refuse_if("plan.json" not in files, f"--plan: '{path}' holds no plan of its own: it is a language model")
            text = files["plan.json"]
        else:
            text = read_input(path, f"--plan: cannot read '{path}'", JSON_BYTES)
        return read(text)
    except FormatError as error:
        reason = f"is not a plan of this version ({error}): compile without --plan"
        made_for = json.loads(text).get("soc") if text.lstrip()[:1] == b"{" else None
        if made_for in socs.names():
            reason = f"is not a plan of this version, or one for another kind of machine ({made_for}; {error})"
        raise UserError(f"--plan: '{path}' {reason}") from None
    except ValueError:
        raise UserError(f"--plan: '{path}' is neither an archive nor a plan.json of one") from None


def read_stated_decisions(given: str | Path | Mapping[str, Any]) -> StatedDecisions:
    """Decisions that a user states, in a JSON file or as what would be in one."""
    from tvm_pulp.codegen.formats import FormatError, from_json

    where = "" if isinstance(given, Mapping) else f" '{given}'"
    try:
        text = (
            json.dumps(dict(given))
            if isinstance(given, Mapping)
            else read_input(Path(given), f"--decide: cannot read{where}", JSON_BYTES)
        )
        stated: StatedDecisions = from_json(StatedDecisions, text)
        return stated
    except FormatError as error:
        raise UserError(f"--decide{where}: {error}: state order, layers and levels") from None
    except (ValueError, TypeError):
        raise UserError(f"--decide{where} is no JSON: state order, layers and levels") from None
