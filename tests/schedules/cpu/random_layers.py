"""Networks of random layers side by side, each with an input and an output of its own: one program checks many."""

from typing import Any

import numpy as np

from tests.qnn.cases_attention import qdq_attention
from tvm_pulp import soc as socs
from tvm_pulp.codegen.emit import emit
from tvm_pulp.codegen.mlf import metadata
from tvm_pulp.planning.cpu import CpuRequest, plan_cpu
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

KINDS = ("tflite", "half_up", "half_even", "pulp")


def random_rule(rng: np.random.Generator, channels: int, taps: int) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Attributes and constants of a requantization whose results use their range."""
    kind = str(rng.choice(KINDS))
    low, high, dtype = [(-128, 127, "int8"), (0, 255, "uint8"), (0, 127, "int8"), (-100, 90, "int8")][rng.integers(4)]
    count = channels if rng.integers(2) else 1
    scales = 2.0 ** rng.uniform(-2, 0, count) / (70 * np.sqrt(taps))
    zero_point = int(rng.integers(low, high + 1)) if rng.integers(2) else low
    if kind == "pulp":
        first, second, shift = np.rint(scales * 2**24), np.full(count, (zero_point << 24) + (1 << 23)), 24
        second = second.astype(np.int64) >> 4
        first, shift = np.rint(scales * 2**20), 20
    else:
        exponent, shift = np.ceil(np.log2(scales)), 0
        first = np.rint(scales * 2.0 ** (31 - exponent))
        second = exponent if kind == "tflite" else 31 - exponent
    requant = Requant(kind, shift, 0 if kind == "pulp" else zero_point, low, high, True, dtype)
    return requant.attributes(), [np.asarray(v).astype(np.int32) for v in (first, second)]


def random_add(rng: np.random.Generator, number: int) -> tuple[Layer, np.ndarray]:
    """A sum of two tensors rounded as TFLite, ONNX or PULP do, the second a constant, and values for the first."""
    shape = (1, int(rng.integers(1, 90)))
    zero_points = [int(v) for v in rng.integers(-128, 128, 3)]
    scales = rng.uniform(0.01, 0.1, 3)
    attributes: dict[str, Any] = {"zero_point_a": zero_points[0], "zero_point_b": zero_points[1], "subtract": 0}
    tensors: list[np.ndarray] = []
    sides: dict[str, Any] = {"requant_a": "none", "requant_b": "none"}
    rounding = int(rng.integers(3))
    if rounding == 2:
        # The first operand is rounded by itself.
        requant = Requant("pulp", 16, 0, -128, 127, True, "int8")
        attributes, sides = {"form": "plain"}, {**requant.attributes("requant_a"), "requant_b": "none"}
        factors = rng.integers((9_000, 20_000), (60_000, 65_536))
        tensors = [np.array([value], np.int32) for factor in factors for value in (factor, 1 << 15)]
    elif rounding:
        largest = 2 * scales[:2].max()
        fixed = [quantized_multiplier(v) for v in (*(scales[:2] / largest), largest / ((1 << 20) * scales[2]))]
        requant = Requant("tflite", 0, zero_points[2], -128, 127, True, "int8")
        attributes |= {
            "form": "tflite",
            "multipliers": [f[0] for f in fixed[:2]],
            "exponents": [f[1] for f in fixed[:2]],
        }
        tensors = [np.array([value], np.int32) for value in fixed[2]]
    else:
        requant = Requant("half_even", 0, zero_points[2], -128, 127, True, "int8")
        ratios = [round(v * 2**20) for v in scales[:2] / scales[2]]
        attributes |= {"form": "half_even", "multipliers": ratios, "exponents": [0, 0], "shift": 20}
    attributes |= {"left_shift": 20, **requant.attributes(), **sides}
    name, values = f"layer_{number}", rng.integers(-128, 128, (2, *shape)).astype(np.int8)
    if number % 2:
        # A row that is added to each of three.
        shape = (3, *shape[1:])
        values = [rng.integers(-128, 128, shape).astype(np.int8), values[1][0]]
    x = Tensor(f"x_{number}", TensorSpec(shape, "int8"), "input", source=f"x_{number}")
    constants = [
        Tensor(f"{name}_{i}", TensorSpec(tuple(a.shape), str(a.dtype)), "constant", data=a)
        for i, a in enumerate([values[1], *tensors])
    ]
    y = Tensor(f"y_{number}", TensorSpec(shape, "int8"), "output", source=f"y_{number}")
    return Layer(name, "add", attributes, [x, *constants], [y]), values[0]


def quantized_multiplier(value: float) -> tuple[int, int]:
    """A factor as TFLite has it: 31 bits and an exponent."""
    exponent = int(np.ceil(np.log2(value)))
    return min(int(np.rint(value * 2.0 ** (31 - exponent))), (1 << 31) - 1), exponent


def random_layer(rng: np.random.Generator, number: int) -> tuple[Layer, np.ndarray]:
    """A convolution, a depthwise one, a matrix product or a sum, and values for it."""
    operator = str(rng.choice(["conv2d", "conv2d", "depthwise", "dense", "add"]))
    if operator == "add":
        return random_add(rng, number)
    dtype = str(rng.choice(["int8", "uint8"]))
    info = np.iinfo(dtype)
    attributes: dict[str, Any] = {"has_bias": 1, "zero_point": int(rng.integers(info.min, info.max + 1))}
    channels = int(rng.integers(1, 6)) * 4 if operator == "depthwise" else int(rng.integers(1, 20))
    if operator == "dense":
        rows, depth = int(rng.choice([1, 1, 2, 5])), int(rng.integers(1, 70))
        shape, weight_shape = (rows, depth), (channels, depth)
    else:
        kernel, stride, dilation = (rng.integers(1, 4, 2) for _ in range(3))
        dilation = np.where(kernel == 1, 1, dilation)
        pads = [int(rng.integers(0, k)) for k in (*kernel, *kernel)]
        size = [int(rng.integers(1, 9)) + int(d * (k - 1)) for d, k in zip(dilation, kernel, strict=True)]
        depth = channels if operator == "depthwise" else int(rng.integers(1, 14))
        shape, weight_shape = (1, *size, depth), (channels, *map(int, kernel), 1 if operator == "depthwise" else depth)
        attributes |= {
            "layout": "NHWC", "pads": pads, "strides": stride.tolist(), "dilation": dilation.tolist(),
            "groups": channels if operator == "depthwise" else 1,
        }  # fmt: skip
    weight = rng.integers(-128, 128, weight_shape).astype(np.int8)
    stated, rule = random_rule(rng, channels, weight[0].size)
    attributes |= stated
    arrays = [weight, rng.integers(-3000, 3000, channels).astype(np.int32), *rule]
    name = f"layer_{number}"
    x = Tensor(f"x_{number}", TensorSpec(shape, dtype), "input", source=f"x_{number}")
    constants = [
        Tensor(f"{name}_{i}", TensorSpec(tuple(a.shape), str(a.dtype)), "constant", data=a)
        for i, a in enumerate(arrays)
    ]
    operator = "dense" if operator == "dense" else "conv2d"
    specs = [t.spec for t in (x, *constants)]
    spec = OPERATORS[operator].infer(OPERATORS[operator].stated(attributes), specs)
    y = Tensor(f"y_{number}", spec, "output", source=f"y_{number}")
    macs = OPERATORS[operator].macs(OPERATORS[operator].stated(attributes), specs, spec)
    values = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return Layer(name, operator, attributes, [x, *constants], [y], macs=macs), values


def random_max_pool(rng: np.random.Generator, number: int) -> tuple[Layer, np.ndarray]:
    """Windows with padding and gaps, and values for them."""
    kernel, strides, dilation = (rng.integers(1, 4, 2).tolist() for _ in range(3))
    pads = [int(rng.integers(0, k)) for k in (*kernel, *kernel)]
    size = [int(rng.integers(1, 9)) + d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    shape, dtype = (1, *size, int(rng.integers(1, 40))), str(rng.choice(["int8", "uint8"]))
    attributes = {"layout": "NHWC", "kernel": kernel, "strides": strides, "dilation": dilation, "pads": pads}
    x = Tensor(f"x_{number}", TensorSpec(shape, dtype), "input", source=f"x_{number}")
    y = Tensor(
        f"y_{number}",
        OPERATORS["max_pool"].infer(OPERATORS["max_pool"].stated(attributes), [x.spec]),
        "output",
        source=f"y_{number}",
    )
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return Layer(f"layer_{number}", "max_pool", attributes, [x], [y]), values


def random_attention(rng: np.random.Generator, number: int) -> tuple[Layer, np.ndarray]:
    """Attention with masks, tables and shared keys as they come, keys and values constants, and values for queries."""
    case, name = qdq_attention(rng), f"layer_{number}"
    x, *constants = [
        Tensor(f"{name}_{i}", TensorSpec(tuple(a.shape), str(a.dtype)), "constant", data=a)
        for i, a in enumerate(case.inputs)
    ]
    x = Tensor(f"x_{number}", x.spec, "input", source=f"x_{number}")
    y = Tensor(f"y_{number}", case.output, "output", source=f"y_{number}")
    return Layer(name, case.operator, case.attributes, [x, *constants], [y]), case.inputs[0]


def network_of(layers: list[Layer]) -> Network:
    return Network("many", layers, [layer.inputs[0] for layer in layers], [layer.outputs[0] for layer in layers])


def archive(layers: list[Layer], soc: str, *, fill_flash: bool = False) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Files and metadata of a program with all layers. `fill_flash`: there is as much as forms can use."""
    facts = {"target": "c", "soc": soc, "inferred_inputs": [], "flat": True}
    request = CpuRequest(soc, socs.load(soc).cpu, flash_limit=1 << 30 if fill_flash else None)
    files = emit(plan_cpu(network_of(layers), request, lambda _plan: 0), facts).files
    return files, metadata(files)


def expected(layer: Layer, values: np.ndarray) -> np.ndarray:
    """The result by numpy."""
    arrays = [values, *(t.values for t in layer.inputs[1:])]
    return OPERATORS[layer.operator].reference(layer.attributes, arrays)
