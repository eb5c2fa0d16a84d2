"""QVanilla keeps what the compiler relies on, takes what it says it takes, and costs what it is told to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.qnn.conv2d import Conv2d
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance import Conformance
from uma_backends.qvanilla import QVanillaBackend
from uma_backends.qvanilla.conv2d import refusal

FOLDER = Path(__file__).resolve().parents[3] / "uma_backends" / "qvanilla"
# Shares of the MACs in convolutions with stride 1, one group and SAME padding.
SHARES = {"resnet": 0.790, "vww": 0.827, "kws": 0.771}


@pytest.mark.parametrize(
    ("layers", "options"),
    [
        pytest.param(4, {"variant": "timed", "cycles_per_mac": 3}, id="timed"),
        pytest.param(16, {}, id="zero_time", marks=pytest.mark.slow),
    ],
)
def test_backend_conforms(layers: int, options: dict[str, Any]) -> None:
    kinds = ("same_conv2d", "same_conv2d", "conv2d")
    Conformance(QVanillaBackend(), kinds=kinds, types=("int8",), layers=layers, prepared=True, options=options).check()


def test_it_is_short_enough_to_be_read() -> None:
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".py", ".c", ".h")]
    assert sum(len(path.read_text().splitlines()) for path in files) <= 400


FITS = {"groups": 1, "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1], "has_bias": 0}


@pytest.mark.parametrize(
    ("changes", "kernel", "dtype", "reason"),
    [
        ({}, (3, 3), "int8", ""),
        ({"pads": [0] * 4}, (1, 1), "int8", ""),
        ({}, (3, 3), "uint8", "uint8 by constant int8"),
        ({"groups": 4}, (3, 3), "int8", "4 groups"),
        ({"strides": [1, 2]}, (3, 3), "int8", "strides [1, 2]"),
        ({"dilation": [2, 2]}, (3, 3), "int8", "dilation [2, 2]"),
        ({}, (3, 1), "int8", "3x1 kernel"),
        ({}, (2, 2), "int8", "2x2 kernel"),
        ({"pads": [0, 0, 2, 2]}, (3, 3), "int8", "not those of SAME"),
        ({"pads": [0] * 4}, (3, 3), "int8", "not those of SAME"),
        ({"has_bias": 1}, (3, 3), "int8", "exceed 32 bits"),
    ],
)
def test_refusals(changes: dict[str, Any], kernel: tuple[int, int], dtype: str, reason: str) -> None:
    weight = np.ones((8, *kernel, 4), np.int8)
    data = [None, weight, np.full(8, -(1 << 31), np.int32)]
    specs = [TensorSpec((1, 6, 6, 4), dtype), TensorSpec(weight.shape, "int8"), TensorSpec((8,), "int32")]
    found = refusal(Conv2d().stated({**FITS, **changes}), specs, data)
    assert reason in found and bool(reason) == bool(found), found


def test_an_option_without_effect_is_an_error() -> None:
    with pytest.raises(UserError, match="needs --target-uma-qvanilla-variant timed"):
        QVanillaBackend().options({"cycles_per_mac": "4"})
    with pytest.raises(UserError, match="0 to 1000"):
        QVanillaBackend().options({"variant": "timed", "cycles_per_mac": "-1"})
    assert QVanillaBackend().options({"variant": "timed"})["cycles_per_mac"] == 2


def run(golden_data: Path, network: str, **options: Any) -> dict[str, Any]:
    """Report of a network of the benchmark, which computes what the reference does."""
    folder = golden_data / "mlperf_tiny" / network
    app = tvm_pulp.compile(folder / "model.tflite", target="uma-qvanilla", engine_options={"qvanilla": options})
    with np.load(folder / "golden.npz") as golden:
        result = app.run([golden["inputs"][0]])
        [made] = result.outputs.values()
        np.testing.assert_array_equal(made.reshape(-1), golden["outputs_reference"][0].reshape(-1))
    return dict(result.report)


@pytest.mark.parametrize("network", ["kws", *(pytest.param(n, marks=pytest.mark.slow) for n in ("resnet", "vww"))])
def test_networks_of_the_benchmark_are_exact(golden_data: Path, network: str) -> None:
    report = run(golden_data, network)
    offloaded = sum(layer["macs"] for layer in report["layers"] if layer["engine"] == "qvanilla")
    assert offloaded / report["macs"] == pytest.approx(SHARES[network], abs=5e-4)


@pytest.mark.slow
def test_time_follows_the_cost_of_a_product(golden_data: Path) -> None:
    one, three = (run(golden_data, "kws", variant="timed", cycles_per_mac=n) for n in (1, 3))
    offloaded = sum(layer["macs"] for layer in one["layers"] if layer["engine"] == "qvanilla")
    assert three["cycles"] - one["cycles"] == pytest.approx(2 * offloaded, rel=0.01)
