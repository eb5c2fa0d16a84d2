"""From a float model and samples to a quantized one with its cost, within a stated loss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.quantize.accuracy import Accuracy, LayerSensitivity, Metric, measure, sensitivity
from tvm_pulp.frontend.quantize.calibration_data import (
    Feeds,
    calibration_samples,
    check_installed,
    refuse_samples,
    run_model,
)
from tvm_pulp.frontend.quantize.float_model import folded, read_float_model, with_all_types
from tvm_pulp.frontend.quantize.onnxruntime_quantizer import METHODS, Quantizer
from tvm_pulp.option_values import read_arrays
from tvm_pulp.output_files import write_output

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
class QuantizedModel:
    """The model, what it costs, and how much of that each layer is responsible for."""

    model: Any
    accuracy: Accuracy
    layers: tuple[LayerSensitivity, ...]
    # Layers that stayed float.
    kept: tuple[str, ...]

    def save(self, path: Any) -> None:
        write_output(path, self.model.SerializeToString())


def quantize_model(
    model: Any,
    calibration: Mapping[str, np.ndarray],
    options: QuantizeOptions,
    evaluation: Mapping[str, np.ndarray] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> QuantizedModel:
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
        refuse_if(name not in names, f"--keep '{name}' is no layer with weights: they are {', '.join(names)}")
    progress(f"measuring {len(names)} layers one by one")
    few = samples[:_SENSITIVITY_SAMPLES]
    rows = sensitivity(quantizer, few, expected[: len(few)] if judged is samples else _runs(source, few))
    # Those that make most noise first.
    order = [row.name for row in sorted(rows, key=lambda row: row.sqnr_db) if row.name not in options.keep]

    def attempt(count: int) -> QuantizedModel:
        kept = [*options.keep, *order[:count]]
        progress(f"measuring with {len(kept)} of {len(names)} layers in float")
        made = quantizer.quantized(kept)
        return QuantizedModel(made, measure(source, made, judged, options.metric), tuple(rows), tuple(kept))

    return _fewest(attempt, len(order), options.max_loss)


def quick_model(model: Any, calibration: Mapping[str, np.ndarray]) -> Any:
    """The quantized model alone: for those who only want to know how fast it is."""
    source = read_float_model(model)
    check_installed()
    samples = calibration_samples(source, calibration)
    _runs(source, samples[:1])
    options = QuantizeOptions()
    return Quantizer(folded(source), samples, options.method, options.weight_bits).quantized()


def _fewest(attempt: Callable[[int], QuantizedModel], most: int, max_loss: float | None) -> QuantizedModel:
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
    refuse_if(options.weight_bits not in (4, 8), f"--weight-bits {options.weight_bits}: choose 8 or 4")
    refuse_if(options.method not in METHODS, f"--method '{options.method}' is unknown: choose {', '.join(METHODS)}")
    if options.max_loss is not None and not 0 <= options.max_loss < 1:
        raise UserError(f"--max-loss {options.max_loss}: must be at least 0 and below 1, 0.01 is one percent")


def _runs(model: Any, samples: Sequence[Feeds]) -> list[list[np.ndarray]]:
    with refuse_samples():
        return run_model(model, samples)


Arrays = Mapping[str, np.ndarray] | str | Path


def quantize(
    model: Any,
    calibration: Arrays,
    *,
    example_inputs: Any = None,
    evaluation: Arrays | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> QuantizedModel:
    """Quantize a float model of ONNX or a framework, a file or in memory; more options are those of `QuantizeOptions`.

    made = tvm_pulp.quantize("net.onnx", {"image": samples}, max_loss=0.01)
    made.save("q.onnx")                                # made.accuracy, made.layers, made.kept

    A model of a framework is exported for `example_inputs`, a tuple of tensors.
    """
    known = [field.name for field in fields(QuantizeOptions)]
    for name in options:
        refuse_if(name not in known, f"quantize() has no option '{name}': the options are {', '.join(known)}")
    if example_inputs is not None:
        from tvm_pulp.frontend.load import as_model

        model = as_model(model, example_inputs)
    judged = None if evaluation is None else _arrays(evaluation, "evaluation")
    return quantize_model(model, _arrays(calibration, "calibration"), QuantizeOptions(**options), judged, progress)


def _arrays(given: Arrays, option: str) -> Mapping[str, np.ndarray]:
    return given if isinstance(given, Mapping) else dict(read_arrays(str(given), option))


def print_quantized(made: QuantizedModel, stream: TextIO) -> None:
    """Layers by what each alone costs, and what all of them together do."""
    head = ("layer", "operator", "SQNR alone", "arg-max alone", "")
    lines = [head]
    for row in made.layers:
        kept = "kept in float" if row.name in made.kept else ""
        lines.append((row.name, row.operator, _decibel(row.sqnr_db), f"{row.arg_max_agreement:.1%}", kept))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip(), file=stream)
    cost = made.accuracy
    text = f"{_decibel(cost.sqnr_db)}, arg-max agreement {cost.arg_max_agreement:.2%} of {cost.rows} rows"
    if cost.metric is not None:
        text += f", metric {cost.metric[0]:.4g} before and {cost.metric[1]:.4g} after"
    kept = f"; {len(made.kept)} of {len(made.layers)} layers kept in float" if made.kept else ""
    print(f"\nquantized: {text}{kept}", file=stream)


def _decibel(ratio: float) -> str:
    return f"{ratio:.1f} dB" if ratio < 1e6 else "exact"
