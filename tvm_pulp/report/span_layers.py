"""The layer of every measured transfer and job: the plan's actions beside what happened, in the same order."""

import itertools
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tvm_pulp.planning.program.actions import FetchAction, JobAction, Step, TransferAction, actions_of
from tvm_pulp.sim.activity import Activity, CoreSpans, Cover, Spans


class LayerSpan(NamedTuple):
    """Something that an actor did for a layer, in cycles since the inference began."""

    start: int
    end: int
    layer: int


def job_spans(activity: Activity, program: Sequence[Step]) -> dict[str, list[LayerSpan]]:
    """Jobs of every accelerator: they end in the order in which they were given."""
    planned: dict[str, list[int]] = defaultdict(list)
    for action in actions_of(program, JobAction):
        planned[action.engine] += [action.layer] * action.runs
    found = {}
    for name, spans in activity.accelerators.items():
        shown, layers = _inside(activity, spans), planned[name]
        found[name] = _layer_spans(activity, shown, layers if len(layers) == len(shown) else [None] * len(shown))
    return found


def transfer_spans(activity: Activity, program: Sequence[Step]) -> dict[str, list[LayerSpan]]:
    """Loads, stores and what comes from L3: of several cores' commands, that of the same size which comes first."""
    kinds = {"load": activity.loads, "store": activity.stores, "l3": activity.from_l3}
    transfers: list[TransferAction | FetchAction] = [
        *actions_of(program, TransferAction),
        *actions_of(program, FetchAction),
    ]
    found = {}
    for kind, spans in kinds.items():
        waiting: dict[int, deque[int]] = defaultdict(deque)
        for action in transfers:
            if action.do == ("fetch" if kind == "l3" else kind):
                waiting[action.writes[0].bytes].append(action.layer)
        shown = _inside(activity, spans)
        queues = (waiting[int(amount)] for amount in shown[:, 2])
        found[kind] = _layer_spans(activity, shown, (queue.popleft() if queue else None for queue in queues))
    return found


def awake_spans(activity: Activity) -> dict[str, list[LayerSpan]]:
    """Stretches in which every core, or a core of every group, is awake, cut where layers begin."""
    edges = np.asarray(activity.boundaries, np.int64)
    found: dict[str, list[LayerSpan]] = {}
    for core in _shown_cores(activity):
        mine = found.setdefault(core.name, [])
        chosen = core.awake & (core.ends > activity.start) & (core.starts < activity.end)
        for start, end in zip(core.starts[chosen], core.ends[chosen], strict=True):
            cuts = edges[(edges > start) & (edges < end)].tolist()
            ends = [max(int(start), activity.start), *cuts, min(int(end), activity.end)]
            for a, b in itertools.pairwise(ends):
                if a < b:
                    mine.append(LayerSpan(a - activity.start, b - activity.start, _layer_at(activity, a)))
    return found


def _shown_cores(activity: Activity) -> Iterator[CoreSpans]:
    """Cores as they are; those of a group as one that is awake while any of them is."""
    for name, places in activity.core_groups.items():
        group = [activity.cores[place] for place in places]
        if len(group) == 1:
            yield group[0]
            continue
        starts = np.concatenate([core.starts[core.awake] for core in group])
        ends = np.concatenate([core.ends[core.awake] for core in group])
        cover = Cover.of(starts, ends)
        always = np.ones(len(cover.starts), bool)
        yield CoreSpans(name, cover.starts, cover.ends, always, ~always, {}, group[0].computes)


def busy_cycles(activity: Activity, program: Sequence[Step]) -> list[int]:
    """Of each layer, the cycles in which its engine works on it: jobs, else the most that one core is awake."""
    layers = len(activity.boundaries) - 1
    jobs, cores = [0] * layers, [0] * layers
    for spans in job_spans(activity, program).values():
        for span in spans:
            jobs[span.layer] += span.end - span.start
    for actor in (core for core in activity.cores if core.computes):
        awake = Cover.of(actor.starts[actor.awake], actor.ends[actor.awake])
        by_layer = np.diff(awake.until(np.asarray(activity.boundaries, np.int64)))
        cores = [max(a, int(b)) for a, b in zip(cores, by_layer, strict=True)]
    return [job or core for job, core in zip(jobs, cores, strict=True)]


def _inside(activity: Activity, spans: Spans) -> np.ndarray:
    """Start, end and amount of what begins in the inference."""
    chosen = (spans.starts >= activity.start) & (spans.starts < activity.end)
    return np.stack([spans.starts[chosen], spans.ends[chosen], spans.amounts[chosen]], axis=1)


def _layer_at(activity: Activity, cycle: int) -> int:
    last = len(activity.boundaries) - 2
    return min(max(int(np.searchsorted(activity.boundaries, cycle, side="right")) - 1, 0), last)


def _layer_spans(activity: Activity, shown: np.ndarray, layers: Iterable[int | None]) -> list[LayerSpan]:
    """Spans with their layers; one that the plan does not tell is the layer at whose time the span begins."""
    found = []
    for (start, end, _), planned in zip(shown.tolist(), layers, strict=True):
        layer = _layer_at(activity, start) if planned is None else planned
        found.append(LayerSpan(start - activity.start, min(end, activity.end) - activity.start, layer))
    return found
