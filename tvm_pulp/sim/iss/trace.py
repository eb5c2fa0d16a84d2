"""A run as a timeline in the Chrome trace format, which Perfetto reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tvm_pulp.sim.iss.result import TraceSpan
from tvm_pulp.soc.description import Soc

_WAITS = ("", "event", "event", "dispatch", "mutex", "interrupt", "barrier")
_PROCESSES = {"core active": 1, "core asleep": 1, "dma": 2, "accelerator": 3, "l3": 4}
_PROCESS_NAMES = {1: "cores", 2: "dma", 3: "accelerators", 4: "l3"}


def chrome_trace(soc: Soc, spans: Iterable[TraceSpan]) -> dict[str, Any]:
    """One track per core, DMA direction, accelerator; a trace microsecond stands for one cluster cycle."""
    events: list[dict[str, Any]] = []
    seen: set[tuple[int, int]] = set()
    for span in spans:
        process = _PROCESSES[span.kind]
        if (process, span.track) not in seen:
            seen.add((process, span.track))
            events += _names(soc, span, process)
        name, arguments = _label(soc, span)
        events.append(
            {"ph": "X", "name": name, "cat": span.kind, "pid": process, "tid": span.track, "ts": span.start}
            | {"dur": span.end - span.start, "args": arguments}
        )
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"soc": soc.name, "unit": "cluster cycles"}}


def _track_name(soc: Soc, span: TraceSpan) -> str:
    if span.kind.startswith("core"):
        return soc.core_name(span.track)
    if span.kind == "accelerator":
        return list(soc.engines)[span.track]
    if span.kind == "dma":
        return ("L1 to outside", "outside to L1")[span.track]
    return ("L3 to L2", "L2 to L3")[span.track]


def _names(soc: Soc, span: TraceSpan, process: int) -> list[dict[str, Any]]:
    common = {"ph": "M", "pid": process, "tid": span.track}
    return [
        common | {"name": "process_name", "args": {"name": _PROCESS_NAMES[process]}},
        common | {"name": "thread_name", "args": {"name": _track_name(soc, span)}},
    ]


def _label(soc: Soc, span: TraceSpan) -> tuple[str, dict[str, int]]:
    if span.kind == "core active":
        return "active", {}
    if span.kind == "core asleep":
        return f"waits for {_WAITS[span.amount]}" if span.amount else "waits", {}
    if span.kind == "accelerator":
        return f"{_track_name(soc, span)} job", {"macs": span.amount}
    return f"{span.amount} bytes", {"bytes": span.amount}
