"""Energy terms: what was counted times the coefficients, by hand."""

from dataclasses import replace

import pytest

from tvm_pulp import soc
from tvm_pulp.report.energy import inference_energy
from tvm_pulp.sim.iss.result import Peripheral, RunResult
from tvm_pulp.sim.runner import Statistics

# Powers of ten: every coefficient leaves its own digit in no other term.
SOC = soc.load("siracusa").with_settings(
    {
        "cluster.cores": 2,
        "energy.core_active_cycle": 7.0,
        "energy.core_idle_cycle": 0.5,
        "energy.l1_byte": 2.0,
        "energy.l2_byte": 3.0,
        "energy.l3_byte": 100.0,
        "energy.weight_byte": 11.0,
        "energy.static_cycle": 13.0,
    }
)


def core(
    cycles: int, asleep: int, loads: int, stores: int, external_loads: int, external_stores: int
) -> dict[str, int]:
    return {
        "cycles": cycles,
        "asleep": asleep,
        "loads": loads,
        "stores": stores,
        "external_loads": external_loads,
        "external_stores": external_stores,
    }


# Two cores and the controller, whose work does not count.
CORES = (core(1000, 300, 50, 20, 5, 1), core(900, 400, 40, 10, 3, 2), core(5000, 0, 999, 999, 999, 999))
RUN = Statistics(
    build_seconds=0.0,
    run_seconds=0.0,
    cycles=300,
    cold_cycles=500,
    counters=RunResult(
        exit_code=0,
        cycles=1000,
        instructions=1,
        stdout="",
        cores=CORES,
        dma={"bytes_in": 4000, "bytes_out": 1000},
        l3={"bytes_read": 700, "bytes_written": 300},
        peripherals=(Peripheral("neureka", 1, 1, 100_000, 600, 250),),
        races=0,
        engine_conflict_cycles=0,
        first_race=None,
        host_seconds=1.0,
    ),
)

# The second inference's share of everything that was counted.
SHARE = 300 / 800
TERMS_PJ = {
    "core_active_cycle": 7.0 * (700 + 500) * SHARE,
    "core_idle_cycle": 0.5 * (300 + 400) * SHARE,
    # Words of the cores less those outside, what the DMA moved, what the accelerator read and wrote.
    "l1_byte": 2.0 * (4 * (70 + 50 - 6 - 5) + 5000 + 600) * SHARE,
    "l2_byte": 3.0 * (4 * (6 + 5) + 5000 + 1000) * SHARE,
    "l3_byte": 100.0 * 1000 * SHARE,
    "weight_byte": 11.0 * 250 * SHARE,
    "mac_neureka": 0.11 * 100_000 * SHARE,
    "static_cycle": 13.0 * 300,
}


def test_terms_by_hand() -> None:
    energy_uj, model = inference_energy(SOC, RUN)
    assert model is not None and energy_uj is not None
    assert model["terms_uj"] == pytest.approx({name: value / 1e6 for name, value in TERMS_PJ.items()})
    assert energy_uj == pytest.approx(sum(TERMS_PJ.values()) / 1e6)


@pytest.mark.parametrize("name", ["core_active_cycle", "l1_byte", "l3_byte", "static_cycle"])
def test_a_missing_coefficient_means_no_figure(name: str) -> None:
    energy = SOC.energy.model_copy(update={name: None})
    assert inference_energy(SOC.model_copy(update={"energy": energy}), RUN) == (None, None)


def test_a_missing_coefficient_of_what_never_happened_is_none() -> None:
    quiet = replace(RUN, counters=replace(RUN.counters, l3={"bytes_read": 0, "bytes_written": 0}))
    energy = SOC.energy.model_copy(update={"l3_byte": None})
    energy_uj, _ = inference_energy(SOC.model_copy(update={"energy": energy}), quiet)
    expected = sum(TERMS_PJ.values()) - TERMS_PJ["l3_byte"] - 3.0 * 1000 * SHARE
    assert energy_uj == pytest.approx(expected / 1e6)


@pytest.mark.parametrize("unknown", [{"counters": None}, {"cycles": None}, {"cold_cycles": None}])
def test_a_run_that_counted_nothing_has_no_figure(unknown: dict[str, None]) -> None:
    assert inference_energy(SOC, replace(RUN, **unknown)) == (None, None)
