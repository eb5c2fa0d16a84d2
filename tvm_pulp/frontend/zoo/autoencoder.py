"""Deep autoencoder, anomaly detection: five frames of 128 bins through a bottleneck of eight values and back."""

from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.sample_data import spectrogram
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

FRAMES, BINS = 5, 128
HIDDEN = (128, 128, 128, 128, 8, 128, 128, 128, 128)


def sample(stream: RandomStream) -> list[np.ndarray]:
    """One sound: its frames in a row."""
    return [spectrogram(stream, FRAMES, BINS).reshape(1, FRAMES * BINS)]


def define(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    x = inputs[0]
    for layer, channels in enumerate(HIDDEN, start=1):
        x = builder.dense(f"dense{layer}", x, channels)
    builder.output(builder.dense("reconstruction", x, FRAMES * BINS, relu=False))


NETWORKS = (ZooModel("autoencoder", ("frames",), sample, define, 269_208, calibration_samples=64),)
