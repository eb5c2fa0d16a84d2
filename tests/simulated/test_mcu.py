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


def test_windows_that_are_mostly_outside_run_as_loops(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from tests.simulated.single_convolution import Convolution

    report = Convolution((3, 3), (4, 4), 16, 0, 16, 16).run(tmp_path, soc="rv32-mcu")
    (layer,) = (layer for layer in report["layers"] if layer["op"] == "conv2d")
    # The kernel takes 24 k, since it computes with zeros around the image.
    assert layer["cycles"] < 17_000
    assert layer["estimated_cycles"] == pytest.approx(layer["cycles"], rel=0.1)


@pytest.mark.slow
def test_floats_by_software_are_expected_to_take_long(tmp_path: Path) -> None:
    """A network that runs stays below the cycles at which a run is said to hang."""
    pytest.importorskip("onnxruntime.quantization")
    from tests.real_models import catalog

    feeds = catalog.sample_inputs("gru")
    report = tvm_pulp.compile(catalog.write("gru", tmp_path), target="c", soc="rv32-mcu").run(feeds).report
    assert sum(layer["estimated_cycles"] for layer in report["layers"]) == pytest.approx(report["cycles"], rel=0.4)
