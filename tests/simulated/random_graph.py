"""Random networks for several engines: layers in a row and side by side, sums of them, byte functions between."""

from dataclasses import dataclass

import numpy as np

from tests.simulated.random_chain import PULP, SUM, RandomChain
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.random_layer import random_layer_on

# Results of eight bits: another layer can read them.
BYTES = ("pulp", "pulp_negative", "tflite", "half_even")


@dataclass
class RandomGraph(RandomChain):
    """As a chain, but every value that nobody reads is an output."""

    def outputs(self) -> list[int]:
        read = {o for node in self.nodes for o in node.operands if isinstance(o, int)}
        return [number for number in range(len(self.inputs), len(self.specs)) if number not in read]


def random_graph(source: np.random.Generator) -> RandomGraph:
    """Two to eight layers with weights, and what stands between them."""
    dtype = str(source.choice(["int8", "uint8"]))
    depth = int(source.choice([1, 16, 31, 64, 100, 129]))
    rows = int(source.choice([1, 5, 16, 37]))
    shape = (
        (1, int(source.choice([3, 6, 8])), int(source.choice([4, 7])), depth)
        if source.random() < 0.3
        else (rows, depth)
    )
    graph = RandomGraph(inputs=[TensorSpec(shape, dtype)], specs=[TensorSpec(shape, dtype)])
    for _ in range(int(source.integers(2, 9))):
        _grow(source, graph)
    return graph


def _grow(source: np.random.Generator, graph: RandomGraph) -> None:
    """A layer on the last value, sometimes on an earlier one; sometimes a sum of two or a byte function behind it."""
    last = len(graph.specs) - 1
    at = last if source.random() < 0.7 else int(source.integers(0, last + 1))
    layer = random_layer_on(source, graph.specs[at], BYTES)
    made = graph.add(layer.operator, layer.attributes, at, *layer.constants)
    spec = graph.specs[made]
    if spec.dtype == "int8" and source.random() < 0.2:
        made = graph.add("lookup", {}, made, source.integers(-128, 127, (256,)).astype(np.int8))
    partners = [n for n, s in enumerate(graph.specs) if s.shape == spec.shape and n != made]
    if partners and spec.dtype == "int8" and source.random() < 0.5:
        other = int(source.choice(partners))
        if graph.specs[other].dtype == "int8":
            scale = (
                source.integers(1, 200, (1,)).astype(np.int32),
                source.integers(-9000, 9000, (1,)).astype(np.int32),
            )
            graph.add("add", {**SUM, **PULP}, made, other, *scale)
