"""From a float model and samples to a quantized one with its cost, within a stated loss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.quantize.accuracy import Accuracy, Metric, measure
from tvm_pulp.frontend.quantize.calibration_data import calibration_samples
from tvm_pulp.frontend.quantize.float_model import folded, read_float_model, with_all_types
from tvm_pulp.frontend.quantize.onnxruntime_quantizer import METHODS, Quantizer
from tvm_pulp.frontend.quantize.sensitivity import LayerSensitivity, sensitivity
from tvm_pulp.frontend.quantize.session import Feeds, check_installed, run_model

# Samples that the table of layers is measured with: it orders them, it does not judge.
_SENSITIVITY_SAMPLES = 8


@dataclass(frozen=True)
class QuantizeOptions:
    """Settings of a quantization."""

    weight_bits: int = 8
    method: str = METHODS[0]
    # The largest loss: of arg-max agreement, or of the metric relative to the float model's. None: as it comes.
    max_loss: float | None = None
    # Layers that stay float whatever happens.
    keep: tuple[str, ...] = ()
    # Higher is better; called with an ONNX model.
    metric: Metric | None = None


@dataclass(frozen=True)
class Quantized:
    """The model, what it costs, and how much of that each layer is responsible for."""

    model: Any
    accuracy: Accuracy
    layers: tuple[LayerSensitivity, ...]
    # Layers that stayed float.
    kept: tuple[str, ...]

    def save(self, path: Any) -> None:
        import onnx

        onnx.save(self.model, str(path))


def quantize_model(
    model: Any,
    calibration: Mapping[str, np.ndarray],
    options: QuantizeOptions,
    evaluation: Mapping[str, np.ndarray] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Quantized:
    """Quantize; where the loss is above its limit, keep the layers that cost most in float, as few as suffice.

    The loss is measured on `evaluation`, by default on the samples of the calibration.
    """
    _check(options)
    source = read_float_model(model)
    check_installed()
    samples = calibration_samples(source, calibration)
    judged = samples if evaluation is None else calibration_samples(source, evaluation)
    expected = _runs(source, judged)
    prepared = folded(source)
    if options.weight_bits != 8:
        prepared = with_all_types(prepared)
    progress(f"calibrating with {len(samples)} samples")
    quantizer = Quantizer(prepared, samples, options.method, options.weight_bits)
    names = quantizer.layers()
    for name in options.keep:
        if name not in names:
            raise UserError(f"--keep '{name}' is no layer with weights: they are {', '.join(names)}")
    progress(f"measuring {len(names)} layers one by one")
    few = samples[:_SENSITIVITY_SAMPLES]
    rows = sensitivity(quantizer, few, expected[: len(few)] if judged is samples else _runs(source, few))
    # Those that make most noise first.
    order = [row.name for row in sorted(rows, key=lambda row: row.sqnr_db) if row.name not in options.keep]

    def attempt(count: int) -> Quantized:
        kept = [*options.keep, *order[:count]]
        progress(f"measuring with {len(kept)} of {len(names)} layers in float")
        made = quantizer.quantized(kept)
        return Quantized(made, measure(source, made, judged, options.metric), tuple(rows), tuple(kept))

    return _fewest(attempt, len(order), options.max_loss)


def quick_model(model: Any, calibration: Mapping[str, np.ndarray]) -> Any:
    """The quantized model alone: for those who only want to know how fast it is."""
    source = read_float_model(model)
    check_installed()
    samples = calibration_samples(source, calibration)
    _runs(source, samples[:1])
    options = QuantizeOptions()
    return Quantizer(folded(source), samples, options.method, options.weight_bits).quantized()


def _fewest(attempt: Callable[[int], Quantized], most: int, max_loss: float | None) -> Quantized:
    """The attempt with the fewest layers in float whose loss is small enough."""
    best, too_few, count = attempt(0), 0, 0
    if max_loss is None or best.accuracy.loss <= max_loss:
        return best
    while best.accuracy.loss > max_loss:
        if count == most:
            raise UserError(
                f"no choice of layers keeps the loss below {max_loss:.2%}: with all layers in float it is "
                f"{best.accuracy.loss:.2%}; calibrate with more samples, or allow more with --max-loss"
            )
        too_few, count = count, min(most, max(1, 2 * count))
        best = attempt(count)
    while count - too_few > 1:
        middle = (count + too_few) // 2
        between = attempt(middle)
        if between.accuracy.loss <= max_loss:
            best, count = between, middle
        else:
            too_few = middle
    return best


def _check(options: QuantizeOptions) -> None:
    if options.weight_bits not in (4, 8):
        raise UserError(f"--weight-bits {options.weight_bits}: choose 8 or 4")
    if options.method not in METHODS:
        raise UserError(f"--method '{options.method}' is unknown: choose {', '.join(METHODS)}")
    if options.max_loss is not None and not 0 <= options.max_loss < 1:
        raise UserError(f"--max-loss {options.max_loss}: must be at least 0 and below 1, 0.01 is one percent")


def _runs(model: Any, samples: Sequence[Feeds]) -> list[list[np.ndarray]]:
    try:
        return run_model(model, samples)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"calibration: onnxruntime does not run the model with it ({reason})") from None
