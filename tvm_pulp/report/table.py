"""The per-layer table a person reads."""

from __future__ import annotations

from typing import Any, TextIO

import numpy as np

from tvm_pulp.report.fitted_table import print_fitted, print_wrapped

COLUMNS = (
    "layer",
    "op",
    "engine",
    "cycles",
    "estimate",
    "bound",
    "MAC",
    "MAC/cycle",
    "DMA bytes",
    "DMA stall",
    "tiles",
)


def _text(value: Any) -> str:
    """Numbers with thousands separators; unknown is a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def layer_rows(report: dict[str, Any]) -> list[tuple[str, ...]]:
    """One row of texts per layer."""
    rows = []
    for layer in report["layers"]:
        cycles, macs = layer["cycles"], layer["macs"]
        # Layers overlap: work that runs beside another layer is not faster than its engine.
        rate = macs / max(cycles, layer["bound_cycles"] or 0) if cycles and macs else None
        values: tuple[Any, ...] = (layer["name"], layer["op"], layer["engine"])
        values += (cycles, layer["estimated_cycles"], layer["bound_cycles"], macs or None, rate)
        values += (layer["dma_bytes"], layer["dma_stall_cycles"], layer["tiles"])
        rows.append(tuple(_text(v) for v in values))
    return rows


def print_report(report: dict[str, Any], outputs: dict[str, np.ndarray], stream: TextIO) -> None:
    """Table of layers, totals, memory and outputs."""
    rows = layer_rows(report)
    shown = [i for i in range(len(COLUMNS)) if i < 3 or any(row[i] != "-" for row in rows)]
    title = f"{report['target']} on {report['soc']}"
    print_fitted(title, [COLUMNS[i] for i in shown], [[row[i] for i in shown] for row in rows], 3, stream)
    print_wrapped(summary(report), stream)
    for name, array in list(outputs.items())[:4]:
        values = ", ".join(str(v) for v in array.reshape(-1)[:12].tolist())
        more = ", ..." if array.size > 12 else ""
        print_wrapped(f"output {name} {array.dtype}{list(array.shape)}: {values}{more}", stream)
    if len(outputs) > 4:
        print(f"... and {len(outputs) - 4} more outputs", file=stream)


def summary(report: dict[str, Any]) -> str:
    """What a run took, in one line."""
    parts = [f"{_text(report['macs'])} MAC"]
    if report["cycles"] is not None:
        parts.append(f"{_text(report['cycles'])} cycles (estimated {_text(report['estimated_cycles'])})")
        parts.append(f"{_text(report['macs_per_cycle'])} MAC/cycle")
        if report["dma"] and report["dma"]["hidden_share"] is not None:
            parts.append(f"{100 * report['dma']['hidden_share']:.0f} % of the DMA's time hidden")
        parts += engine_texts(report)
    if report["energy_uj"] is not None:
        parts.append(f"about {report['energy_uj']:.1f} uJ")
    parts += [
        f"{level} {_text(figures['peak'])} bytes" + _of(figures)
        for level, figures in report["memory"].items()
        if figures.get("peak") is not None
    ]
    return ", ".join(parts)


def engine_shares(report: dict[str, Any]) -> dict[str, float]:
    """Fraction of the multiply-accumulates that each engine ran, largest first."""
    total = sum(layer["macs"] for layer in report["layers"])
    macs: dict[str, int] = {}
    for layer in report["layers"]:
        macs[layer["engine"]] = macs.get(layer["engine"], 0) + layer["macs"]
    ordered = sorted(macs.items(), key=lambda entry: -entry[1])
    return {engine: count / total for engine, count in ordered if count} if total else {}


def time_shares(report: dict[str, Any]) -> dict[str, float]:
    """Fraction of the cycles that layers of each engine took, largest first; nothing where cycles are unknown."""
    cycles: dict[str, int] = {}
    for layer in report["layers"]:
        cycles[layer["engine"]] = cycles.get(layer["engine"], 0) + (layer["cycles"] or 0)
    total = sum(cycles.values())
    ordered = sorted(cycles.items(), key=lambda entry: -entry[1])
    return {engine: count / total for engine, count in ordered if count} if total else {}


def engine_texts(report: dict[str, Any]) -> list[str]:
    """Shares of every engine, for a line of text."""
    macs, times = engine_shares(report), time_shares(report)
    texts = []
    for engine in dict.fromkeys((*macs, *times)):
        time = f" and {100 * times.get(engine, 0):.1f} % of the time" if times else ""
        texts.append(f"{engine} {100 * macs.get(engine, 0):.1f} % of the MACs{time}")
    return texts


def _of(figures: dict[str, Any]) -> str:
    if figures.get("capacity") is not None:
        return f" of {_text(figures['capacity'])}"
    if figures.get("largest_live_set") is not None:
        return f" (largest live set {_text(figures['largest_live_set'])})"
    return ""
