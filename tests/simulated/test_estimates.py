"""Estimated cycles are close to measured ones: each network, and its layers on average."""

from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.accuracy import Accuracy, accuracy_of
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, deeploy_cases, read_arrays
from tvm_pulp.report.inputs import prepare_inputs

NETWORK_LIMIT, LAYER_LIMIT = 0.15, 0.25
# Of one network; networks of one small layer scatter more than their average.
WORST_LAYERS = 0.6
ZOO = ("dscnn", "resnet8", "vit_block", "tinyllama")
# Layers of so many cycles are each within the limit, in these networks on an engine with weight memory.
LONG, LONG_LIMIT = 1000, 0.2
LONG_ZOO = ("autoencoder", "dscnn", "mobilenetv1", "qdq_encoder", "resnet8", "vit_block")
DEFAULT_CASES = ("Models/CCT/Int/ICCT", "Models/MLPerf/KeywordSpotting")


def measure(model: str, inputs: Any, options: dict[str, Any]) -> Accuracy:
    app = tvm_pulp.compile(model, **options)
    return accuracy_of(app.run(inputs or random_inputs(app)).report)


def random_inputs(app: tvm_pulp.App) -> dict[str, np.ndarray]:
    """Seeded bytes; a mask hides, as masks do, since one that lifts a logit takes another path through the kernel."""
    entries = app.metadata["tvm_pulp"]["inputs"]
    arrays = prepare_inputs(entries, None)
    return {e["name"]: np.minimum(a, 0) if e["name"] == "mask" else a for e, a in zip(entries, arrays, strict=True)}


@pytest.mark.sample(4)
@pytest.mark.parametrize("configuration", ["cluster", "neureka-sram"])
@pytest.mark.parametrize("name", ZOO)
def test_zoo(name: str, configuration: str) -> None:
    found = measure(f"zoo:{name}", None, CONFIGURATIONS[configuration])
    assert abs(found.network_error) <= NETWORK_LIMIT, found
    assert found.layer_error <= LAYER_LIMIT, found


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LONG_ZOO)
def test_every_long_layer(name: str) -> None:
    report = tvm_pulp.compile(f"zoo:{name}", **CONFIGURATIONS["neureka-sram"]).run().report
    found = [(layer["name"], layer["estimated_cycles"], layer["cycles"]) for layer in report["layers"]]
    assert not [one for one in found if one[2] >= LONG and abs(one[1] - one[2]) >= LONG_LIMIT * one[2]]


def golden(case: str, configuration: str) -> Accuracy:
    if case.startswith("mlperf_tiny"):
        return measure(str(DATA / case / "model.tflite"), None, CONFIGURATIONS[configuration])
    folder = DATA / "deeploy" / case
    if not folder.is_dir():
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    inputs = read_arrays(folder / "inputs.npz")
    options = {**CONFIGURATIONS[configuration], "sample_inputs": inputs}
    return measure(str(folder / "network.onnx"), dict(inputs), options)


@pytest.mark.sample(2)
@pytest.mark.parametrize("configuration", ["cluster", "neureka-sram"])
@pytest.mark.parametrize("case", DEFAULT_CASES)
def test_golden_networks(case: str, configuration: str) -> None:
    found = golden(case, configuration)
    assert abs(found.network_error) <= NETWORK_LIMIT, found
    assert found.layer_error <= LAYER_LIMIT, found


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_all_golden_networks(configuration: str) -> None:
    """All models within the limit of a network; layers within theirs on average."""
    cases = [c for c in deeploy_cases() if c.startswith("Models/")]
    cases += sorted(path.parent.relative_to(DATA).as_posix() for path in DATA.glob("mlperf_tiny/*/model.tflite"))
    if not cases:
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    found = {case: golden(case, configuration) for case in cases}
    far = {case: a for case, a in found.items() if abs(a.network_error) > NETWORK_LIMIT or a.layer_error > WORST_LAYERS}
    assert not far
    assert sum(a.layer_error for a in found.values()) / len(found) <= LAYER_LIMIT
