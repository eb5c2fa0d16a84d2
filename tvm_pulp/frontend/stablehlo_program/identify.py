"""Finds out what a group of operators computes by computing it: activation functions and normalizations.

Every framework, and every release of one, writes GELU or a layer norm in operators of its own choice. A group that
depends on one tensor is evaluated on numbers instead, and compared with the function that it could be: an activation at
all points where it bends or switches and between them (`turning_points`), a norm, which is algebra, on a few tensors.
What bends where that cannot be told stays as it is written.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.stablehlo_program.meanings import ELEMENTWISE, UNARY, erf, evaluated
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, become, closure, constant
from tvm_pulp.frontend.stablehlo_program.turning_points import numbers_around, turning_points, values_at

# A function is written with fewer operators than this, constants aside: the GELU of an exported file with 68, by an
# erfc of three polynomials.
_MOST_NODES = 96
_sigmoid = UNARY["logistic"]


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, x)


def _gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


_SELU = (1.6732632423543772, 1.0507009873554805)
_EXACT: tuple[tuple[str, dict[str, Any], Callable[[np.ndarray], np.ndarray]], ...] = (
    ("gelu", {"approximate": "none"}, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    ("gelu", {"approximate": "tanh"}, _gelu_by_tanh),
    ("erf", {}, erf),
    ("silu", {}, lambda x: x * _sigmoid(x)),
    ("hard_swish", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("hard_sigmoid", {}, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    ("relu6", {}, lambda x: np.clip(x, 0, 6)),
    ("logistic", {}, _sigmoid),
    ("softplus", {}, _softplus),
    ("mish", {}, lambda x: x * np.tanh(_softplus(x))),
    ("softsign", {}, lambda x: x / (1 + np.abs(x))),
    ("selu", {}, lambda x: _SELU[1] * np.where(x > 0, x, _SELU[0] * np.expm1(np.minimum(x, 0)))),
)


def identify(outputs: Sequence[StablehloNode]) -> None:
    """Replace groups by what they are, from the outputs on, so that the largest group is tried first."""
    absorbed: set[StablehloNode] = set()
    for node in reversed(closure(outputs)):
        if node in absorbed or node.array is not None or not node.is_float:
            continue
        source = _norm(node) or _function(node)
        if source is not None:
            absorbed |= set(closure(node.operands, source)) - {source}


def _function(node: StablehloNode) -> StablehloNode | None:
    """The tensor that a node is a known function of; it then is that function."""
    if node.op not in ELEMENTWISE or node.op in ("relu", "tanh", "logistic", "erf", "convert", "copy"):
        return None
    group = _scalar_group(node)
    for source in reversed(group):
        if source is node or source.array is not None or source.shape != node.shape or not source.is_float:
            continue
        between = closure([node], source)
        if not _depends_only_on(between, source):
            continue
        points = turning_points(between, source)
        if points is None:
            continue
        grid = numbers_around(points)
        found = _known(grid, values_at(between, source, grid)[node])
        # 1 - sigmoid(x) is one of -x; the sigmoid itself is read elsewhere as a rule, so it is left to be found.
        if found is not None and (found[0], node.op) != ("logistic", "subtract"):
            become(node, found[0], [source], **found[1])
            return source
    return None


def _scalar_group(node: StablehloNode) -> list[StablehloNode]:
    """Elementwise operators behind a node, with numbers as constants; nearest ones last."""
    found, waiting = [node], [node]
    while waiting and len(found) < _MOST_NODES:
        for o in waiting.pop().operands:
            if o not in found and o.array is None:
                found.append(o)
                if o.op in ELEMENTWISE:
                    waiting.append(o)
    return found


def _depends_only_on(between: Sequence[StablehloNode], source: StablehloNode) -> bool:
    if source not in between or sum(n.array is None for n in between) > _MOST_NODES:
        return False
    return all(
        n is source or n.scalar is not None or (n.op in ELEMENTWISE and n.shape == source.shape) for n in between
    )


def _agree(made: np.ndarray, wanted: np.ndarray) -> bool:
    """Within what constants of single precision cost; x + 1e-7 is not x."""
    return bool(np.all(np.abs(made - wanted) <= 3e-6 * np.abs(wanted) + 2e-8))


def _known(grid: np.ndarray, made: np.ndarray) -> tuple[str, dict[str, Any]] | None:
    if made.shape != grid.shape or not np.isfinite(made).all():
        return None
    with np.errstate(all="ignore"):
        for op, attributes, function in _EXACT:
            if _agree(made, function(grid)):
                return op, attributes
        # Those of one parameter: what it is shows at minus one.
        low = float(np.interp(-1.0, np.sort(grid), made[np.argsort(grid)]))
        slope = -low
        if 0 < slope < 1 and _agree(made, np.where(grid > 0, grid, slope * grid)):
            return "leaky_relu", {"alpha": slope}
        alpha = low / math.expm1(-1.0)
        if alpha > 0:
            for exact in (alpha, round(alpha, 4)):
                if _agree(made, np.where(grid > 0, grid, exact * np.expm1(np.minimum(grid, 0)))):
                    return "elu", {"alpha": exact}
    return None


_BOUNDS = ("relu", "maximum")
# None that bends or switches: algebra of a few terms that agrees on random tensors is the same algebra.
_IN_NORMS = frozenset(
    (
        *("add", "subtract", "multiply", "divide", "negate", "square", "sqrt", "rsqrt", "power", "copy", "convert"),
        *("broadcast_in_dim", "reshape", "reduce", "mean", "transpose"),
    )
)


def _is_algebra(node: StablehloNode, source: StablehloNode) -> bool:
    """Or a variance that is kept from being less than zero, which it is by rounding only."""
    if node.op == "reduce":
        return bool(node.attributes["reducer"] == "add")
    if node.op in _BOUNDS:
        others = [o for o in node.operands if o.scalar is None or o.scalar != 0]
        return len(others) == 1 and math.prod(node.shape) < math.prod(source.shape)
    return node.op in _IN_NORMS


def _norm(node: StablehloNode) -> StablehloNode | None:
    """The tensor that a node is the layer norm or RMS norm of, along its last axes."""
    if node.op not in ("add", "multiply", "divide", "subtract") or not node.rank:
        return None
    for source in _reduced(node):
        if source.shape != node.shape:
            continue
        between = closure([node], source)
        inner = [n for n in between if n.array is None and n is not source]
        if len(between) > 2 * _MOST_NODES or source not in between or not all(_is_algebra(n, source) for n in inner):
            continue
        if any(not n.operands for n in inner):  # another input
            continue
        axes = {tuple(n.attributes["dimensions"]) for n in inner if n.op in ("reduce", "mean")}
        epsilon = _epsilon(inner)
        if len(axes) != 1 or epsilon is None:
            continue
        (axis,) = axes
        if sorted(axis) != list(range(node.rank - len(axis), node.rank)):
            continue
        if _is_norm(node, between, source, len(axis), epsilon):
            return source
    return None


def _reduced(node: StablehloNode) -> list[StablehloNode]:
    """Tensors near a node of which means are taken, or means of their squares."""
    found: list[StablehloNode] = []
    seen, waiting = {node}, [node]
    while waiting and len(seen) < 2 * _MOST_NODES:
        for o in waiting.pop(0).operands:
            if o in seen or o.array is not None:
                continue
            seen.add(o)
            if o.op in ("reduce", "mean"):
                x = o.operands[0]
                found.append(x)
                if x.op in ("square", "multiply"):
                    found.append(x.operands[0])
            if o.op in _IN_NORMS or o.op in _BOUNDS:
                waiting.append(o)
    return list(dict.fromkeys(found))


def _epsilon(inner: Sequence[StablehloNode]) -> float | None:
    """The small number that is added before the root."""
    for root in (n for n in inner if n.op in ("rsqrt", "sqrt", "power")):
        base = root.operands[0]
        while base.op in ("broadcast_in_dim", "reshape", "copy"):
            base = base.operands[0]
        held = [o.scalar for o in base.operands if o.scalar is not None] if base.op in ("add", "maximum") else []
        if base.op == "add" and held:
            return float(held[0])
    return None


def _is_norm(
    node: StablehloNode, between: Sequence[StablehloNode], source: StablehloNode, count: int, epsilon: float
) -> bool:
    """Tell if probes come out as a norm with some scale and bias; the node becomes that norm then."""
    random = np.random.default_rng(0)
    # Means of both signs, and other sizes.
    probes = [random.normal(m, s, source.shape) for m, s in ((0.3, 1.0), (-0.7, 1.0), (2.0, 0.1), (-0.5, 5.0))]
    made = [m for m in (_on_tensor(node, between, source, probe) for probe in probes) if m is not None]
    if len(made) < len(probes):
        return False
    axes = tuple(range(node.rank - count, node.rank))
    for centred in (True, False):
        normal = [_normalized(p, axes, epsilon, centred) for p in probes]
        first, second = made[:2]
        apart = normal[0] - normal[1]
        with np.errstate(all="ignore"):
            scale = (first - second) / apart
        bias = first - scale * normal[0]
        scale, bias = (v.reshape(-1, *v.shape[node.rank - count :])[0] for v in (scale, bias))
        if np.isfinite(scale).all() and all(
            np.allclose(m, n * scale + bias, rtol=1e-6, atol=1e-6) for m, n in zip(made, normal, strict=True)
        ):
            return _become_norm(node, source, scale, bias, count, epsilon, centred)
    return False


def _on_tensor(
    node: StablehloNode, between: Sequence[StablehloNode], source: StablehloNode, probe: np.ndarray
) -> np.ndarray | None:
    values: dict[StablehloNode, np.ndarray] = {source: probe}
    for n in between:
        if n.array is not None:
            values[n] = n.array
        elif n is not source:
            made = evaluated(n, [values[o] for o in n.operands], wide=True)
            if made is None:
                return None
            values[n] = made
    return values[node]


def _normalized(x: np.ndarray, axes: tuple[int, ...], epsilon: float, centred: bool) -> np.ndarray:
    apart = x - x.mean(axes, keepdims=True) if centred else x
    return np.asarray(apart / np.sqrt((apart**2).mean(axes, keepdims=True) + epsilon))


def _become_norm(
    node: StablehloNode,
    source: StablehloNode,
    scale: np.ndarray,
    bias: np.ndarray,
    count: int,
    epsilon: float,
    centred: bool,
) -> bool:
    parameters = [constant(v.astype(np.float32)) for v in (scale, bias)]
    if centred:
        return become(node, "layer_norm", [source, *parameters], axes=count, epsilon=epsilon)
    # ONNX' own has no bias.
    no_bias = not np.any(np.abs(bias) > 1e-6)
    return no_bias and become(node, "rms_norm", [source, parameters[0]], axes=count, epsilon=epsilon)
