"""A plan made better: one move after the other, and what each found crossed with the best."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts import Attempt
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.crossover import crossed
from tvm_pulp.planning.search.moves.move import SearchMove
from tvm_pulp.planning.search.moves.table import LONG_PLAN, MARGIN, MOVES, PATIENCE, PATIENCE_IF_LONG
from tvm_pulp.planning.search.problem import Problem


@dataclass(frozen=True)
class Tried:
    """A turn of a move: cycles of the plan that it was for and of the best that it led to, and how many plans."""

    move: str
    before: int
    after: int
    plans: int


_WATCHER: ContextVar[Callable[[Tried], None]] = ContextVar("watcher", default=lambda _tried: None)


@contextmanager
def watch_moves(watcher: Callable[[Tried], None]) -> Iterator[None]:
    """While this is open, `watcher` is told of every turn of a move, which decides nothing."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def improve(problem: Problem, start: Attempt) -> tuple[Attempt, int]:
    """The best of what comes of an attempt by one move after the other, and how many plans were tried.

    Only what is clearly faster is where further moves start: a gain within the estimates' error may be in the way of
    others.
    """
    count, best = 0, start
    for move in MOVES:
        for turn in range(move.times):
            found = _fitting(problem, propose(problem, start, move, turn))
            better = tell(move.name, start, found)
            joined = _fitting(problem, _crossings(problem, better, found))
            better = tell(f"{move.name}, crossed", better, joined)
            start = better if better.cycles < (1 - MARGIN) * start.cycles else start
            best = min([best, better], key=lambda a: a.cycles)
            count += len(found) + len(joined)
    return best, count


def _fitting(problem: Problem, attempts: Iterator[Attempt]) -> list[Attempt]:
    """Attempts that fit L2."""
    return [attempt for attempt in attempts if attempt.plan.l2_needed <= problem.l2_bytes]


def tell(name: str, start: Attempt, found: Sequence[Attempt]) -> Attempt:
    """The best of an attempt and what came of it; whoever watches is told of it."""
    best = min([start, *found], key=lambda a: a.cycles)
    if found:
        _WATCHER.get()(Tried(name, start.cycles, best.cycles, len(found)))
    return best


def propose(problem: Problem, best: Attempt, move: SearchMove, turn: int = 0) -> Iterator[Attempt]:
    """Attempts of a turn of a move from the best one, as far as they fit and as long as they may pay.

    A move goes on into one direction: where some steps in a row make it worse, the next would too.
    """
    patience = PATIENCE_IF_LONG if len(best.plan.schedule.slots) > LONG_PLAN else PATIENCE
    before = best.cycles
    for name, wanted in move.proposals(problem, best.plan, turn):
        with suppress(UserError):
            attempt = Attempt(f"{best.name}, {name}", evaluate(problem, wanted))
            yield attempt
            slower = attempt.cycles > before and (patience.steps == 1 or before > best.cycles)
            if slower or attempt.cycles > patience.worse * best.cycles:
                return
            before = attempt.cycles


def _crossings(problem: Problem, best: Attempt, others: Sequence[Attempt]) -> Iterator[Attempt]:
    """Attempts that take some layers from the best plan and some from another, each of the best so far."""
    for other in others:
        wanted = None if other.plan is best.plan else crossed(best.plan, other.plan)
        if wanted is None:
            continue
        with suppress(UserError):
            name = other.name.removeprefix(best.name).strip(", ")
            attempt = Attempt(f"{best.name}, in part {name}", evaluate(problem, wanted))
            yield attempt
            best = min(best, attempt, key=lambda a: a.cycles)
