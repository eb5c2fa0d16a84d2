"""What onnxruntime's and PyTorch's quantizers make of a float graph."""

import contextlib
import logging
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

Feeds = dict[str, np.ndarray]


@contextlib.contextmanager
def _in_a_folder(model: Any) -> Iterator[tuple[Path, Path]]:
    """The model as a file and the name of the result; the quantizer's advice is not ours to show."""
    logging.disable(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "float.onnx")
            onnx.save(model, source)
            yield source, Path(folder, "quantized.onnx")
    finally:
        logging.disable(logging.NOTSET)


def static(
    model: Any, samples: Sequence[Feeds], activations: str = "QInt8", weights: str = "QInt8", per_channel: bool = True
) -> Any:
    """quantize_static in QDQ form, everything else left as it is."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self._left = iter(samples)

        def get_next(self) -> Any:
            return next(self._left, None)

    types = quantization.QuantType
    with _in_a_folder(model) as (source, target):
        quantization.quantize_static(
            source,
            target,
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=per_channel,
            activation_type=types[activations],
            weight_type=types[weights],
        )
        return onnx.load(target)


def dynamic(model: Any) -> Any:
    """quantize_dynamic as it is."""
    from onnxruntime import quantization

    with _in_a_folder(model) as (source, target):
        quantization.quantize_dynamic(source, target)
        return onnx.load(target)


def int8(model: Any, samples: Sequence[Feeds]) -> Any:
    return static(model, samples)


def uint8_per_tensor(model: Any, samples: Sequence[Feeds]) -> Any:
    return static(model, samples, "QUInt8", "QUInt8", per_channel=False)


def int16_activations(model: Any, samples: Sequence[Feeds]) -> Any:
    return static(model, samples, activations="QInt16")


def dynamic_int8(model: Any, samples: Sequence[Feeds]) -> Any:
    return dynamic(model)


def unquantized(model: Any, samples: Sequence[Feeds]) -> Any:
    return model
