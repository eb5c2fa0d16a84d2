"""Double buffering hides the DMA behind cores and accelerator; measured, and visible when it is switched off."""

from typing import Any

import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, read_arrays

L1 = 65536
LEAST = 0.8
CASES = ("Models/MLPerf/VisualWakeWords", "Models/CCT/Int/ICCT")


def hidden(model: str, inputs: Any, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Reports with double buffering and without."""
    reports = []
    for double_buffer in (True, False):
        app = tvm_pulp.compile(model, l1=L1, double_buffer=double_buffer, **options)
        reports.append(app.run(inputs).report)
    return reports[0], reports[1]


def check(on: dict[str, Any], off: dict[str, Any]) -> None:
    assert on["dma"]["hidden_share"] >= LEAST, on["dma"]
    assert off["dma"]["hidden_share"] < 0.6, off["dma"]
    assert on["cycles"] < off["cycles"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("configuration", ["cluster", "neureka-sram"])
def test_most_of_the_dma_is_hidden(configuration: str) -> None:
    check(*hidden("zoo:mobilenetv1", None, CONFIGURATIONS[configuration]))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("configuration", ["cluster", "neureka-sram"])
def test_most_of_the_dma_is_hidden_in_golden_networks(case: str, configuration: str) -> None:
    folder = DATA / "deeploy" / case
    if not folder.is_dir():
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    inputs = read_arrays(folder / "inputs.npz")
    options = {**CONFIGURATIONS[configuration], "sample_inputs": inputs}
    check(*hidden(str(folder / "network.onnx"), dict(inputs), options))
