"""The MLPerf Tiny networks on the virtual Siracusa: exact in every configuration, native within its bound."""

from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, matrix
from tests.simulated.simulated_run import share_of_macs, simulate

NETWORKS = ("kws", "resnet", "toycar", "vww")
# Cycles with native requantization: 1.6 times what the networks in PULP's own arithmetic must reach.
LIMITS = {"kws": 64_000, "resnet": 208_000, "toycar": 48_000, "vww": 240_000}
SHARES = {"kws": 0.85, "resnet": 0.90, "toycar": 1.00, "vww": 0.90}


def golden(network: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / "mlperf_tiny" / network / "golden.npz") as archive:
        return archive["inputs"], archive["outputs_reference"]


def compile_network(network: str, options: dict[str, Any]) -> tvm_pulp.App:
    return tvm_pulp.compile(DATA / "mlperf_tiny" / network / "model.tflite", **options)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("network", "configuration"), matrix(NETWORKS if (DATA / "mlperf_tiny").is_dir() else ()))
def test_exact_requantization_reproduces_the_reference(network: str, configuration: str) -> None:
    inputs, references = golden(network)
    app = compile_network(network, CONFIGURATIONS[configuration])
    run = simulate(app, [inputs[0]])
    np.testing.assert_array_equal(run.outputs[0].reshape(-1), references[0].reshape(-1))
    again = next(iter(app.run([inputs[1]]).outputs.values()))
    np.testing.assert_array_equal(again.reshape(-1), references[1].reshape(-1))
    assert all(layer["deviation_lsb"] == 0 for layer in run.report["layers"])
    if configuration == "neureka-sram":
        assert share_of_macs(run.report, "neureka") >= SHARES[network]


@pytest.mark.sample(2)
@pytest.mark.parametrize("network", NETWORKS)
def test_native_requantization_is_used_and_reported(golden_data: object, network: str) -> None:
    """Layers stay within their bounds; how far a network's output moves has no closed bound and is small."""
    inputs, references = golden(network)
    options = {"target": "uma-neureka", "engine_options": {"neureka": {"requant": "native"}}}
    run = simulate(compile_network(network, options), [inputs[0]])
    on_engine = [layer for layer in run.report["layers"] if layer["engine"] == "neureka"]
    assert sum(layer["deviation_lsb"] > 0 for layer in on_engine) >= len(on_engine) // 2
    assert max(layer["deviation_lsb"] for layer in run.report["layers"]) <= 1
    assert run.report["cycles"] <= LIMITS[network]
    difference = run.outputs[0].astype(int).reshape(-1) - references[0].astype(int).reshape(-1)
    assert np.abs(difference).max() <= 8
