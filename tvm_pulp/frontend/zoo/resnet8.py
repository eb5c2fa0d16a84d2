"""ResNet-8, image classification: 32x32 pictures, three residual stacks of 16, 32 and 64 channels, 10 classes."""

from collections.abc import Sequence

from tvm_pulp.frontend.zoo.builder import Builder, Tensor
from tvm_pulp.frontend.zoo.sample_data import image
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

# Channels and stride of each stack.
STACKS = ((16, 1), (32, 2), (64, 2))
CLASSES = 10


def define(builder: Builder, inputs: Sequence[Tensor]) -> None:
    x = builder.conv("stem", inputs[0], 16, (3, 3))
    for stack, (channels, stride) in enumerate(STACKS, start=1):
        y = builder.conv(f"stack{stack}_conv1", x, channels, (3, 3), (stride, stride))
        y = builder.conv(f"stack{stack}_conv2", y, channels, (3, 3), relu=False)
        shortcut = x
        if stride != 1:
            shortcut = builder.conv(f"stack{stack}_shortcut", x, channels, (1, 1), (stride, stride), relu=False)
        x = builder.residual(f"stack{stack}_add", shortcut, y, relu=True)
    x = builder.spatial_mean("pool", x)
    builder.output(builder.classifier("logits", x, CLASSES))


NETWORKS = (ZooModel("resnet8", ("image",), lambda stream: [image(stream, 3, 32, 32)], define),)
