"""All compute steps of a network in their order, and which of them use what."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from tvm_pulp.planning.program.positions import compute_position
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.interleave_steps import interleave_steps
from tvm_pulp.planning.tiling.schedule.job_ends import last_slots
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Call, Job, Kernel, Local, operands_of
from tvm_pulp.uma.teams import ALL_CORES


class ComputeStep(NamedTuple):
    """A step and whose it is."""

    layer: int
    tile: int
    step: Kernel | Call | Job


@dataclass(slots=True)
class Life:
    """First and last slot that touches a buffer; positions until which it is needed, and is expected to be."""

    first: int
    last: int
    end: int
    expected: int


def _mixed(policy: Policy) -> tuple[frozenset[int], Mapping[Tensor, frozenset[int]]] | None:
    """The layers that stand apart where all others mix, and what these find in L1; None where none mix."""
    return (policy.apart, policy.resident) if policy.interleave and policy.overlap else None


class StepOrder:
    """Compute steps by slot. With overlap a job may run on while the next step starts, and layers may mix."""

    def __init__(self, choices: Sequence[Choice], policy: Policy) -> None:
        self._choices, self._overlap, self._mixed = list(choices), policy.overlap, _mixed(policy)
        self.all: list[ComputeStep] = []
        self._slots: dict[tuple[int, int], list[int]] = {}
        steps = [(index, *entry) for index, choice in enumerate(choices) for entry in choice.order]
        for index, tile, step in interleave_steps(choices, *self._mixed) if self._mixed else steps:
            self._slots.setdefault((index, tile), []).append(len(self.all))
            self.all.append(ComputeStep(index, tile, step))
        self._last_beside = last_slots(self.all, [t.recipes for t in choices]) if self._overlap else {}

    def holds_for(self, choices: Sequence[Choice], policy: Policy) -> bool:
        """Tell if these layers have this order: leads, levels and bundles say nothing about it."""
        same = len(choices) == len(self._choices) and all(map(operator.is_, self._choices, choices))
        return same and (self._overlap, self._mixed) == (policy.overlap, _mixed(policy))

    def slots(self, layer: int, tile: int) -> list[int]:
        """Slots of a tile."""
        return self._slots[layer, tile]

    @cached_property
    def side_by_side(self) -> dict[int, tuple[int, int]]:
        """First and last slot of the steps of teams that follow each other, by the slots of all of them."""
        found: dict[int, tuple[int, int]] = {}
        for of_team, entries in groupby(enumerate(self.all), key=lambda entry: is_of_team(entry[1].step)):
            slots = [number for number, _ in entries]
            found |= dict.fromkeys(slots, (slots[0], slots[-1])) if of_team else {}
        return found

    def begin(self, slot: int) -> int:
        """The first of the slots that run side by side with one: what they need has to be there before."""
        return self.side_by_side.get(slot, (slot, slot))[0]

    def span(self, layer: int, tile: int, local: Local) -> tuple[int, int]:
        """First and last slot of a tile that touches a Local; the tile's first where none does."""
        found = self._lives[layer, tile].get(local)
        if found is not None:
            return found.first, found.last
        first = self._slots[layer, tile][0]
        return first, first

    def lives(self, layer: int, tile: int) -> Iterable[tuple[Local, Life]]:
        """How long the steps of a tile need its buffers."""
        return self._lives[layer, tile].items()

    @cached_property
    def _lives(self) -> dict[tuple[int, int], dict[Local, Life]]:
        found: dict[tuple[int, int], dict[Local, Life]] = {key: {} for key in self._slots}
        ends = self._ends
        for slot, (layer, tile, step) in enumerate(self.all):
            mine, (end, expected) = found[layer, tile], ends[slot]
            for operand in operands_of(step):
                if isinstance(operand, Local):
                    life = mine.get(operand)
                    if life is None:
                        mine[operand] = Life(slot, slot, end, expected)
                        continue
                    life.last = slot
                    if end > life.end:
                        life.end = end
                    if expected > life.expected:
                        life.expected = expected
        return found

    def end_of_use(self, slot: int) -> int:
        """Position until which a step may need its operands; a job runs on while the next steps start."""
        return self._ends[slot][0]

    def next_kernel(self, slot: int) -> int:
        """Position of the first step from a slot on that the cores do."""
        found = (number for number in range(slot, len(self.all)) if not isinstance(self.all[number].step, Job))
        return compute_position(next(found, len(self.all) - 1))

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Both ends of every slot, which are asked for again and again."""
        found = []
        for slot, (layer, _, step) in enumerate(self.all):
            runs_on = isinstance(step, Job) and self._overlap and not self._choices[layer].exclusive
            last = max(slot + 1, self._last_beside[slot]) if runs_on else slot
            expected = compute_position(min(last, len(self.all) - 1))
            following = self.all[slot + 1].step if runs_on and slot + 1 < len(self.all) else None
            # A job behind a job waits for it; only the cores go on beside it.
            queued = isinstance(following, Job) and isinstance(step, Job) and following.engine == step.engine
            found.append((compute_position(slot + 1) if queued else expected, expected))
        return found


def is_of_team(step: Kernel | Call | Job) -> bool:
    """Tell if a part of the cores runs a step."""
    return not isinstance(step, Job) and step.team != ALL_CORES


def step_order(choices: Sequence[Choice], policy: Policy, before: StepOrder | None = None) -> StepOrder:
    """The order of steps that a policy makes; the one `before` where it still holds."""
    if before is not None and before.holds_for(choices, policy):
        return before
    return StepOrder(choices, policy)
