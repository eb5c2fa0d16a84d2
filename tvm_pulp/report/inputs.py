"""Inputs of a run: matched, checked and cast to the types the network expects."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.match_arrays import match_arrays
from tvm_pulp.qnn.tensor_spec import TensorSpec

_SEED = 0


def prepare_inputs(
    described: Sequence[dict[str, Any]], given: Mapping[str, np.ndarray] | Sequence[np.ndarray] | None
) -> list[np.ndarray]:
    """Arrays in graph order. A sequence is matched by position, names as `match_arrays` says; None means seeded random
    values."""
    specs = {d["name"]: TensorSpec(tuple(d["shape"]), d["dtype"]) for d in described}
    if given is None:
        source = np.random.Generator(np.random.PCG64(_SEED))
        return [_random(source, spec) for spec in specs.values()]
    pairs = list(given.items()) if isinstance(given, Mapping) else [(f"arr_{i}", a) for i, a in enumerate(given)]
    matched = match_arrays(list(specs), pairs)
    for name in (name for name in specs if name not in matched):
        raise UserError(f"--inputs holds no array for input '{name}': it has {', '.join(n for n, _ in pairs)}")
    advice = {d["name"]: _advice(d) for d in described}
    return [_checked(name, specs[name], np.asarray(matched[name]), advice[name]) for name in specs]


def _advice(described: Mapping[str, Any]) -> str:
    """A way out where values are not integers of the input's type."""
    if "scale" in described:
        scale, zero_point = described["scale"], described["zero_point"]
        return f"quantize them with scale {scale:g} and zero point {zero_point}, or compile without --io"
    return "recompile with --input-types or --sample-inputs"


def _random(source: np.random.Generator, spec: TensorSpec) -> np.ndarray:
    if spec.dtype.startswith("float"):
        return source.standard_normal(spec.shape).astype(spec.dtype)
    low, high = spec.range
    return source.integers(max(low, -128), min(high, 255), spec.shape, endpoint=True).astype(spec.dtype)


def _without_batch(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape from its first axis of more than one element on: a batch of one need not be written."""
    return tuple(shape[next((i for i, d in enumerate(shape) if d != 1), len(shape)) :])


def _checked(name: str, spec: TensorSpec, array: np.ndarray, advice: str) -> np.ndarray:
    refuse_if(
        _without_batch(array.shape) != _without_batch(spec.shape),
        f"input '{name}' has shape {list(array.shape)}, the network expects {list(spec.shape)}",
    )
    array = array.reshape(spec.shape)
    refuse_if(
        array.dtype.kind not in "biuf",
        f"input '{name}' holds {array.dtype} values, not numbers",
    )
    # NumPy does not subtract truths, which are the numbers 0 and 1 here.
    array = array.astype(np.uint8) if array.dtype.kind == "b" else array
    if spec.dtype.startswith("float"):
        return array.astype(spec.dtype)
    refuse_if(
        array.dtype.kind == "f" and not np.isfinite(array).all(),
        f"input '{name}' holds values that are not finite, the network expects {spec.dtype}",
    )
    rounded = np.round(array.astype(np.float64)) if array.dtype.kind == "f" else array
    low, high = spec.range
    refuse_if(
        array.size and (rounded.min() < low or rounded.max() > high or np.abs(rounded - array).max() > 1e-3),
        f"input '{name}' holds values outside {spec.dtype}, the type it was compiled for: {advice}",
    )
    return rounded.astype(spec.dtype)
