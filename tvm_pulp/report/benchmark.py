"""Rows of the benchmark table: one network in one configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# Cluster cycles other tools report for these networks on this class of chip: (cluster only, with accelerator).
BEST_KNOWN: dict[str, tuple[int | None, int | None]] = {
    "microLlama64": (810_000, 712_000),
    "microLlama64_parallel": (35_300_000, 28_300_000),
    "microLlama128": (3_100_000, None),
    "KeywordSpotting": (504_000, 176_000),
    "VisualWakeWords": (2_020_000, 416_000),
    "ImageClassification": (1_330_000, 228_000),
    "AnomalyDetection": (None, 65_000),
}


@dataclass(frozen=True)
class Row:
    """One measurement."""

    network: str
    configuration: str
    cycles: int
    cold_cycles: int
    macs: int
    bound_cycles: int
    energy_uj: float | None
    code_bytes: int
    losses: tuple[tuple[str, str, int], ...]  # layer, engine, cycles above its bound
    correct: bool | None  # against golden outputs, where there are any

    @property
    def best_known(self) -> int | None:
        cluster, accelerated = BEST_KNOWN.get(self.network, (None, None))
        if self.configuration == "1 core":
            return 16_100_000 if self.network == "microLlama128" else None
        return cluster if self.configuration == "cluster" else accelerated


def measure(network: str, configuration: str, report: Mapping[str, Any], correct: bool | None) -> Row:
    """Condense a report."""
    above = [(x["name"], x["engine"], (x["cycles"] or 0) - x["bound_cycles"]) for x in report["layers"]]
    losses = tuple(sorted(above, key=lambda x: -x[2])[:3])
    return Row(
        network,
        configuration,
        report["cycles"],
        report["cold_cycles"],
        report["macs"],
        report["bound_cycles"],
        report["energy_uj"],
        report["code_bytes"],
        losses,
        correct,
    )


def to_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def markdown(rows: Sequence[Row], before: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """The table, with a column of changes when an earlier run is given."""
    old = {(r["network"], r["configuration"]): r["cycles"] for r in before}
    head = [
        "network",
        "configuration",
        "cycles",
        "cold",
        "MAC/cycle",
        "bound",
        "share",
        "best known",
        "ratio",
        "µJ (est.)",
    ]
    head += ["golden"] + (["change"] if old else [])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for r in rows:
        known = r.best_known
        cells = [r.network, r.configuration, f"{r.cycles:,}", f"{r.cold_cycles:,}", f"{r.macs / r.cycles:.2f}"]
        cells += [f"{r.bound_cycles:,}", f"{100 * r.bound_cycles / r.cycles:.0f} %", f"{known:,}" if known else "–"]
        cells += [
            f"{known / r.cycles:.2f}×" if known else "–",
            f"{r.energy_uj:.1f}" if r.energy_uj is not None else "–",
        ]
        cells.append({True: "equal", False: "WRONG", None: "–"}[r.correct])
        if old:
            was = old.get((r.network, r.configuration))
            cells.append(f"{100 * (r.cycles / was - 1):+.1f} %" if was else "new")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def loss_table(rows: Sequence[Row]) -> list[str]:
    """Where the remaining cycles go: the three layers furthest above their bound."""
    lines = ["| network | configuration | largest losses (cycles above the layer's bound) |", "|---|---|---|"]
    for r in rows:
        parts = "; ".join(f"{name} on {engine} {cycles:,}" for name, engine, cycles in r.losses)
        lines.append(f"| {r.network} | {r.configuration} | {parts} |")
    return lines
