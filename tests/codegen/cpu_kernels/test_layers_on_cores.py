"""Blocked kernels on their cores: random layers give what numpy gives, after one inference and after two."""

import numpy as np
import pytest

from tests.codegen.cpu_kernels.random_layers import archive, expected, random_layer
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.sim.unicorn.runner import UnicornRunner


def check(soc: str, seed: int, count: int) -> str:
    """The kernels' C of layers that were equal."""
    rng = np.random.default_rng(seed)
    made = [random_layer(rng, number) for number in range(count)]
    files, metadata = archive([layer for layer, _ in made], soc)
    runner = UnicornRunner()
    runner.build(files, metadata)
    outputs = run_twice(runner, metadata, [values for _, values in made]).outputs
    for (layer, values), output in zip(made, outputs, strict=True):
        np.testing.assert_array_equal(output, expected(layer, values), err_msg=f"{seed}: {layer.attributes}")
    return files["codegen/host/src/many_kernels.c"].decode()


def test_random_layers() -> None:
    text = check("cortex-m4", 1, 16)
    for used in ("tvm_pulp_convolve(", "tvm_pulp_depthwise(", "tvm_pulp_multiply_row(", "tvm_pulp_product_s32"):
        assert used in text


@pytest.mark.slow
@pytest.mark.parametrize("soc", ["cortex-m4", "cortex-m7", "cortex-m33"])
@pytest.mark.parametrize("seed", range(10, 16))
def test_many_random_layers(soc: str, seed: int) -> None:
    check(soc, seed, 40)
