"""Energy of one inference: what the simulator counted times the SoC's coefficients."""

from collections.abc import Sequence
from typing import Any

from tvm_pulp.sim.runner import Statistics
from tvm_pulp.soc import Soc

_WORD_BYTES = 4
_PICOJOULES_PER_MICROJOULE = 1e6


def inference_energy(soc: Soc, run: Statistics) -> tuple[float | None, dict[str, Any] | None]:
    """Microjoules of the second inference and the terms they add up from; None when a figure is missing.

    The counters span both inferences and the start of the cluster, so the second one's share is taken by its cycles.
    """
    if run.counters is None or run.cycles is None or run.cold_cycles is None:
        return None, None
    counts = _counts(soc, run.counters)
    coefficients = _coefficients(soc, [p.name for p in run.counters.peripherals])
    if soc.energy.static_cycle is None or any(counts[name] and coefficients[name] is None for name in counts):
        return None, None
    share = run.cycles / (run.cycles + run.cold_cycles)
    terms = {
        name: count * (coefficients[name] or 0.0) * share / _PICOJOULES_PER_MICROJOULE for name, count in counts.items()
    }
    terms["static_cycle"] = run.cycles * soc.energy.static_cycle / _PICOJOULES_PER_MICROJOULE
    model = {
        "source": f"coefficients of SoC {soc.name} in pJ, counts of the simulator",
        "coefficients_pj": {**coefficients, "static_cycle": soc.energy.static_cycle},
        "terms_uj": terms,
    }
    return sum(terms.values()), model


def counted_energy(soc: Soc, counters: Any, before: Any, cycles: int) -> float | None:
    """Microjoules of what a run counted beyond an earlier one, or beyond nothing; None when a figure is missing."""
    counts, known = _counts(soc, counters), _coefficients(soc, [p.name for p in counters.peripherals])
    earlier = _counts(soc, before) if before is not None else dict.fromkeys(counts, 0)
    if soc.energy.static_cycle is None or any(counts[name] and known[name] is None for name in counts):
        return None
    total = sum((count - earlier[name]) * (known[name] or 0.0) for name, count in counts.items())
    return (total + cycles * soc.energy.static_cycle) / _PICOJOULES_PER_MICROJOULE


def _coefficients(soc: Soc, engines: Sequence[str]) -> dict[str, float | None]:
    energy = soc.energy
    return {
        "core_active_cycle": energy.core_active_cycle,
        "core_idle_cycle": energy.core_idle_cycle,
        "l1_byte": energy.l1_byte,
        "l2_byte": energy.l2_byte,
        "l3_byte": energy.l3_byte,
        "weight_byte": energy.weight_byte,
        **{f"mac_{name}": energy.engine_mac.get(name) for name in engines},
    }


def _counts(soc: Soc, statistics: Any) -> dict[str, int]:
    """Counts of everything that the coefficients price."""
    cores = statistics.cores[: soc.cluster.cores]
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
        **{f"mac_{p.name}": p.macs for p in statistics.peripherals},
    }
