"""Tables of the page: made from measurements, put between two marks."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from uma_study.configurations import CLUSTER, CPU, MCU_MHZ, NETWORKS, NEUREKA, QVANILLA, timed
from uma_study.measured import Measured, possible_saving, saving

Results = Mapping[tuple[str, str], Measured]
BEGIN, END = "<!-- made by scripts/study_uma -->", "<!-- end -->"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [_row(head), _row(["---", *["--:"] * (len(head) - 1)]), *map(_row, rows)]


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"


def savings(results: Results, networks: Sequence[str]) -> list[str]:
    """The table in the published form, published figures in brackets."""
    rows = []
    for network in networks:
        alone, accelerated, known = results[network, CPU.name], results[network, QVANILLA.name], NETWORKS[network]
        saved = saving(alone, accelerated)
        rows.append(
            [
                network,
                f"{_per_cent(accelerated.macs_on('qvanilla') / accelerated.macs)} ({known.offloaded:g} %)",
                f"{alone.instructions:.3g} ({known.instructions:.3g})",
                f"{accelerated.instructions:.3g} ({known.instructions * (1 - known.saved / 100):.3g})",
                _per_cent(accelerated.instructions / known.instructions),
                f"{_per_cent(saved / alone.instructions)} ({known.saved:g} %)",
                _per_cent(saved / possible_saving(alone, accelerated)),
                f"{alone.simulation_seconds:.1f} / {accelerated.simulation_seconds:.1f}",
                "equal" if alone.is_exact and accelerated.is_exact else "WRONG",
            ]
        )
    head = ["network", "MAC offloaded", "instructions, CPU alone", "with QVanilla", "of the published CPU's"]
    head += ["saved", "of what can be saved", "simulated in s", "outputs"]
    return _table(head, rows)


def machines(results: Results, networks: Sequence[str], costs: Sequence[int]) -> list[str]:
    """Cycles of every machine, and how many times faster than the CPU alone that is."""
    names = [CPU.name, QVANILLA.name, *(timed(cost).name for cost in costs), CLUSTER.name, NEUREKA.name]
    rows = []
    for name in names:
        cells: list[object] = [name]
        for network in networks:
            cycles = results[network, name].cycles
            cells.append(f"{cycles:,} ({results[network, CPU.name].cycles / cycles:.1f}×)")
        rows.append(cells)
    return _table(["cycles", *networks], rows)


def run_times(results: Results, network: str, costs: Sequence[int]) -> list[float]:
    """Milliseconds without a cost, then with each."""
    names = [QVANILLA.name, *(timed(cost).name for cost in costs)]
    return [results[network, name].cycles / MCU_MHZ / 1000 for name in names]


def crossing(costs: Sequence[int], times: Sequence[float], alone: float) -> float | None:
    """Cycles per MAC at which the accelerator is as fast as the CPU alone; None where it always wins."""
    points = list(zip([0, *costs], times, strict=True))
    for (c0, t0), (c1, t1) in pairwise(points):
        if t0 <= alone < t1:
            return c0 + (c1 - c0) * (alone - t0) / (t1 - t0)
    return None


def write_between_marks(page: Path, lines: Sequence[str]) -> None:
    """Replace what the last run wrote."""
    text = page.read_text(encoding="utf-8")
    made = "\n".join([BEGIN, "", *lines, "", END])
    replaced, count = re.subn(re.escape(BEGIN) + r".*?" + re.escape(END), lambda _: made, text, flags=re.S)
    if count != 1:
        raise ValueError(f"{page} has {count} places between '{BEGIN}' and '{END}' instead of one")
    page.write_text(replaced, encoding="utf-8")
