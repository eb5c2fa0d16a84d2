"""Plans the programs of a language model, with the caches where they cost least: of one token, of a chunk of a prompt,
and of further chunks where prompts are faster with them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from tvm_pulp.entry_point import ClusterEntryPoint, Progress, plan_for
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.language_models.entry_module import DECODE, ENCODE, PREFILL, EntryModule, Purpose
from tvm_pulp.language_models.prompt_cuts import cheapest_cuts
from tvm_pulp.language_models.request import Decoder, LanguageModelRequest
from tvm_pulp.language_models.state_buffer import state_buffers
from tvm_pulp.language_models.value_layout import value_layout
from tvm_pulp.language_models.weight_places import packed_bytes, spread_programs
from tvm_pulp.planning.search import StateRoom, cycles_with_state, place_state
from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.forms.split_form import SplitForm
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.qnn.network import Network, State, placed_states
from tvm_pulp.target import Target
from tvm_pulp.uma.recipe import Call

# A further program is worth its code and the time to plan it if it saves this part of the cycles, where L2 has room.
_LEAST_SAVED, _LEAST_ROOM = 0.1, 128 * 1024
# Where so many times the bytes of all matrices exceed the weight memory, two packings of most of them do not fit.
_TWICE = 1.8
# What a program of several tokens takes beyond its estimate, as a part of one token's cycles.
_COLD = 0.15


@dataclass(frozen=True)
class PlannedEntry:
    """A program: its module, its plan and the cycles that it is expected to take."""

    module: EntryModule
    lowered: LoweredPlan
    cycles: int


def plan_language_model(request: LanguageModelRequest, target: Target, progress: Progress) -> dict[str, PlannedEntry]:
    """Modules and plans by entry point."""
    decoder = request.decoder
    refuse_if(decoder.capacity < 1, f"--capacity {decoder.capacity}: at least one token is needed")
    shared = replace(target, engines=tuple((b, b.with_shared_weights(options)) for b, options in target.engines))
    # Weights that one token reads otherwise than a chunk need room beside those of the chunk; matrices that both read
    # in the same way do not. That there is none is found without planning where it is clear.
    tried = [_EntryPlanner(request, each, progress) for each in (target, shared)]
    room = sum(target.soc.software.weight_parts.values())
    clear = shared.engines == target.engines or (room > 0 and _TWICE * packed_bytes(tried[0].network()) > room)
    for planner in tried[1:] if clear else tried:
        entries = _planned(planner, decoder, target)
        placed = spread_programs([entry.lowered for entry in entries.values()], target.soc)
        if placed is not None:
            pairs = zip(entries.items(), placed, strict=True)
            return {name: replace(entry, lowered=lowered) for (name, entry), lowered in pairs}
    raise UserError("the packed weights of all programs exceed the weight memory: use fewer layers or channels")


def _planned(planner: "_EntryPlanner", decoder: Any, target: Target) -> dict[str, PlannedEntry]:
    plans: list[Callable[[str], PlannedEntry | None]] = [partial(planner.plan, DECODE, 1)]
    made = place_state(
        [*plans, planner.prefill] if decoder.chunk > 1 else plans,
        lambda entry: 0 if entry is None else entry.cycles,
        StateRoom(sum(planner.state_bytes("l1")), target.l1_bytes(0), target.soc.memory.l3.size),
        target.options.state_memory,
    )
    entries = {name: entry for name, entry in zip((DECODE, PREFILL), made, strict=False) if entry is not None}
    for rows in decoder.further_chunks:
        further = _further(planner, entries, rows, target)
        if further is not None:
            entries[f"{PREFILL}_{rows}"] = further
    encoder = planner.encoder(entries)
    return entries if encoder is None else {**entries, ENCODE: encoder}


def programs(entries: Mapping[str, PlannedEntry]) -> dict[int, int]:
    """Expected cycles of programs by the tokens that they take."""
    # One of several tokens finds the code of another in the instruction cache, and gets past a slip of the estimate.
    cold = round(_COLD * entries[DECODE].cycles)
    found = {entry.module.rows: entry.cycles + cold for name, entry in entries.items() if name != ENCODE}
    return {**found, 1: entries[DECODE].cycles}


def _further(
    planner: "_EntryPlanner", entries: Mapping[str, PlannedEntry], rows: int, target: Target
) -> PlannedEntry | None:
    """A program of so many tokens; None where those that there are serve as well, or there is no room for its code."""
    one, known = entries[DECODE], cheapest_cuts(programs(entries), rows)[rows].cycles
    tables = _table_bytes(one)
    room = target.l2_bytes() - max(l2_taken(e.lowered.plan) for e in entries.values()) - tables
    # It takes as long as the program of one token at least.
    if room < _LEAST_ROOM or one.cycles > known * (1 - _LEAST_SAVED):
        return None
    try:
        level = one.lowered.plan.network.states[0].level
        made = planner.plan(f"{PREFILL}_{rows}", rows, level)
    except UserError:
        return None
    return made if made.cycles <= known * (1 - _LEAST_SAVED) else None


def _table_bytes(one: PlannedEntry) -> int:
    """Bytes of the tables that tokens are looked up in."""
    return sum(source.table.nbytes for source in one.module.sources if source.table is not None)


def states_of(module: EntryModule, sizes: Sequence[int], level: str, name: str) -> tuple[State, ...]:
    """Caches of so many bytes as states of a program: new rows go out behind the logits."""
    inputs = module.imported.inputs
    counter = next((i for i, source in enumerate(module.sources) if source.purpose is Purpose.LENGTH), None)
    pairs = enumerate(zip(module.caches, sizes, strict=True), 1)
    states = [
        State(inputs.index(c.past), out, None, module.rows, size, counter, together=c.together)
        for out, (c, size) in pairs
    ]
    return placed_states(states, level, f"tvmgen_{name}_state")


class _EntryPlanner:
    """Plans entry points of one language model; what does not depend on the level of its state is made once."""

    def __init__(self, request: LanguageModelRequest, target: Target, progress: Progress) -> None:
        self._request, self._target, self._progress = request, target, progress
        # Four values of an element in a word, where that is faster; only in L2, where the DMA writes single bytes.
        decoders: dict[str, Decoder] = {"l2": value_layout(request.decoder, target) or request.decoder}
        self._module = cache(lambda level, *which: decoders.get(level, request.decoder).entry_module(*which))
        self._entry_point = cache(self._make_entry_point)
        # Plans of the first program, by the level of its state: L2 holds constants of all programs.
        self._first: dict[str, Plan] = {}

    def _make_entry_point(self, name: str, module: EntryModule) -> ClusterEntryPoint:
        """The stages from the canonical module on, as any network has them."""
        imported = module.imported
        return ClusterEntryPoint(self._target, f"{self._request.name}_{name}", imported, imported.module)

    def _modules(self, rows: int, level: str = "l2") -> Iterator[EntryModule]:
        """Attention as one operator, where it is of that form; then attention in parts, where it can be."""
        for in_parts in (False, True):
            module = self._module(level, rows, in_parts)
            if module is not None:
                yield module

    def network(self) -> Network:
        """The program of one token before it is planned."""
        return self._entry_point(DECODE, next(self._modules(1))).network

    def state_bytes(self, level: str) -> list[int]:
        """Bytes of every cache."""
        decoder = self._request.decoder
        modules = [next(self._modules(rows, level)) for rows in {1, decoder.chunk}]
        return [buffer.bytes for buffer in state_buffers(modules, decoder.capacity, level)]

    def plan(self, name: str, rows: int, level: str) -> PlannedEntry:
        """An entry point, the caches at a level of memory. That of one token decides where shared weights lie."""
        self._progress(f"planning {name} of {rows} token{'s' if rows > 1 else ''}, the cache in {level.upper()}")
        made, refusal = None, None
        for module in self._modules(rows, level):
            if made is not None or refusal is not None:
                self._progress(f"planning {name} with attention in parts")
            try:
                lowered = self._lowered(name, module, level)
                made = PlannedEntry(module, lowered, cycles_with_state(lowered, self._target.soc, self._target.cores))
            except MissingL1 as error:
                refusal = error
                continue
            if _reads_caches_by_kernels(made.lowered.plan):
                return made
        if made is None:
            assert refusal is not None
            raise refusal
        return made

    def prefill(self, level: str) -> PlannedEntry | None:
        """The program of a chunk of a prompt; None where L1 is too small for it: tokens come one by one then.

        Its attention needs keys and values of a head at a time, that of one token either of them.
        """
        try:
            return self.plan(PREFILL, self._request.decoder.chunk, level)
        except MissingL1:
            return None

    def encoder(self, entries: Mapping[str, PlannedEntry]) -> PlannedEntry | None:
        """The program that runs once for a text, in what others leave of L2; None where there is none."""
        module = self._request.decoder.encoder_module()
        if module is None:
            return None
        self._progress("planning the encoder")
        plans = [entry.lowered.plan for entry in entries.values()]
        arenas = [plan.arena.size for plan in plans]
        taken = max(map(l2_taken, plans)) + sum(arenas) - max(arenas) + _table_bytes(entries[DECODE])
        room = self._target.l2_bytes() - taken
        refusal = UserError(
            f"encoder and decoder exceed L2 and the weight memory: {taken} bytes of L2 hold the decoder; lower "
            "--capacity or use fewer layers or channels"
        )
        if room < _LEAST_ROOM:
            raise refusal
        target = replace(self._target, l2_limit=room)
        lowered = plan_for(target, self._entry_point(ENCODE, module).network)
        if lowered.plan.l3_offsets():
            raise refusal
        return PlannedEntry(module, lowered, lowered.plan.estimated_cycles)

    def _lowered(self, name: str, module: EntryModule, level: str) -> LoweredPlan:
        first = name == DECODE
        states = states_of(module, self.state_bytes(level), level, self._request.name)
        network = self._entry_point(name, module).built(states)
        # Columns of the cores lie in L2 when a plan is made and go to the weight memory afterwards.
        beyond = _MOVED_COLUMNS if first and self._target.soc.software.weight_parts else 0
        lowered, target = plan_for(self._target, network, beyond_l2=beyond), self._target
        if not first and l2_taken(lowered.plan) + self._beside(level) > target.l2_bytes():
            target = replace(target, l2_limit=target.l2_bytes() - self._beside(level))
            lowered = plan_for(target, network)
        fits = self._fits(lowered.plan, first=first)
        if not fits and beyond and lowered.plan.l2_needed > self._target.l2_bytes():
            lowered = plan_for(self._target, network)
            fits = self._fits(lowered.plan, first=first)
        if not fits:
            lowered = self._without_splits(network, lowered, target)
        if first:
            self._first[level] = lowered.plan
        if lowered.plan.l3_offsets():
            raise UserError(
                f"--capacity {self._request.decoder.capacity}: cache and weights of {name} exceed L2 and the weight "
                "memory: lower it, use fewer layers or channels, or an engine that reads the weight memory"
            )
        return lowered

    def _fits(self, plan: Plan, *, first: bool) -> bool:
        """Tell whether L2 and the weight memory hold all of a plan; bundles of the first one are moved."""
        if plan.l3_offsets() or not first:
            return not plan.l3_offsets()
        return spread_bundles(plan, self._target.soc) and l2_taken(plan) <= self._target.l2_bytes()

    def _beside(self, level: str) -> int:
        """Bytes of L2 that the first program has for itself: its constants, records and activations."""
        first = self._first[level]
        return l2_taken(first) - first.outside_bytes()

    def _without_splits(self, network: Network, lowered: LoweredPlan, target: Target) -> LoweredPlan:
        """The plan with accelerators alone: weights that the cores have a share of exist twice."""
        layers = lowered.plan.layers
        if not any(isinstance(layer.tiling.form, SplitForm) for layer in layers):
            return lowered
        accelerated = [p for p in layers if p.engine != CLUSTER]
        pins = {part.name: p.engine for p in accelerated for part in (p.layer.parts or (p.layer,))}
        return plan_for(replace(target, pins={**pins, **target.pins}), network)


def _reads_caches_by_kernels(plan: Plan) -> bool:
    """Tell if hand-written kernels read all caches: other code that looks at a whole cache is slow."""
    pasts = {plan.network.inputs[state.past].storage for state in plan.network.states}
    readers = [p for p in plan.layers if any(t.storage in pasts for t in p.layer.inputs)]
    return all(any(isinstance(step, Call) for step in recipe.steps) for p in readers for recipe in p.recipes)


# Smaller ones are not worth a place of their own.
_LEAST_BYTES = 8192
# Bytes by which the program of one token may exceed L2 before they move.
_MOVED_COLUMNS = 512 * 1024


def l2_taken(plan: Plan) -> int:
    """Bytes of L2 without bundles that were moved elsewhere."""
    return plan.l2_needed - sum(bundle.bytes for bundle in plan.schedule.bundles if bundle.level != "l2")


def spread_bundles(plan: Plan, soc: Any) -> bool:
    """Move them, and tell whether there was room for all."""
    free = {level: size - plan.constants_in(level) for level, size in soc.software.weight_parts.items()}
    for bundle in plan.schedule.bundles:
        if bundle.bytes < _LEAST_BYTES:
            continue
        level = next((name for name, room in free.items() if room >= bundle.bytes), None)
        if level is None:
            return False
        free[level] -= bundle.bytes
        bundle.level = level
    return True
