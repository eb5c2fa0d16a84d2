"""The array's geometry is a parameter of the SoC: model, packed weights and timing follow it together."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.simulated.machines import description_file
from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from uma_backends.neureka import NeurekaBackend
from uma_backends.neureka.geometry import LIMITS, SIRACUSA, Geometry

from .all_modes_network import all_modes_network

ENGINE = "engines.neureka.parameters"
# Other arrays: wider, narrower with other channels and beats, and one with as many channels as there can be.
OTHERS: dict[str, dict[str, int]] = {
    "columns": {"pe_columns": 8},
    "small": {"pe_rows": 4, "pe_columns": 3, "channels_1x1": 16, "channels_3x3": 14, "output_channels": 16,
              "weight_beat_bytes": 16},
    "large": {"pe_rows": 5, "channels_1x1": 64, "channels_3x3": 56, "output_channels": 64, "weight_beat_bytes": 64,
              "beat_w": 1500},
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "all_modes.onnx"
    onnx.save(all_modes_network(), path)
    return str(path)


@pytest.fixture(scope="module")
def expected(model: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs, and the outputs of the host."""
    inputs = {"image": np.random.default_rng(8).integers(0, 256, (1, 30, 13, 11)).astype(np.uint8)}
    return inputs, tvm_pulp.compile(model, input_types={"image": "uint8"}).run(inputs).outputs


@pytest.fixture(scope="module")
def default(model: str, expected: Any) -> dict[str, Any]:
    """The report of the preset's array."""
    return run(model, "siracusa", expected)


def run(model: str, soc: str, expected: Any, memory: str = "sram") -> dict[str, Any]:
    """Report of an exact run with nearly all work on the array."""
    options = {"neureka": {"weight_memory": memory}}
    app = tvm_pulp.compile(model, target="uma-neureka", soc=soc, engine_options=options, input_types={"image": "uint8"})
    result = app.run(expected[0])
    for name, array in expected[1].items():
        np.testing.assert_array_equal(result.outputs[name], array)
        assert np.unique(array).size > 10
    on_array = sum(layer["macs"] for layer in result.report["layers"] if layer["engine"] == "neureka")
    assert on_array > 0.9 * result.report["macs"]
    return result.report | {"packed": app.files["codegen/host/src/default_weights.c"]}


def busy_cycles(report: dict[str, Any]) -> int:
    """Cycles in which the array works on the layer that takes it longest."""
    return max(layer["busy_cycles"] for layer in report["layers"] if layer["engine"] == "neureka")


@pytest.mark.parametrize("name", ["columns", "small", pytest.param("large", marks=pytest.mark.slow)])
def test_a_changed_array_stays_exact(
    name: str, model: str, expected: Any, default: dict[str, Any], tmp_path: Path
) -> None:
    """Weights are packed for it, other cycles are measured, and the estimate follows."""
    settings = {f"{ENGINE}.{key}": value for key, value in OTHERS[name].items()}
    report = run(model, description_file(tmp_path, settings), expected)
    if name == "columns":
        # The cores are the slower half of this network, and small layers are cut for them: the array's own time for
        # the large one is what a wider one saves.
        assert busy_cycles(report) < 0.95 * busy_cycles(default) and report["cycles"] < default["cycles"]
    elif name == "small":
        assert report["cycles"] > 1.3 * default["cycles"]
    assert (report["packed"] == default["packed"]) == (name == "columns")
    assert abs(report["estimated_cycles"] / report["cycles"] - 1) < 0.15


def test_a_changed_array_with_weights_in_l1(model: str, expected: Any, tmp_path: Path) -> None:
    settings = {f"{ENGINE}.{key}": value for key, value in OTHERS["large"].items()}
    run(model, description_file(tmp_path, settings), expected, memory="none")


def test_the_preset_states_the_default_array() -> None:
    assert Geometry.of(socs.load("siracusa").engines["neureka"].parameters) == SIRACUSA


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pe_rows": 17}, "pe_rows is 17, choose 1 to 16"),
        ({"channels_3x3": 29, "output_channels": 32}, "carries 9 taps of 28 channels, not of 29"),
        ({"channels_1x1": 30}, "channels_1x1 is 30, choose a multiple of 4"),
        ({"output_channels": 24}, "output_channels is 24, choose a multiple of 8 not below channels_3x3 = 28"),
        ({"columns": 8}, "engine neureka has no parameter 'columns': it has beat_w"),
    ],
)
def test_an_impossible_array_is_refused(changes: dict[str, int], message: str) -> None:
    """Before anything is compiled, in one sentence."""
    soc = socs.load("siracusa").with_settings({f"{ENGINE}.{key}": value for key, value in changes.items()})
    with pytest.raises(UserError, match=message):
        NeurekaBackend().context(NeurekaBackend().options({}), soc, 8)


def test_the_limits_are_those_of_the_model() -> None:
    """The C model has the same table."""
    text = (Path(__file__).parents[3] / "uma_backends/neureka/model/peripheral.c").read_text()
    header = (Path(__file__).parents[3] / "uma_backends/neureka/model/engine.h").read_text()
    for name, (least, most) in LIMITS.items():
        row = next(line for line in text.splitlines() if f'{{"{name}"' in line)
        low, high = (part.strip(" },") for part in row.split(",")[2:4])
        assert int(low) == least
        assert most == int(high) if high.isdigit() else f"{high} = {most}" in header, row
