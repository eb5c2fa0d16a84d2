"""Every Deeploy network on the virtual Siracusa: cluster alone, NEUREKA with weights in L1, with weight memory."""

import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, LONG, agrees, deeploy_cases, matrix, read_arrays
from tests.simulated.simulated_run import SimulatedRun, share_of_macs, simulate


def run_case(case: str, configuration: str) -> SimulatedRun:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", sample_inputs=inputs, **CONFIGURATIONS[configuration])
    return simulate(app, dict(inputs))


@pytest.mark.sample(7)
@pytest.mark.parametrize(("case", "configuration"), matrix(deeploy_cases()))
def test_case_agrees_with_its_golden_outputs(case: str, configuration: str) -> None:
    run = run_case(case, configuration)
    expected = [array for _, array in read_arrays(DATA / "deeploy" / case / "outputs.npz")]
    assert len(run.outputs) == len(expected)
    for result, golden in zip(run.outputs, expected, strict=True):
        assert agrees(case, result, golden)
    if configuration == "cluster":
        assert {layer["engine"] for layer in run.report["layers"]} == {"cluster"}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("case", "least", "operators"),
    [
        ("Models/MLPerf/VisualWakeWords", 0.90, None),
        ("Models/MLPerf/ImageClassification", 0.90, None),
        ("Models/MLPerf/KeywordSpotting", 0.85, None),
        ("Models/MLPerf/AnomalyDetection", 1.00, None),
        pytest.param("Models/microLlama/INT8/microLlama16_parallel", 1.00, ("dense",), marks=pytest.mark.slow),
        pytest.param("Models/microLlama/INT8/microLlama64_parallel", 1.00, ("dense",), marks=pytest.mark.slow),
    ],
)
def test_share_of_macs_on_neureka(
    golden_data: object, case: str, least: float, operators: tuple[str, ...] | None, record_property: object
) -> None:
    share = share_of_macs(run_case(case, "neureka-sram").report, "neureka", operators)
    record_property("macs_on_neureka", share)  # type: ignore[operator]
    assert share >= least


def test_no_case_is_left_out(golden_data: object) -> None:
    # data/deeploy/README.md counts 70.
    cases = deeploy_cases()
    assert len(cases) == 70
    assert {p.values for p in matrix(cases)} == {(case, name) for case in cases for name in CONFIGURATIONS}
    default = [p for p in matrix(cases) if not p.marks]
    assert {p.values[0] for p in default} == set(cases) - set(LONG) and len(default) == 70 - len(LONG)
