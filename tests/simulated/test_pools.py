"""Networks on hundreds of cores in tiles, bit for bit in every inference."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.golden.deeploy_cases import BIT_EXACT
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.pool_layers import write_conv, write_dense, write_small
from tests.simulated.random_chain import random_inputs
from tests.simulated.random_graph import random_graph
from tests.simulated.simulated_run import SimulatedRun, simulate
from tvm_pulp import soc
from tvm_pulp.dse import Study, grid
from tvm_pulp.entry_point import plan_for
from tvm_pulp.errors import UserError
from tvm_pulp.uma.conformance.layer_network import simulate as simulate_plan
from tvm_pulp.uma.conformance.layer_network import target_for, tight_plan


def run_beside_host(model: str | Path, machine: str) -> SimulatedRun:
    """A network on a pool of tiles; the host's results are the same."""
    run = simulate(tvm_pulp.compile(model, target="c", soc=machine, planner="greedy"))
    host = tvm_pulp.compile(model, target="c", soc="host").run()
    for result, expected in zip(run.outputs, host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    return run


@pytest.mark.parametrize("machine", ["minpool", "itapool"])
def test_layers_of_odd_sizes_give_the_bits_of_the_host(tmp_path: Path, machine: str) -> None:
    run_beside_host(write_small(tmp_path / "small.onnx"), machine)


def test_attention_gives_the_bits_of_the_host() -> None:
    """Heads with a mask, on caches."""
    run = run_beside_host("zoo:tinyllama", "minpool")
    assert "attention kernel" in {layer["form"] for layer in run.report["layers"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, machine",
    [
        ("tinyllama", "itapool"),
        ("vit_block", "mempool"),
        ("vit_block", "itapool"),
        ("dscnn", "minpool"),
        ("octave_head", "minpool"),
        ("dscnn", "mempool"),
        ("resnet8", "mempool"),
        ("dscnn", "itapool"),
    ],
)
def test_networks_give_the_bits_of_the_host(name: str, machine: str) -> None:
    run_beside_host(f"zoo:{name}", machine)


def random_networks() -> list[Any]:
    """Machines and seeds; one network in the default run."""
    pairs = [(machine, seed) for machine in ("minpool", "mempool", "itapool") for seed in range(20)]
    return [pytest.param(*p, marks=[] if p == ("minpool", 0) else [pytest.mark.slow]) for p in pairs]


@pytest.mark.parametrize("machine, seed", random_networks())
def test_random_networks_give_the_bits_of_numpy(machine: str, seed: int) -> None:
    """Layers in a row and side by side, in a fair part of L1 or in as little as their smallest tiles need."""
    source = np.random.default_rng(7000 + seed)
    graph = random_graph(source)
    network, inputs = graph.network(), random_inputs(source, graph)
    target = target_for(soc.load(machine))
    planned = tight_plan(target, network) if seed % 2 else (target, plan_for(target, network))
    for made, expected in zip(simulate_plan(*planned, inputs).outputs, graph.references(inputs), strict=True):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.slow
def test_a_large_dense_layer_keeps_256_cores_busy(tmp_path: Path) -> None:
    assert run_beside_host(write_dense(tmp_path / "dense.onnx"), "mempool").report["macs_per_cycle"] >= 450


@pytest.mark.slow
def test_a_study_of_cores(tmp_path: Path) -> None:
    """Machines of 16 and of 256 cores by the study's axis: at least 70 % of sixteen times as fast."""
    model, socs = write_dense(tmp_path / "dense.onnx"), grid("mempool", cores=[16, 256])
    study = Study(models=[str(model)], socs=socs, targets=["c"], compile_options={"planner": "greedy"})
    few, many = study.run()["cycles"]
    assert few / many >= 0.7 * 16


@pytest.mark.slow
def test_a_large_convolution_keeps_256_cores_busy(tmp_path: Path) -> None:
    assert run_beside_host(write_conv(tmp_path / "conv.onnx"), "mempool").report["macs_per_cycle"] >= 300


@pytest.mark.slow
def test_cores_without_dot_products_multiply_one_by_one(tmp_path: Path) -> None:
    assert run_beside_host(write_dense(tmp_path / "dense.onnx"), "itapool").report["macs_per_cycle"] >= 55


def test_a_network_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text("based_on: minpool\nname: small\nmemory: {l2: {size: 0x40000}}\n")
    model, machine = write_dense(tmp_path / "wide.onnx", 16, 512, 512), str(tmp_path / "small.yaml")
    with pytest.raises(UserError, match="constants take at least 264512 bytes and SoC small holds 65536"):
        tvm_pulp.compile(model, target="c", soc=machine, planner="greedy")


def cases() -> list[Any]:
    """All golden networks with and without dot products; one of them in the default run."""
    quick = ("mempool", "Kernels/Integer/Add/Regular_RQ")
    pairs = [(machine, case) for machine in ("mempool", "itapool") for case in BIT_EXACT]
    return [pytest.param(*p, id="-".join(p), marks=[] if p == quick else [pytest.mark.slow]) for p in pairs]


@pytest.mark.parametrize("machine, case", cases())
def test_golden_networks_are_bit_exact(golden_data: object, machine: str, case: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc=machine, sample_inputs=inputs)
    run = simulate(app, dict(inputs))
    for result, (_, golden) in zip(run.outputs, read_arrays(folder / "outputs.npz"), strict=True):
        np.testing.assert_array_equal(result, golden)
