"""DS-CNN, keyword spotting: 49x10 spectrogram, 64 channels, four depthwise-separable blocks, 12 classes."""

from collections.abc import Sequence

from tvm_pulp.frontend.zoo.builder import Builder, Tensor
from tvm_pulp.frontend.zoo.sample_data import spectrogram
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

CHANNELS, BLOCKS, CLASSES = 64, 4, 12


def define(builder: Builder, inputs: Sequence[Tensor]) -> None:
    x = builder.conv("stem", inputs[0], CHANNELS, (10, 4), (2, 2))
    for block in range(1, BLOCKS + 1):
        x = builder.conv(f"block{block}_depthwise", x, CHANNELS, (3, 3), depthwise=True)
        x = builder.conv(f"block{block}_pointwise", x, CHANNELS, (1, 1))
    x = builder.spatial_mean("pool", x)
    builder.output(builder.classifier("logits", x, CLASSES))


NETWORKS = (ZooModel("dscnn", ("spectrogram",), lambda stream: [spectrogram(stream, 49, 10)], define),)
