"""Attention on the Snitch cluster: the DMA core issues transfers and jobs, the accelerator computes, bit for bit."""

from __future__ import annotations

import numpy as np

import tvm_pulp
from tests.simulated.simulated_run import share_of_macs, simulate


def test_attention_runs_on_the_accelerator() -> None:
    app = tvm_pulp.compile("zoo:octave_attention", target="uma-ita", soc="snitch-ita")
    run = simulate(app)
    host = tvm_pulp.compile("zoo:octave_attention", target="c", soc="host").run()
    for result, expected in zip(run.outputs, host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert share_of_macs(run.report, "ita") == 1.0
    # The engine multiplies 1024 times per cycle; waiting for transfers and jobs may take as long again.
    assert run.report["macs_per_cycle"] > 400
