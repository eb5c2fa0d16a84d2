"""Our simulator beside cycles that GVSoC counted for the very same programs, without GVSoC.

The programs are kept with their figures, so that a new compiler changes nothing here: only the simulator can fail.
`python -m tests.sim.crosscheck.record_gvsoc` makes both where GVSoC is installed.
"""

from typing import Any

import pytest

from tests.sim.crosscheck.gvsoc_programs import INFERENCES, outputs_hash, programs, recorded_runs, run_here, warm

# Per cent, of the mean of five inferences: of networks and of single kernels, without bank conflicts and with them.
ALLOWED = {("network", "siracusa-gvsoc"): 1.5, ("network", "siracusa-gvsoc-banks"): 3.0}
ALLOWED |= {("kernel", "siracusa-gvsoc"): 3.0, ("kernel", "siracusa-gvsoc-banks"): 4.0}
# Cycles from which on a program is not part of the default run.
LONG = 10_000_000


def _allowed(run: dict[str, Any]) -> float:
    return ALLOWED["kernel" if run["name"].startswith("kernel ") else "network", run["soc"]]


def _cases() -> list[Any]:
    return [
        pytest.param(
            run,
            id=f"{run['name']}-{run['soc']}",
            marks=[pytest.mark.slow] if sum(run["cycles"]) > LONG else [],
        )
        for run in recorded_runs()
    ]


@pytest.mark.sample(8)
@pytest.mark.parametrize("run", _cases())
def test_cycles_and_outputs_agree(run: dict[str, Any]) -> None:
    cycles, outputs = run_here(programs()[run["elf_sha256"]], run["soc"])
    assert outputs == run["outputs_sha256"]
    assert len(cycles) == len(run["cycles"]) == INFERENCES
    assert warm(cycles) == pytest.approx(warm(run["cycles"]), rel=_allowed(run) / 100)


def test_every_kind_of_program_is_held() -> None:
    """Four MLPerf networks, a transformer, tokens and prompt of a language model; cores and engine; with conflicts."""
    held = {(run["name"], run["soc"]) for run in recorded_runs()}
    for network in ("KWS", "VWW", "IC", "AD", "ICCT", "microLlama64 decode", "microLlama64 prefill"):
        for engine in ("cores", "NEUREKA", "NEUREKA without weight memory"):
            for preset in ("siracusa-gvsoc", "siracusa-gvsoc-banks"):
                assert (f"{network}, {engine}", preset) in held
    assert all(run["revision"] for run in recorded_runs())
    assert set(programs()) == {run["elf_sha256"] for run in recorded_runs()}


def test_outputs_are_compared_and_nothing_else() -> None:
    """Simulators start with different bytes in memory that nobody writes: that of an empty input, for instance."""
    printed = {"tvm_pulp_cycles": b"1", "tvmgen_default_inputs_cache": b"\0", "tvmgen_default_outputs_y": b"abc"}
    elsewhere = printed | {"tvm_pulp_cycles": b"2", "tvmgen_default_inputs_cache": b"W"}
    assert outputs_hash(printed) == outputs_hash(elsewhere)
    assert outputs_hash(printed) != outputs_hash(printed | {"tvmgen_default_outputs_y": b"abd"})
    assert outputs_hash(printed) != outputs_hash({})
