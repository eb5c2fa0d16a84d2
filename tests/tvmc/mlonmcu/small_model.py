"""A TFLite file with one layer: compiled in no time."""

from pathlib import Path

import numpy as np

from tests.frontend.single_tflite import Tensor, options_of, reference_run, write

INPUTS = np.arange(-8, 8, dtype=np.int8).reshape(1, 16)


def write_dense(path: Path) -> None:
    """A fully connected layer of 32 MAC."""
    weights = np.arange(-16, 16).reshape(2, 16).astype(np.int8)
    write(
        path,
        "FULLY_CONNECTED",
        [
            Tensor((1, 16), "int8", 0.5, 3),
            Tensor((2, 16), "int8", 0.25, 0, data=weights),
            Tensor((2,), "int32", 0.125, 0, data=np.array([4, -4], np.int32)),
        ],
        Tensor((1, 2), "int8", 2.0, 0),
        options_of("FullyConnectedOptions"),
        4,
    )


def write_golden(folder: Path, error: int = 0) -> None:
    """The layer in a folder of its own, with what TFLite's reference kernels make of an input; or nearly that."""
    folder.mkdir(parents=True)
    write_dense(folder / "network.tflite")
    np.savez(folder / "inputs.npz", x=INPUTS)
    answer = reference_run(folder / "network.tflite", [INPUTS])
    answer.flat[1] += error
    np.savez(folder / "outputs.npz", y=answer)
