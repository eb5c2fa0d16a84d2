"""Attention on the Snitch cluster: the DMA core issues transfers and jobs, the accelerator computes, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.simulated_run import SimulatedRun, share_of_macs, simulate


def run_beside_host(name: str) -> SimulatedRun:
    """A network on the accelerator; the host's results are the same."""
    run = simulate(tvm_pulp.compile(name, target="uma-ita", soc="snitch-ita"))
    host = tvm_pulp.compile(name, target="c", soc="host").run()
    for result, expected in zip(run.outputs, host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    return run


def test_attention_runs_on_the_accelerator() -> None:
    run = run_beside_host("zoo:octave_attention")
    assert share_of_macs(run.report, "ita") == 1.0
    # The engine multiplies 1024 times per cycle; waiting for transfers and jobs may take as long again.
    assert run.report["macs_per_cycle"] > 400


def test_jobs_of_a_head_follow_each_other(tmp_path: Path) -> None:
    """A head of 128 positions of 128 values with all projections, from the first job's start to the last one's end.

    A driver that polls and moves tiles meanwhile was measured to take 8748 cycles; 7126 are possible.
    """
    app = tvm_pulp.compile("zoo:octave_head", target="uma-ita", soc="snitch-ita")
    app.run(trace=tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    jobs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e.get("name") == "ita job")
    assert len(jobs) == 48
    second = jobs[24:]
    assert second[-1][1] - second[0][0] <= 7700


@pytest.mark.slow
@pytest.mark.parametrize("case", ["Kernels/Integer/Attention", "Models/CCT/Int/ICCT_ITA"])
def test_networks_of_deeploy_multiply_on_the_accelerator(golden_data: object, case: str) -> None:
    """Another softmax, and multipliers of more than 8 bits: sums come digit by digit; the cores take small heads."""
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="uma-ita", soc="snitch-ita", sample_inputs=inputs)
    run = simulate(app, dict(inputs))
    for result, (_, golden) in zip(run.outputs, read_arrays(folder / "outputs.npz"), strict=True):
        np.testing.assert_array_equal(result, golden)
    assert share_of_macs(run.report, "ita", ("dense", "matmul")) >= 0.95


@pytest.mark.slow
def test_long_sequences_stay_on_the_accelerator() -> None:
    """A layer of Whisper: attention over 512 keys is fused; sums over 768 values leave little of L1 to records."""
    run = run_beside_host("zoo:whisper_layer")
    assert share_of_macs(run.report, "ita") == 1.0


@pytest.mark.slow
def test_residuals_of_mobilebert_leave_the_accelerator_its_time() -> None:
    """24 such layers take at most nine million cycles."""
    assert run_beside_host("zoo:mobilebert_layer").report["cycles"] <= 9_000_000 // 24


@pytest.mark.slow
def test_quantize_dequantize_blocks_multiply_on_the_accelerator() -> None:
    """Per-channel scales, zero points, roundings half to even: sums come digit by digit; the cores alone take 17 M."""
    run = run_beside_host("zoo:qdq_encoder")
    assert share_of_macs(run.report, "ita") == 1.0
    assert run.report["cycles"] <= 1_300_000
