"""A Pareto front by search: the compiler's estimate for many points, simulation for those that may be on the front."""

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tvm_pulp.dse.compiler_digest import compiler_digest
from tvm_pulp.dse.configuration import Configuration, Progress, silent
from tvm_pulp.dse.evaluate import Record
from tvm_pulp.dse.frame import make_frame, need
from tvm_pulp.dse.pareto import hypervolume, pareto_front
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.toolchain.cache import digest_of

# What a compilation tells of a figure that only a simulation measures.
ESTIMATES = {"cycles": "estimated_cycles"}
SHORT = {"area": "area_mm2"}
# Figures that need no estimate: they are known when a network is compiled.
EXACT = ("area_mm2", "l1_bytes", "l2_bytes", "wmem_bytes", "bound_cycles", "estimated_cycles")
# By how much an estimate may be too high: whatever could be on the front if it were is simulated.
TOLERANCE = 0.05
_BATCH = 16
# A search that has found its front proposes points again that it knows: it ends after so many times its trials.
_ASKS = 3


# What can be chosen of a point; its figures, all of them to be small.
Key = tuple[tuple[str, Any], ...]
Figures = tuple[float, ...]


class Searched(Protocol):
    """The part of a study that a search needs."""

    configurations: list[Configuration]
    rows: list[Record | None]

    def evaluate(
        self, wanted: Iterable[int], workers: int, scheduler: Any, simulate: bool, progress: Progress
    ) -> None: ...


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: the front and all simulated rows as tables, and how many points it looked at."""

    front: Any
    simulated: Any
    minimize: tuple[str, ...]
    points: int
    estimated_points: int
    simulated_points: int

    def _repr_html_(self) -> str:
        from tvm_pulp.dse.rich_display import frame_html

        looked = f"{self.points} points, {self.estimated_points} estimated, {self.simulated_points} simulated"
        return f"<p><b>Front</b> by {' and '.join(self.minimize)}; {looked}</p>{frame_html(self.front)}"


def search(
    study: Searched,
    minimize: Sequence[str] = ("cycles", "area_mm2"),
    *,
    trials: int = 100,
    simulations: int | None = None,
    seed: int = 0,
    storage: str | None = None,
    name: str | None = None,
    workers: int = 1,
    scheduler: Any = None,
    progress: Progress = silent,
) -> SearchResult:
    """Search the study's points, which are its variants with targets and options; figures are means over its models.

    Optuna proposes points, by NSGA-II on the compiler's estimates, until `trials` of them are estimated; then at most
    `simulations` (default: a quarter of all) are simulated. `storage` is a database of Optuna: a search with the same
    goes on where it was, and several processes may share it.
    """
    with warnings.catch_warnings():
        # One of its progress bars misses widgets of notebooks; nobody asked for it.
        warnings.simplefilter("ignore")
        optuna = need("optuna", "a search")
    wanted = tuple(SHORT.get(figure, figure) for figure in minimize)
    for figure in wanted:
        if figure not in ESTIMATES and figure not in EXACT:
            known = ", ".join((*ESTIMATES, *EXACT))
            raise UserError(f"search: nothing estimates '{figure}' before it is simulated: minimize some of {known}")
    points = _points(study)
    rows = list(points.values())
    refuse_if(trials < 1, f"search: trials is {trials}: at least one is needed")
    budget = max(1, len(points) // 4) if simulations is None else simulations
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(population_size=_BATCH, seed=seed)
    models = sorted({c.model.content.digest for c in study.configurations})
    described = json.dumps([compiler_digest(), models, list(map(dict, points)), wanted], default=str)
    trace = optuna.create_study(
        directions=["minimize"] * len(wanted),
        sampler=sampler,
        storage=storage,
        study_name=name or f"tvm_pulp-{digest_of([described])[:12]}",
        load_if_exists=True,
    )

    def evaluate(chosen: Sequence[int], simulate: bool) -> list[Figures | None]:
        study.evaluate(itertools.chain(*(rows[n] for n in chosen)), workers, scheduler, simulate, progress)
        return [_figures(study, rows[n], wanted, estimate=not simulate) for n in chosen]

    with ExitStack() as stack:
        if workers > 1 or scheduler is not None:
            from tvm_pulp.dse.scale_out import open_client

            scheduler = stack.enter_context(open_client(workers, scheduler))
        estimated = _explore(optuna, trace, list(points), trials, partial(evaluate, simulate=False))
        chosen = _candidates(estimated, budget, [1 - TOLERANCE if figure in ESTIMATES else 1.0 for figure in wanted])
        measured = dict(zip(chosen, evaluate(chosen, simulate=True), strict=True))
    front = _front({number: figures for number, figures in measured.items() if figures is not None})

    def table(shown: Sequence[int]) -> Any:
        indices = [index for number in shown for index in rows[number]]
        return make_frame([study.configurations[i] for i in indices], [study.rows[i] for i in indices])

    return SearchResult(table(front), table(chosen), wanted, len(points), len(estimated), len(chosen))


def _points(study: Searched) -> dict[Key, list[int]]:
    """Rows by what can be chosen: everything but the model."""
    found: dict[Key, list[int]] = {}
    for index, configuration in enumerate(study.configurations):
        labels = {name: value for name, value in configuration.labels.items() if name not in ("model", "soc")}
        if not configuration.variant.values:
            labels["soc"] = configuration.variant.name
        found.setdefault(tuple(labels.items()), []).append(index)
    return found


def _explore(
    optuna: Any, trace: Any, keys: Sequence[Key], trials: int, evaluate: Callable[[Sequence[int]], list[Figures | None]]
) -> dict[int, Figures]:
    """Estimated figures of the points that the search proposes, by their numbers."""
    numbers = {key: number for number, key in enumerate(keys)}
    axes = {name: list(dict.fromkeys(dict(key).get(name) for key in keys)) for key in keys for name, _ in key}
    distributions = {name: optuna.distributions.CategoricalDistribution(values) for name, values in axes.items()}
    found: dict[int, Figures] = {}
    for past in trace.trials:  # of an earlier search in the same storage
        number = numbers.get(_nearest(past.params, keys))
        if number is not None and past.state == optuna.trial.TrialState.COMPLETE:
            found[number] = tuple(past.values)
    if trials >= len(keys):  # nothing to choose: all are looked at
        for number, key in enumerate(keys):
            if number not in found:
                trace.enqueue_trial(dict(key), skip_if_exists=True)
    asked_before = len(trace.trials)
    while len(found) < min(trials, len(keys)) and len(trace.trials) - asked_before < _ASKS * trials:
        asked = [trace.ask(distributions) for _ in range(min(_BATCH, trials - len(found)))]
        proposed = [numbers[_nearest(trial.params, keys)] for trial in asked]
        different = list(dict.fromkeys(proposed))
        estimates = dict(zip(different, evaluate(different), strict=True))
        for trial, number in zip(asked, proposed, strict=True):
            figures = estimates[number]
            if figures is None:
                trace.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            found[number] = figures
            trace.tell(trial, figures)
    return found


def _nearest(params: Mapping[str, Any], keys: Sequence[Key]) -> Key:
    """The point that agrees with most parameters: options of an engine mean nothing to targets without it."""
    return max(keys, key=lambda key: sum(dict(key).get(name) == value for name, value in params.items()))


def _figures(study: Searched, rows: Sequence[int], wanted: Sequence[str], *, estimate: bool) -> Figures | None:
    """Means over the rows of a point; None where one of them failed."""
    figures = []
    for figure in wanted:
        name = ESTIMATES.get(figure, figure) if estimate else figure
        values = [(study.rows[index] or {}).get(name) for index in rows]
        if any(value is None for value in values):
            return None
        figures.append(sum(float(value) for value in values if value is not None) / len(values))
    return tuple(figures)


def _candidates(estimated: Mapping[int, Figures], budget: int, factors: Sequence[float]) -> list[int]:
    """Points to simulate: the estimated front, then what lies behind it and may be on it nevertheless.

    Those that cover most of the space come first. `factors`: what figures may be of what they seem.
    """
    front = _front(estimated)
    behind = {number: figures for number, figures in estimated.items() if number not in front}
    chosen = _by_volume({number: estimated[number] for number in front}, budget)
    while behind and len(chosen) < budget:
        layer = _front(behind)
        chosen += [n for n in layer if not any(_beats(estimated[f], behind[n], factors) for f in front)]
        for number in layer:
            del behind[number]
    return chosen[:budget]


def _by_volume(front: Mapping[int, Figures], budget: int) -> list[int]:
    """As many points of a front as there may be, each the one that adds most to the volume of those before."""
    if len(front) <= budget:
        return list(front)
    figures = list(front.values())
    # Every figure counts alike: from the best of the front to a little worse than its worst.
    low = [min(column) for column in zip(*figures, strict=True)]
    span = [max(column) - least or 1.0 for column, least in zip(zip(*figures, strict=True), low, strict=True)]
    scaled = {n: [(v - a) / s for v, a, s in zip(f, low, span, strict=True)] for n, f in front.items()}
    reference = [1.1] * len(low)
    chosen: list[int] = []
    while len(chosen) < budget:
        taken = [scaled[n] for n in chosen]
        left = [n for n in front if n not in chosen]
        chosen.append(max(left, key=lambda n: (hypervolume([*taken, scaled[n]], reference), -n)))
    return chosen


def _front(points: Mapping[int, Figures]) -> list[int]:
    numbers = list(points)
    return [numbers[i] for i in pareto_front([points[number] for number in numbers])]


def _beats(one: Sequence[float], other: Sequence[float], factors: Sequence[float]) -> bool:
    """Tell if a point is no worse than another one whose figures are less than they seem, and better in one."""
    possible = [b * factor for b, factor in zip(other, factors, strict=True)]
    return all(a <= b for a, b in zip(one, possible, strict=True)) and tuple(one) != tuple(possible)
