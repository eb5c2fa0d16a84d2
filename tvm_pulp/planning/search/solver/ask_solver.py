"""Proposals of the solver: its decisions as a plan, evaluated, and asked again with what that found out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts import FEW_LAYERS, Attempt
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.rules import IN_GOOD_TIME, SLACK
from tvm_pulp.planning.search.solver.candidates import Candidate, Candidates
from tvm_pulp.planning.search.solver.layer_cost import LARGE_CONSTANT, activations
from tvm_pulp.planning.search.solver.problem import Solution, SolverProblem
from tvm_pulp.planning.search.solver.repeats import find_repeats, wiring
from tvm_pulp.planning.search.solver.solve import solve
from tvm_pulp.planning.search.solver.solver_model import MOST_AHEAD
from tvm_pulp.planning.tiling.place import Buffer, excess_bytes, largest_live_set
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, prefetch_leads
from tvm_pulp.qnn.network import Tensor

# Deterministic time of the solver, first and later; how often it is asked. Large networks are asked less often.
_FIRST_TIME, _NEXT_TIME = 0.1, 0.05
_ROUNDS = 4
_STEPS_OF_ALL_ROUNDS = 400
# A bound, or a first plan, of so many times the cycles of the best says that the model does not fit the network; where
# there are many layers, asking again takes longer than it ever gained.
_NEAR = 1.06
# L1 that the solver may plan with: addresses and records need some more than it counts.
_SHARE = 0.98
# How often the solver is asked again because blocks found no room.
_REPAIRS = 3


@dataclass
class SolverAttempts:
    """Attempts that came from the solver, and its first answer."""

    attempts: list[Attempt] = field(default_factory=list)
    solutions: list[Solution] = field(default_factory=list)


class SolverRounds:
    """Ask the solver, evaluate what it says, correct its costs, ask again as long as that is faster than all before.

    `l2_bytes`: what there is, where some constants have to come from L3.
    """

    def __init__(self, problem: Problem, start: Decisions, l2_bytes: int | None) -> None:
        self._problem, self._start, self._overlap = problem, start, problem.overlap
        # L2 for everything, and for constants.
        self._l2_limit, self._l2_bytes = l2_bytes, l2_bytes
        self._network = problem.network_of(start)
        l1_bytes = int(problem.l1_bytes * _SHARE)
        self._candidates = Candidates(start, l1_bytes, problem.costs, overlap=problem.overlap)
        # Differences of evaluated plans to the model, by layer and candidate.
        self._seen: dict[tuple[int, Candidate], list[int]] = {}
        kinds = list(zip(self._candidates.classes, wiring(self._network), strict=True))
        self._same_as = find_repeats(kinds)
        self._limits = [l1_bytes] * len(kinds)

    def run(self, tried: Sequence[Attempt]) -> SolverAttempts:
        """The solution that the solver found; the best of `tried` is its first hint."""
        result = SolverAttempts()
        for attempt in tried:
            # A plan without overlap says little about one with.
            if attempt.plan.policy.overlap == self._overlap or len(tried) == 1:
                self._learn(attempt.plan)
        best = min(tried, key=lambda a: a.cycles)
        if self._l2_limit is not None:
            self._l2_bytes = self._l2_limit - _not_constant(best.plan)
        rounds = max(1, min(_ROUNDS, _STEPS_OF_ALL_ROUNDS // max(1, len(best.plan.schedule.slots))))
        for number in range(rounds):
            for index, choice in enumerate(best.plan.decisions.choices):
                self._candidates.add(index, choice)
            options = [self._candidates.of(index) for index in range(len(self._network.layers))]
            answer = self._solve(options, best, _NEXT_TIME if number else _FIRST_TIME)
            if answer is None:
                break
            solution, decisions = answer
            result.solutions.append(solution)
            if solution.same_as(result.solutions[:-1]):
                break
            try:
                plan = evaluate(self._problem, decisions)
            except UserError:
                break
            result.attempts.append(Attempt(f"solver, round {number + 1}", plan))
            if self._l2_limit is not None and self._l2_bytes is not None and plan.l2_needed > self._l2_limit:
                self._l2_bytes -= plan.l2_needed - self._l2_limit + self._l2_limit // 64
                continue
            self._learn(plan)
            if plan.estimated_cycles < best.cycles:
                best = result.attempts[-1]
            elif number or plan.estimated_cycles > _NEAR * best.cycles or len(plan.layers) > FEW_LAYERS:
                break  # its model does not fit: what it says next has never been faster either
        return result

    def _solve(
        self, options: Sequence[Sequence[Candidate]], best: Attempt, time: float
    ) -> tuple[Solution, Decisions] | None:
        """Decisions whose blocks have room in L1; where they do not, the solver gets less and is asked again.

        None where they do not and it proves that by its model all others take far longer than the best: it knows
        nothing of what makes that fast, and with less L1 it finds what is slower still.
        """
        corrections = self._corrections(options)
        hints = self._hint(best.plan, options)
        answer = None
        for _ in range(_REPAIRS):
            shared = (self._same_as, corrections, self._l2_bytes)
            asked = SolverProblem(self._network, options, self._limits, self._overlap, self._problem.costs, *shared)
            solution = solve(asked, hints, time)
            if solution is None:
                break
            answer = (solution, self._decisions(solution, options))
            apart = replace(answer[1], interleave=False)
            missing = excess_bytes(self._network, apart, self._problem.l1_bytes, self._problem.commands)
            if not missing:
                break
            if solution.bound > _NEAR * best.cycles:
                return None
            for layer, size in missing.items():
                self._limits[layer] -= size
        return answer

    def _corrections(self, options: Sequence[Sequence[Candidate]]) -> dict[tuple[int, int], int]:
        """Corrections of the model by evaluated plans: by candidate, and in doubt by layer, if it is no praise."""
        found = {}
        for index, candidates in enumerate(options):
            seen = {
                n: sum(self._seen[index, c]) // len(self._seen[index, c])
                for n, c in enumerate(candidates)
                if (index, c) in self._seen
            }
            least = max(0, min(seen.values(), default=0))
            found.update({(index, n): seen.get(n, least) for n in range(len(candidates))})
        return found

    def _learn(self, plan: Plan) -> None:
        """Compare what the model says about an evaluated plan with its expected cycles."""
        if self._l2_bytes is not None:
            return  # Waiting for L3 would be taken for a property of the layers.
        made_before: dict[Tensor, int] = {}
        for index, layer in enumerate(plan.layers):
            candidate = self._candidates.add(index, layer)
            cost, (inputs, outputs) = candidate.cost, activations(layer.layer)
            resident = plan.policy.resident
            ends = 0 if index and plan.decisions.leads.get(index) else cost.constant_cycles
            loads = 0
            for tensor, stream in zip(inputs, cost.inputs, strict=True):
                if index not in resident.get(tensor, ()):
                    loads += stream.cycles
                    if tensor in made_before or not index:
                        ends += stream.exposed + self._problem.costs.turnaround_cycles + made_before.get(tensor, 0)
            unkept = [s for t, s in zip(outputs, cost.outputs, strict=True) if not resident.get(t)]
            ends += sum(s.exposed for s in unkept)
            modelled = max(cost.compute + ends, loads + cost.constant_stream, sum(s.cycles for s in unkept))
            self._seen.setdefault((index, candidate), []).append(layer.added_cycles - modelled)
            made_before = {t: s.last for t, s in zip(outputs, cost.outputs, strict=True)}

    def _hint(self, plan: Plan, options: Sequence[Sequence[Candidate]]) -> Solution:
        """The decisions of a plan in the solver's words."""
        entered = [self._candidates.add(index, layer) for index, layer in enumerate(plan.layers)]
        chosen = tuple(options[index].index(candidate) for index, candidate in enumerate(entered))
        ahead = []
        issued: dict[int, int] = {}
        for index in range(len(entered)):
            steps, depth = plan.decisions.leads.get(index, 0), 0
            while steps > 0 and depth < min(index, MOST_AHEAD):
                depth += 1
                steps -= entered[index - depth].cost.slots
            # A plan spreads commands over the steps of a layer; the solver counts them by layer.
            while depth and issued.get(index - depth, 0) >= self._problem.costs.commands_in_flight:
                depth -= 1
            if depth:
                issued[index - depth] = issued.get(index - depth, 0) + 1
            ahead.append(depth)
        return Solution(chosen, dict(plan.policy.resident), tuple(ahead), (False,) * len(chosen))

    def _decisions(self, solution: Solution, options: Sequence[Sequence[Candidate]]) -> Decisions:
        chosen = [options[index][n] for index, n in enumerate(solution.candidates)]
        choices, leads = [], {}
        for index, candidate in enumerate(chosen):
            tiling = self._candidates.tiling(index, candidate)
            choices.append(Choice(tiling, candidate.two_copies, self._problem.l1_bytes))
            depth = solution.ahead[index]
            leads[index] = sum(c.cost.slots for c in chosen[index - depth : index])
        # The solver counts in layers. Within them a transfer starts as late as hides it: the DMA's queue is short.
        latest = prefetch_leads(choices, SLACK[IN_GOOD_TIME], self._problem.costs)
        leads = {index: min(lead, latest[index]) for index, lead in leads.items()}
        far = (t for made, from_l3 in zip(choices, solution.in_l3, strict=True) if from_l3 for t in made.loaded)
        return replace(
            self._start,
            choices=tuple(choices),
            leads=leads if self._overlap else {},
            overlap=self._overlap,
            levels={t: "l3" for t in far if t.level == "l2" and t.spec.bytes >= LARGE_CONSTANT},
            resident=solution.resident,
        )


def _not_constant(plan: Plan) -> int:
    """Bytes of L2 for all but constants and places for those that come from L3."""
    from_l3 = {fetch.tensor for fetch in plan.schedule.fetches}
    buffers = [
        Buffer(tensor, tensor.spec.bytes, *alive)
        for tensor, alive in plan.schedule.l2_alive.items()
        if tensor in plan.arena.offsets and tensor not in from_l3
    ]
    constants = sum(t.spec.bytes for t, level in plan.constants().items() if level in ("l2", "l3") and t not in from_l3)
    return plan.l2_needed - plan.arena.size + largest_live_set(buffers) - constants
