"""MobileNetV1: a stem and thirteen depthwise-separable blocks, at any width and picture size."""

from collections.abc import Sequence

from tvm_pulp.frontend.zoo.builder import Builder, Tensor
from tvm_pulp.frontend.zoo.sample_data import image
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

# Output channels at width 1, and stride of the depthwise layer, of each block.
BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)


def mobilenetv1(name: str, width: float, size: int, classes: int, calibration_samples: int) -> ZooModel:
    """The network with all channel counts multiplied by `width`, for square pictures."""

    def define(builder: Builder, inputs: Sequence[Tensor]) -> None:
        x = builder.conv("stem", inputs[0], int(32 * width), (3, 3), (2, 2))
        for block, (channels, stride) in enumerate(BLOCKS, start=1):
            before = x.values.shape[1]
            x = builder.conv(f"block{block}_depthwise", x, before, (3, 3), (stride, stride), depthwise=True)
            x = builder.conv(f"block{block}_pointwise", x, int(channels * width), (1, 1))
        x = builder.spatial_mean("pool", x)
        builder.output(builder.classifier("logits", x, classes))

    return ZooModel(name, ("image",), lambda stream: [image(stream, 3, size, size)], define, calibration_samples)


NETWORKS = (
    # Visual wake words.
    mobilenetv1("mobilenetv1", 0.25, 96, 2, calibration_samples=8),
    # 4.2 MB of weights: more than the on-chip memories hold.
    mobilenetv1("mobilenetv1_1.0_128", 1.0, 128, 1000, calibration_samples=3),
)
