"""Energy of what a simulator counted, by the SoC's coefficients, and how sure it is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvm_pulp.sim.runner import Statistics
from tvm_pulp.soc import Soc
from tvm_pulp.soc.energy_coefficients import Coefficient

# Coefficients that do not belong to an engine.
_ALWAYS = ("core_active_cycle", "core_idle_cycle", "l1_byte", "l2_byte", "l3_byte", "weight_byte", "static_cycle")
_WORD_BYTES = 4
_PICOJOULES_PER_MICROJOULE = 1e6
_MICROJOULES_PER_MILLIJOULE = 1e3


@dataclass(frozen=True)
class Modelled:
    """Energy by a model: its terms in microjoules by name, and the coefficients that made them."""

    terms: dict[str, float]
    coefficients: dict[str, Coefficient]
    common_spread: float
    # Relative deviation of the counts, where they are expected and not measured.
    counts_spread: float = 0.0

    @property
    def microjoules(self) -> float:
        return sum(self.terms.values())

    @property
    def spread(self) -> float:
        """Relative standard deviation: all coefficients move together by one part and each by itself by another, so
        that terms, and then the two parts, add up as squares."""
        deviations = (term * self.coefficients[name].spread for name, term in self.terms.items())
        apart = math.hypot(*deviations) / self.microjoules if self.microjoules else 0.0
        return math.hypot(math.hypot(apart, self.common_spread), self.counts_spread)


def inference_energy(soc: Soc, run: Statistics) -> Modelled | None:
    """Energy of the second inference; None when a figure is missing.

    The counters span both inferences and the start of the cluster, so the second one's share is taken by its cycles.
    """
    if run.counters is None or run.cycles is None or run.cold_cycles is None:
        return None
    share = run.cycles / (run.cycles + run.cold_cycles)
    counts = {name: count * share for name, count in _counts(soc, run.counters).items()}
    return modelled_energy(soc, {**counts, "static_cycle": run.cycles})


def counted_energy(soc: Soc, counters: Any, before: Any, cycles: int) -> Modelled | None:
    """Energy of what a run counted beyond an earlier one, or beyond nothing; None when a figure is missing."""
    counts = _counts(soc, counters)
    earlier = _counts(soc, before) if before is not None else dict.fromkeys(counts, 0)
    return modelled_energy(soc, {**{n: count - earlier[n] for n, count in counts.items()}, "static_cycle": cycles})


def energy_record(soc: Soc, modelled: Modelled) -> dict[str, Any]:
    """The model in `report.json`."""
    point = soc.energy.operating_point
    return {
        "source": f"coefficients of SoC {soc.name}{point and f' at {point}'}, counts of the simulator",
        "coefficients_pj": {name: c.pj for name, c in modelled.coefficients.items()},
        "spreads": {name: c.spread for name, c in modelled.coefficients.items()},
        "common_spread": modelled.common_spread,
        "terms_uj": modelled.terms,
    }


def energy_text(microjoules: float, spread: float | None) -> str:
    """An energy with its uncertainty: `6.1 mJ ± 35 %`."""
    large = microjoules >= _MICROJOULES_PER_MILLIJOULE
    value = microjoules / (_MICROJOULES_PER_MILLIJOULE if large else 1)
    digits = f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"
    return f"{digits} {'mJ' if large else 'µJ'}" + ("" if spread is None else f" ± {100 * spread:.0f} %")


def modelled_energy(soc: Soc, counts: Mapping[str, float]) -> Modelled | None:
    """Counts times coefficients; None where something was counted that has no coefficient."""
    stated = _coefficients(soc)
    if any(count and name not in stated for name, count in counts.items()) or "static_cycle" not in stated:
        return None
    known = {name: stated[name] for name in counts if name in stated}
    terms = {name: counts[name] * c.pj / _PICOJOULES_PER_MICROJOULE for name, c in known.items()}
    return Modelled(terms, known, soc.energy.common_spread)


def _coefficients(soc: Soc) -> dict[str, Coefficient]:
    energy = soc.energy
    # An engine whose clock is priced with its work needs no coefficient of its own for it.
    idle = {f"busy_{name}": Coefficient(pj=0, spread=0) for name in energy.engine_mac}
    stated = {
        **{name: getattr(energy, name) for name in _ALWAYS},
        **idle,
        **{f"busy_{name}": c for name, c in energy.engine_busy_cycle.items()},
        **{f"mac_{name}": c for name, c in energy.engine_mac.items()},
    }
    return {name: coefficient for name, coefficient in stated.items() if coefficient is not None}


def _counts(soc: Soc, statistics: Any) -> dict[str, int]:
    """Counts of everything that the coefficients price; cores are those that run programs."""
    cores = statistics.cores[: soc.harts]
    outside = sum(c["external_loads"] + c["external_stores"] for c in cores)
    inside = sum(c["loads"] + c["stores"] for c in cores) - outside
    moved = statistics.dma["bytes_in"] + statistics.dma["bytes_out"]
    deep = statistics.l3["bytes_read"] + statistics.l3["bytes_written"]
    return {
        "core_active_cycle": sum(c["cycles"] - c["asleep"] for c in cores),
        "core_idle_cycle": sum(c["asleep"] for c in cores),
        "l1_byte": inside * _WORD_BYTES + moved + sum(p.l1_bytes for p in statistics.peripherals),
        "l2_byte": outside * _WORD_BYTES + moved + deep,
        "l3_byte": deep,
        "weight_byte": sum(p.weight_bytes for p in statistics.peripherals),
        **{f"busy_{p.name}": p.busy_cycles for p in statistics.peripherals},
        **{f"mac_{p.name}": p.macs for p in statistics.peripherals},
    }
