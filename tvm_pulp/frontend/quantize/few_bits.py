"""Matrices of a float model whose weights of few bits are chosen for what the layers see in the samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_protos import attributes_of, copied
from tvm_pulp.frontend.quantize.calibration_data import Feeds, run_model
from tvm_pulp.frontend.quantize.least_error import round_with_best_steps

# Steps that are tried: parts of the one with which nothing is clipped.
_PARTS = np.linspace(1.0, 0.5, 11)


@dataclass(frozen=True)
class RoundedMatrix:
    """A constant on its grid: steps along the axis of outputs, and the nodes that multiply by it."""

    values: np.ndarray
    axis: int
    steps: np.ndarray
    nodes: tuple[str, ...]

    @property
    def overrides(self) -> list[dict[str, Any]]:
        """The grid as onnxruntime's quantizer takes it."""
        zero = np.array(0, np.int8)
        return [{"axis": self.axis, "scale": np.array(step, np.float32), "zero_point": zero} for step in self.steps]


def rounded_matrices(model: Any, samples: Sequence[Feeds], bits: int) -> dict[str, RoundedMatrix]:
    """By the name of the constant, those of `MatMul` and `Gemm`; every node has a name."""
    from onnx.numpy_helper import to_array

    constants = {c.name: to_array(c) for c in model.graph.initializer if len(c.dims) == 2}
    users: dict[str, list[Any]] = {}
    for node in model.graph.node:
        if node.op_type in ("MatMul", "Gemm") and node.input[1] in constants and not attributes_of(node).get("transA"):
            users.setdefault(node.input[1], []).append(node)
    moments = _moments(model, sorted({node.input[0] for nodes in users.values() for node in nodes}), samples)
    made = {}
    for name, nodes in users.items():
        turned = {bool(attributes_of(node).get("transB")) for node in nodes}
        if len(turned) == 1:
            axis = 0 if turned == {True} else 1
            moment = sum(moments[node.input[0]] for node in nodes)
            made[name] = _rounded(constants[name], axis, moment, bits, tuple(node.name for node in nodes))
    return made


def _rounded(values: np.ndarray, axis: int, moment: Any, bits: int, nodes: tuple[str, ...]) -> RoundedMatrix:
    weights, most = (values if axis == 0 else values.T).astype(np.float64), 1 << (bits - 1)
    whole = np.maximum(np.abs(weights).max(1), 1e-12) / most
    tried = [(part * whole).astype(np.float32).astype(np.float64) for part in _PARTS]
    integers, steps = round_with_best_steps(weights, moment, tried, -most, most - 1)
    grid = (integers * steps[:, None]).astype(np.float32)
    return RoundedMatrix(grid if axis == 0 else grid.T, axis, steps, nodes)


def _moments(model: Any, tensors: Sequence[str], samples: Sequence[Feeds]) -> dict[str, np.ndarray]:
    """Means of x x^T over the rows of tensors."""
    from onnx import ValueInfoProto

    given = [name for name in tensors if name in samples[0]]
    inner = [name for name in tensors if name not in given]
    observed = copied(model)
    del observed.graph.output[:]
    observed.graph.output.extend(ValueInfoProto(name=name) for name in inner)
    runs = run_model(observed, samples) if inner else [[] for _ in samples]
    found: dict[str, np.ndarray] = {}
    for sample, outputs in zip(samples, runs, strict=True):
        for name, rows in [*((n, sample[n]) for n in given), *zip(inner, outputs, strict=True)]:
            flat = rows.reshape(-1, rows.shape[-1]).astype(np.float64)
            found[name] = found.get(name, 0) + flat.T @ flat / (len(flat) * len(samples))
    return found
