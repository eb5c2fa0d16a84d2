"""Causes of every engine's cycles, layer by layer. The causes of an engine add up to the cycles of the layer."""

from collections.abc import Iterable, Sequence

import numpy as np

from tvm_pulp.sim.activity import Activity, CoreSpans, Cover, Spans

CAUSES = (
    "compute",
    "l1_conflict",
    "outside_access",
    "instruction_cache",
    "dma_wait",
    "other_engine",
    "barrier",
    "idle",
)
_STALLS = ("l1_conflict", "outside_access", "instruction_cache", "barrier")

# Engine -> cause -> cycles; null where a cause is not told apart.
Causes = dict[str, dict[str, int | None]]


def layer_causes(activity: Activity) -> list[Causes]:
    """Of each layer, for every core that takes part and every accelerator.

    A core that is awake computes or is stalled. One that sleeps waits for whoever works: other cores (`barrier`), an
    accelerator (`other_engine`), transfers while nobody else works (`dma_wait`), a core that gives commands
    (`barrier`); in what is left nothing happens.
    """
    moments = _Moments(activity)
    table = _by_group(activity, [_core_causes(moments, activity, number) for number in range(len(activity.cores))])
    table |= {name: _accelerator_causes(moments, name) for name in activity.accelerators}
    # An accelerator's waits for banks of L1 are inside its jobs: nobody tells them apart.
    unknown = {engine: {"l1_conflict": None} if engine in activity.accelerators else {} for engine in table}
    return [
        {
            engine: {**dict(zip(CAUSES, cycles[layer].tolist(), strict=True)), **unknown[engine]}
            for engine, cycles in table.items()
        }
        for layer in range(len(activity.boundaries) - 1)
    ]


def _by_group(activity: Activity, causes: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Of every core by its name; of those that are shown as a group what one of them has on average."""
    found = {}
    for name, group in activity.core_groups.items():
        total = np.sum([causes[place] for place in group], axis=0)
        mean = total // len(group)
        # All causes together are still the cycles of a layer.
        mean[:, CAUSES.index("compute")] += total.sum(axis=1) // len(group) - mean.sum(axis=1)
        found[name] = mean
    return found


def total_causes(layers: list[Causes]) -> Causes:
    """Of all layers together."""
    total: Causes = {}
    for layer in layers:
        for engine, causes in layer.items():
            known = total.setdefault(engine, dict.fromkeys(causes, 0))
            for cause, cycles in causes.items():
                before = known[cause]
                known[cause] = None if cycles is None or before is None else before + cycles
    return total


class _Moments:
    """The inference cut wherever anything begins or ends."""

    def __init__(self, activity: Activity) -> None:
        transfers = [activity.loads, activity.stores, activity.from_l3, activity.to_l3]
        actors: list[Spans | CoreSpans] = [*activity.cores, *activity.accelerators.values(), *transfers]
        times = [actor.starts for actor in actors] + [actor.ends for actor in actors]
        known = np.concatenate([*times, np.asarray(activity.boundaries, np.int64)])
        self._edges = np.unique(np.clip(known, activity.start, activity.end))
        self._lengths = np.diff(self._edges)
        self._layer = np.searchsorted(np.asarray(activity.boundaries), self._edges[:-1], side="right") - 1
        self.layers = len(activity.boundaries) - 1
        self.awake = [self.covered(c.starts[c.awake], c.ends[c.awake]) for c in activity.cores]
        self.jobs = {name: self.covered(s.starts, s.ends) for name, s in activity.accelerators.items()}
        # Some core that computes is awake; some transfer is under way; a core that only gives commands is awake.
        self.working = self.any(a for a, core in zip(self.awake, activity.cores, strict=True) if core.computes)
        self.moving = self.any(self.covered(s.starts, s.ends) for s in transfers)
        self.commanding = self.any(a for a, core in zip(self.awake, activity.cores, strict=True) if not core.computes)

    def any(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """Moments in which something of the parts holds."""
        return np.any([np.zeros(len(self._lengths), bool), *parts], axis=0)

    def covered(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Moments that some span covers; spans begin and end at edges or outside."""
        return np.asarray(np.diff(Cover.of(starts, ends).until(self._edges)) > 0)

    def by_layer(self, chosen: np.ndarray) -> np.ndarray:
        """Cycles of the chosen moments in each layer."""
        found = np.zeros(self.layers, np.int64)
        np.add.at(found, self._layer[chosen], self._lengths[chosen])
        return found

    def share_out(self, found: np.ndarray, waiting: np.ndarray, reasons: Sequence[tuple[str, np.ndarray]]) -> None:
        """Moments of waiting go to the first reason that holds, the rest to `idle`."""
        for cause, holds in reasons:
            found[:, CAUSES.index(cause)] += self.by_layer(waiting & holds)
            waiting = waiting & ~holds
        found[:, CAUSES.index("idle")] += self.by_layer(waiting)


def _accelerator_causes(moments: _Moments, name: str) -> np.ndarray:
    busy = moments.jobs[name]
    others = moments.any([moments.working, *(jobs for engine, jobs in moments.jobs.items() if engine != name)])
    found = np.zeros((moments.layers, len(CAUSES)), np.int64)
    found[:, CAUSES.index("compute")] = moments.by_layer(busy)
    reasons = [("other_engine", others), ("dma_wait", moments.moving), ("other_engine", moments.commanding)]
    moments.share_out(found, ~busy, reasons)
    return found


def _core_causes(moments: _Moments, activity: Activity, number: int) -> np.ndarray:
    core = activity.cores[number]
    found = _awake_causes(core, activity.boundaries)
    held = moments.covered(core.starts[core.held], core.ends[core.held])
    found[:, CAUSES.index("outside_access")] += moments.by_layer(held & ~moments.awake[number])
    reasons = [
        ("barrier", moments.working),
        ("other_engine", moments.any(moments.jobs.values())),
        ("dma_wait", moments.moving),
        ("barrier", moments.commanding),
    ]
    moments.share_out(found, ~moments.awake[number] & ~held, reasons)
    return found


def _awake_causes(core: CoreSpans, boundaries: Sequence[int]) -> np.ndarray:
    """Cycles by layer of a core that is awake. A stretch that crosses into the next layer has one mix in both."""
    edges = np.asarray(boundaries, np.int64)
    found = np.zeros((len(edges) - 1, len(CAUSES)), np.int64)
    columns = [CAUSES.index("compute"), *(CAUSES.index(cause) for cause in _STALLS)]
    inside = core.awake & (core.ends > edges[0]) & (core.starts < edges[-1])
    starts, ends = core.starts[inside], core.ends[inside]
    stalls = np.stack([core.stalls[cause][inside] for cause in _STALLS], axis=1)
    mixes = np.concatenate([(ends - starts - stalls.sum(axis=1))[:, None], stalls], axis=1)
    first = np.searchsorted(edges, starts, side="right") - 1
    last = np.searchsorted(edges, ends, side="left") - 1
    whole = (first == last) & (first >= 0) & (last < len(edges) - 1)
    for place, column in enumerate(columns):
        np.add.at(found[:, column], first[whole], mixes[whole, place])
    for span in np.flatnonzero(~whole):
        left, length, at = mixes[span].copy(), int(ends[span] - starts[span]), int(starts[span])
        for layer in range(int(first[span]), int(last[span]) + 1):
            until = min(int(ends[span]), int(edges[layer + 1])) if layer + 1 < len(edges) else int(ends[span])
            part = _part(left, until - at, length)
            if 0 <= layer < len(edges) - 1:
                found[layer, columns] += part
            left, length, at = left - part, length - (until - at), until
    return found


def _part(mix: np.ndarray, cycles: int, of: int) -> np.ndarray:
    """So many cycles out of a mix, in its proportions, in whole numbers."""
    if cycles >= of:
        return mix
    part = mix * cycles // of
    for place in np.argsort(part - mix * cycles / of, kind="stable")[: cycles - int(part.sum())]:
        part[place] += 1
    return np.asarray(part)
