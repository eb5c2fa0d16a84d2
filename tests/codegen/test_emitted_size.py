"""Emitted C without weights stays small: layers are descriptors, not code."""

import re
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA

# Of text: a table says by name what each of its words is.
LIMIT = 500_000


def emitted_bytes(app: tvm_pulp.App) -> int:
    """Bytes of the network's own C, weights not counted."""
    return sum(len(data) for path, data in app.files.items() if path.startswith("codegen/") and "weights" not in path)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_a_language_model_of_eight_blocks(configuration: str) -> None:
    folder = DATA / "deeploy" / "Models" / "microLlama" / "INT8" / "microLlama64"
    if not folder.exists():
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    with np.load(folder / "inputs.npz") as inputs:
        given = [(name, inputs[name]) for name in inputs.files]
    options: dict[str, Any] = CONFIGURATIONS[configuration]
    app = tvm_pulp.compile(str(folder / "network.onnx"), sample_inputs=given, **options)
    assert emitted_bytes(app) < LIMIT


@pytest.mark.parametrize("configuration", ["cluster", "neureka-sram"])
def test_constants_are_kept_out_of_the_program(configuration: str) -> None:
    """The program names the constants of its bundles; their values stand in a header of their own."""
    app = tvm_pulp.compile("zoo:dscnn", **CONFIGURATIONS[configuration])
    program = app.files["codegen/host/src/default_run.c"].decode()
    header = app.files["codegen/host/include/default_bundle_weights.h"].decode()
    used = set(re.findall(r"\bBUNDLE_\d+_\w+", program))
    assert used == set(re.findall(r"#define (BUNDLE_\d+_\w+)", header)) != set()
    assert emitted_bytes(app) < LIMIT // 6
