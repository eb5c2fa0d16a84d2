"""Random residual networks: convolutions of an engine, sums, pools and byte functions of the cores between them."""

import numpy as np

from tests.simulated.random_chain import PULP, SUM
from tests.simulated.random_graph import RandomGraph
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

_WINDOW = {"layout": "NHWC", "strides": [2, 2], "dilation": [1, 1], "pads": [0, 0, 1, 1], "kernel": [3, 3]}
_SHIFT = 14


def random_pipeline(source: np.random.Generator) -> RandomGraph:
    """An image of 16 to 40 rows through two or three blocks; sometimes its channels come first.

    Images are large enough for tiles that take longer than the steps around them: else there is no pipeline.
    """
    rows, columns = int(source.choice([16, 24, 29, 32, 33, 40])), int(source.choice([12, 16, 24, 32]))
    channels, first = int(source.choice([8, 16, 20, 32])), source.random() < 0.3
    shape = (1, channels, rows, columns) if first else (1, rows, columns, channels)
    graph = RandomGraph(inputs=[TensorSpec(shape, "int8")], specs=[TensorSpec(shape, "int8")])
    if first:
        graph.add("transpose", {"axes": [0, 2, 3, 1]}, 0)
    for _ in range(int(source.integers(2, 4))):
        _block(source, graph)
    return graph


def _convolution(source: np.random.Generator, graph: RandomGraph, x: int, *, halve: bool) -> int:
    """Rounded as the engine does it, or as frameworks do: the cores finish it then."""
    depth = graph.specs[x].shape[-1]
    outputs, kernel = depth * (2 if halve else 1), int(source.choice([1, 3, 3]))
    groups = depth if kernel == 3 and outputs == depth and source.random() < 0.2 else 1
    weight = source.integers(-128, 127, (outputs, kernel, kernel, depth // groups), endpoint=True).astype(np.int8)
    attributes = {"layout": "NHWC", "groups": groups, "strides": [1 + halve] * 2, "dilation": [1, 1]}
    attributes |= {"pads": [kernel // 2] * 4, "zero_point": 0, "has_bias": 0}
    kind = str(source.choice(["pulp", "half_even", "tflite"]))
    # Results spread over all bytes, whatever the depth.
    factor = source.uniform(0.5, 2.0, outputs) / (75 * np.sqrt(weight[0].size))
    if kind == "pulp":
        add = source.integers(-1 << _SHIFT, 1 << _SHIFT, outputs)
        rule, scale = Requant("pulp", _SHIFT, 0, -128, 127), (np.maximum(1, np.round(factor * 2**_SHIFT)), add)
    else:
        mantissa, exponent = np.frexp(factor)
        mul = np.minimum(np.round(mantissa * 2.0**31), 2**31 - 1)
        rule = Requant(kind, 0, int(source.integers(-9, 9)), -128, 127, True)
        scale = (mul, exponent if kind == "tflite" else 31 - exponent)
    return graph.add("conv2d", attributes | rule.attributes(), x, weight, *(s.astype(np.int32) for s in scale))


def _block(source: np.random.Generator, graph: RandomGraph) -> None:
    """One or two convolutions, then a sum with an earlier value, a pool, a table, or nothing."""
    made = len(graph.specs) - 1
    for _ in range(int(source.integers(1, 3))):
        made = _convolution(source, graph, made, halve=graph.specs[made].shape[1] > 16 and source.random() < 0.2)
    # The sum of a value with itself where no other has its shape.
    partners = [n for n, s in enumerate(graph.specs) if s == graph.specs[made] and n != made] or [made]
    kind = str(source.choice(["add", "add", "add", "add", "max_pool", "lookup", "nothing"]))
    if kind == "add":
        scale = (source.integers(*r, (1,)).astype(np.int32) for r in ((1, 200), (-9000, 9000)))
        graph.add("add", {**SUM, **PULP}, made, int(source.choice(partners)), *scale)
    elif kind == "max_pool":
        graph.add("max_pool", _WINDOW, made)
    elif kind == "lookup":
        graph.add("lookup", {}, made, source.integers(-128, 127, (256,)).astype(np.int8))
