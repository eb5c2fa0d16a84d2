"""The four int8 MLPerf Tiny networks, compiled for this machine: TFLite's reference answers, and memory."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.report.table import print_report

# Multiply-accumulates of the published networks.
MACS = {"kws": 2_656_768, "vww": 7_489_664, "resnet": 12_501_632, "toycar": 264_192}
ZOO = ("dscnn", "mobilenetv1", "resnet8", "autoencoder")


@cache
def compiled(golden_data: Path, network: str) -> tvm_pulp.App:
    return tvm_pulp.compile(golden_data / "mlperf_tiny" / network / "model.tflite")


@pytest.mark.sample(2)
@pytest.mark.parametrize("network", MACS)
def test_bit_exact(golden_data: Path, network: str) -> None:
    app = compiled(golden_data, network)
    golden = np.load(golden_data / "mlperf_tiny" / network / "golden.npz")
    assert len(golden["inputs"]) == 8
    for x, expected in zip(golden["inputs"], golden["outputs_reference"], strict=True):
        (result,) = app.run([x]).outputs.values()
        np.testing.assert_array_equal(result.reshape(-1), expected.reshape(-1))


@pytest.mark.parametrize("network", MACS)
def test_arena_is_close_to_the_largest_live_set(
    golden_data: Path, network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    app = compiled(golden_data, network)
    result = app.run()
    arena = result.report["memory"]["arena"]
    assert 0 < arena["largest_live_set"] <= arena["peak"] <= 1.05 * arena["largest_live_set"]
    assert result.report["macs"] == MACS[network]
    # A person sees both figures too.
    print_report(result.report, result.outputs, sys.stdout)
    shown = " ".join(capsys.readouterr().out.split())
    assert f"arena {arena['peak']:,} bytes (largest live set {arena['largest_live_set']:,})" in shown


@pytest.mark.parametrize("network", ZOO)
def test_arena_of_our_own_networks_is_as_close(network: str) -> None:
    memory = tvm_pulp.compile(f"zoo:{network}").metadata["memory"]
    assert 0 < memory["largest_live_set_bytes"] <= memory["arena_bytes"] <= 1.05 * memory["largest_live_set_bytes"]
