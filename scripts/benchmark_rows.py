"""Rows of the benchmark table: one network in one configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tvm_pulp.report.energy import energy_text
from tvm_pulp.report.figures import summed

# Cluster cycles other tools report for these networks on this class of chip: (cluster only, with accelerator).
BEST_KNOWN: dict[str, tuple[int | None, int | None]] = {
    "microLlama64": (810_000, 712_000),
    "microLlama64_parallel": (35_300_000, 28_300_000),
    "microLlama128": (3_100_000, None),
    "KeywordSpotting": (504_000, 176_000),
    "VisualWakeWords": (2_020_000, 416_000),
    "ImageClassification": (1_330_000, 228_000),
    "AnomalyDetection": (None, 65_000),
    "kws.tflite": (504_000, 176_000),
    "vww.tflite": (2_020_000, 416_000),
    "resnet.tflite": (1_330_000, 228_000),
    "toycar.tflite": (None, 65_000),
}
_ONE_CORE = {"microLlama128": 16_100_000}


@dataclass(frozen=True)
class Row:
    """One measurement. `golden`: how the outputs compare with golden ones, where there are any."""

    network: str
    configuration: str
    cycles: int
    cold_cycles: int
    estimated_cycles: int
    macs: int
    bound_cycles: int
    energy_uj: float | None
    energy_spread: float | None
    c_bytes: int  # emitted for this network, weights not counted
    code_bytes: int  # instructions of the program: runtime, kernels and network
    losses: tuple[tuple[str, str, int], ...]  # layer, engine, cycles above its bound
    groups: tuple[tuple[str, int], ...]  # operator and engine, cycles
    golden: str
    greedy_cycles: int | None = None  # with the baseline planner

    @property
    def best_known(self) -> int | None:
        cluster, accelerated = BEST_KNOWN.get(self.network, (None, None))
        if self.configuration == "1 core":
            return _ONE_CORE.get(self.network)
        return cluster if self.configuration == "cluster" else accelerated


def measure(
    network: str, configuration: str, report: Mapping[str, Any], c_bytes: int, golden: str, greedy: int | None = None
) -> Row:
    """Condense a report."""
    above = [(x["name"], x["engine"], (x["cycles"] or 0) - x["bound_cycles"]) for x in report["layers"]]
    losses = tuple(sorted(above, key=lambda x: -x[2])[:3])
    groups = summed((f"{layer['op']} on {layer['engine']}", layer["cycles"] or 0) for layer in report["layers"])
    return Row(
        network,
        configuration,
        report["cycles"],
        report["cold_cycles"],
        sum(layer["estimated_cycles"] or 0 for layer in report["layers"]),
        report["macs"],
        report["bound_cycles"],
        report["energy_uj"],
        report["energy_spread"],
        c_bytes,
        report["code_bytes"],
        losses,
        tuple(sorted(groups.items(), key=lambda g: (-g[1], g[0]))),
        golden,
        greedy,
    )


def to_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def markdown(rows: Sequence[Row], before: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """The table, with the figures of an earlier run and the changes where one is given."""
    old = {(r["network"], r["configuration"]): r["cycles"] for r in before}
    head = ["network", "configuration", "cycles", *(["before", "change"] if old else []), "cold", "estimated"]
    head += [
        "MAC/cycle",
        "bound",
        "share",
        "best known",
        "ratio",
        "greedy plan",
        "energy (modelled)",
        "C without weights",
    ]
    head += ["code", "golden"]
    table = []
    for r in rows:
        known = r.best_known
        cells = [r.network, r.configuration, f"{r.cycles:,}"]
        if old:
            was = old.get((r.network, r.configuration))
            cells += [f"{was:,}", f"{100 * (r.cycles / was - 1):+.1f} %"] if was else ["–", "new"]
        cells.append(f"{r.cold_cycles:,}")
        cells += [f"{100 * (r.estimated_cycles / r.cycles - 1):+.0f} %", f"{r.macs / r.cycles:.2f}"]
        cells += [f"{r.bound_cycles:,}", f"{100 * r.bound_cycles / r.cycles:.0f} %", f"{known:,}" if known else "–"]
        cells.append(f"{known / r.cycles:.2f}×" if known else "–")
        cells.append(f"{r.greedy_cycles / r.cycles:.2f}×" if r.greedy_cycles else "–")
        cells.append(energy_text(r.energy_uj, r.energy_spread) if r.energy_uj is not None else "–")
        cells += [f"{r.c_bytes / 1000:.0f} kB", f"{r.code_bytes:,}", r.golden]
        table.append(cells)
    return _markdown_table(head, table, "---:|")


def loss_table(rows: Sequence[Row]) -> list[str]:
    """The three layers furthest above their bound: there the remaining cycles go."""
    head = ["network", "configuration", "largest losses (cycles above the layer's bound)"]
    losses = ("; ".join(f"{name} on {engine} {cycles:,}" for name, engine, cycles in r.losses) for r in rows)
    return _markdown_table(head, [[r.network, r.configuration, lost] for r, lost in zip(rows, losses, strict=True)])


def breakdown(rows: Sequence[Row], shown: int = 6) -> list[str]:
    """Cycles by operator and engine, largest first."""
    table = []
    for r in rows:
        parts = [f"{name} {cycles:,} ({100 * cycles / r.cycles:.0f} %)" for name, cycles in r.groups[:shown]]
        rest = sum(cycles for _, cycles in r.groups[shown:])
        parts += [f"other {rest:,}"] if rest else []
        table.append([r.network, r.configuration, "; ".join(parts)])
    return _markdown_table(["network", "configuration", "where the cycles go"], table)


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], aligned: str = "---|") -> list[str]:
    """Lines of a table whose first two columns are words."""
    return [_line(head), "|---|---|" + aligned * (len(head) - 2), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
