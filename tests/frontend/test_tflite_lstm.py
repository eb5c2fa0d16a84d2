"""TFLite's integer LSTM against its own kernel: bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Operation, Tensor, options_of, reference_run, write_graph
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.tflite_file import import_tflite

pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


def _write(
    path: Path, rng: np.random.Generator, *, coupled: bool, time_major: bool, sizes: tuple[int, ...], scales_of: int = 1
) -> Any:
    """A model of one LSTM, its weights with so many scales; its input."""
    batch, steps, width, cells = sizes
    x = {"scale": float(np.exp(rng.uniform(-5, -3))), "zero_point": int(rng.integers(-40, 40))}
    state = {"scale": 1 / 128, "zero_point": int(rng.integers(-3, 4))}
    tensors: list[Tensor] = [Tensor((steps, batch, width) if time_major else (batch, steps, width), **x)]
    places = [0]

    def add(tensor: Tensor | None) -> int:
        places.append(-1 if tensor is None else len(tensors))
        tensors.extend([] if tensor is None else [tensor])
        return places[-1]

    scales: list[float] = []
    for columns in (width, cells):
        for gate in range(4):
            weight = rng.integers(-127, 128, (cells, columns)).astype(np.int8)
            scales.append(float(np.exp(rng.uniform(-6, -4.5))))
            stated = [scales[-1]] * scales_of
            add(None if coupled and gate == 0 else Tensor(weight.shape, "int8", stated, 0, weight))
    for _ in range(3):
        add(None)
    for gate in range(4):
        bias = rng.integers(-3000, 3000, cells).astype(np.int32)
        unit = x["scale"] * scales[gate]
        add(None if coupled and gate == 0 else Tensor(bias.shape, "int32", unit, 0, bias))
    add(None)
    add(None)
    add(Tensor((batch, cells), "int8", **state, variable=True))
    add(Tensor((batch, cells), "int16", 2.0**-11, 0, variable=True))
    for _ in range(4):
        add(None)
    first = len(tensors)
    tensors += [Tensor((1,), "int16", 2.0**-12) for _ in range(4)] + [Tensor((1,), "int8", **state)]
    shape = (steps, batch, cells) if time_major else (batch, steps, cells)
    tensors.append(Tensor(shape, "int8", **state))
    options = options_of("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, timeMajor=time_major)
    middle = range(first, first + 5)
    lstm = Operation("UNIDIRECTIONAL_SEQUENCE_LSTM", places, [len(tensors) - 1], options, 3, middle)
    write_graph(path, tensors, [lstm], [0], [len(tensors) - 1])
    return rng.integers(-128, 128, tensors[0].shape).astype(np.int8)


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
def test_equals_the_kernel(coupled: bool, time_major: bool, tmp_path: Path) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, coupled, time_major])
        sizes = tuple(int(v) for v in rng.integers(1, 9, 4))
        x = _write(tmp_path / "lstm.tflite", rng, coupled=coupled, time_major=time_major, sizes=sizes)
        expected = reference_run(tmp_path / "lstm.tflite", [x])
        module = canonicalize(import_tflite(tmp_path / "lstm.tflite"))
        assert {"dense", "lstm_cell", "lstm_hidden"} <= operators(module)
        (result,) = dialect_run(module, {"x": x})
        assert result.shape == expected.shape
        assert (result == expected).all(), f"seed {seed}: {np.abs(result.astype(int) - expected).max()}"


def test_equals_the_kernel_on_the_cores(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x = _write(tmp_path / "lstm.tflite", rng, coupled=False, time_major=False, sizes=(1, 6, 16, 32))
    (result,) = tvm_pulp.compile(tmp_path / "lstm.tflite", target="uma-neureka").run({"t0": x}).outputs.values()
    assert (result == reference_run(tmp_path / "lstm.tflite", [x])).all()


def test_a_scale_for_each_channel_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lstm.tflite"
    _write(file, np.random.default_rng(3), coupled=False, time_major=False, sizes=(1, 6, 16, 32), scales_of=32)
    with pytest.raises(UserError, match="with a scale for each channel is not known"):
        import_tflite(file)
