"""Make a schedule fit: begin with what is wanted, give up what the fullest moments can spare."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.program.positions import next_slot
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.forms.cuts import MissingL1, Tiling
from tvm_pulp.planning.tiling.place.place_blocks import place
from tvm_pulp.planning.tiling.place.placer import live_bytes
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Decisions, Policy, policy_of
from tvm_pulp.planning.tiling.schedule.program import Block, Program
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.qnn.network import Network, Tensor

# A tile budget shrinks at least to this part when a layer does not fit, and at most to that.
_SHRINK, _COLLAPSE = 0.93, 0.5
# A cut that takes this many times the cycles costs more than overlap wins: the layer does without overlap instead.
_COSTLY = 1.25
# A cut that takes this many times the cycles is no way out: records come in smaller pages first, down to this part.
_CLIFF, _MOST_PAGES = 2.0, 8
_ROUNDS = 400
# Rounds in which what comes too early comes a step later; then it comes when there is room for it at once.
_PATIENCE = 24
# Part of L1 that packing may lose to gaps before something has to give way.
_GAPS = 0.03


@dataclass(frozen=True)
class FittedSchedule:
    """Decisions that fit, and the schedule they make."""

    decisions: Decisions
    policy: Policy
    schedule: Program
    l1_bytes: int


@dataclass
class _Weakened:
    """The wanted decisions, as far as they were not given up."""

    wanted: Decisions
    choices: list[Choice]
    leads: dict[int, int]
    banned: dict[Tensor, set[int]]

    @property
    def decisions(self) -> Decisions:
        banned = {tensor: frozenset(readers) for tensor, readers in self.banned.items()}
        return replace(self.wanted, choices=tuple(self.choices), leads=dict(self.leads), banned=banned)

    def cut_layer(self, layer: int, l1_bytes: int) -> Tiling:
        """The layer within so many bytes, on the engine that was decided; raises when it cannot be cut so small."""
        return self.wanted.layers[layer].tiling(l1_bytes, self.wanted.engine(layer))


def fit_schedule(network: Network, wanted: Decisions, budget: int, commands: CommandLimits) -> FittedSchedule:
    """The wanted decisions, weakened until they fit.

    Layers that mix hold more at a time: where they do not fit they follow each other.
    """
    if wanted.interleave:
        with suppress(MissingL1, _NothingFits):
            return _fit(network, wanted, budget, commands)
    return _fit(network, replace(wanted, interleave=False), budget, commands)


class _NothingFits(RuntimeError):
    """Too many rounds."""


def _fit(network: Network, wanted: Decisions, budget: int, commands: CommandLimits) -> FittedSchedule:
    banned = {tensor: set(readers) for tensor, readers in wanted.banned.items()}
    state = _Weakened(wanted, list(wanted.choices), dict(wanted.leads), banned)
    limits: dict[int, int] = {}
    order: StepOrder | None = None
    for count in range(_ROUNDS):
        decisions = state.decisions
        policy = policy_of(network, decisions, commands)
        schedule = build_program(network, state.choices, policy, budget, order)
        order = schedule.order
        peaks = fullest_moments(schedule)
        crowded = {layer: peak for layer, peak in peaks.items() if peak[1] > limits.get(layer, budget)}
        if not crowded:
            needed = place(schedule, budget)
            if needed <= budget:
                return FittedSchedule(decisions, policy, schedule, needed)
            for layer in _fragmented_layers(schedule, peaks, budget):
                limits[layer] = min(peaks[layer][1], limits.get(layer, budget)) - _gap(needed, budget)
            continue
        for layer, (position, needed) in crowded.items():
            limit = limits.get(layer, budget)
            if not _relieve(network, schedule, policy, state, layer, position, at_once=count >= _PATIENCE):
                largest = _largest_layer(schedule, position)
                if not _shrink(largest, limit / needed, state):
                    raise MissingL1(network.layers[largest], needed + budget - limit, budget)
    raise _NothingFits("no schedule fits although every layer does by itself")


def excess_bytes(network: Network, decisions: Decisions, budget: int, commands: CommandLimits) -> dict[int, int]:
    """Bytes by which decisions are too large, by the layer during which they are; empty where they fit as they are."""
    schedule = build_program(network, decisions.choices, policy_of(network, decisions, commands), budget)
    peaks = fullest_moments(schedule)
    crowded = {layer: level - budget for layer, (_, level) in peaks.items() if level > budget}
    if crowded:
        return crowded
    needed = place(schedule, budget)
    if needed <= budget:
        return {}
    # Gaps between blocks: the fullest moments have to be less full.
    return dict.fromkeys(_fragmented_layers(schedule, peaks, budget), _gap(needed, budget))


def _gap(needed: int, budget: int) -> int:
    """Bytes that have to be given up where gaps between blocks are too large."""
    return max(64, min(needed - budget, int(_GAPS * budget)))


def fullest_moments(schedule: Program) -> dict[int, tuple[int, int]]:
    """For every layer the position during it with the most bytes alive, and the bytes."""
    found: dict[int, tuple[int, int]] = {}
    alive = ((aligned(b.bytes, L1_ALIGNMENT), b.first, b.last) for b in schedule.blocks)
    for position, level in live_bytes(alive):
        layer = _layer_at(schedule, position)
        if layer not in found or level > found[layer][1]:
            found[layer] = (position, level)
    return found


def _layer_at(schedule: Program, position: int) -> int:
    return schedule.slots[min(next_slot(position), len(schedule.slots) - 1)].layer


def _fragmented_layers(schedule: Program, peaks: dict[int, tuple[int, int]], budget: int) -> set[int]:
    """Layers where gaps pushed a block beyond the budget: the fullest one during the life of each such block."""
    found = set()
    for block in schedule.blocks:
        if block.offset + block.bytes > budget:
            # Layers may mix: not all between the first and the last one, and not in their order.
            lived = {slot.layer for slot in schedule.slots[next_slot(block.first) : next_slot(block.last) + 1]}
            lived |= {_layer_at(schedule, position) for position in (block.first, block.last)}
            found.add(max((layer for layer in sorted(lived) if layer in peaks), key=lambda layer: peaks[layer][1]))
    return found


def _relieve(
    network: Network, schedule: Program, policy: Policy, state: _Weakened, layer: int, where: int, *, at_once: bool
) -> bool:
    """Give up something that a layer does not need at its fullest moment; False when there is nothing.

    `at_once`: what comes too early comes after that moment, not only a step later.
    """

    def alive(block: Block) -> bool:
        return block.first <= where <= block.last

    early = [m for m in schedule.moves if m.ahead and alive(m.place.block) and m.layer > layer]
    if early:
        largest = max(early, key=lambda m: (m.place.block.bytes, m.layer))
        before = policy.leads.get(largest.layer, 0) if at_once else state.leads.get(largest.layer, 0)
        steps = next_slot(where + 1) - next_slot(largest.position) if at_once else 1
        state.leads[largest.layer] = max(0, min(state.leads.get(largest.layer, 0), before - steps))
        return True
    resident = [(t, b) for t, b in schedule.resident.items() if alive(b) and t in policy.resident]
    idle = [(t, b) for t, b in resident if not any(o.storage is t for o in network.layers[layer].operands)]
    if idle:
        tensor, _ = max(idle, key=lambda entry: entry[1].bytes)
        later = {r for r in policy.resident[tensor] if r > layer}
        state.banned.setdefault(tensor, set()).update(later or policy.resident[tensor])
        return True
    streams = state.choices[layer].two_copies and len(state.choices[layer].tiling.tiles) > 1
    everything = sum(b.bytes for b in schedule.blocks if alive(b))
    if not resident or (streams and sum(b.bytes for _, b in resident) < everything // 2):
        return False
    tensor, _ = max(resident, key=lambda entry: entry[1].bytes)
    state.banned.setdefault(tensor, set()).update(policy.resident[tensor])
    return True


def _largest_layer(schedule: Program, where: int) -> int:
    """The layer whose own buffers take most at a position."""
    kept = set(schedule.resident.values())
    taken: dict[int, int] = {}
    for block in schedule.blocks:
        if block.first <= where <= block.last and block not in kept:
            taken[block.layer] = taken.get(block.layer, 0) + block.bytes
    return max(taken, key=lambda layer: (taken[layer], -layer))


def _shrink(layer: int, ratio: float, state: _Weakened) -> bool:
    """Cut a layer smaller, or do without overlap in it; False when neither is possible."""
    choice = state.choices[layer]
    budget = choice.budget
    while True:
        budget = int(min(budget, choice.tiling.l1_bytes or budget) * max(_COLLAPSE, min(_SHRINK, ratio)))
        try:
            tiling = state.cut_layer(layer, budget)
            cycles = tiling.cycles / max(1, choice.tiling.cycles)
        except UserError:
            if ratio < _SHRINK:
                ratio, budget = _SHRINK, choice.budget
                continue
            if not choice.two_copies:
                return _more_pages(layer, state)
            cycles = math.inf
        if choice.two_copies and cycles > _COSTLY:
            state.choices[layer] = Choice(choice.tiling, False, choice.budget, exclusive=True)
            return True
        if not choice.two_copies and cycles > _CLIFF and _more_pages(layer, state):
            return True
        if tiling.size != choice.tiling.size or tiling.form is not choice.tiling.form:
            two_copies = state.wanted.overlap and len(tiling.tiles) > 1 and not choice.exclusive
            state.choices[layer] = Choice(tiling, two_copies, budget, choice.exclusive)
            return True
        ratio = _SHRINK


def _more_pages(layer: int, state: _Weakened) -> bool:
    """Records of a layer in twice as many pages, which leaves more of L1 to its tiles; False where they are small."""
    choice = state.choices[layer]
    if choice.pages >= _MOST_PAGES:
        return False
    state.choices[layer] = replace(choice, pages=2 * choice.pages)
    return True
