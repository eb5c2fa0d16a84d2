"""Files that command lines of the documentation speak of, made when a line needs them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.docs.command_lines import REPOSITORY


def _tflite(folder: Path, data: Path) -> None:
    shutil.copy(_golden(data) / "mlperf_tiny" / "resnet" / "model.tflite", folder / "resnet.tflite")


def _inputs(folder: Path, data: Path) -> None:
    _golden(data)
    image = np.random.default_rng(0).integers(-128, 128, (1, 32, 32, 3))
    np.savez(folder / "in.npz", image.astype(np.int8))


def _dataset(folder: Path, data: Path) -> None:
    _golden(data)
    np.savez(folder / "x.npz", np.random.default_rng(1).integers(-128, 128, (3, 32, 32, 3)).astype(np.int8))


def _labels(folder: Path, _data: Path) -> None:
    np.savez(folder / "y.npz", np.arange(3))


def _quantized(folder: Path, _data: Path) -> None:
    pytest.importorskip("onnxruntime")
    from tests.report.verify.small_models import quantized_classifier

    quantized_classifier(folder / "resnet.onnx")


def _float(folder: Path, _data: Path) -> None:
    pytest.importorskip("onnxruntime")
    from tests.report.verify.small_models import float_classifier

    onnx.save(float_classifier(), folder / "net.onnx")


def _samples(folder: Path, _data: Path) -> None:
    rng = np.random.default_rng(3)
    np.savez(folder / "samples.npz", image=rng.standard_normal((8, 3, 8, 8)).astype(np.float32))


def _decoder(folder: Path, _data: Path) -> None:
    from tests.language_models.exported_decoders import STYLES, build

    onnx.save(build(STYLES["llama"]), folder / "decoder.onnx")


def _speech(folder: Path, _data: Path) -> None:
    from tests.language_models.exported_decoders import STYLES, build

    onnx.save(build(STYLES["features"]), folder / "speech.onnx")


def _features(folder: Path, _data: Path) -> None:
    from tests.language_models.exported_decoders import STYLES, build, given_of

    np.savez(folder / "features.npz", **given_of(build(STYLES["features"]).SerializeToString()))


def _golden(data: Path) -> Path:
    if not data.is_dir():
        pytest.skip(f"golden data not found at {data}: set TVM_PULP_DATA to its folder")
    return data


# Name in a command line -> who makes it.
FILES: dict[str, Callable[[Path, Path], None]] = {
    "resnet.tflite": _tflite,
    "in.npz": _inputs,
    "x.npz": _dataset,
    "y.npz": _labels,
    "resnet.onnx": _quantized,
    "net.onnx": _float,
    "samples.npz": _samples,
    "decoder.onnx": _decoder,
    "speech.onnx": _speech,
    "features.npz": _features,
}


def provide(folder: Path, line: str, data: Path) -> None:
    """Make what a command line reads and nothing before it has made."""
    words = line.split("#")[0].split()
    for name, make in FILES.items():
        if name in words and not (folder / name).exists():
            make(folder, data)
    # Examples of the repository lie where they do there.
    for word in words:
        if word.startswith("examples/") and (REPOSITORY / word).is_file():
            (folder / word).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / word, folder / word)
