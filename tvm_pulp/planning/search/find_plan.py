"""Finds the plan: heuristics first, then the solver; whatever is expected to be fastest stands."""

from collections.abc import Sequence
from dataclasses import replace

from tvm_pulp.planning.program.plan_record import Planner
from tvm_pulp.planning.search.attempts import FEW_LAYERS, Attempt
from tvm_pulp.planning.search.moves import TEAM, improve, propose, tell
from tvm_pulp.planning.search.moves.table import MANY_STEPS, MARGIN
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds import rules
from tvm_pulp.planning.search.seeds.arrange_layers import arrange_layers
from tvm_pulp.planning.search.solver import SolverAttempts, SolverRounds
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions

# Where a plan with other cuts takes at most so many times the cycles, in a network of few layers, both are varied.
_CLOSE = 1.02
# Where variations leave so much of a plan's cycles, another start is varied too.
_LITTLE_GAIN = 0.99
# Where L2 is too small, constants from this size on live in L3: what is tried, largest first.
_L3_FROM = (131072, 65536, 32768, 16384, 8192, 4096, 2048)


def find_plan(problem: Problem, start: Decisions, *, planner: str, effort: str = "best") -> Plan:
    """The fastest plan found that fits L2, by its expected cycles; where none does, the one that needs least of it.

    `start`: the regions of the network in some order, on engines of which the search may move them.

    With the effort `fast` rules decide, and neither the solver nor variations of the best plan are tried but for layers
    side by side, where cores have teams; with `rough` the layers stay as they are and one rule is enough.
    """
    try:
        if planner == "greedy":
            return _find_greedy(problem, start)
        if effort != "rough":
            start = arrange_layers(problem, start)
        return _find(problem, start, effort)
    except MissingL1 as error:
        raise rules.enough_l1(problem, start, error) from None


def _find(problem: Problem, start: Decisions, effort: str) -> Plan:
    tried: list[Attempt] = []
    too_large: list[Attempt] = []
    fastest: int | None = None
    for l3_from in (None, *_L3_FROM):
        first = rules.without_overlap(problem, start, l3_from)
        if first.plan.l2_needed > problem.l2_bytes:
            too_large.append(first)
            continue
        policy = rules.one_rule if effort == "rough" else rules.try_rules
        more = policy(problem, start, first, l3_from) if problem.overlap else []
        tried += [a for a in (first, *more) if a.plan.l2_needed <= problem.l2_bytes]
        # What is fetched while something else is used needs places for both: with more in L3 there may be room.
        cycles = min((a.cycles for a in tried if a.plan.policy.overlap or not problem.overlap), default=None)
        if cycles is not None and (l3_from is None or (fastest is not None and cycles >= fastest)):
            break
        fastest = cycles
    if not tried:
        return min(too_large, key=lambda a: a.plan.l2_needed).plan
    if effort != "best":
        best = _fastest(tried)
        beside = propose(problem, best, TEAM) if effort == "fast" and problem.overlap else ()
        tried += [a for a in beside if a.plan.l2_needed <= problem.l2_bytes]
        best = min([best, *tried], key=lambda a: a.cycles)
        return replace(best.plan, planner=_by_rules("solver", best.name, len(tried)))
    return _best(problem, start, tried)


def _find_greedy(problem: Problem, start: Decisions) -> Plan:
    tried: list[Attempt] = []
    for l3_from in (None, *_L3_FROM):
        tried.append(rules.greedy_attempt(problem, start, l3_from))
        if tried[-1].plan.l2_needed <= problem.l2_bytes:
            break
    chosen = min(tried, key=lambda a: a.plan.l2_needed)
    return replace(chosen.plan, planner=_by_rules("greedy", chosen.name, 1))


def _fastest(tried: Sequence[Attempt]) -> Attempt:
    """The fastest attempt; a later one has to be clearly faster, since all figures are estimates.

    Of two that are equal the one that overlaps: it can be varied further.
    """
    best = tried[0]
    for attempt in tried[1:]:
        same = attempt.cycles == best.cycles and attempt.plan.policy.overlap and not best.plan.policy.overlap
        if same or attempt.cycles < best.cycles * (1 - MARGIN if attempt.name.startswith("solver") else 1):
            best = attempt
    return best


def _best(problem: Problem, start: Decisions, tried: list[Attempt]) -> Plan:
    """The solver's plan if it is faster than the attempts so far, else the best of them; varied further."""
    solved = SolverAttempts()
    best = min(tried, key=lambda a: a.cycles)
    tight = any(a.plan.schedule.fetches for a in tried)
    if len(best.plan.schedule.slots) <= MANY_STEPS:
        solved = SolverRounds(problem, start, problem.l2_bytes if tight else None).run(tried)
        proposed = [a for a in solved.attempts if a.plan.l2_needed <= problem.l2_bytes]
        tell("solver", best, proposed)
        tried = [*tried, *proposed]
    chosen = _fastest(tried)
    best, count = improve(problem, chosen)
    for other in _other_starts(tried, chosen, best):
        varied, more = improve(problem, other)
        count += more
        if varied.cycles < best.cycles:
            best, chosen = varied, other
    found, solutions = _by_rules("solver", best.name, len(tried) + count), solved.solutions
    if solutions:
        # The solution that became the plan, or the last one where a heuristic was better.
        made = [s for a, s in zip(solved.attempts, solved.solutions, strict=False) if a is chosen]
        last = made[0] if made else solutions[-1]
        found = replace(
            found,
            status=last.status,
            objective_cycles=last.objective,
            bound_cycles=last.bound,
            # Part of the objective that a better solution could save at most.
            gap=round((last.objective - last.bound) / max(1, last.objective), 6),
            deterministic_time=round(sum(s.deterministic_time for s in solutions), 6),
        )
    return replace(best.plan, planner=found, solver_seconds=sum(s.seconds for s in solutions))


def _by_rules(name: str, chosen: str, attempts: int) -> Planner:
    """A plan that was found so, without the solver."""
    return Planner(name, chosen, attempts, None, None, None, None, None)


def _other_starts(tried: Sequence[Attempt], chosen: Attempt, varied: Attempt) -> list[Attempt]:
    """Attempts with other cuts that are hardly slower, in a network of few layers: more may come of them.

    The fastest by rules, and of those of the solver one more where variations of the chosen one gained little.
    """
    if len(chosen.plan.layers) > FEW_LAYERS:
        return []
    others = sorted((a for a in tried if a.cycles <= _CLOSE * chosen.cycles), key=lambda a: a.cycles)
    others = [a for a in others if _cuts(a) != _cuts(chosen)]
    by_rules = [a for a in others if not a.name.startswith("solver")][:1]
    solved = [a for a in others if a.name.startswith("solver")][:1]
    return by_rules + (solved if varied.cycles > _LITTLE_GAIN * chosen.cycles else [])


def _cuts(attempt: Attempt) -> list[int]:
    return [id(choice.tiling) for choice in attempt.plan.decisions.choices]
