"""Steps of neighbouring layers between each other: jobs early, and something for the cores to do while jobs run.

Steps are taken one by one on the clock. Those of a layer keep their order, and layers begin in theirs; a step may pass
those of earlier layers that have nothing to do with it. A layer whose jobs the cores finish thus begins on the
accelerator with the part of its input that is there, while the cores finish the rest of it.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tvm_pulp.planning.tiling.cost.step_clock import StepClock
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.tensor_ranges import TouchedRanges, meet
from tvm_pulp.uma.recipe import Call, Job, Kernel, Local, operands_of

Step = Kernel | Call | Job
# Layers that may be under way at a time.
_WINDOW = 4
# Part of a step of the cores that they wait so that an engine gets its next job before it.
_PATIENCE = 0.2
# What a transfer takes, about: only the order of steps depends on it.
_WAY_CYCLES, _BYTES_PER_CYCLE = 150, 6


def interleave_steps(
    choices: Sequence[Choice],
    apart: frozenset[int] = frozenset(),
    resident: Mapping[Any, frozenset[int]] | None = None,
) -> list[tuple[int, int, Step]]:
    """Layer, tile and step of all compute steps.

    `apart`: layers that begin when all before them are over. `resident`: layers that find a tensor in L1; None: all.
    """
    return _Interleaver(choices, apart, resident).run()


def can_interleave(choices: Sequence[Choice]) -> bool:
    """Tell if there are jobs that cores finish: others run beside what follows as it is."""
    pairs = [pair for choice in choices for pair in pairwise(step for _, step in choice.order)]
    return any(isinstance(a, Job) and not isinstance(b, Job) for a, b in pairs)


class _Interleaver:
    def __init__(
        self,
        choices: Sequence[Choice],
        apart: frozenset[int],
        resident: Mapping[Any, frozenset[int]] | None,
    ) -> None:
        self._apart, self._resident = apart, resident
        self._orders = [choice.order for choice in choices]
        self._together = {n for n, choice in enumerate(choices) if any(r.together for r in choice.recipes)}
        self._touched = [choice.ranges for choice in choices]
        self._done = [0] * len(choices)
        # Steps of every tile that are still to come.
        self._left = Counter((layer, tile) for layer, order in enumerate(self._orders) for tile, _ in order)
        # Results are those of tiles, their last step so far, and of buffers inside a tile.
        self._clock = StepClock()
        # Engines that make them: whoever works in order need not be waited for before it gets the next job.
        self._maker: dict[Hashable, str] = {}
        self._needs: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
        # When everything is there that a layer's next step works on.
        self._there: dict[int, int] = {}

    def run(self) -> list[tuple[int, int, Step]]:
        result: list[tuple[int, int, Step]] = []
        first, count = 0, len(self._orders)
        while first < count:
            if self._done[first] == len(self._orders[first]):
                first += 1
                continue
            layer = self._next(self._heads(first))
            tile, step = self._orders[layer][self._done[layer]]
            self._take(layer, tile, step)
            result.append((layer, tile, step))
        return result

    def _heads(self, first: int) -> list[int]:
        """Layers whose next step may be the next of all."""
        found = []
        for layer in range(first, min(first + _WINDOW, len(self._orders))):
            if layer > first and layer in self._apart:
                break
            if self._done[layer] < len(self._orders[layer]):
                tile, _ = self._orders[layer][self._done[layer]]
                if not any(self._left[other] for other in self._needed(layer, tile)):
                    found.append(layer)
            if not self._done[layer]:
                break  # layers begin in their order
        return found

    def _next(self, heads: Sequence[int]) -> int:
        """A job for which its engine has room, at once or soon, else what the cores need not wait for.

        The latest layer first: what it makes feeds those behind it, and whoever is busiest begins early.
        """
        steps = {layer: self._orders[layer][self._done[layer]][1] for layer in heads}
        ready = {layer: self._ready(layer) for layer in heads}
        at_once = [layer for layer in heads if ready[layer] <= self._clock.now]
        # A step of the cores keeps everybody from submitting: a job that can be submitted soon goes before a long one.
        patience = _PATIENCE * steps[at_once[-1]].cost.cycles if at_once else 0
        jobs = [n for n in heads if isinstance(steps[n], Job) and ready[n] <= self._clock.now + patience]
        if found := jobs or at_once:
            return found[-1]
        # Of what everybody waits for alike the job: submitting it hardly takes time.
        return min(heads, key=lambda layer: (ready[layer], not isinstance(steps[layer], Job), -layer))

    def _ready(self, layer: int) -> int:
        """When everything is there that a layer's next step works on, and its engine has room."""
        tile, step = self._orders[layer][self._done[layer]]
        ready = self._there.get(layer)
        if ready is None:
            ready = self._operands_ready(layer, tile, step)
            if all(isinstance(operand, Local) for operand in operands_of(step)):
                # Nobody else makes these.
                self._there[layer] = ready
        return max(self._clock.room_at(step.engine, step.queue), ready) if isinstance(step, Job) else ready

    def _operands_ready(self, layer: int, tile: int, step: Step) -> int:
        waits_for: dict[Hashable, int] = dict.fromkeys(operands_of(step), 0)
        waits_for.update(self._needed(layer, tile))
        engine = step.engine if isinstance(step, Job) else None
        made, ready = self._clock.made, 0
        for name, late in waits_for.items():
            if late or engine is None or self._maker.get(name) != engine:
                ready = max(ready, made.get(name, 0) + late)
        return ready

    def _take(self, layer: int, tile: int, step: Step) -> None:
        self._clock.wait(self._ready(layer))
        self._there.pop(layer, None)
        # Cores that work beside the job of their tile read what it reads.
        made = step.writes if isinstance(step, Job) and layer in self._together else operands_of(step)
        makes: tuple[Hashable, ...] = (*made, (layer, tile))
        self._maker |= dict.fromkeys(makes, step.engine if isinstance(step, Job) else "")
        if isinstance(step, Job):
            self._clock.submit(step.engine, step.cycles, makes)
        else:
            self._clock.run(step.cost.cycles, makes)
        self._done[layer] += 1
        self._left[layer, tile] -= 1

    def _needed(self, layer: int, tile: int) -> dict[tuple[int, int], int]:
        """Tiles of the layers before that have to be over, and the cycles that what they made is on its way then.

        Those behind the window are.
        """
        if (layer, tile) not in self._needs:
            mine = self._touched[layer][tile]
            self._needs[layer, tile] = {
                (other, place): self._late(layer, mine, theirs)
                for other in range(max(0, layer - _WINDOW + 1), layer)
                for place, theirs in enumerate(self._touched[other])
                if meet(mine.reads, theirs.writes) or meet(mine.writes, (*theirs.reads, *theirs.writes))
            }
        return self._needs[layer, tile]

    def _late(self, layer: int, mine: TouchedRanges, theirs: TouchedRanges) -> int:
        """Cycles from L1 and back to it of what a layer does not find there."""
        if self._resident is None:
            return 0
        read = {r.tensor for r in mine.reads if layer not in self._resident.get(r.tensor, ())}
        ways = [r for r in (*mine.reads, *theirs.writes) if r.tensor in read & {w.tensor for w in theirs.writes}]
        return sum(_WAY_CYCLES + min(r.end - r.first, r.tensor.spec.bytes) // _BYTES_PER_CYCLE for r in ways)
