"""Networks on hundreds of cores in tiles, bit for bit in every inference."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.golden.deeploy_cases import BIT_EXACT
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.pool_layers import write_conv, write_dense, write_small
from tests.simulated.simulated_run import SimulatedRun, simulate
from tvm_pulp.errors import UserError


def run_beside_host(model: str | Path, soc: str) -> SimulatedRun:
    """A network on a pool of tiles; the host's results are the same."""
    run = simulate(tvm_pulp.compile(model, target="c", soc=soc, planner="greedy"))
    host = tvm_pulp.compile(model, target="c", soc="host").run()
    for result, expected in zip(run.outputs, host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    return run


@pytest.mark.parametrize("soc", ["minpool", "itapool"])
def test_layers_of_odd_sizes_give_the_bits_of_the_host(tmp_path: Path, soc: str) -> None:
    run_beside_host(write_small(tmp_path / "small.onnx"), soc)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, soc",
    [
        ("dscnn", "minpool"),
        ("octave_head", "minpool"),
        ("dscnn", "mempool"),
        ("resnet8", "mempool"),
        ("dscnn", "itapool"),
    ],
)
def test_networks_give_the_bits_of_the_host(name: str, soc: str) -> None:
    run_beside_host(f"zoo:{name}", soc)


@pytest.mark.slow
def test_a_large_dense_layer_keeps_256_cores_busy(tmp_path: Path) -> None:
    assert run_beside_host(write_dense(tmp_path / "dense.onnx"), "mempool").report["macs_per_cycle"] >= 450


@pytest.mark.slow
def test_a_large_convolution_keeps_256_cores_busy(tmp_path: Path) -> None:
    assert run_beside_host(write_conv(tmp_path / "conv.onnx"), "mempool").report["macs_per_cycle"] >= 300


@pytest.mark.slow
def test_cores_without_dot_products_multiply_one_by_one(tmp_path: Path) -> None:
    assert run_beside_host(write_dense(tmp_path / "dense.onnx"), "itapool").report["macs_per_cycle"] >= 55


def test_a_network_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text("based_on: minpool\nname: small\nmemory: {l2: {size: 0x40000}}\n")
    model, soc = write_dense(tmp_path / "wide.onnx", 16, 512, 512), str(tmp_path / "small.yaml")
    with pytest.raises(UserError, match="constants take at least 264512 bytes and SoC small holds 65536"):
        tvm_pulp.compile(model, target="c", soc=soc, planner="greedy")


def cases() -> list[Any]:
    """All golden networks; one of them in the default run."""
    quick = "Kernels/Integer/Add/Regular_RQ"
    return [pytest.param(c, id=c, marks=[] if c == quick else [pytest.mark.slow]) for c in BIT_EXACT]


@pytest.mark.parametrize("case", cases())
def test_golden_networks_are_bit_exact(golden_data: object, case: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc="mempool", sample_inputs=inputs)
    run = simulate(app, dict(inputs))
    for result, (_, golden) in zip(run.outputs, read_arrays(folder / "outputs.npz"), strict=True):
        np.testing.assert_array_equal(result, golden)
