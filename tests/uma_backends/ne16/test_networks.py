"""Golden networks on both SoCs with NE16: first and second inference, or one sentence where memory does not suffice."""

from typing import Any

import pytest

import tvm_pulp
from tests.simulated.golden_cases import DATA, agrees, deeploy_cases, read_arrays
from tests.simulated.test_other_machines import run_checked
from tvm_pulp.errors import UserError

SOCS = ("pulp-open-ne16", "gap9")
# In the default run.
SHORT = {
    "Kernels/Integer/Conv/DW_3x3_RQ": "pulp-open-ne16",
    "Kernels/Integer/Conv/Regular_3x3_RQ": "pulp-open-ne16",
    "Kernels/Integer/GEMM/Batch_RQ": "gap9",
    "Models/MLPerf/KeywordSpotting": "pulp-open-ne16",
}


def cases() -> list[Any]:
    found = deeploy_cases()
    if not found:
        return [pytest.param("", "", marks=pytest.mark.skip(reason=f"golden data not found at {DATA}"))]
    return [
        pytest.param(case, soc, id=f"{case}-{soc}", marks=[] if SHORT.get(case) == soc else [pytest.mark.slow])
        for case in found
        for soc in SOCS
    ]


@pytest.mark.parametrize(("case", "soc"), cases())
def test_case_agrees_with_its_golden_outputs(case: str, soc: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    try:
        app = tvm_pulp.compile(folder / "network.onnx", target="uma-ne16", soc=soc, sample_inputs=inputs)
    except UserError as error:
        # PULP-open has no memory behind its L2.
        assert soc == "pulp-open-ne16" and "L2" in str(error), error
        return
    result = app.run(dict(inputs))
    for made, (_, golden) in zip(result.outputs.values(), read_arrays(folder / "outputs.npz"), strict=True):
        assert agrees(case, made, golden)


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("model", ["dscnn", "resnet8", "mobilenetv1", "autoencoder", "vit_block", "qdq_encoder"])
def test_zoo(model: str, soc: str) -> None:
    report, _ = run_checked(f"zoo:{model}", target="uma-ne16", soc=soc)
    assert any(layer["engine"] == "ne16" for layer in report["layers"])
