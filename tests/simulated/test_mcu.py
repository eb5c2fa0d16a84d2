"""Networks on the microcontroller: as on the host, and as the framework's reference computed them."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp


@pytest.mark.parametrize("model", ["zoo:dscnn", pytest.param("zoo:autoencoder", marks=pytest.mark.slow)])
def test_zoo_networks_give_what_the_host_gives(model: str) -> None:
    there, here = (tvm_pulp.compile(model, target="c", soc=soc).run() for soc in ("rv32-mcu", "host"))
    for name, expected in here.outputs.items():
        np.testing.assert_array_equal(there.outputs[name], expected)
    # One instruction takes one cycle.
    assert there.report["cycles"] == pytest.approx(there.report["instructions"] / 2, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["kws", "resnet", "toycar", "vww"])
def test_networks_of_the_benchmark_are_exact(golden_data: Path, network: str) -> None:
    folder = golden_data / "mlperf_tiny" / network
    app = tvm_pulp.compile(folder / "model.tflite", target="c", soc="rv32-mcu")
    with np.load(folder / "golden.npz") as golden:
        for given, expected in zip(golden["inputs"][:2], golden["outputs_reference"], strict=False):
            [made] = app.run([given]).outputs.values()
            np.testing.assert_array_equal(made.reshape(-1), expected.reshape(-1))
