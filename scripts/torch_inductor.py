"""Networks of the benchmark of CPUs as TorchInductor compiles them, where PyTorch is installed.

A graph of ONNX is written with PyTorch's functions, captured whole (`make_fx`) and compiled with frozen weights: a
module that interprets the graph at every call would be measured as Python. Quantizers become those of
`quantized_decomposed` with unsigned activations, which Inductor recognises.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Values = dict[str, Any]


@dataclass(frozen=True)
class Compiled:
    """A compiled network: a call of it, its outputs, and bytes of its tensors.

    Weights as the model gives them, copies of them that the library packed for itself and that are kept beside, and
    buffers alive at once.
    """

    call: Callable[[], Any]
    outputs: list[np.ndarray]
    weight_bytes: int
    packed_bytes: int
    buffer_bytes: int
    seconds: float


def installed() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def compiled(model: Any, feeds: Mapping[str, np.ndarray]) -> Compiled:
    """Compile a network, run it once and watch it allocate once more."""
    import torch
    from torch._inductor import config
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  (registers operators)
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.profiler import ProfilerActivity, profile

    torch.set_num_threads(1)
    torch._dynamo.reset()
    config.freezing = True
    inputs = [torch.from_numpy(np.asarray(feeds[value.name])) for value in _inputs(model)]
    function, weights = _function(model)
    before, started = {id(tensor) for tensor in _packed()}, time.perf_counter()
    with torch.no_grad():
        made = torch.compile(make_fx(function)(*inputs), fullgraph=True)
        outputs = [value.numpy() for value in made(*inputs)]
        seconds = time.perf_counter() - started
        made(*inputs)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            made(*inputs)
    alive = most = 0
    for event in sorted(profiler.profiler.kineto_results.events(), key=lambda e: e.start_ns()):
        if event.name() == "[memory]":
            alive += event.nbytes()
            most = max(most, alive)

    def call() -> None:
        with torch.no_grad():
            made(*inputs)

    packed = sum(t.numel() * t.element_size() for t in _packed() if id(t) not in before)
    given = sum(w.numel() * w.element_size() for w in weights.values())
    return Compiled(call, outputs, given, packed, most, seconds)


def _packed() -> list[Any]:
    """Tensors in oneDNN's own order."""
    import torch

    found = (o for o in gc.get_objects() if type(o) in (torch.Tensor, torch.nn.Parameter))
    return [tensor for tensor in found if tensor.is_mkldnn]


def _inputs(model: Any) -> list[Any]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def _function(model: Any) -> tuple[Callable[..., list[Any]], Values]:
    """The network as a function of its inputs, and its weights."""
    import torch

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    # Shapes, scales and zero points are numbers of the program.
    weights = {
        name: torch.nn.Parameter(torch.from_numpy(value.copy()), requires_grad=False)
        for name, value in constants.items()
        if value.size > 1 and value.dtype in (np.float32, np.int8, np.uint8) and name not in _parameters(model)
    }

    def run(*inputs: Any) -> list[Any]:
        values: Values = {**constants, **weights}
        values |= {value.name: given for value, given in zip(_inputs(model), inputs, strict=True)}
        for node in model.graph.node:
            operands = [values[name] if name else None for name in node.input]
            if node.op_type != "Shape" and all(o is None or isinstance(o, np.ndarray) for o in operands):
                made = _folded(node, values, model.opset_import)
            else:
                made = _OPERATORS[node.op_type](operands, _attributes(node))
            values.update(zip(node.output, made if isinstance(made, list | tuple) else [made], strict=False))
        return [_tensor(values[value.name]) for value in model.graph.output]

    return run, weights


def _parameters(model: Any) -> set[str]:
    """Scales and zero points."""
    quantizers = (n for n in model.graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear"))
    return {name for node in quantizers for name in node.input[1:]}


def _attributes(node: Any) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def _folded(node: Any, values: Values, opsets: Any) -> list[np.ndarray]:
    """A node of constants, computed now."""
    if node.op_type == "DequantizeLinear":
        value, scale, *zero = (values[name] for name in node.input)
        return [((value.astype(np.int64) - (zero[0].astype(np.int64) if zero else 0)) * scale).astype(np.float32)]
    names = [name for name in node.input if name]
    ends = ([helper.make_empty_tensor_value_info(name) for name in part] for part in (names, node.output))
    graph = helper.make_graph([node], "one", *ends)
    evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    return list(evaluator.run(None, {name: values[name] for name in names}))


def _tensor(value: Any) -> Any:
    import torch

    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value


def _numbers(value: Any) -> list[int]:
    return [int(number) for number in np.asarray(value).reshape(-1)]


def _conv(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch.nn.functional as functions

    x, weight, *bias = (_tensor(operand) for operand in operands)
    top, left, bottom, right = attributes.get("pads", [0] * 4)
    if top or left or bottom or right:
        same = (top, left) == (bottom, right)
        x = x if same else functions.pad(x, (left, right, top, bottom))
        top, left = (top, left) if same else (0, 0)
    steps = attributes.get("strides", [1, 1]), (top, left), attributes.get("dilations", [1, 1])
    return functions.conv2d(x, weight, bias[0] if bias else None, *steps, attributes.get("group", 1))


def _conv_transpose(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch.nn.functional as functions

    x, weight, *bias = (_tensor(operand) for operand in operands)
    return functions.conv_transpose2d(x, weight, bias[0] if bias else None, attributes.get("strides", [1, 1]))


def _gemm(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch.nn.functional as functions

    x, weight, bias = (_tensor(operand) for operand in operands)
    return functions.linear(x, weight if attributes.get("transB") else weight.T, bias)


def _layer_norm(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch.nn.functional as functions

    x, weight, bias = (_tensor(operand) for operand in operands)
    return functions.layer_norm(x, weight.shape, weight, bias, attributes.get("epsilon", 1e-5))


def _max_pool(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch.nn.functional as functions

    return functions.max_pool2d(_tensor(operands[0]), attributes["kernel_shape"], attributes.get("strides"))


def _reshape(operands: Sequence[Any], _: dict[str, Any]) -> Any:
    x, shape = _tensor(operands[0]), _numbers(operands[1])
    return x.reshape([size or x.shape[axis] for axis, size in enumerate(shape)])


def _squeeze(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    axes = _numbers(operands[1]) if len(operands) > 1 else attributes["axes"]
    return _tensor(operands[0]).squeeze(axes[0])


def _unsqueeze(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    axes = _numbers(operands[1]) if len(operands) > 1 else attributes["axes"]
    return _tensor(operands[0]).unsqueeze(axes[0])


def _split(operands: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
    sizes = _numbers(operands[1]) if len(operands) > 1 else attributes["split"]
    return list(_tensor(operands[0]).split(sizes, attributes.get("axis", 0)))


def _gather(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch

    x, places, axis = _tensor(operands[0]), _tensor(operands[1]), attributes.get("axis", 0)
    found = torch.index_select(x, axis, places.reshape(-1))
    return found.reshape([*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]])


def _expand(operands: Sequence[Any], _: dict[str, Any]) -> Any:
    import torch

    x = _tensor(operands[0])
    return x.expand(torch.broadcast_shapes(x.shape, tuple(_numbers(operands[1]))))


def _concat(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch

    return torch.cat([_tensor(operand) for operand in operands], attributes["axis"])


def _quantize(operands: Sequence[Any], _: dict[str, Any]) -> Any:
    """Unsigned, whatever the model says: values are shifted by 128, and so is the zero point."""
    import torch

    x, scale, zero = _tensor(operands[0]), np.asarray(operands[1]), np.asarray(operands[2])
    shifted = int(zero) + (128 if zero.dtype == np.int8 else 0)
    quantize = torch.ops.quantized_decomposed.quantize_per_tensor.default
    return quantize(x, float(scale), shifted, 0, 255, torch.uint8)


def _dequantize(operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    import torch

    x, scale = _tensor(operands[0]), np.asarray(operands[1])
    zero = np.asarray(operands[2]) if len(operands) > 2 else np.zeros(scale.shape, np.int8)
    known = torch.ops.quantized_decomposed
    low, high = (0, 255) if x.dtype == torch.uint8 else (-128, 127)
    if scale.size == 1:
        shifted = int(zero.reshape(-1)[0]) + (128 if zero.dtype == np.int8 and x.dtype == torch.uint8 else 0)
        return known.dequantize_per_tensor.default(x, float(scale.reshape(-1)[0]), shifted, low, high, x.dtype)
    channels = torch.from_numpy(scale.copy()), torch.from_numpy(zero.astype(np.int64))
    return known.dequantize_per_channel.default(x, *channels, attributes.get("axis", 1), low, high, x.dtype)


def _elementwise(name: str) -> Callable[[Sequence[Any], dict[str, Any]], Any]:
    def run(operands: Sequence[Any], _: dict[str, Any]) -> Any:
        import torch

        # Numbers stay numbers: Inductor's patterns of attention want them so.
        single = [isinstance(o, np.ndarray) and o.size == 1 and o.dtype == np.float32 for o in operands]
        if sum(single) == len(operands):
            single = [False] * len(operands)
        values = [float(o.reshape(-1)[0]) if one else _tensor(o) for o, one in zip(operands, single, strict=True)]
        return getattr(torch, name)(*values)

    return run


_OPERATORS: dict[str, Callable[[Sequence[Any], dict[str, Any]], Any]] = {
    "Add": _elementwise("add"),
    "Cast": lambda operands, _: _tensor(operands[0]).float(),
    "Concat": _concat,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "DequantizeLinear": _dequantize,
    "Div": _elementwise("div"),
    "Erf": _elementwise("erf"),
    "Expand": _expand,
    "Flatten": lambda operands, _: _tensor(operands[0]).flatten(1),
    "Gather": _gather,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda operands, _: _tensor(operands[0]).mean((2, 3), keepdim=True),
    "LayerNormalization": _layer_norm,
    "MatMul": _elementwise("matmul"),
    "MaxPool": _max_pool,
    "Mul": _elementwise("mul"),
    "Pow": _elementwise("pow"),
    "QuantizeLinear": _quantize,
    "Relu": _elementwise("relu"),
    "Reshape": _reshape,
    "Shape": lambda operands, _: np.array(operands[0].shape, np.int64),
    "Softmax": lambda operands, attributes: _tensor(operands[0]).softmax(attributes.get("axis", -1)),
    "Split": _split,
    "Sqrt": _elementwise("sqrt"),
    "Squeeze": _squeeze,
    "Sub": _elementwise("sub"),
    "Tanh": _elementwise("tanh"),
    "Transpose": lambda operands, attributes: _tensor(operands[0]).permute(attributes["perm"]),
    "Unsqueeze": _unsqueeze,
}
