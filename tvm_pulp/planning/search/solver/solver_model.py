"""The planner's problem for the solver: candidate, residency, prefetching and constant levels of all layers together.

Time is the sum over layers of the slowest of cores with accelerators, loads and stores; what constants could not be
fetched ahead is added in front. Memory is counted once per layer: everything that is alive while the layer runs.

    cycles[i] >= compute + what has to arrive first
    cycles[i] >= all loads in the layer's time: its own streams and what is fetched ahead for later layers
    L1        >= tiles + constants + activations kept + constants fetched ahead, for every layer
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.search.constraint_model import ConstraintModel, Outcome
from tvm_pulp.planning.search.solver.candidates import Candidate
from tvm_pulp.planning.search.solver.layer_cost import Stream, activations
from tvm_pulp.planning.search.solver.problem import Solution, SolverProblem
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.qnn.network import Tensor

# Weight of a cycle in the objective, and hidden cycles of the DMA that weigh one.
CYCLE_WEIGHT = 16
_HIDDEN_SHARE = 8
# Layers ahead of which constants may be fetched.
MOST_AHEAD = 4
# Layers by which a transfer from L3 may be ahead.
_L3_AHEAD = 3
# Constants from L3 that may follow each other: how many layers with large constants can lie between.
_L3_PAIRS = 6


class SolverModel:
    """Variables and constraints. Layers that share decisions share the variables of their choices."""

    def __init__(self, problem: SolverProblem) -> None:
        self._problem, self.cp = problem, ConstraintModel()
        layers = problem.network.layers
        self._inputs = [activations(layer)[0] for layer in layers]
        self._outputs = [activations(layer)[1] for layer in layers]
        self._producer = {t: i for i, outputs in enumerate(self._outputs) for t in outputs}
        self._readers = grouped((t, index) for index, inputs in enumerate(self._inputs) for t in inputs)
        self._results = {t.storage for t in problem.network.outputs}
        self._chosen: list[list[Any]] = []
        self._stays: dict[tuple[Tensor, int], Any] = {}
        self._kept: dict[Tensor, Any] = {}
        self._ahead: list[list[Any]] = []
        self._l3: list[Any] = []
        self.cycles: list[Any] = []
        self._most = 4 * sum(max(c.cost.cycles for c in options) for options in problem.candidates) + 1000
        self._build()

    # --- building --------------------------------------------------------------------------------------------

    def _build(self) -> None:
        problem = self._problem
        for index, options in enumerate(problem.candidates):
            self._choose(index, options)
        for tensor, readers in self._readers.items():
            self._residency(tensor, readers)
        loads, demand, fetched_l3 = ([list[Any]() for _ in problem.candidates] for _ in range(3))
        heads = [self._constants(index, loads, demand, fetched_l3) for index in range(len(problem.candidates))]
        for tensor in self._readers:
            self._keep(tensor, demand)
        self._limit_issues()
        for index in range(len(problem.candidates)):
            self._layer(index, heads[index], loads[index], demand[index], fetched_l3[index])
        if problem.l2_bytes is not None:
            self._limit_l2(problem.l2_bytes)
        # Among equally fast plans the one that moves less.
        kept = [self._moved(tensor, reader) * literal for (tensor, reader), literal in self._stays.items()]
        self.cp.minimize(CYCLE_WEIGHT * sum(self.cycles) - sum(kept))

    def _moved(self, tensor: Tensor, reader: int) -> int:
        """The worth of keeping a tensor in L1 for a reader where its transfers are hidden."""
        return max(1, max(s.cycles for s in self._streams(reader, tensor, outward=False)) // _HIDDEN_SHARE)

    def _choose(self, index: int, options: Sequence[Candidate]) -> None:
        shared = self._problem.same_as.get(index)
        if shared is not None:
            self._chosen.append(self._chosen[shared])
            self._ahead.append(self._ahead[shared])
        else:
            chosen = [self.cp.boolean(f"choose_{index}_{n}") for n in range(len(options))]
            self.cp.add_exactly_one(chosen)
            self._chosen.append(chosen)
            depth = min(MOST_AHEAD, index) if self._problem.overlap else 0
            ahead = [self.cp.boolean(f"ahead_{index}_{d}") for d in range(depth)]
            for nearer, farther in pairwise(ahead):
                self.cp.add_implication(farther, nearer)
            self._ahead.append(ahead)
        self._l3.append(self.cp.boolean(f"l3_{index}") if self._problem.l2_bytes is not None else None)
        self.cycles.append(self.cp.integer(0, self._most, f"cycles_{index}"))

    def _sum(self, index: int, values: Sequence[int]) -> Any:
        """The value of the chosen candidate."""
        return sum(v * x for v, x in zip(values, self._chosen[index], strict=True))

    def _unless(self, index: int, values: Sequence[int], literal: Any, name: str) -> Any:
        """The chosen candidate's value, or nothing where the literal holds."""
        most = max(values)
        if most == 0:
            return 0
        if literal is None:
            return self._sum(index, values)
        result = self.cp.integer(0, most, f"{name}_{index}")
        self.cp.add(result >= self._sum(index, values) - most * literal)
        return result

    def _streams(self, index: int, tensor: Tensor, *, outward: bool) -> list[Stream]:
        names = self._outputs[index] if outward else self._inputs[index]
        position = names.index(tensor)
        return [(c.cost.outputs if outward else c.cost.inputs)[position] for c in self._problem.candidates[index]]

    def _residency(self, tensor: Tensor, readers: Sequence[int]) -> None:
        """Which readers find a tensor in L1: its tiles have to be parts of it where it is made and where it is read."""
        producer = self._producer.get(tensor)
        made = self._streams(producer, tensor, outward=True) if producer is not None else []
        if producer is not None and not any(s.fits for s in made):
            return
        found = []
        for reader in readers:
            read = self._streams(reader, tensor, outward=False)
            if not any(s.fits for s in read):
                continue
            stays = self._shared_residency(tensor, reader)
            if stays is None:
                stays = self.cp.boolean(f"stays_{tensor.name}_{reader}")
                self._only_if(reader, [s.fits for s in read], stays)
            if producer is not None:
                self._only_if(producer, [s.fits for s in made], stays)
            self._stays[tensor, reader] = stays
            found.append(stays)
        if found:
            kept = self.cp.boolean(f"kept_{tensor.name}")
            self.cp.add_largest(kept, found)
            self._kept[tensor] = kept

    def _shared_residency(self, tensor: Tensor, reader: int) -> Any:
        shared = self._problem.same_as.get(reader)
        if shared is None:
            return None
        return self._stays.get((self._inputs[shared][self._inputs[reader].index(tensor)], shared))

    def _only_if(self, index: int, allowed: Sequence[bool], literal: Any) -> None:
        for good, chosen in zip(allowed, self._chosen[index], strict=True):
            if not good:
                self.cp.add_implication(chosen, literal.negated())

    def _constants(
        self, index: int, loads: list[list[Any]], demand: list[list[Any]], fetched_l3: list[list[Any]]
    ) -> Any:
        """Fetching what a layer needs before its first step: what earlier layers do not hide is returned."""
        options = self._problem.candidates[index]
        total = self._sum(index, [c.cost.constant_cycles for c in options])
        for tensor in self._inputs[index]:
            # What was stored long ago can be fetched ahead as well.
            if self._producer.get(tensor, -1) < index - 1 and index:
                first = [s.exposed for s in self._streams(index, tensor, outward=False)]
                total += self._unless(index, first, self._stays.get((tensor, index)), f"early_{tensor.name}")
        size = [c.cost.constants for c in options]
        hidden = []
        for depth, literal in enumerate(self._ahead[index]):
            earlier = index - 1 - depth
            if earlier < 0:
                break
            part = self.cp.integer(0, self._most, f"hidden_{index}_{depth}")
            self.cp.add(part == 0).only_enforce_if(literal.negated())
            hidden.append(part)
            loads[earlier].append(part)
            demand[earlier].append(self._unless(index, size, literal.negated(), f"fetched_{depth}"))
        head = self.cp.integer(0, self._most, f"head_{index}")
        self.cp.add(head + sum(hidden) >= total)
        return head + self._from_l3(index, fetched_l3)

    def _limit_issues(self) -> None:
        """A core that gives the DMA more commands than it takes at once stands still until one is done."""
        issued: dict[int, list[Any]] = {}
        for index, ahead in enumerate(self._ahead):
            for depth, literal in enumerate(ahead):
                farther = ahead[depth + 1] if depth + 1 < len(ahead) else 0
                issued.setdefault(index - 1 - depth, []).append(literal - farther)
        for literals in issued.values():
            self.cp.add(sum(literals) <= self._problem.costs.commands_in_flight)

    def _from_l3(self, index: int, fetched_l3: list[list[Any]]) -> Any:
        """The part of a transfer from L3 that earlier layers do not hide.

        They hide one piece, for which there is a place; the others arrive while the layer itself works on pieces.
        """
        if self._l3[index] is None:
            return 0
        absent, costs = self._l3[index].negated(), self._problem.costs.from_l3_cycles
        options = [c.cost for c in self._problem.candidates[index]]
        total = self._unless(index, [costs(c.largest_bytes) for c in options], absent, "from_l3")
        rest = [costs(c.large_bytes - c.largest_bytes) for c in options]
        fetched_l3[index].append(self._unless(index, rest, absent, "rest_from_l3"))
        hidden = []
        for earlier in range(max(0, index - _L3_AHEAD), index):
            part = self.cp.integer(0, self._most, f"l3_hidden_{index}_{earlier}")
            hidden.append(part)
            fetched_l3[earlier].append(part)
        head = self.cp.integer(0, self._most, f"l3_head_{index}")
        self.cp.add(head + sum(hidden) >= total)
        return head

    def _keep(self, tensor: Tensor, demand: list[list[Any]]) -> None:
        """A tensor in L1 takes its place from the layer that makes it to the last that finds it there."""
        readers = [r for r in self._readers[tensor] if (tensor, r) in self._stays]
        if not readers:
            return
        size = aligned(tensor.spec.bytes, L1_ALIGNMENT) + 2 * L1_ALIGNMENT
        first = self._producer.get(tensor, readers[0])
        before = first
        for number, reader in enumerate(readers):
            later = [self._stays[tensor, r] for r in readers[number:]]
            alive = self.cp.boolean(f"alive_{tensor.name}_{reader}")
            self.cp.add_largest(alive, later)
            for index in range(before, reader + 1):
                demand[index].append(size * alive)
            before = reader + 1

    def _layer(self, index: int, head: Any, loads: list[Any], demand: list[Any], fetched_l3: list[Any]) -> None:
        problem, options = self._problem, self._problem.candidates[index]
        corrections = [problem.corrections.get((index, n), 0) for n in range(len(options))]
        compute = self._sum(index, [max(0, c.cost.compute + k) for c, k in zip(options, corrections, strict=True)])
        ends: list[Any] = [head]
        own: list[Any] = [self._sum(index, [c.cost.own + c.cost.constants for c in options])]
        streamed: list[Any] = [self._sum(index, [c.cost.constant_stream for c in options])]
        for tensor in self._inputs[index]:
            streams, stays = self._streams(index, tensor, outward=False), self._stays.get((tensor, index))
            own.append(self._unless(index, [s.bytes for s in streams], stays, f"tile_{tensor.name}"))
            streamed.append(self._unless(index, [s.cycles for s in streams], stays, f"load_{tensor.name}"))
            if self._producer.get(tensor, -1) == index - 1 or index == 0:
                first = [s.exposed + problem.costs.turnaround_cycles for s in streams]
                ends.append(self._unless(index, first, stays, f"first_{tensor.name}"))
            if index and self._producer.get(tensor, -1) == index - 1:
                # It has to have been stored.
                made = [s.last for s in self._streams(index - 1, tensor, outward=True)]
                ends.append(self._unless(index - 1, made, stays, f"stored_{tensor.name}"))
        stores: list[Any] = []
        for tensor in self._outputs[index]:
            streams, kept = self._streams(index, tensor, outward=True), self._kept.get(tensor)
            own.append(self._unless(index, [s.bytes for s in streams], kept, f"result_{tensor.name}"))
            unstored = self._unstored(tensor)
            stores.append(self._unless(index, [s.cycles for s in streams], unstored, f"store_{tensor.name}"))
            ends.append(self._unless(index, [s.exposed for s in streams], unstored, f"leaves_{tensor.name}"))
        self.cp.add(self.cycles[index] >= compute + sum(ends))
        self.cp.add(self.cycles[index] >= sum(streamed) + sum(loads) + head)
        self.cp.add(self.cycles[index] >= sum(stores))
        if fetched_l3:
            self.cp.add(self.cycles[index] >= sum(fetched_l3))
        # The count is a little pessimistic: the smallest candidate fits whatever it says.
        smallest = min(c.cost.bytes_in_l1 for c in options)
        self.cp.add(sum(own) + sum(demand) <= max(problem.l1_bytes[index], smallest))

    def _unstored(self, tensor: Tensor) -> Any:
        """A literal that holds where nobody reads a tensor from L2; None if somebody always does."""
        stays = [self._stays.get((tensor, r)) for r in self._readers.get(tensor, [])]
        if not stays or tensor in self._results or any(s is None for s in stays):
            return None
        literal = self.cp.boolean(f"unstored_{tensor.name}")
        self.cp.add_smallest(literal, stays)
        return literal

    def _limit_l2(self, room: int) -> None:
        """Large constants beside each other in L2, and places for what comes from L3: one in use, the next arriving."""
        places = self.cp.integer(0, room, "places_from_l3")
        taken: list[Any] = [places]
        fetched: dict[int, Any] = {}
        for index, options in enumerate(self._problem.candidates):
            sizes = [c.cost.large_bytes for c in options]
            taken.append(self._sum(index, [c.cost.small_bytes for c in options]))
            if max(sizes) == 0:
                self.cp.add(self._l3[index] == 0)
                continue
            taken.append(self._unless(index, sizes, self._l3[index], "large"))
            largest = [c.cost.largest_bytes for c in options]
            fetched[index] = self._unless(index, largest, self._l3[index].negated(), "fetched_large")
            both = [min(c.cost.large_bytes, 2 * c.cost.largest_bytes) for c in options]
            self.cp.add(places >= self._unless(index, both, self._l3[index].negated(), "fetched_both"))
        order = list(fetched)
        for number, index in enumerate(order):
            between: list[Any] = []
            for later in order[number + 1 : number + 1 + _L3_PAIRS]:
                # The two are neighbours unless one between them comes from L3 too.
                self.cp.add(places >= fetched[index] + fetched[later] - 2 * room * sum(between))
                between.append(self._l3[later])
        self.cp.add(sum(taken) <= room)

    # --- hints and results -----------------------------------------------------------------------------------

    def hint(self, hint: Solution) -> None:
        for index in range(len(self._chosen)):
            if index in self._problem.same_as:
                continue
            for number, chosen in enumerate(self._chosen[index]):
                self.cp.hint(chosen, number == hint.candidates[index])
            for depth, literal in enumerate(self._ahead[index]):
                self.cp.hint(literal, depth < hint.ahead[index])
        for (tensor, reader), literal in self._stays.items():
            if reader not in self._problem.same_as:
                self.cp.hint(literal, reader in hint.resident.get(tensor, ()))

    def read(self, found: Outcome) -> Solution:
        """The values of a solved model."""
        chosen = tuple(next(n for n, x in enumerate(xs) if found.value(x)) for xs in self._chosen)
        resident: dict[Tensor, frozenset[int]] = {}
        for (tensor, reader), literal in self._stays.items():
            if found.value(literal):
                resident[tensor] = resident.get(tensor, frozenset()) | {reader}
        ahead = tuple(sum(bool(found.value(x)) for x in xs) for xs in self._ahead)
        in_l3 = tuple(x is not None and bool(found.value(x)) for x in self._l3)
        cycles = tuple(int(found.value(c)) for c in self.cycles)
        return Solution(chosen, resident, ahead, in_l3, cycles)
