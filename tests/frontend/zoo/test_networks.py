"""Every network of the zoo through import, canonicalization and the interpreter: work, types, range of values."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend import onnx_dialect, onnx_file, zoo
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.zoo import catalog
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.operator import OPERATORS, PREFIX, spec_of

# Multiply-accumulates of the published networks. The transformers: projections, rotations, attention products.
MACS = {
    "dscnn": 2_656_768,
    "mobilenetv1": 7_489_664,
    "resnet8": 12_501_632,
    "autoencoder": 264_192,
    "mobilenetv1_1.0_128": 186_400_768,
    "tinyllama": 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64 * 4 + 2 * 16 * 33 * 4),
    "vit_block": 4 * 64 * 64 * 64 + 2 * 64 * 64 * 256 + 2 * 4 * 64 * 64 * 16,
}
LAYERS = {"conv2d", "dense", "add"}
# The others are compared with onnxruntime, in test_qdq_networks.
INTEGER = [name for name in zoo.names() if catalog.find(name).notation == "pulp"]


@cache
def imported(name: str, weight_bits: int = 8) -> Imported:
    graph = onnx_file.from_model(zoo.build(name, weight_bits=weight_bits))
    assert onnx_dialect.is_dialect(graph, ImportOptions())
    return onnx_dialect.import_dialect(graph, ImportOptions())


@cache
def canonical(name: str, weight_bits: int = 8) -> Any:
    return canonicalize(imported(name, weight_bits))


def calls(module: Any) -> list[tuple[Any, str, Any]]:
    """(variable, operator, call) of every dialect call in a module."""
    bindings = [b for block in module["main"].body.blocks for b in block.bindings]
    return [(b.var, b.value.op.name.removeprefix(PREFIX), b.value) for b in bindings if qnn.is_qnn(b.value)]


def layer_outputs(module: Any, inputs: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Values of all convolutions, dense layers and sums for one input."""
    function = module["main"]
    wanted = [variable for variable, operator, _ in calls(module) if operator in LAYERS]
    body = SimpleNamespace(blocks=function.body.blocks, body=relax.Tuple(wanted))
    values = interpret({"main": SimpleNamespace(params=function.params, body=body)}, inputs)
    return {variable.name: array for variable, array in zip(wanted, values, strict=True)}


@pytest.mark.parametrize("name", INTEGER)
def test_all_input_types_are_stated(name: str) -> None:
    assert imported(name).inferred_inputs == ()


@pytest.mark.parametrize("name", INTEGER)
def test_work_is_the_published_number(name: str) -> None:
    found = sum(
        OPERATORS[operator].macs(qnn.attributes(call), [spec_of(a) for a in call.args], spec_of(call))
        for _, operator, call in calls(canonical(name))
    )
    assert found == MACS[name]


@pytest.mark.parametrize("name", INTEGER)
def test_canonical_form_keeps_the_answer(name: str) -> None:
    inputs = zoo.sample_inputs(name, seed=5)
    plain, fused = interpret(imported(name).module, inputs), interpret(canonical(name), inputs)
    assert len(plain) == len(fused) >= 1
    for expected, found in zip(plain, fused, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", INTEGER)
def test_calibration_computed_what_the_model_computes(name: str) -> None:
    builder, samples = catalog.construct(name, 0, 8), catalog.calibration_inputs(name, 0)
    for index in (0, len(samples) - 1):
        found = interpret(canonical(name), samples[index])
        for tensor, array in zip(builder.outputs, found, strict=True):
            assert array.dtype == tensor.dtype
            np.testing.assert_array_equal(array[0], tensor.values[index])


@pytest.mark.parametrize("bits", [8, 3])
@pytest.mark.parametrize("name", INTEGER)
def test_layers_suit_an_accelerator(name: str, bits: int) -> None:
    # Each layer holds its requantization, with multipliers >= 0 and a static proof that 32 bits are enough.
    layers = [call for _, operator, call in calls(canonical(name, bits)) if operator in ("conv2d", "dense")]
    assert layers
    for call in layers:
        attributes = qnn.attributes(call)
        assert attributes["requant"] == "pulp" and attributes["requant_wide"] == 0
        assert call.args[-2].value.numpy().min() >= 0


@pytest.mark.parametrize("name", INTEGER)
def test_layers_use_their_range(name: str) -> None:
    # Layers of a few hundred values need more inputs before they can show 100 levels.
    inputs = 40 if name in ("autoencoder", "tinyllama") else 4
    runs = [layer_outputs(canonical(name), zoo.sample_inputs(name, seed)) for seed in range(inputs)]
    small = {"logits", "dense5"}  # classes and the bottleneck: too few values
    assert len(runs[0].keys() - small) >= 7
    for layer in runs[0].keys() - small:
        values = np.stack([run[layer] for run in runs])
        high = np.iinfo(values.dtype).max
        assert len(np.unique(values)) > 100, layer
        assert np.mean(values == high) < 0.02, layer
        assert np.mean(values == 0) < 0.7, layer


@pytest.mark.parametrize(
    ("name", "inputs", "classes"),
    [("dscnn", 20, 3), ("resnet8", 20, 3), ("mobilenetv1", 20, 2), ("mobilenetv1_1.0_128", 6, 3)],
)
def test_classes_differ_between_inputs(name: str, inputs: int, classes: int) -> None:
    logits = np.concatenate([interpret(canonical(name), zoo.sample_inputs(name, s))[0] for s in range(inputs)])
    assert len(set(logits.argmax(axis=1).tolist())) >= classes
    assert np.mean(np.abs(logits.astype(np.int64)) >= 127) < 0.02


def test_reconstruction_depends_on_the_input() -> None:
    first, second = (interpret(canonical("autoencoder"), zoo.sample_inputs("autoencoder", s))[0] for s in (0, 1))
    assert np.mean(first != second) > 0.9


def test_residual_sums_keep_both_operands() -> None:
    # An inner multiplier far below one would let a branch vanish; a multiplier of one would be dropped.
    found = 0
    for name in ("resnet8", "tinyllama", "vit_block"):
        for variable, operator, call in calls(canonical(name)):
            if operator == "add" and not variable.name.endswith("logits"):
                attributes = qnn.attributes(call)
                assert attributes["requant_a"] == attributes["requant_b"] == "pulp"
                scales = [
                    int(call.args[2 + 2 * side].value.numpy()[0]) / 2 ** attributes[f"requant_{letter}_shift"]
                    for side, letter in enumerate("ab")
                ]
                assert all(0.2 < scale < 2 for scale in scales) and scales[0] != scales[1], variable.name
                found += 1
    assert found == 3 + 4 + 2


def test_cache_is_passed_on_and_extended() -> None:
    inputs = zoo.sample_inputs("tinyllama", seed=2)
    outputs = interpret(canonical("tinyllama"), inputs)
    assert outputs[0].shape == (1, 1, 64)
    for past, present in zip(inputs[3:], outputs[1:], strict=True):
        np.testing.assert_array_equal(present[:, :, :32], past)
        assert present.shape == (1, 16, 33, 4) and np.any(present[:, :, 32])


def test_masked_positions_do_not_matter_much_and_visible_ones_do() -> None:
    inputs = zoo.sample_inputs("tinyllama", seed=2)

    def changed(position: slice) -> float:
        other = [i.copy() for i in inputs]
        for past in other[3:]:
            past[:, :, position] = -past[:, :, position]
        before, after = (interpret(canonical("tinyllama"), i)[0].astype(np.int64) for i in (inputs, other))
        return float(np.abs(before - after).mean())

    assert changed(slice(0, 5)) < 0.2 * changed(slice(5, 10))
