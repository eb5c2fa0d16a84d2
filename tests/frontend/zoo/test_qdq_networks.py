"""The zoo's QDQ networks against onnxruntime without optimizations, and what they become."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import canonical, dialect_run, onnxruntime_run
from tvm_pulp import compile, qnn
from tvm_pulp.frontend import zoo
from tvm_pulp.frontend.zoo import catalog
from tvm_pulp.qnn.operator import PREFIX

pytest.importorskip("onnxruntime")
# Layers of the dialect that each network must have; more is welcome.
LAYERS = {
    "qdq_encoder": {"dense": 6, "qdq_attention": 1, "qdq_norm": 2, "add": 2, "lookup": 1},
    "qdq_llama": {"dense": 7, "qdq_attention": 1, "qdq_norm": 3, "qdq_mul": 1, "add": 2, "lookup": 1, "concat": 2},
}


def _feeds(model: Any, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {value.name: array for value, array in zip(model.graph.input, arrays, strict=True)}


@pytest.mark.parametrize("name", LAYERS)
def test_agrees_with_onnxruntime(name: str) -> None:
    model = zoo.build(name)
    module, close, exact, total = canonical(model), 0, 0, 0
    for seed in range(4):
        feeds = _feeds(model, zoo.sample_inputs(name, seed))
        for expected, found in zip(onnxruntime_run(model, feeds), dialect_run(module, feeds), strict=True):
            assert found.dtype == expected.dtype and found.shape == expected.shape
            difference = np.abs(found.astype(int) - expected.astype(int))
            close, exact = close + int((difference <= 2).sum()), exact + int((difference == 0).sum())
            total += difference.size
    assert close >= 0.99 * total, f"{close} of {total} within two"
    assert exact >= 0.9 * total, f"{exact} of {total} equal"


@pytest.mark.parametrize("name", LAYERS)
def test_heavy_layers_are_integer(name: str) -> None:
    module = canonical(zoo.build(name))
    bindings = [b.value for block in module["main"].body.blocks for b in block.bindings]
    counts = Counter(v.op.name.removeprefix(PREFIX) for v in bindings if qnn.is_qnn(v))
    assert {k: min(v, counts[k]) for k, v in LAYERS[name].items()} == LAYERS[name]
    assert "relax.matmul" not in {v.op.name for v in bindings if hasattr(v, "op")}


@pytest.mark.parametrize("name", LAYERS)
def test_values_use_their_range(name: str) -> None:
    model = zoo.build(name)
    outputs = [onnxruntime_run(model, _feeds(model, zoo.sample_inputs(name, seed)))[0] for seed in range(6)]
    values = np.stack(outputs)
    assert len(np.unique(values)) > 100 and np.mean(np.abs(values.astype(int)) >= 127) < 0.02
    assert np.mean(outputs[0] != outputs[1]) > 0.9


def test_the_cache_is_extended() -> None:
    inputs = zoo.sample_inputs("qdq_llama", 3)
    model = zoo.build("qdq_llama")
    _, keys, values = dialect_run(canonical(model), _feeds(model, inputs))
    for past, present in ((inputs[1], keys), (inputs[2], values)):
        np.testing.assert_array_equal(present[:, :, :16], past)
        assert present.shape == (1, 4, 17, 16) and np.any(present[:, :, 16])


@pytest.mark.parametrize("name", LAYERS)
def test_emitted_c_runs_on_the_host(name: str) -> None:
    model, inputs = zoo.build(name), zoo.sample_inputs(name, 1)
    found = compile(f"zoo:{name}").run(inputs).outputs.values()
    for result, expected in zip(found, dialect_run(canonical(model), _feeds(model, inputs)), strict=True):
        # Float islands use another mathematical library: a tie may fall the other way.
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert difference.max() <= 1 and (difference == 0).mean() > 0.98


def test_forms() -> None:
    assert [n for n in zoo.names() if catalog.find(n).notation == "qdq"] == list(LAYERS)
