"""Random graphs, networks of the zoo and those of real tools on CPUs with blocked kernels.

Random graphs are compared with numpy, the others with the plain C of this machine, whose results other tests compare
with their frameworks. Every run compares its first inference with its second.
"""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.golden.test_deeploy_cpus import emulator_of
from tests.real_models import catalog
from tests.schedules.cpu.test_layers_on_cores import CORES, EMULATED, skip_without
from tests.simulated.random_graph import random_graph
from tvm_pulp import soc as socs
from tvm_pulp.codegen.emit import emit
from tvm_pulp.codegen.mlf import metadata
from tvm_pulp.planning.cpu import CpuRequest, plan_cpu
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.sim.runner import runner_class
from tvm_pulp.uma.conformance.random_layer import random_input

SOCS = ("cortex-m4", *EMULATED, *(core for core in CORES if core.startswith("x86")))
ZOO = ("dscnn", "mobilenetv1", "resnet8", "autoencoder", "tinyllama", "vit_block", "qdq_encoder", "qdq_llama")
REAL = (
    *("resnet8", "resnet8_uint8", "dscnn", "mobilenetv3", "vit", "gpt_prefill", "gpt_token", "llama_token"),
    *("unet_transpose", "unet_resize", "yolo", "tcn", "lstm", "gru"),
)


def check_graph(seed: int, soc: str) -> None:
    skip_without(soc)
    source = np.random.default_rng(seed)
    graph = random_graph(source)
    inputs = [random_input(source, spec) for spec in graph.inputs]
    facts = {"target": "c", "soc": soc, "inferred_inputs": [], "flat": True}
    files = emit(plan_cpu(graph.network(), CpuRequest(soc, socs.load(soc).cpu)), facts).files
    runner = runner_class(emulator_of(soc))()
    runner.build(files, metadata(files))
    made = run_twice(runner, metadata(files), inputs).outputs
    for output, wanted in zip(made, graph.references(inputs), strict=True):
        np.testing.assert_array_equal(output.reshape(-1), wanted.reshape(-1), err_msg=f"{seed}: {graph}")


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("soc", ["cortex-m4", "aarch64"])
def test_random_graph(soc: str, seed: int) -> None:
    check_graph(seed, soc)


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("first", range(2, 42, 10))
def test_random_graphs(soc: str, first: int) -> None:
    for seed in range(first, first + 10):
        check_graph(seed, soc)


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", ZOO)
def test_zoo(name: str, soc: str) -> None:
    skip_without(soc)
    wanted = tvm_pulp.compile(f"zoo:{name}").run().outputs
    made = tvm_pulp.compile(f"zoo:{name}", soc=soc).run(device=emulator_of(soc)).outputs
    for key, value in wanted.items():
        np.testing.assert_array_equal(made[key], value)


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", REAL)
def test_real_tools(name: str, soc: str, tmp_path: Path) -> None:
    skip_without(soc)
    path, feeds = catalog.write(name, tmp_path), catalog.sample_inputs(name)
    wanted = tvm_pulp.compile(path).run(feeds).outputs
    made = tvm_pulp.compile(path, soc=soc).run(feeds, device=emulator_of(soc)).outputs
    for key, value in wanted.items():
        np.testing.assert_array_equal(made[key], value)
