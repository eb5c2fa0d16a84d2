"""The per-layer table a person reads."""

from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np

from tvm_pulp.report.energy import energy_text
from tvm_pulp.report.figures import figure, shares, summed
from tvm_pulp.report.fitted_table import print_fitted, print_wrapped

_WORDS = ("layer", "op", "engine")
_ENGINE = ("busy", "bound", "of bound", "MAC", "MAC/cycle")
_COLUMNS = (*_WORDS, "instructions", "each MAC", "added", "estimate", *_ENGINE, "DMA bytes", "DMA stall", "tiles")


def _layer_rows(report: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """One row of texts per layer: the cycles that it added to the run, which sum up to it; then what its engine did."""
    for layer in report["layers"]:
        share = layer.get("bound_share")
        counted = layer.get("instructions")
        each = counted / layer["macs"] if counted and layer["macs"] else None
        of_bound = None if share is None else f"{100 * share:.1f} %"
        values = (
            *(layer["name"], layer["op"], layer["engine"], counted, each),
            *(layer["cycles"], layer["estimated_cycles"], layer.get("busy_cycles"), layer["bound_cycles"], of_bound),
            *(layer["macs"] or None, layer.get("macs_per_cycle")),
            *(layer["dma_bytes"], layer["dma_stall_cycles"], layer["tiles"]),
        )
        yield tuple(map(figure, values))


def layer_table(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns that say something about any layer, and the rows under them."""
    rows = list(_layer_rows(report))
    shown = [i for i in range(len(_COLUMNS)) if i < len(_WORDS) or any(row[i] != "-" for row in rows)]
    return [_COLUMNS[i] for i in shown], [[row[i] for i in shown] for row in rows]


def print_report(report: dict[str, Any], outputs: dict[str, np.ndarray], stream: TextIO) -> None:
    """Table of layers, totals, memory and outputs."""
    print_fitted(f"{report['target']} on {report['soc']}", *layer_table(report), len(_WORDS), stream)
    print_wrapped(summary(report), stream)
    for name, array in list(outputs.items())[:4]:
        values = ", ".join(str(v) for v in array.reshape(-1)[:12].tolist())
        more = ", ..." if array.size > 12 else ""
        print_wrapped(f"output {name} {array.dtype}{list(array.shape)}: {values}{more}", stream)
    if len(outputs) > 4:
        print(f"... and {len(outputs) - 4} more outputs", file=stream)


def summary(report: dict[str, Any]) -> str:
    """Work, time, energy and memory of a run, in one line."""
    parts = [f"{figure(report['macs'])} MAC"]
    if report["cycles"] is not None:
        parts.append(f"{figure(report['cycles'])} cycles (estimated {figure(report['estimated_cycles'])})")
        if milliseconds := report.get("milliseconds"):
            parts.append(f"{milliseconds:.3g} ms")
        parts.append(f"{figure(report['macs_per_cycle'])} MAC/cycle")
        if report["dma"] and report["dma"]["hidden_share"] is not None:
            parts.append(f"{100 * report['dma']['hidden_share']:.0f} % of the DMA's time hidden")
        parts += engine_texts(report)
    elif report["instructions"] is not None:
        each = f" ({report['instructions'] / report['macs']:.2f} each MAC)" if report["macs"] else ""
        parts.append(f"{figure(report['instructions'])} instructions{each}")
    if latency := report.get("latency_ms"):
        parts.append(f"{latency['best']:.3g} ms at best, {latency['median']:.3g} ms median of {latency['runs']}")
    if report["energy_uj"] is not None:
        parts.append(f"about {energy_text(report['energy_uj'], report.get('energy_spread'))}")
    parts += [
        f"{level} {figure(figures['peak'])} bytes" + _of(figures)
        for level, figures in report["memory"].items()
        if figures.get("peak") is not None
    ]
    return ", ".join(parts)


def engine_shares(report: dict[str, Any]) -> dict[str, float]:
    """Fraction of the multiply-accumulates that each engine ran, largest first."""
    return shares(summed((layer["engine"], layer["macs"]) for layer in report["layers"]))


def time_shares(report: dict[str, Any]) -> dict[str, float]:
    """Fraction of the cycles that layers of each engine took, largest first; nothing where cycles are unknown."""
    return shares(summed((layer["engine"], layer["cycles"] or 0) for layer in report["layers"]))


def engine_texts(report: dict[str, Any]) -> list[str]:
    """Shares of every engine, for a line of text."""
    macs, times = engine_shares(report), time_shares(report)
    timed = {engine: f" and {100 * share:.1f} % of the time" for engine, share in times.items()}
    otherwise = " and 0.0 % of the time" if times else ""
    return [
        f"{engine} {100 * macs.get(engine, 0):.1f} % of the MACs{timed.get(engine, otherwise)}"
        for engine in dict.fromkeys((*macs, *times))
    ]


def _of(figures: dict[str, Any]) -> str:
    if figures.get("capacity") is not None:
        return f" of {figure(figures['capacity'])}"
    if figures.get("largest_live_set") is not None:
        return f" (largest live set {figure(figures['largest_live_set'])})"
    return ""
