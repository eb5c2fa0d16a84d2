"""Energy terms: what was counted times the coefficients, by hand."""

from dataclasses import replace

import pytest

from tvm_pulp import soc
from tvm_pulp.report.energy import Modelled, energy_record, energy_text, inference_energy
from tvm_pulp.sim.iss.result import Peripheral, RunResult
from tvm_pulp.sim.runner import Statistics
from tvm_pulp.soc.energy_coefficients import Coefficient

# Every coefficient leaves its own digit in no other term.
PRICES = {
    "core_active_cycle": 7.0,
    "core_idle_cycle": 0.5,
    "l1_byte": 2.0,
    "l2_byte": 3.0,
    "l3_byte": 100.0,
    "weight_byte": 11.0,
    "static_cycle": 13.0,
    "engine_busy_cycle.neureka": 17.0,
    "engine_mac.neureka": 0.11,
}
SOC = soc.load("siracusa").with_settings(
    {"cluster.cores": 2, **{f"energy.{name}.pj": price for name, price in PRICES.items()}}
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
        peripherals=(Peripheral("neureka", 1, 40, 100_000, 600, 250),),
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
    "busy_neureka": 17.0 * 40 * SHARE,
    "mac_neureka": 0.11 * 100_000 * SHARE,
    "static_cycle": 13.0 * 300,
}


def without(**changed: None) -> soc.Soc:
    return SOC.model_copy(update={"energy": SOC.energy.model_copy(update=changed)})


def test_terms_by_hand() -> None:
    found = inference_energy(SOC, RUN)
    assert found is not None
    assert found.terms == pytest.approx({name: value / 1e6 for name, value in TERMS_PJ.items()})
    assert found.microjoules == pytest.approx(sum(TERMS_PJ.values()) / 1e6)


def test_spreads_add_up_as_squares() -> None:
    coefficients = {
        "a": Coefficient(pj=1, spread=0.3),
        "b": Coefficient(pj=1, spread=0.4),
        "c": Coefficient(pj=1, spread=0),
    }
    terms = {"a": 1.0, "b": 1.0, "c": 3.0}
    assert Modelled(terms, coefficients, 0.0).spread == pytest.approx(0.1)
    assert Modelled(terms, coefficients, 0.24).spread == pytest.approx(0.26)


@pytest.mark.parametrize("name", ["core_active_cycle", "l1_byte", "l3_byte", "static_cycle"])
def test_a_missing_coefficient_means_no_figure(name: str) -> None:
    assert inference_energy(without(**{name: None}), RUN) is None


def test_an_engine_without_coefficients_means_no_figure() -> None:
    energy = SOC.energy.model_copy(update={"engine_mac": {}, "engine_busy_cycle": {}})
    assert inference_energy(SOC.model_copy(update={"energy": energy}), RUN) is None


def test_an_engine_may_state_its_products_only() -> None:
    energy = SOC.energy.model_copy(update={"engine_busy_cycle": {}})
    found = inference_energy(SOC.model_copy(update={"energy": energy}), RUN)
    assert found is not None
    assert found.microjoules == pytest.approx((sum(TERMS_PJ.values()) - TERMS_PJ["busy_neureka"]) / 1e6)


def test_a_missing_coefficient_of_what_never_happened_is_none() -> None:
    quiet = replace(RUN, counters=replace(RUN.counters, l3={"bytes_read": 0, "bytes_written": 0}))
    found = inference_energy(without(l3_byte=None), quiet)
    assert found is not None
    expected = sum(TERMS_PJ.values()) - TERMS_PJ["l3_byte"] - 3.0 * 1000 * SHARE
    assert found.microjoules == pytest.approx(expected / 1e6)


@pytest.mark.parametrize("unknown", [{"counters": None}, {"cycles": None}, {"cold_cycles": None}])
def test_a_run_that_counted_nothing_has_no_figure(unknown: dict[str, None]) -> None:
    assert inference_energy(SOC, replace(RUN, **unknown)) is None


def test_the_record_names_the_operating_point() -> None:
    found = inference_energy(SOC, RUN)
    assert found is not None
    record = energy_record(SOC, found)
    assert "SoC siracusa at 0.8 V and 360 MHz" in record["source"]
    assert record["spreads"].keys() == record["coefficients_pj"].keys() == record["terms_uj"].keys()


def test_texts() -> None:
    assert energy_text(6140, 0.35) == "6.1 mJ ± 35 %"
    assert energy_text(24.04, 0.2) == "24.0 µJ ± 20 %"
    assert energy_text(385.4, None) == "385 µJ"
    assert energy_text(0.0123, 0.5) == "0.012 µJ ± 50 %"


@pytest.mark.parametrize("name", soc.names())
def test_a_preset_vouches_for_every_coefficient_or_has_none(name: str) -> None:
    energy = soc.load(name).energy
    stated = [getattr(energy, field) for field in type(energy).model_fields]
    plain = [c for c in stated if isinstance(c, Coefficient)]
    plain += [c for found in stated if isinstance(found, dict) for c in found.values()]
    assert bool(plain) == bool(energy.operating_point)
    assert all(c.source and 0 < c.spread < 1 for c in plain)
