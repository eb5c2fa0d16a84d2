"""onnxruntime's quantizer with the settings that are fast here.

QDQ form with static scales; activations int8; weights symmetric, per channel, 8 or 4 bits. Activations are symmetric
where a convolution pads them and they can be negative: padding is a true zero then and costs nothing. What a ReLU made
uses all 256 steps: its zero point is the lowest value, which the accelerator stores as an unsigned zero. An input whose
samples are multiples of one step, as those of pictures are, keeps that step: it loses nothing. Masks of
minus infinity become low enough numbers (`finite_masks`). Matrices of four bits are rounded for the inputs that the
samples give them (`few_bits`).
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tvm_pulp.frontend.library_errors import quiet
from tvm_pulp.frontend.onnx_protos import attributes_of, copied
from tvm_pulp.frontend.quantize.calibration_data import Feeds, refuse_samples
from tvm_pulp.frontend.quantize.few_bits import rounded_matrices
from tvm_pulp.frontend.quantize.float_model import with_finite_masks
from tvm_pulp.frontend.quantize.recurrent_layers import gates_of, with_integer_gates, written_out_steps
from tvm_pulp.temporary import TemporaryFolder

_MOST_LEVELS = 256
_GRID_TOLERANCE = 1e-3
METHODS = ("minmax", "entropy", "percentile")
# Layers that have weights: what a sensitivity table and a choice of precision are about.
WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")


class Quantizer:
    """A model whose ranges were observed once; quantized as often as wanted."""

    def __init__(self, model: Any, samples: Sequence[Feeds], method: str, weight_bits: int) -> None:
        from onnxruntime import quantization

        kinds = quantization.CalibrationMethod
        chosen = {"minmax": kinds.MinMax, "entropy": kinds.Entropy, "percentile": kinds.Percentile}[method]

        def extremes(masked: Any) -> Callable[[str], tuple[float, float]]:
            found = _ranges(masked, samples, kinds.MinMax)
            return lambda name: _range(found, name)

        self.model, self._weight_bits = with_finite_masks(copied(model), extremes), weight_bits
        self._inputs = {name: grid([sample[name] for sample in samples]) for name in samples[0]}
        self._ranges = _ranges(self.model, samples, chosen)
        self._rounded = rounded_matrices(self.model, samples, weight_bits) if weight_bits < 8 else {}
        # Of recurrent nodes, which onnxruntime leaves in float.
        self.gates = gates_of(self.model)
        self._steps = written_out_steps(self.model, WEIGHTED)

    def layers(self) -> list[str]:
        """Names of nodes with weights, in order, and of the gates of recurrent ones."""
        gates = list(self.gates.values())
        return [
            name
            for node in self.model.graph.node
            for name in ([node.name] if node.op_type in WEIGHTED else [g.name for g in gates if g.node == node.name])
        ]

    def quantized(self, keep: Collection[str] = (), only: str | None = None) -> Any:
        """The model with all layers quantized but those kept in float; or with one layer alone."""
        from onnxruntime import quantization

        if only in self.gates:
            return with_integer_gates(self.model, {only: self.gates[only]})
        types, left = quantization.QuantType, set(keep if only is None else self.layers()) - {only}
        rounded = {name: matrix for name, matrix in self._rounded.items() if left.isdisjoint(matrix.nodes)}
        options: dict[str, Any] = {
            "ActivationSymmetric": False,
            "WeightSymmetric": True,
            "TensorQuantOverrides": self._overrides() | {name: matrix.overrides for name, matrix in rounded.items()},
        }
        with quiet(logging.WARNING):
            made = quantization.QDQQuantizer(
                _with_constants(self.model, {name: matrix.values for name, matrix in rounded.items()}),
                True,  # per channel
                False,
                types.QInt8 if self._weight_bits == 8 else types.QInt4,
                types.QInt8,
                self._ranges,
                [] if only is None else [only],
                sorted((set(keep) | self._steps) - self.gates.keys()),
                _known_operators(),
                options,
            )
            made.quantize_model()
        gates = {} if only is not None else {n: g for n, g in self.gates.items() if n not in keep}
        return with_integer_gates(made.model.model, gates)

    def _overrides(self) -> dict[str, list[dict[str, Any]]]:
        exact = {name: found for name, found in self._inputs.items() if found is not None}
        return {name: [{"symmetric": True}] for name in self._symmetric()} | {
            name: [{"scale": np.array(step, np.float32), "zero_point": np.array(zero_point, np.int8)}]
            for name, (step, zero_point) in exact.items()
        }

    def _symmetric(self) -> list[str]:
        """Activations that a convolution pads and that can be negative."""
        constants = {i.name for i in self.model.graph.initializer}
        padded = {n.input[0] for n in self.model.graph.node if n.op_type == "Conv" and _pads(n)}
        return sorted(name for name in padded - constants if _range(self._ranges, name)[0] < 0)


def grid(samples: Sequence[np.ndarray]) -> tuple[float, int] | None:
    """Scale and zero point of int8 in which samples are exact: multiples of one step, 256 of them at most."""
    levels = np.unique(np.concatenate([sample.reshape(-1) for sample in samples]))
    if levels.dtype.kind != "f" or not 2 <= len(levels) <= _MOST_LEVELS:
        return None
    step = float(np.diff(levels.astype(np.float64)).min())
    low, high = (round(float(end) / step) for end in (levels[0], levels[-1]))
    exact = np.abs(levels / step - np.rint(levels / step)).max() < _GRID_TOLERANCE
    low, high = min(low, 0), max(high, 0)
    if not exact or high - low >= _MOST_LEVELS:
        return None
    if low >= -_MOST_LEVELS // 2 and high < _MOST_LEVELS // 2:
        return step, 0  # padding with zeros is free then
    # What was not seen lies above as often as below.
    return step, -128 - low if low == 0 or high - low == _MOST_LEVELS - 1 else -((low + high + 1) // 2)


def _pads(node: Any) -> bool:
    stated = attributes_of(node)
    return stated.get("auto_pad", b"").startswith(b"SAME") or any(stated.get("pads", ()))


def _ranges(model: Any, samples: Sequence[Feeds], method: Any) -> Any:
    """Of every activation that a quantizer may want to know about."""
    with quiet(logging.WARNING), TemporaryFolder() as folder:
        calibrator = _calibrator(model, folder, method)
        with refuse_samples():
            calibrator.collect_data(SimpleNamespace(get_next=partial(next, iter(samples), None)))
            return calibrator.compute_data()


def _range(ranges: Any, name: str) -> tuple[float, float]:
    try:
        low, high = ranges[name].range_value
    except (KeyError, AttributeError, TypeError):
        return 0.0, 0.0
    return float(np.min(low)), float(np.max(high))


def _with_constants(model: Any, values: Mapping[str, np.ndarray]) -> Any:
    from onnx.numpy_helper import from_array

    made = copied(model)
    for constant in made.graph.initializer:
        if constant.name in values:
            constant.CopyFrom(from_array(np.ascontiguousarray(values[constant.name]), constant.name))
    return made


def _calibrator(model: Any, folder: Path, method: Any) -> Any:
    import onnx
    from onnxruntime import quantization

    source, target = folder / "float.onnx", str(folder / "observed.onnx")
    onnx.save(model, str(source))
    types = _known_operators()
    return quantization.create_calibrator(source, types, augmented_model_path=target, calibrate_method=method)


def _known_operators() -> list[str]:
    """Operators that onnxruntime quantizes."""
    from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

    return sorted({*QLinearOpsRegistry, *QDQRegistry})
