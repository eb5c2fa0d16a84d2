"""Every engine beside every kind of core: the outputs are those of the host, and nobody races."""

from pathlib import Path
from typing import Any

import pytest

from tests.simulated.test_other_machines import run_checked

SNITCH_NEUREKA = """
based_on: snitch-ita
name: snitch-neureka
engines: {ita: , neureka: {base: 0x10040000, event_line: 0}}
energy: {engine_mac: {neureka: 0.1}}
"""
SLOW = pytest.mark.slow


def share(report: dict[str, Any], engine: str) -> float:
    layers = report["layers"]
    return sum(layer["macs"] or 0 for layer in layers if layer["engine"] == engine) / report["macs"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "soc", "engine", "least"),
    [
        ("dscnn", "rv32-mcu-neureka", "neureka", 0.99),
        pytest.param("autoencoder", "rv32-mcu-neureka", "neureka", 0.99, marks=SLOW),
        pytest.param("resnet8", "rv32-mcu-neureka", "neureka", 0.99, marks=SLOW),
        pytest.param("mobilenetv1", "rv32-mcu-neureka", "neureka", 0.99, marks=SLOW),
        pytest.param("tinyllama", "rv32-mcu-neureka", "neureka", 0.9, marks=SLOW),
        ("autoencoder", "rv32-mcu-ita", "ita", 0.3),
        pytest.param("vit_block", "rv32-mcu-ita", "ita", 0.99, marks=SLOW),
        pytest.param("qdq_encoder", "rv32-mcu-ita", "ita", 0.99, marks=SLOW),
        pytest.param("vit_block", "siracusa-gvsoc-ita", "ita", 0.7, marks=SLOW),
        ("autoencoder", "snitch-neureka", "neureka", 0.99),
    ],
)
def test_an_engine_beside_other_cores(tmp_path: Path, model: str, soc: str, engine: str, least: float) -> None:
    if soc == "snitch-neureka":
        (tmp_path / "snitch-neureka.yaml").write_text(SNITCH_NEUREKA)
        soc = str(tmp_path / "snitch-neureka.yaml")
    report, _ = run_checked(f"zoo:{model}", target=f"uma-{engine}", soc=soc)
    assert share(report, engine) >= least


@SLOW
def test_both_engines_beside_one_cluster() -> None:
    report, _ = run_checked("zoo:vit_block", target="uma-neureka,uma-ita", soc="siracusa-gvsoc-ita")
    assert share(report, "neureka") > 0 and share(report, "neureka") + share(report, "ita") > 0.9
