"""Models in pairs: one that a change is suggested for, and one that has it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.real_models.quantizers import static
from tests.report.verify.small_models import float_classifier, samples
from tvm_pulp.frontend import zoo

_SIZE, _CHANNELS = 16, 32


def _network(
    layers: Sequence[str], channels: int = _CHANNELS, inputs: int = 16, ends: str = "pool", kernel: int = 3
) -> Any:
    """Convolutions with the given activation functions, then classes."""
    rng = np.random.default_rng(7)
    constants, nodes, x, before = [], [], "image", inputs
    for number, function in enumerate(layers):
        weight = rng.standard_normal((channels, before, kernel, kernel)) / np.sqrt(kernel**2 * before)
        constants.append(numpy_helper.from_array(weight.astype(np.float32), f"w{number}"))
        constants.append(numpy_helper.from_array(rng.standard_normal(channels).astype(np.float32), f"b{number}"))
        operands = [x, f"w{number}", f"b{number}"]
        nodes.append(helper.make_node("Conv", operands, [f"c{number}"], pads=[kernel // 2] * 4, name=f"conv{number}"))
        x, before = f"c{number}", channels
        if function:
            nodes.append(helper.make_node(function, [x], [f"a{number}"], name=f"act{number}"))
            x = f"a{number}"
    shape: tuple[int, ...] = (1, channels, _SIZE, _SIZE)
    if ends != "image":
        classes = 256 if ends == "softmax" or ends == "logits" else 5
        weight = rng.standard_normal((classes, channels)).astype(np.float32)
        constants.append(numpy_helper.from_array(weight, "w_classes"))
        nodes.append(helper.make_node("GlobalAveragePool", [x], ["mean"], name="mean"))
        nodes.append(helper.make_node("Flatten", ["mean"], ["row"], name="row"))
        nodes.append(helper.make_node("Gemm", ["row", "w_classes"], ["classes"], transB=1, name="classes"))
        x, shape = "classes", (1, classes)
        if ends == "softmax":
            nodes.append(helper.make_node("Softmax", [x], ["likely"], name="likely"))
            x = "likely"
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, (1, inputs, _SIZE, _SIZE))
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "net", [image], [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _samples(low: float = -1.0) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(8)
    return [{"image": rng.uniform(low, 1.0, (1, 16, _SIZE, _SIZE)).astype(np.float32)} for _ in range(3)]


def plain() -> Any:
    return static(_network(["Relu", "Relu"]), _samples())


def with_hardswish() -> Any:
    return static(_network(["HardSwish", "HardSwish"]), _samples())


def wide_kernels() -> Any:
    return static(_network(["Relu", "Relu"], kernel=5), _samples())


def wide_ends() -> Any:
    return static(_network(["Relu"], ends="image"), _samples())


def with_softmax() -> Any:
    return static(_network(["Relu"], channels=16, ends="softmax"), _samples())


def without_softmax() -> Any:
    return static(_network(["Relu"], channels=16, ends="logits"), _samples())


def asymmetric() -> Any:
    """Zero points that are neither in the middle nor at the end: convolutions without ReLU between them."""
    return static(_network(["", "", ""]), _samples(low=-0.3))


def symmetric() -> Any:
    import tvm_pulp

    arrays = {"image": np.concatenate([s["image"] for s in _samples(low=-0.3)])}
    return tvm_pulp.quantize(_network(["", "", ""]), arrays).model


def quantized() -> Any:
    return static(float_classifier(), samples())


def eight_bits() -> Any:
    return zoo.build("resnet8")


def four_bits() -> Any:
    return zoo.build("resnet8", weight_bits=4)


def full_convolution() -> Any:
    return _convolutions(separable=False)


def separable() -> Any:
    return _convolutions(separable=True)


def _convolutions(separable: bool) -> Any:
    """Two convolutions of the integer dialect; the larger one in full, or as a depthwise one and a 1x1."""
    from tvm_pulp.frontend.zoo.builder import Builder
    from tvm_pulp.frontend.zoo.random_stream import RandomStream
    from tvm_pulp.frontend.zoo.sample_data import image

    builder = Builder("convolutions", 0)
    x = builder.input("image", [image(RandomStream("convolutions", 0, i), 16, _SIZE, _SIZE) for i in range(2)])
    x = builder.conv("first", x, _CHANNELS, (1, 1))
    if separable:
        x = builder.conv("second_depthwise", x, _CHANNELS, (3, 3), depthwise=True)
        x = builder.conv("second", x, _CHANNELS, (1, 1))
    else:
        x = builder.conv("second", x, _CHANNELS, (3, 3))
    builder.output(builder.classifier("logits", builder.spatial_mean("pool", x), 5))
    return builder.model()
