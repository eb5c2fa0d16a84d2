"""A product by a number that is known is a table of bytes: as TFLite's reference kernels compute it."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Tensor, options_of, reference_run, write

pytest.importorskip("ai_edge_litert", reason="TFLite's reference kernels: ai-edge-litert")


@pytest.mark.parametrize("shape", [(), (1, 1, 1)])
def test_on_the_cluster(shape: tuple[int, ...], tmp_path: Path) -> None:
    rng, path = np.random.default_rng(len(shape)), tmp_path / "net.tflite"
    number = Tensor(shape, "int8", 0.02, 7, np.full(shape, 93, np.int8))
    options = options_of("MulOptions", fusedActivationFunction=0)
    write(path, "MUL", [Tensor((3, 5, 8), "int8", 0.05, -12), number], Tensor((3, 5, 8), "int8", 0.06, 3), options)
    x = rng.integers(-128, 128, (3, 5, 8)).astype(np.int8)
    run = tvm_pulp.compile(path, "c", soc="siracusa").run([x])
    (found,) = run.outputs.values()
    assert np.array_equal(found, reference_run(path, [x]))
    assert [entry["form"] for entry in run.report["layers"]] == ["lookup kernel"]
