"""Lanes of the timeline: what was measured, beside what the estimate expects."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.report.span_layers import LayerSpan, awake_spans, job_spans, transfer_spans
from tvm_pulp.sim.activity import Activity

# Beyond these, neighbours of the same layer are drawn as one: a page stays small however long a run is.
_SPANS_PER_LANE = 2500
_TRANSFERS = {"load": "loads", "store": "stores", "l3": "from L3"}

Lane = dict[str, Any]


def timeline_data(activity: Activity | None, plan: PlanJson | None, expected: Any) -> dict[str, Any] | None:
    """Lanes with spans of start, end and layer in cycles since the inference began; None where nothing is known."""
    if activity is None and expected is None:
        return None
    # Resource -> lane -> spans, resources named as the estimate names them.
    measured: dict[str, dict[str, list[LayerSpan]]] = {}
    if activity is not None:
        program = plan.program if plan is not None else ()
        measured |= {"cores": awake_spans(activity)}
        measured |= {engine: {engine: spans} for engine, spans in job_spans(activity, program).items()}
        measured |= {kind: {_TRANSFERS[kind]: spans} for kind, spans in transfer_spans(activity, program).items()}
    spans = expected.spans if expected is not None else ()
    estimated = grouped((span.resource, LayerSpan(span.start, span.end, span.layer)) for span in spans)
    lanes: list[Lane] = []
    for group in dict.fromkeys(("cores", *measured, *estimated)):
        own = measured.get(group, {})
        for name, spans in own.items():
            lanes.append(_lane(group, name, "measured", spans))
        if estimated.get(group):
            lanes.append(_lane(group, _TRANSFERS.get(group, group), "expected", estimated[group]))
    used = [lane for lane in lanes if lane["spans"]]
    edges = activity.boundaries if activity is not None else ()
    return {
        "cycles": max([activity.end - activity.start if activity else 0, expected.cycles if expected else 0]),
        "measured": activity.end - activity.start if activity else None,
        "expected": expected.cycles if expected else None,
        "layers": [[a - edges[0], b - edges[0]] for a, b in itertools.pairwise(edges)],
        "lanes": used,
        "joined": sum(lane["joined"] for lane in used),
    }


def _lane(group: str, name: str, kind: str, spans: Iterable[LayerSpan]) -> Lane:
    ordered = sorted(spans)
    kept = join_neighbours(ordered, _SPANS_PER_LANE)
    return {"group": group, "name": name, "kind": kind, "spans": kept, "joined": len(ordered) - len(kept)}


def join_neighbours(spans: Sequence[tuple[int, int, int]], limit: int) -> list[list[int]]:
    """Spans in order; as many neighbours of one layer as needed become one, those with the smallest gaps first."""
    kept = [list(span) for span in spans]
    if len(kept) <= limit:
        return kept
    gaps = [b[0] - a[1] if a[2] == b[2] else None for a, b in itertools.pairwise(kept)]
    order = sorted((gap, place) for place, gap in enumerate(gaps) if gap is not None)
    joined = {place for _, place in order[: len(kept) - limit]}
    found: list[list[int]] = []
    for place, span in enumerate(kept):
        if place and place - 1 in joined:
            found[-1][1] = max(found[-1][1], span[1])
        else:
            found.append(span)
    return found
