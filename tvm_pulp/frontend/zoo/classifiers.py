"""Convolutional classifiers of the benchmarks for small machines: DS-CNN, ResNet-8 and MobileNetV1."""

from collections.abc import Sequence

from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.sample_data import image, spectrogram
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

# Of ResNet-8: channels and stride of each stack.
STACKS = ((16, 1), (32, 2), (64, 2))
# Of MobileNetV1: output channels at width 1, and stride of the depthwise layer, of each block.
BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))


def _separable(builder: Builder, name: str, x: CalibratedTensor, channels: int, stride: int = 1) -> CalibratedTensor:
    """A depthwise layer, then a pointwise one."""
    before = x.values.shape[1]
    x = builder.conv(f"{name}_depthwise", x, before, (3, 3), (stride, stride), depthwise=True)
    return builder.conv(f"{name}_pointwise", x, channels, (1, 1))


def _classify(builder: Builder, x: CalibratedTensor, classes: int) -> None:
    builder.output(builder.classifier("logits", builder.spatial_mean("pool", x), classes))


def dscnn(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    """Keyword spotting: 49x10 spectrogram, 64 channels, four depthwise-separable blocks, 12 classes."""
    x = builder.conv("stem", inputs[0], 64, (10, 4), (2, 2))
    for block in range(1, 5):
        x = _separable(builder, f"block{block}", x, 64)
    _classify(builder, x, 12)


def resnet8(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    """Image classification: 32x32 pictures, three residual stacks of 16, 32 and 64 channels, 10 classes."""
    x = builder.conv("stem", inputs[0], 16, (3, 3))
    for stack, (channels, stride) in enumerate(STACKS, start=1):
        y = builder.conv(f"stack{stack}_conv1", x, channels, (3, 3), (stride, stride))
        y = builder.conv(f"stack{stack}_conv2", y, channels, (3, 3), relu=False)
        shortcut = x
        if stride != 1:
            shortcut = builder.conv(f"stack{stack}_shortcut", x, channels, (1, 1), (stride, stride), relu=False)
        x = builder.residual(f"stack{stack}_add", shortcut, y, relu=True)
    _classify(builder, x, 10)


def mobilenetv1(name: str, width: float, size: int, classes: int, parameters: int, samples: int) -> ZooModel:
    """A stem and thirteen depthwise-separable blocks, all channel counts times `width`, for square pictures."""

    def define(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
        x = builder.conv("stem", inputs[0], int(32 * width), (3, 3), (2, 2))
        for block, (channels, stride) in enumerate(BLOCKS, start=1):
            x = _separable(builder, f"block{block}", x, int(channels * width), stride)
        _classify(builder, x, classes)

    return ZooModel(name, ("image",), lambda stream: [image(stream, 3, size, size)], define, parameters, samples)


NETWORKS = (
    ZooModel("dscnn", ("spectrogram",), lambda stream: [spectrogram(stream, 49, 10)], dscnn, 23_182),
    ZooModel("resnet8", ("image",), lambda stream: [image(stream, 3, 32, 32)], resnet8, 78_062),
    # Visual wake words.
    mobilenetv1("mobilenetv1", 0.25, 96, 2, 213_588, samples=8),
    # 4.2 MB of weights: more than the on-chip memories hold.
    mobilenetv1("mobilenetv1_1.0_128", 1.0, 128, 1000, 4_231_978, samples=3),
)
